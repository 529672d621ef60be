"""The campaign: what tests try some of, for hours. `make campaign` runs a tenth of it.

    python tests/campaign/run.py [--share S] [--minutes M] [--workers N | --scheduler ADDRESS]
        [--results FILE] [--counts FILE] [KIND ...]

Mutated files of every format under limits of memory and time; frames to the device's code under
AddressSanitizer and UBSan; every single fault of an exchange; random networks on five cores beside
the oracle; random graphs of operators on the host, under both sanitizers, beside the oracle and
onnxruntime; hostile backends. All kinds get on alike; KIND is the first word of those that are to:
files, graphs.
What was done by the same code and tools is not done again, so Ctrl-C costs the tasks in the making
alone. Findings are printed, and their files kept beside the results; each is to become a test.
The counts say how much ran, and at which commit; they begin anew with other code. Workers on other
machines (docs/cluster.md) need a checkout, and its `tests` and itself in PYTHONPATH.
"""

from __future__ import annotations

import argparse
import base64
import datetime
import json
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from campaign.kinds import Kind, Task, done, goal, kinds, tasks

from mcu_deploy.errors import McuDeployError
from mcu_deploy.output import write_file
from mcu_deploy.tasks import KeptResults, Workers, run_tasks
from mcu_deploy.tasks.machine import this_machine
from mcu_deploy.tasks.results import fingerprint

_ROOT = Path(__file__).resolve().parents[2]
RESULTS = _ROOT / "build" / "campaign" / "results.jsonl"
COUNTS = _ROOT / "tests" / "campaign" / "counts.json"


def in_turn(wanted: Sequence[tuple[Kind, int]]) -> list[Task]:
    """The tasks of kinds, so many of each, in such an order that all kinds get on alike."""
    lists = [tasks(kind, count) for kind, count in wanted]
    placed = [(n / len(of), number, task) for number, of in enumerate(lists)
              for n, task in enumerate(of)]  # fmt: skip
    return [task for _, _, task in sorted(placed, key=lambda each: each[:2])]


def campaign(
    wanted: Sequence[Task], asked: Collection[str], results: Path, workers: Workers,
    more_time: Callable[[], bool],
) -> Iterator[tuple[Task, dict[str, Any]]]:  # fmt: skip
    """Tasks with their records: all that were kept, then of the kinds that are asked for others
    while there is time."""
    kept = KeptResults(results)
    left = []
    for task in wanted:
        record = kept.find(fingerprint(done, task))
        if record is not None:
            yield task, record
        elif task.kind.partition(" ")[0] in asked:
            left.append(task)
    if not left or not more_time():
        return
    for number, record in run_tasks(done, left, workers):
        kept.keep(fingerprint(done, left[number]), record)
        yield left[number], record
        if not more_time():
            return


def commit() -> str:
    """The commit that is checked out, and whether files differ from it."""

    def git(*words: str) -> str:
        command = ["git", "-C", str(_ROOT), *words]
        return subprocess.run(command, capture_output=True, text=True).stdout.strip()

    changed = git("status", "--porcelain", "--", ".", f":!{COUNTS.relative_to(_ROOT)}")
    return (git("rev-parse", "HEAD") or "none") + (" with changes" if changed else "")


def _keep(found: dict[str, Any], task: Task, folder: Path) -> None:
    """Prints a finding, and writes its file."""
    print(f"FOUND in {task.kind}: {found['what']}", flush=True)
    if "data" in found:
        path = folder / task.kind.replace(" ", "_") / found["name"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(found["data"]))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Runs the campaign, or goes on with it.")
    parser.add_argument("--share", type=float, default=0.1, help="of the whole campaign: 0.1")
    parser.add_argument("--minutes", type=float, help="begin nothing more after so many minutes")
    parser.add_argument("--workers", type=int, metavar="N", help="so many processes of Dask")
    parser.add_argument("--scheduler", metavar="ADDRESS", help="the machines of a Dask scheduler")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where records are kept")
    parser.add_argument("--counts", type=Path, default=COUNTS, help="where the counts go")
    parser.add_argument("kinds", nargs="*", metavar="KIND", help="files, frames, faults, ...")
    options = parser.parse_args(arguments)
    if not 0 < options.share <= 1:
        parser.error("--share is more than 0 and at most 1")
    every = kinds()
    words = {name.partition(" ")[0] for name in every}
    if strange := set(options.kinds) - words:
        parser.error(f"there is no kind {', '.join(sorted(strange))}: {', '.join(sorted(words))}")
    began = time.monotonic()

    def more_time() -> bool:
        return options.minutes is None or time.monotonic() - began < 60 * options.minutes

    wanted = [(kind, goal(kind, options.share)) for kind in every.values()]
    ran, findings = dict.fromkeys(every, 0), dict.fromkeys(every, 0)
    try:
        workers = Workers(options.workers, options.scheduler)
        options.results.parent.mkdir(parents=True, exist_ok=True)
        order, asked = in_turn(wanted), options.kinds or words
        for task, record in campaign(order, asked, options.results, workers, more_time):
            ran[task.kind] += record["ran"]
            findings[task.kind] += len(record["findings"])
            for found in record["findings"]:
                _keep(found, task, options.results.parent / "findings")
    except McuDeployError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Interrupted; what is done is kept.", file=sys.stderr)
    told = {
        "commit": commit(),
        "tools": dict(this_machine()),
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "counts": {
            kind.name: {
                "of": kind.unit, "ran": ran[kind.name], "goal": count,
                "findings": findings[kind.name],
            }
            for kind, count in wanted
        },
    }  # fmt: skip
    write_file(options.counts, (json.dumps(told, indent=1) + "\n").encode())
    for kind, count in wanted:
        print(f"{kind.name:16} {ran[kind.name]:>10,} of {count:>10,} {kind.unit}, "
              f"{findings[kind.name]} findings")  # fmt: skip
    return 1 if any(findings.values()) else 0


if __name__ == "__main__":
    sys.exit(main())

"""Measures models; renews benchmarks/table.csv and all that pages have of it (pages.py); prints it
beside what others need (benchmarks/published.csv). Renews benchmarks/times.csv, how long builds
take (times.py).

    .venv/bin/python benchmarks/run.py [--models FOLDER] [--workers N | --scheduler ADDRESS]
        [WORD ...]

A line of the table is a model on a core, built for a goal (--optimize-for). A model's name stands
for the ONNX file of its folder, with ".tflite" behind it for the TFLite file there. With words only
the lines that have all of them are measured: `mlperf_kws_int8 cortex-m4 balanced`, or `cortex-m4`;
`build-time` is a word of all lines of times.csv. With workers (docs/cluster.md) lines that were
measured before of the same model by the same code and tools are not measured again:
build/bench/results.jsonl has them.

In the place of a core may stand a board whose flash has wait states; the other lines are of boards
whose memories answer at once. Instructions are counted in QEMU on bench.elf; cycles are modelled
from these (docs/costs.md) without wait states, and empty where the core has no timings. The last
columns are cycles with the wait states of several flashes (waits.py), of lines of such boards.
Flash, RAM and stack, in bytes, are those of report.json: the network and the runtime alone. macs:
of the network as it was built. gcc: the version that compiled.
arena: the bytes in which tensors and scratch lie; live: the most of them that live at a time.
"""

from __future__ import annotations

import argparse
import csv
import io
import re
import sys
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, fields
from functools import cache
from pathlib import Path

from benchmarks import made, pages, times, waits
from mcu_deploy.api.building import build
from mcu_deploy.api.folder import open_folder
from mcu_deploy.api.profiling import profile
from mcu_deploy.boards import load_board
from mcu_deploy.errors import McuDeployError, ToolError
from mcu_deploy.options import Options
from mcu_deploy.output import write_file
from mcu_deploy.tasks import KeptResults, Workers, run_tasks
from mcu_deploy.tasks.machine import digest
from mcu_deploy.tasks.results import fingerprint
from mcu_deploy.toolchain import Toolchain, gcc_number

_HERE = Path(__file__).resolve().parent
_PACK = _HERE.parent.parent / "shared" / "models"
TABLE = _HERE / "table.csv"
_PUBLISHED = _HERE / "published.csv"
RESULTS = _HERE.parent / "build" / "bench" / "results.jsonl"

BOARDS = {
    "cortex-m3": "mps2-an385",
    "cortex-m4": "mps2-an386",
    "cortex-m4-nofpu": "mps2-an386",
    "cortex-m7": "mps2-an500",
    "cortex-m33": "mps2-an505",
    "cortex-m55": "mps3-an547",
}
INT8 = ("mlperf_kws_int8", "mlperf_vww_int8", "mlperf_ic_int8", "mlperf_ad_int8")
_FLOAT = ("mlperf_kws_f32", "mlperf_vww_f32", "mlperf_ic_f32", "mlperf_ad_f32")
MORE_INT8 = (
    "arm_kws_cnn_s_int8", "cfu_mnv2_160_035", "digits_cnn_qdq_s8s8_pc", "digits_cnn_qdq_u8s8_pt",
    "digits_res_qdq_s8s8_pt", "mcunet_person_det", "micro_kws_m_int8", "micro_kws_m_qdq",
    "micro_kws_m_qoperator", "qnn_mnist_int8", "tflm_hello_world_int8", "tflm_mnist_lstm_int8",
    "tflm_person_detect_int8",
)  # fmt: skip
# Of which there is a TFLite file: the same weights, TFLite's roundings, and an LSTM of int8 where
# ONNX has one of float32 only.
IN_TFLITE = (
    *INT8, "arm_kws_cnn_s_int8", "cfu_mnv2_160_035", "mcunet_person_det", "micro_kws_m_int8",
    "qnn_mnist_int8", "tflm_hello_world_int8", "tflm_mnist_lstm_int8", "tflm_person_detect_int8",
)  # fmt: skip
NO_FPU = (*INT8, "digits_res_qdq_s8s8_pt")
LINES = (
    *(
        (model, core, "balanced")
        for core in BOARDS
        for model in (NO_FPU if core.endswith("-nofpu") else (*INT8, *_FLOAT))
    ),
    *((model, "cortex-m4", goal) for goal in ("speed", "size", "ram") for model in INT8),
    *((model, "cortex-m4", "balanced") for model in MORE_INT8),
    *((f"{model}.tflite", "cortex-m4", "balanced") for model in IN_TFLITE),
    *(
        (model, board, goal)
        for board in waits.BOARDS for goal in ("balanced", "speed") for model in INT8
    ),
    (pages.PERSON, waits.L4R5, "balanced"),
)  # fmt: skip
_TOLERANCE = 0.01
_NUMBERS = (
    "instructions", "cycles", "flash", "ram", "stack", "arena", "live", "macs", *waits.COLUMNS,
)  # fmt: skip


@dataclass(frozen=True)
class Line:
    """A line of the table; cycles is None where the core has no timings, and what has wait states
    where the line is of no such board."""

    model: str
    core: str
    goal: str
    instructions: int
    cycles: int | None
    flash: int
    ram: int
    stack: int
    arena: int
    live: int
    macs: int
    gcc: str
    l4r5: int | None = None
    l4r5_no_prefetch: int | None = None
    f407: int | None = None
    f746_axi: int | None = None
    f746_itcm: int | None = None

    @property
    def key(self) -> tuple[str, str, str]:
        return self.model, self.core, self.goal

    def changes(self, before: Line) -> list[str]:
        """What is over 1 % off what it was, a clause for each number."""
        found = []
        for name in _NUMBERS:
            now, then = getattr(self, name), getattr(before, name)
            if now is None and then is not None:
                found.append(f"{name}: there are none, and were {then:,}")
            elif now is not None and then is None:
                found.append(f"{name} {now:,}, and there were none")
            elif now != then and abs(now - then) > _TOLERANCE * then:
                found.append(f"{name} {now:,} and not {then:,} ({now / then - 1:+.1%})")
        return found


def read() -> dict[tuple[str, str, str], Line]:
    """The committed table."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        rows = [
            {key: (int(text) if text else None) if key in _NUMBERS else text
             for key, text in row.items()}
            for row in csv.DictReader(file)
        ]  # fmt: skip
    lines = [Line(**row) for row in rows]
    return {line.key: line for line in lines}


def _write(lines: Collection[Line]) -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(field.name for field in fields(Line))
    writer.writerows(astuple(line) for line in lines)
    write_file(TABLE, text.getvalue().encode())


def gcc() -> str:
    """The compiler's version, for example 12.2.1."""
    return gcc_number(Toolchain.for_board(load_board("mps2-an386")).version)


def file_of(model: str, models: Path) -> Path:
    """A model's file in the folder of the model pack."""
    name, _, suffix = model.partition(".")
    return models / name / f"model.{suffix or 'onnx'}"


def measure(key: tuple[str, str, str], models: Path) -> Line:
    """Builds a model and counts one inference."""
    model, core, goal = key
    path = file_of(model, models)
    with tempfile.TemporaryDirectory() as folder:
        options = Options(optimize_for=goal)
        nofpu = core.endswith("-nofpu")
        board = _without_fpu(core, Path(folder)) if nofpu else BOARDS.get(core, core)
        made = Path(folder) / "build"
        report = build(path, board, made, name=network(model), options=options).report
        waiting: dict[str, int] = {}
        if core in waits.BOARDS:
            scratch = Path(folder) / "image"
            scratch.mkdir()
            found = waits.measure_build(open_folder(made), scratch)
            waiting = {column: one.time.cycles for column, one in found.items()}
            one = next(iter(found.values()))
            counted = one.counts.total, one.cycles
        else:
            profiled = profile(open_folder(made))
            counted = profiled.total, profiled.cycles
    sizes = report.flash_bytes, report.ram_bytes, report.stack_bytes
    places = report.arena_bytes, report.arena_lower_bound_bytes
    return Line(*key, *counted, *sizes, *places, report.macs, gcc(), **waiting)


@dataclass(frozen=True)
class LineTask:
    """A line that is wanted, with the model's bytes. code: `code_digest` where it is wanted."""

    key: tuple[str, str, str]
    model: bytes
    code: str

    @classmethod
    def of(cls, key: tuple[str, str, str], models: Path) -> LineTask:
        return cls(key, file_of(key[0], models).read_bytes(), code_digest())


@cache
def code_digest() -> str:
    """The SHA-256 of the modules beside this one."""
    return digest((p.name.encode(), p.read_bytes()) for p in sorted(_HERE.glob("*.py")))


def measure_task(task: LineTask) -> Line:
    """Measures a line wherever this runs. Raises ToolError where the code is another one there."""
    if task.code != code_digest():
        raise ToolError(
            f"The benchmarks in {_HERE} are other ones than those that are wanted. Check the same "
            "commit out on each machine."
        )
    with tempfile.TemporaryDirectory() as folder:
        path = file_of(task.key[0], Path(folder))
        path.parent.mkdir()
        path.write_bytes(task.model)
        return measure(task.key, Path(folder))


def measured(
    keys: Sequence[tuple[str, str, str]], models: Path, workers: Workers, results: Path | None
) -> Iterator[Line]:
    """Lines as they are measured; results: with those that were, which come first."""
    kept = KeptResults(results) if results is not None else None
    tasks: list[LineTask] = []
    for task in (LineTask.of(key, models) for key in keys):
        known = kept and kept.find(fingerprint(measure_task, task))
        if known:
            yield Line(**known)
        else:
            tasks.append(task)
    for number, line in run_tasks(measure_task, tasks, workers):
        if kept is not None:
            kept.keep(fingerprint(measure_task, tasks[number]), asdict(line))
        yield line


def network(model: str) -> str:
    """The name that a model is built with, which is in its flash: that of the pages' commands for
    MLPerf Tiny's (kws), and the folder's for the others."""
    short = re.fullmatch(r"mlperf_(\w+)_(?:int8|f32)", model.partition(".")[0])
    return short[1] if short else model.partition(".")[0]


def _without_fpu(core: str, folder: Path) -> str:
    """The file of a board as the core's, of which the FPU was left out."""
    path = folder / "board.toml"
    path.write_text(
        f'inherits = "{BOARDS[core]}"\nname = "nofpu"\ntitle = "without FPU"\nfpu = "none"\n',
        encoding="utf-8",
    )
    return str(path)


def published() -> list[dict[str, str]]:
    """What others need, as published or as measured here, by the columns of the file: of is what
    the cycles are of, a board or a model; flash and RAM are of a whole image with its stack, the
    arena is of tensors and scratch alone; source says where the numbers are from."""
    with _PUBLISHED.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def show(lines: Collection[Line]) -> None:
    """Prints lines, and below each what others need for the model on that core."""
    others = published()
    form = "{:<30} {:<11} {:<9} {:>13} {:>13} {:>9} {:>8} {:>6} {:>11}"
    print(
        form.format(
            "model", "core", "goal", "instructions", "cycles", "flash", "RAM", "stack", "MACs"
        )
    )
    for line in lines:
        shown_ones = ("instructions", "cycles", "flash", "ram", "stack", "macs")
        numbers = [_number(getattr(line, name)) for name in shown_ones]
        print(form.format(*line.key, *numbers))
        for column in waits.COLUMNS:
            if cycles := getattr(line, column):
                print(form.format(f"  {column}", "", "", "", _number(cycles), "", "", "", ""))
        for row in others:
            if _is_beside(row, line):
                found = [row[key] for key in ("instructions", "cycles", "flash")]
                found.append(row["ram"] or row["arena"])
                shown = [_number(int(n)) if n else "" for n in found]
                of = f"cycles: {row['of']}; " if row["of"] else ""
                arena = "RAM: the arena alone; " if row["arena"] else ""
                print(
                    form.format(f"  {row['by']}", "", "", *shown, "", ""),
                    f"({of}{arena}{row['source']})",
                )


def _is_beside(row: Mapping[str, str], line: Line) -> bool:
    """Whether another's numbers are of the model of a line and its core, or its board."""
    if (row["model"], "balanced") != (line.model.removesuffix(".tflite"), line.goal):
        return False
    if line.core in waits.TIMED_ON:
        return (row["core"], row["of"]) == waits.TIMED_ON[line.core]
    return row["core"] == line.core


def _number(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Renews benchmarks/table.csv and prints it.")
    parser.add_argument("--models", type=Path, default=_PACK, help="the folder of the model pack")
    parser.add_argument("--workers", type=int, metavar="N", help="so many processes of Dask")
    parser.add_argument("--scheduler", metavar="ADDRESS", help="the machines of a Dask scheduler")
    parser.add_argument("words", nargs="*", help="measure only the lines that have all of these")
    options = parser.parse_args(arguments)
    known = read() if TABLE.is_file() else {}
    wanted = [key for key in LINES if set(options.words) <= set(key)]
    timed = [model for model in times.MODELS if set(options.words) <= {model, times.WORD}]
    if not wanted and not timed:
        sys.exit(f"No line of the tables has {' and '.join(options.words)}: see {TABLE.name}.")
    packed = [model for model in timed if model not in made.MODELS]
    for path in (file_of(m, options.models) for m in (*(key[0] for key in wanted), *packed)):
        if not path.is_file():
            sys.exit(f"{path} is not there: name the model pack's folder with --models.")
    try:
        workers = Workers(options.workers, options.scheduler)
        results = RESULTS if workers.are_asked_for else None
        for line in measured(wanted, options.models, workers, results):
            print(*line.key, *(line.changes(known[line.key]) if line.key in known else ["new"]))
            known[line.key] = line
    except McuDeployError as error:
        sys.exit(str(error))
    lines = [known[key] for key in LINES if key in known]
    _write(lines)
    for path, text in pages.renewed(lines, published()):
        write_file(path, text.encode())
    if wanted:
        show([line for line in lines if line.key in wanted])
    times.renew(timed, options.models, gcc())


if __name__ == "__main__":
    from benchmarks import run  # what workers do is of a module that they can import

    run.main()

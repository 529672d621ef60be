"""How much processor time builds take: benchmarks/times.csv, which run.py renews.

A line is a model, built for the Cortex-M4 by `mcu-deploy build` without a cache; its processor time
is that of the command and of all that it starts. A machine that does other work makes every process
slower, so a build counts in loops: how many times as long it takes as a loop of Python and numpy
that runs before it. Of both the least of several rounds is taken. seconds: on the machine that
measured. python, gcc: the versions with which it was.
"""

from __future__ import annotations

import csv
import io
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from benchmarks import made
from mcu_deploy.output import write_file

TABLE = Path(__file__).resolve().parent / "times.csv"
BOARD = "mps2-an386"
WORD = "build-time"  # of each line, for choosing them as those of table.csv are chosen
MODELS = (
    "mlperf_kws_int8", "mlperf_vww_int8", "st_yamnet_256", "tflm_person_detect_int8",
    "mcunet_person_det", "cfu_mnv2_160_035", *made.MODELS,
)  # fmt: skip
TOLERANCE = 0.3
ROUNDS = 3

# As a build does it: many small objects, some text, and arrays of a few hundred elements.
_LOOP = """
import re
import numpy as np
words = re.compile(r"[a-z]+")
values = np.arange(255, dtype=np.int64)
known, total = {}, 0
for n in range(15_000):
    key = ("layer", n % 997, (n % 31, "int8"))
    known[key] = known.get(key, 0) + len(words.findall("ldr r0, [r1], #4 smlad r2, r3, r0, r2"))
    total += int((values * n - (values << 20)).max()) + int(np.clip(values, 3, 99).sum())
    total += sum(known.get(("layer", m, (m % 31, "int8")), 0) for m in range(20))
"""


@dataclass(frozen=True)
class Time:
    """A line of the table."""

    model: str
    loops: float
    seconds: float
    python: str
    gcc: str

    def changes(self, before: Time) -> str:
        """By how much it is over 30 % off what it was, a clause; empty where it is not."""
        part = self.loops / before.loops - 1
        if abs(part) <= TOLERANCE:
            return ""
        return f"{self.loops:.2f} loops and not {before.loops:.2f} ({part:+.0%})"


def python_version() -> str:
    """For example 3.11: what Python takes depends on no more of it."""
    return ".".join(platform.python_version_tuple()[:2])


def read() -> dict[str, Time]:
    """The committed table."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        rows = [
            Time(
                row["model"], float(row["loops"]), float(row["seconds"]), row["python"], row["gcc"]
            )
            for row in csv.DictReader(file)
        ]
    return {row.model: row for row in rows}


def write(lines: Collection[Time]) -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(field.name for field in fields(Time))
    writer.writerows(astuple(line) for line in lines)
    write_file(TABLE, text.getvalue().encode())


def measure(model: str, path: Path, gcc: str, rounds: int = ROUNDS) -> Time:
    """Builds a model so many times. gcc: the compiler's version."""
    return _least(model, gcc, [_round(path) for _ in range(rounds)])


def measure_within(limit: Time, path: Path, gcc: str, rounds: int = 2 * ROUNDS) -> Time:
    """As `measure`, but only until it is not slower than a line of the table and its tolerance: one
    round as a rule, and more on a machine that is busy just then."""
    taken: list[tuple[float, float]] = []
    while True:
        taken.append(_round(path))
        found = _least(limit.model, gcc, taken)
        if found.loops <= (1 + TOLERANCE) * limit.loops or len(taken) == rounds:
            return found


def _least(model: str, gcc: str, taken: list[tuple[float, float]]) -> Time:
    loop, build = (min(times) for times in zip(*taken, strict=True))
    return Time(model, round(build / loop, 2), round(build, 2), python_version(), gcc)


def _round(path: Path) -> tuple[float, float]:
    """The seconds of processor time of a loop, and of a build."""
    with tempfile.TemporaryDirectory() as folder:
        loop = _seconds([sys.executable, "-c", _LOOP], 0)
        build = ["-m", "mcu_deploy", "build", str(path), "--board", BOARD, "--name", "net"]
        is_refused = path.parent.name == made.REFUSED
        return loop, _seconds([sys.executable, *build, "-o", f"{folder}/net"], int(is_refused))


def _seconds(command: list[str], status: int) -> float:
    """The processor time of a program, which ends with a status, and of all that it waited for."""
    # A second thread of numpy's linear algebra does nothing but wait, which counts.
    settings = {"MCU_DEPLOY_CACHE": "off", "OPENBLAS_NUM_THREADS": "1"}
    # Modules are not compiled anew each time, as they are not where the package is installed: the
    # first round may do that.
    settings |= {"PYTHONDONTWRITEBYTECODE": ""}
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            command, env=os.environ | settings, stdout=subprocess.DEVNULL, stderr=said
        )
        _, code, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(code)
        if process.returncode != status:
            said.seek(0)
            raise RuntimeError(f"{' '.join(command)} failed: {said.read().decode()}")
    return usage.ru_utime + usage.ru_stime


@contextmanager
def model_file(model: str, models: Path) -> Iterator[Path]:
    """The file of a model: of the model pack's folder, or made for as long as it is needed."""
    if model not in made.MODELS:
        yield models / model / "model.onnx"
        return
    with tempfile.TemporaryDirectory() as folder:
        yield made.save(model, Path(folder))


def renew(wanted: Collection[str], models: Path, gcc: str) -> None:
    """Measures some models, one after the other, and writes the table."""
    known = read() if TABLE.is_file() else {}
    for model in wanted:
        with model_file(model, models) as path:
            line = measure(model, path, gcc)
        said = line.changes(known[model]) if model in known else "new"
        print(f"{model} {WORD}: {line.seconds} s, {line.loops} loops {said}".rstrip(), flush=True)
        known[model] = line
        write([known[name] for name in MODELS if name in known])

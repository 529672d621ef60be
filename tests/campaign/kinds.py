"""What the campaign does, as tasks: numbers and words, done anywhere (docs/cluster.md)."""

from __future__ import annotations

import base64
import functools
import importlib
import subprocess
import tempfile
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import any_order
from campaign import faults, hostile
from crt.protocol import sanitized
from drawn import judge
from fuzz import harness
from quantized_layers import extremes
from random_int8_nets import model

from mcu_deploy.api.building import build
from mcu_deploy.api.validating import validate
from mcu_deploy.errors import McuDeployError
from mcu_deploy.options import Options
from mcu_deploy.tasks.machine import digest

_TESTS = Path(__file__).parents[1]
FORMATS = ("npz", "board", "onnx", "tflite", "pmx", "elf", "report", "protocol")
# One of each core, in QEMU; the Cortex-M0+ in Renode.
BOARDS = {
    "M4": "mps2-an386", "M33": "mps2-an505", "M55": "mps3-an547", "M3": "mps2-an385",
    "M0+": "nucleo_g0b1re",
}  # fmt: skip
GOALS = ("speed", "balanced", "size", "ram")
_MTU = (256, 1024)
# What cases are made and judged by, beside mcu_deploy itself: other sources make other cases.
_SOURCES = {
    "files": ("fuzz/*.py", "pmx_cases.py"),
    "frames": ("crt/protocol/*",),
    "faults": ("campaign/faults.py", "device/damaged_line.py", "device/protocol_lab.py",
               "device/stepped/*", "crt/protocol/firmware_models.c"),
    "graphs": ("any_order.py", "quantized_layers.py", "random_int8_nets.py"),
    "operators": ("drawn/*.py", "operators/lab.py"),
    "backends": ("campaign/hostile.py", "dynamic/hostile_cases.py", "dynamic/mock_objects.py",
                 "dynamic/worker_cases.py", "dynamic/mocks/*"),
}  # fmt: skip
# The tests' own cases end before these.
_FIRST_FILE, _FIRST_NET, _FIRST_SEED, _FIRST_DRAWN = 100_000, 10_000, 10_000, 10_000


@dataclass(frozen=True)
class Kind:
    """name: of a row in the counts. unit: what is counted; whole: how many a whole campaign has;
    at_once: in a task."""

    name: str
    unit: str
    whole: int
    at_once: int


@dataclass(frozen=True)
class Task:
    """Some of a kind, by their numbers. sources: a digest of what they are made and judged by;
    board: that networks run on, "" of other kinds."""

    kind: str
    first: int
    count: int
    sources: str
    board: str = ""


def kinds() -> dict[str, Kind]:
    """All of them by name."""
    files = [
        Kind(f"files {name}", "mutated files", 1_000_000 // len(FORMATS), 250) for name in FORMATS
    ]
    graphs = [
        Kind(f"graphs {core}", "random graphs", 10_000, 5 if core == "M0+" else 10)
        for core in BOARDS
    ]
    found = [
        *files, Kind("frames", "frames to the device", 10_000_000, 50_000),
        Kind("faults", "single faults of an exchange", len(faults.every()), 200), *graphs,
        Kind("operators", "random graphs of operators", 10_000, 25),
        Kind("backends", "hostile backends", len(hostile.every()), 10),
    ]  # fmt: skip
    return {kind.name: kind for kind in found}


def goal(kind: Kind, share: float) -> int:
    """How many of a kind a share of the campaign has: of faults always all, of hostile backends
    1,000 by that share as far as there are so many."""
    if kind.name == "faults":
        return kind.whole
    if kind.name == "backends":
        return min(kind.whole, round(1000 * share))
    return round(kind.whole * share)


def tasks(kind: Kind, count: int) -> list[Task]:
    """The first `count` of a kind."""
    at = range(0, count, kind.at_once)
    word, _, rest = kind.name.partition(" ")
    sources, board = _digest(word), BOARDS[rest] if word == "graphs" else ""
    return [Task(kind.name, n, min(kind.at_once, count - n), sources, board) for n in at]


@functools.cache
def _digest(word: str) -> str:
    """The SHA-256 of the sources of the kinds that begin with a word."""
    files = sorted({p for of in _SOURCES[word] for p in _TESTS.glob(of) if p.is_file()})
    return digest((str(p.relative_to(_TESTS)).encode(), p.read_bytes()) for p in files)


def done(task: Task) -> dict[str, Any]:
    """The record of a task: `ran`, how many of it; `findings`, each with what it is and, of files
    and operators, the bytes in base64."""
    word, _, rest = task.kind.partition(" ")
    run = {
        "files": _files, "frames": _frames, "faults": _faults, "graphs": _graphs,
        "operators": _operators, "backends": _backends,
    }[word]  # fmt: skip
    numbers = range(task.first, task.first + task.count)
    return {"ran": task.count, "findings": list(run(numbers, task.board or rest))}


def _files(numbers: range, name: str) -> Iterator[dict[str, Any]]:
    target = importlib.import_module(f"fuzz.target_{name}")
    for found in harness.run(target, [_FIRST_FILE + n for n in numbers]):
        data = base64.b64encode(found.data).decode()
        yield {"what": str(found), "name": f"{found.case}{target.SUFFIX}", "data": data}


def _frames(numbers: range, _: str) -> Iterator[dict[str, Any]]:
    seed = _FIRST_SEED + numbers.start
    program = _fuzzer(_MTU[numbers.start // 50_000 % 2])
    command = [str(program), str(seed), str(len(numbers))]
    ended = subprocess.run(command, capture_output=True, text=True)
    if ended.returncode or not ended.stdout.startswith(f"ok: {len(numbers)} frames"):
        yield {"what": f"{' '.join(command[1:])}: {ended.stdout}{ended.stderr[-4000:]}"}


@functools.cache
def _fuzzer(mtu: int) -> Path:
    return sanitized.fuzzer(Path(faults.folder().name) / f"fuzz_{mtu}", mtu)


def _faults(numbers: range, _: str) -> Iterator[dict[str, Any]]:
    of = faults.every()
    yield from _said(faults.complaint(of[n]) for n in numbers)


def _backends(numbers: range, _: str) -> Iterator[dict[str, Any]]:
    of = hostile.every()
    yield from _said(hostile.complaint(*of[n]) for n in numbers)


def _said(complaints: Iterable[str]) -> Iterator[dict[str, Any]]:
    yield from ({"what": what} for what in complaints if what)


def _operators(numbers: range, _: str) -> Iterator[dict[str, Any]]:
    """Graphs in one program on the host: as the oracle and onnxruntime say."""
    for found in judge.findings(_FIRST_DRAWN + n for n in numbers):
        data = base64.b64encode(found.model.SerializeToString()).decode()
        yield {"what": str(found), "name": f"{found.number}.onnx", "data": data}


def _graphs(numbers: range, board: str) -> Iterator[dict[str, Any]]:
    """Several networks in one firmware, by the goals in turn: the oracle's bits."""
    which = [_FIRST_NET + n for n in numbers]
    options = Options(optimize_for=GOALS[numbers.start // len(numbers) % len(GOALS)])
    with tempfile.TemporaryDirectory(prefix="campaign-") as name, any_order.any_order():
        path = model(which, Path(name) / "networks.onnx")
        about = f"networks {which[0]} to {which[-1]} for {options.optimize_for} on {board}"
        try:
            built = build(path, board, Path(name) / "build", options=options)
            found = validate(built, extremes(path), onnxruntime=False)
        except McuDeployError as error:
            yield {"what": f"{about}: {error}"}
        except Exception:  # a fault of ours: found, and no end of the campaign
            yield {"what": f"{about}: {traceback.format_exc()}"}
        else:
            if not found.passed:
                yield {"what": f"{about}: {found}"}

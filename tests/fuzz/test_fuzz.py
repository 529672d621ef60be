"""Each format that is read: changed files give a value or one sentence, soon and in little memory.

`run.py` beside this file runs more cases; what it finds goes to regressions/<format>/.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import pytest
from fuzz import harness
from sampling import part

pytestmark = pytest.mark.usefixtures("forked")

# format: (cases in the sample, cases in the whole matrix)
COUNTS = {
    "npz": (30, 20_000),
    "board": (30, 20_000),
    "onnx": (6, 10_000),
    "tflite": (30, 20_000),
    "pmx": (10, 10_000),
    "elf": (20, 5_000),
    "report": (10, 5_000),
    "protocol": (30, 10_000),
}


def _target(name: str) -> ModuleType:
    return importlib.import_module(f"fuzz.target_{name}")


def _require_none(found: list[harness.Finding]) -> None:
    assert not found, "\n".join(map(str, found))


@pytest.mark.parametrize("name", COUNTS)
def test_sound_files_are_read(name: str, tmp_path: Path) -> None:
    """Else the changed ones would all be refused for one reason."""
    target = _target(name)
    seeds = target.SEEDS()
    for number, seed in enumerate(part(seeds, 4, seeds[:1])):
        path = tmp_path / f"{number}{target.SUFFIX}"
        path.write_bytes(seed)
        target.read(path)


@pytest.mark.parametrize("name", COUNTS)
def test_the_sample(name: str) -> None:
    _require_none(harness.run(_target(name), range(COUNTS[name][0])))


@pytest.mark.parametrize("name", COUNTS)
def test_what_was_found_before(name: str, tmp_path: Path) -> None:
    target = _target(name)
    for file in harness.regressions(name):
        path = tmp_path / f"{file.stem}{target.SUFFIX}"
        path.write_bytes(file.read_bytes())
        assert not harness.complaint(target, path), file.name


@pytest.mark.matrix
@pytest.mark.parametrize("name", COUNTS)
def test_many(name: str) -> None:
    sample, many = COUNTS[name]
    _require_none(harness.run(_target(name), range(sample, many)))

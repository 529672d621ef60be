"""Builds of models by backends in assembly, for the tests on the cores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from quantized_layers import extremes
from random_int8_nets import model
from sampling import examples

from mcu_deploy.api.building import Build, build
from mcu_deploy.api.validating import validate
from mcu_deploy.options import Options

MARKS = [pytest.mark.needs_arm_gcc, pytest.mark.needs_qemu, pytest.mark.usefixtures("any_order")]

GOALS = ("speed", "balanced", "size", "ram")
_AT_ONCE = 10


def drawn(batch: int, few: int, board: str, folder: Path) -> Build:
    """Ten networks of int8 and uint8 that are drawn, side by side in a firmware, for one goal after
    the other: the oracle's bits. few: how many of them the sample has."""
    numbers = range(_AT_ONCE * batch, _AT_ONCE * batch + examples(_AT_ONCE, few))
    path = model(numbers, folder / "networks.onnx")
    options = Options(optimize_for=GOALS[batch % len(GOALS)])
    built = build(path, board, folder / "build", options=options)
    found = validate(built, extremes(path), onnxruntime=False)
    assert found.passed, found
    return built


def right(
    path: Path, board: str, folder: Path, goal: str = "balanced", *,
    backend: str = "ArmDsp", samples: Any = None, onnxruntime: bool = True,
    flash_wait: int | None = None,
) -> Build:  # fmt: skip
    """A model that is built by a backend, and by CpuRef where that has no kernel, and that gives
    the oracle's bits on the board. samples: extremes by default."""
    options = Options(backends=(backend, "CpuRef"), optimize_for=goal, flash_wait=flash_wait)
    built = build(path, board, folder / "build", options=options)
    given = extremes(path) if samples is None else samples
    assert validate(built, given, onnxruntime=onnxruntime).passed
    return built

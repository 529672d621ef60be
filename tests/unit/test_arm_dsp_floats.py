"""ArmDsp's depthwise convolutions of float32, run by the interpreter of instructions: the bits of
the order that they state, within what the contract allows of the oracle, nothing touched beside
what is theirs, NaN where the oracle has it, and the distances that let outputs lie on inputs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import float_cases
import numpy as np
import pytest
from float_cases import DEPTHWISE, Case
from kernel_runs import Run, runs
from sampling import part

from mcu_deploy.agreement.rules import Rule
from mcu_deploy.backends.floats.layers import Product, read
from mcu_deploy.backends.floats.tiles import inside
from mcu_deploy.backends.isa.interpreter import Fault
from mcu_deploy.options import Options

_OPTIONS = Options(backends=("ArmDsp", "CpuRef"), optimize_for="speed")
# The share of the largest value that the contract allows where a sum is no longer than 1,000 terms.
_CLOSE = Rule("share", 1e-5)


def _layers(
    cases: Sequence[Case], board: str, folder: Path, inputs: np.ndarray | None = None
) -> list[Run]:
    path = float_cases.model(cases, folder / "cases.onnx")
    if inputs is None:
        inputs = np.load(float_cases.sample(path))["x"][0]
    found = [
        run for run in runs(path, [inputs], board=board, options=_OPTIONS)
        if run.choice.workload.backend == "ArmDsp" and run.choice.layer.op == "Conv"
    ]  # fmt: skip
    assert len(found) == len(cases)
    return found


def _in_order(product: Product, image: np.ndarray) -> np.ndarray:
    """From the bias, along the rows of the kernel, in each along its columns, every product
    rounded; [row][column][channel]."""
    window = product.window
    sums = np.broadcast_to(product.bias, (*window.output, product.channels)).copy()
    x = image.reshape(*window.input, product.channels)
    for row, column in np.ndindex(*window.output):
        top, left = np.multiply((row, column), window.strides) - window.begin
        for ky in inside(window, 0, row):
            for kx in inside(window, 1, column):
                y, z = top + ky * window.dilations[0], left + kx * window.dilations[1]
                sums[row, column] += product.weights[:, 0, ky, kx] * x[y, z]
    return np.clip(sums, *map(np.float32, product.clamp))


@pytest.mark.parametrize("board", ["mps2-an386", "mps2-an500"])
def test_kernels_agree_with_the_oracle_and_their_order(board: str, tmp_path: Path) -> None:
    cases = part(DEPTHWISE, 3)
    tight = 0
    for run in _layers(cases, board, tmp_path):
        result = run.result()
        values, oracle = (np.frombuffer(of, np.float32) for of in (result, run.output))
        assert not _CLOSE.broken(values, oracle).any(), run.name
        product = read(run.choice.layer)
        assert isinstance(product, Product)
        in_order = _in_order(product, np.frombuffer(run.inputs[0], np.float32)).reshape(-1)
        # A Cortex-M4 is quicker with a product and a sum apart, an M7 with both in one.
        assert (values == in_order).all() == (board == "mps2-an386"), run.name
        for place in run.choice.workload.in_place:
            assert run.result(place) == result, f"{run.name}: {place}"
            try:
                tight += run.result(place, 4) != result
            except Fault:
                tight += 1
    assert tight, "no distance is as small as it may be"


_NAN, _INF = float("nan"), float("inf")


@pytest.mark.parametrize("odd", [_NAN, -_NAN, _INF, -_INF])
def test_nan_and_infinity_go_where_the_oracle_has_them(odd: float, tmp_path: Path) -> None:
    """Through clamps too, whatever their sign."""
    cases = [case for case in DEPTHWISE if case.clamp is not None][1:]
    path = float_cases.model(cases, tmp_path / "cases.onnx")
    inputs = np.load(float_cases.sample(path))["x"][0]
    inputs[::11] = odd
    for run in _layers(cases, "mps2-an386", tmp_path, inputs):
        values, oracle = (np.frombuffer(of, np.float32) for of in (run.result(), run.output))
        assert not _CLOSE.broken(values, oracle).any(), run.name
        assert not np.isnan(odd) or np.isnan(oracle).any(), run.name

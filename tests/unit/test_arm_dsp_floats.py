"""ArmDsp's convolutions and dense layers of float32, with weights of float32 or of int8, run by the
interpreter of instructions: the bits of the order that they state, within what the contract allows
of the oracle, nothing touched beside what is theirs, NaN where the oracle has it, and the distances
that let outputs lie on inputs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import float_cases
import numpy as np
import pytest
from float_cases import CONVOLUTIONS, DENSE, DEPTHWISE, Case, of_bytes
from kernel_runs import Run, runs
from sampling import part

from mcu_deploy.agreement.rules import Rule
from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.floats.layers import Product, read
from mcu_deploy.backends.floats.tiles import inside

_OPERATORS = ("Conv", "Gemm", "MatMul")
# The share of the largest value that the contract allows where a sum is no longer than 1,000 terms.
_CLOSE = Rule("share", 1e-5)
# Of convolutions without the largest one, whose cycles the tests on QEMU count.
_FAMILIES = {"convolutions": CONVOLUTIONS[1:], "dense": DENSE, "depthwise": DEPTHWISE}
_OF_BYTES = {f"{name}, weights of int8": of_bytes(cases) for name, cases in _FAMILIES.items()}
_ALL = {**_FAMILIES, **_OF_BYTES}


def _layers(
    cases: Sequence[Case], board: str, folder: Path, inputs: np.ndarray | None = None
) -> list[Run]:
    path = float_cases.model(cases, folder / "cases.onnx")
    if inputs is None:
        inputs = np.load(float_cases.sample(path))["x"][0]
    found = [
        run for run in runs(path, [inputs], board=board)
        if run.choice.workload.backend == "ArmDsp" and run.choice.layer.op in _OPERATORS
    ]  # fmt: skip
    assert len(found) == len(cases)
    return found


def _in_order(product: Product, image: Array, *, is_fused: bool) -> Array:
    """From the bias, or of weights of int8 from 0, along the rows of the kernel, in each along its
    columns and the channels; every product rounded, or none. [row][column][filter]."""
    window, depth, scales = product.window, product.depth, product.scales
    start = product.bias if scales is None else np.float32(0)
    sums = np.broadcast_to(start, (*window.output, product.filters)).astype(np.float32)
    x = image.reshape(*window.input, product.channels)
    groups = np.arange(product.filters) * product.groups // product.filters
    for row, column in np.ndindex(*window.output):
        top, left = np.multiply((row, column), window.strides) - window.begin
        for ky in inside(window, 0, row):
            for kx in inside(window, 1, column):
                y, z = top + ky * window.dilations[0], left + kx * window.dilations[1]
                for n in range(depth):
                    pixel = x[y, z, groups * depth + n]
                    weights = product.weights[:, n, ky, kx].astype(np.float32)
                    if is_fused:  # of float64 the product is exact, and the sum all but so
                        wide = sums[row, column] + np.float64(pixel) * weights
                        sums[row, column] = wide.astype(np.float32)
                    else:
                        sums[row, column] += pixel * weights
    if scales is not None:
        sums = sums * scales + product.bias
    return np.clip(sums, *map(np.float32, product.clamp))


@pytest.mark.parametrize("family", sorted(_ALL))
@pytest.mark.parametrize("board", ["mps2-an386", "mps2-an500"])
def test_kernels_agree_with_the_oracle_and_their_order(
    board: str, family: str, tmp_path: Path
) -> None:
    tight = 0
    for run in _layers(part(_ALL[family], 3), board, tmp_path):
        result = run.result()
        values, oracle = (np.frombuffer(of, np.float32) for of in (result, run.output))
        assert not _CLOSE.broken(values, oracle).any(), run.name
        product = read(run.choice.layer)
        assert isinstance(product, Product)
        # A Cortex-M4 is quicker with a product and a sum apart, an M7 with both in one.
        image = np.frombuffer(run.inputs[0], np.float32)
        in_order = _in_order(product, image, is_fused=board == "mps2-an500").reshape(-1)
        assert (values == in_order).all(), run.name
        for place in run.choice.workload.in_place:
            assert run.result(place) == result, f"{run.name}: {place}"
            tight += run.fails(place, result)
    assert tight, "no distance is as small as it may be"


@pytest.mark.parametrize("is_fused", [False, True])
def test_the_stream_is_what_the_kernel_says(is_fused: bool, tmp_path: Path) -> None:
    """Of so many filters at a time their biases, then their weights of each row, column and
    channel."""
    case = float_cases.conv((6, 5, 4), 23, (3, 2))
    board = "mps2-an500" if is_fused else "mps2-an386"
    (run,) = _layers([case], board, tmp_path)
    function = run.choice.workload.function
    assert function is not None
    said = re.search(
        r"weights, of (\d+) filters at a time, at last of (\d+):", " ".join(function.comment)
    )
    assert said is not None
    most, last = map(int, said.groups())
    product = read(run.choice.layer)
    assert isinstance(product, Product)
    (constant,) = run.choice.workload.constants
    left = constant.value
    found_bias, found, begin = np.empty(23, np.float32), np.empty((23, 3, 2, 6), np.float32), 0
    while begin < 23:
        width = most if 23 - begin >= most else last
        block, left = np.split(left, [width * (1 + 3 * 2 * 6)])
        biases, *lines = block.reshape(-1, width)
        filters = slice(begin, begin + width)
        found_bias[filters] = biases
        found[filters] = np.reshape(lines, (3, 2, 6, width)).transpose(3, 0, 1, 2)
        begin += width
    assert not left.size
    assert (found_bias == product.bias).all()
    assert (found.transpose(0, 3, 1, 2) == product.weights).all()


_NAN, _INF = float("nan"), float("inf")


@pytest.mark.parametrize("odd", [_NAN, -_NAN, _INF, -_INF])
def test_nan_and_infinity_go_where_the_oracle_has_them(odd: float, tmp_path: Path) -> None:
    """Through clamps too, whatever their sign."""
    found = [case for cases in _FAMILIES.values() for case in cases if case.clamp is not None]
    cases = part(found[1:], 3)
    path = float_cases.model(cases, tmp_path / "cases.onnx")
    inputs = np.load(float_cases.sample(path))["x"][0]
    inputs[::11] = odd
    for run in _layers(cases, "mps2-an386", tmp_path, inputs):
        values, oracle = (np.frombuffer(of, np.float32) for of in (run.result(), run.output))
        assert not _CLOSE.broken(values, oracle).any(), run.name
        assert not np.isnan(odd) or np.isnan(oracle).any(), run.name

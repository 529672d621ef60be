"""ArmMve's kernels of float32, run by the interpreter of instructions: within what the contract
allows of the oracle, nothing touched beside what is theirs, NaN where the oracle has it, and the
distances that let an output lie on an input."""

from __future__ import annotations

from pathlib import Path

import float_cases
import numpy as np
import onnx
import pytest
from float_cases import INF, RELU, RELU6, Case, conv
from kernel_runs import Run, runs

from mcu_deploy.agreement.rules import Rule
from mcu_deploy.options import Options

_OPTIONS = Options(backends=("ArmMve", "CpuRef"), optimize_for="speed")
_EVERY = 3  # of the cases in the sample
_LATER = {"convolutions": 1}  # without the largest layer, whose cycles the tests on QEMU count
# The share of the largest value that the contract allows where a sum is no longer than 1,000 terms.
_CLOSE = Rule("share", 1e-5)


def _layers(cases: list[Case], tmp_path: Path, inputs: np.ndarray | None = None) -> list[Run]:
    path = float_cases.model(cases, tmp_path / "cases.onnx")
    if inputs is None:
        inputs = np.load(float_cases.sample(path))["x"][0]
    found = [
        run for run in runs(path, [inputs], board="mps3-an547", options=_OPTIONS)
        if run.choice.workload.backend == "ArmMve" and run.choice.layer.op != "Reorder"
    ]  # fmt: skip
    assert len(found) == len(cases)
    return found


# Products of two computed matrices are C around a kernel: tests/device runs them.
@pytest.mark.parametrize("family", sorted({*float_cases.FAMILIES} - {"products"}))
def test_kernels_agree_with_the_oracle(
    family: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    cases = list(float_cases.FAMILIES[family])
    if not request.config.getoption("--all"):
        cases = cases[_LATER.get(family, 0) :: _EVERY]
    tight = 0
    for run in _layers(cases, tmp_path):
        result = run.result()
        values, oracle = (np.frombuffer(of, np.float32) for of in (result, run.output))
        assert not _CLOSE.broken(values, oracle).any(), run.name
        for place in run.choice.workload.in_place:
            assert run.result(place) == result, f"{run.name}: {place}"
            tight += run.fails(place, result)
    assert tight, "no distance is as small as it may be"


@pytest.mark.parametrize("op", ["Add", "Sub", "Mul"])
def test_a_constant_lies_as_what_it_meets(op: str, tmp_path: Path) -> None:
    """Behind a pool, whose channels lie last in memory, as an embedding of positions does."""
    text = f"""<ir_version: 8, opset_import: ["" : 17]>
        net (float[1, 4, 6, 6] x) => (float[1, 4, 3, 3] y) {{
            p = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(x)
            y = {op}(p, c)
        }}"""
    model = onnx.parser.parse_model(text)
    generator = np.random.default_rng(6)
    constant = generator.standard_normal((1, 4, 3, 3)).astype(np.float32)
    model.graph.initializer.append(onnx.numpy_helper.from_array(constant, "c"))
    onnx.save_model(model, tmp_path / "m.onnx")
    x = generator.standard_normal((1, 4, 6, 6)).astype(np.float32)
    found = runs(tmp_path / "m.onnx", [x], board="mps3-an547", options=_OPTIONS)
    (run,) = [run for run in found if run.choice.layer.op == op]
    assert run.choice.workload.backend == "ArmMve"
    assert run.choice.layer.output.type.layout is not None
    assert run.result() == run.output


_NAN = float("nan")
_OF_NAN = (
    conv((3, 4, 6), 5, (3, 3), clamp=RELU),
    conv((6, 5, 4), 6, (3, 3), group=6, clamp=RELU6),
    conv((9, 2, 3), 4, (1, 1), clamp=(-1.0, INF)),
    Case("Gemm", (2, 7), ((7, 5), (5,)), clamp=(-INF, 0.5)),
    Case("AveragePool", (4, 4, 6), (), {"kernel_shape": (2, 2)}, RELU),
    Case("MaxPool", (5, 4, 6), (), {"kernel_shape": (3, 2), "pads": (1, 0, 1, 1)}),
    Case("Add", (3, 5, 7), (None,), clamp=RELU),
    Case("Mul", (3, 5, 7), (None,), clamp=RELU6),
    Case("Add", (5, 3, 7), ((5, 1, 1),), clamp=RELU),
    *float_cases.ACTIVATIONS,
)


@pytest.mark.parametrize("odd", [_NAN, -_NAN, INF, -INF])
def test_nan_and_infinity_go_where_the_oracle_has_them(odd: float, tmp_path: Path) -> None:
    """Through clamps and maxima too, whatever their sign."""
    path = float_cases.model(_OF_NAN, tmp_path / "cases.onnx")
    inputs = np.load(float_cases.sample(path))["x"][0]
    inputs[::11] = odd
    for run in _layers(list(_OF_NAN), tmp_path, inputs):
        values, oracle = (np.frombuffer(of, np.float32) for of in (run.result(), run.output))
        assert not _CLOSE.broken(values, oracle).any(), run.name
        assert not np.isnan(odd) or np.isnan(oracle).any(), run.name

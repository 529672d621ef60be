"""NaN, infinities, zeros, denormal and huge numbers through every operator of floats.

The device gives what the oracle gives; where both differ from onnxruntime the case says why, and
docs/arithmetic.md says what holds. The sign of a zero is left open.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper
from operators.lab import (
    Array,
    Case,
    compile_case,
    make_model,
    run_on_host,
    run_onnxruntime,
)
from sanitizers import SANITIZED

NAN, INF = np.nan, np.inf
SPECIALS = np.array(
    [
        NAN, -NAN, INF, -INF, 0.0, -0.0, 1e-45, -1e-45, 1e-39, -1e-39, 1.1754944e-38, 3.4028235e38,
        -3.4028235e38, 1, -1, 0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 3, -3, 6, -6, 20, -20, 88.8, -88.8,
        104, -104, 700, -750, 1e-5, -1e-5, 1e10, -1e10, 2**24 + 1, 2.0**31, -(2.0**31), 2.0**63,
        0.99999994, 1.0000001, 3.1415927,
    ],
    np.float32,
)  # fmt: skip
PAIRS = tuple(a.reshape(-1).copy() for a in np.meshgrid(SPECIALS[:19], SPECIALS[:19]))
ROWS = np.array(
    [
        [1, NAN, 3, 2], [NAN, 1, 2, 3], [1, 2, 3, NAN], [INF, 1, 2, 3], [-INF, 1, 2, 3],
        [INF, -INF, 1, 2], [-INF] * 4, [INF] * 4, [NAN] * 4, [3.4e38, 3.4e38, 1, 2],
        [1e-45, -1e-45, 1e-40, 0], [NAN, INF, 1, 2], [INF, 1, NAN, 2], [100, -100, 3, 88],
        [-1, -2, -3, -4], [0, -0.0, 0, -0.0],
    ],
    np.float32,
)  # fmt: skip
MAXIMUM = "onnxruntime drops NaN from a maximum, depending on where it lies"
ABSENT = "an absent bound does not clamp; onnxruntime clamps infinity to the largest number"
LOWEST = "the maximum of minus infinity is not the lowest number"

# (what differs from onnxruntime and why, or "", the case)
Entry = tuple[str, Case]


def _entry(
    op: str,
    *inputs: Array,
    result: str = "float32",
    constants: dict[str, Array] | None = None,
    opset: int = 17,
    why: str = "",
    **attributes: Any,
) -> Entry:
    given = {f"x{i}": ("float32", v.shape) for i, v in enumerate(inputs)}
    names = [*given, *(constants or {})]
    names = ["" if name.startswith("absent") else name for name in names]
    kept = {k: v for k, v in (constants or {}).items() if not k.startswith("absent")}
    node = helper.make_node(op, names, ["y"], **attributes)
    model = make_model([node], given, {"y": (result, None)}, kept, opset)
    return why, Case(f"{op} {attributes} {sorted(kept)} {inputs[0].shape}", model, inputs)


def _functions() -> list[Entry]:
    plain = (
        "Relu", "LeakyRelu", "Sigmoid", "Tanh", "HardSigmoid", "HardSwish", "Elu", "Softplus",
        "Softsign", "Erf", "Exp", "Abs", "Neg", "Sign", "Floor", "Ceil", "Sqrt", "Reciprocal",
        "Identity", "Log", "Round", "Sin", "Cos", "Tan", "Asin", "Acos", "Atan", "Sinh", "Cosh",
        "Asinh", "Acosh", "Atanh", "Selu", "Celu", "ThresholdedRelu", "Shrink",
    )  # fmt: skip
    return [
        *(_entry(op, SPECIALS) for op in plain),
        *(_entry(op, SPECIALS, opset=20) for op in ("Mish", "Gelu")),
        _entry("Gelu", SPECIALS, opset=20, approximate="tanh"),
        _entry("Celu", SPECIALS, alpha=2.0),
        _entry("Elu", SPECIALS, alpha=-1.0),
        _entry("LeakyRelu", SPECIALS, alpha=-0.5),
        _entry("HardSigmoid", SPECIALS, alpha=-0.2, beta=0.3),
        _entry("HardSigmoid", SPECIALS, alpha=0.0, beta=0.3),
        _entry("ThresholdedRelu", SPECIALS, alpha=-1.0),
        _entry("Shrink", SPECIALS, bias=1.5, lambd=0.25),
        _entry("IsNaN", SPECIALS, result="bool"),
        _entry("IsInf", SPECIALS, result="bool"),
        _entry("IsInf", SPECIALS, result="bool", detect_positive=0),
        _entry("Cast", SPECIALS, result="bool", to=TensorProto.BOOL),
        _entry("Cast", SPECIALS, result="int32", to=TensorProto.INT32,
               why="onnxruntime gives what the processor does with what no integer holds"),
    ]  # fmt: skip


def _clips() -> list[Entry]:
    def one(low: float | None, high: float | None, why: str = "") -> Entry:
        bounds = {
            name if value is not None else f"absent {name}": np.array(value or 0, np.float32)
            for name, value in (("low", low), ("high", high))
        }
        return _entry("Clip", SPECIALS, constants=bounds, why=why)

    return [
        one(-1, 1), one(1, -1), one(0, 6), one(-INF, INF), one(NAN, 1), one(0, NAN),
        one(-1, None, ABSENT), one(None, 1, ABSENT),
    ]  # fmt: skip


def _pairs() -> list[Entry]:
    numbers = ("Add", "Sub", "Mul", "Div", "Pow", "Max", "Min", "Sum", "Mean", "PRelu")
    relations = ("Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Equal")
    return [
        *(_entry(op, *PAIRS) for op in numbers),
        *(_entry(op, *PAIRS, result="bool") for op in relations),
        _entry("Mod", *PAIRS, fmod=1),
    ]


def _rows() -> list[Entry]:
    reductions = ("Mean", "Max", "Min", "Prod", "L1", "L2", "SumSquare", "LogSum", "LogSumExp")
    columns, first = ROWS.T.copy(), ROWS[:, :1].copy()
    images = ROWS.reshape(1, -1, 2, 2).copy()
    found = []
    for name in reductions:
        why = MAXIMUM if name in ("Max", "Min") else ""
        op = f"Reduce{name}"
        found.append(_entry(op, ROWS, axes=[1], why=why))
        found.append(_entry(op, columns, axes=[0], why=why))
        found.append(_entry(op, first, axes=[1]))
    extreme = "onnxruntime ignores NaN, or not, depending on where it lies"
    for op in ("ArgMax", "ArgMin"):
        for last in (0, 1):
            found.append(
                _entry(op, ROWS, result="int64", axis=1, select_last_index=last, why=extreme)
            )
    for opset in (12, 13):
        found.append(_entry("Softmax", ROWS, opset=opset, axis=1))
        found.append(_entry("LogSoftmax", ROWS, opset=opset, axis=1))
    return [
        *found,
        _entry("Softmax", columns, axis=0),
        _entry("CumSum", ROWS, constants={"axis": np.array(1)}),
        _entry("MaxPool", images, kernel_shape=[2, 2], why=MAXIMUM),
        _entry("MaxPool", images, kernel_shape=[2, 2], pads=[1, 1, 1, 1], why=MAXIMUM),
        _entry("MaxPool", images[:, 6:7], kernel_shape=[2, 2], why=LOWEST),
        _entry("GlobalMaxPool", images, why=MAXIMUM),
        _entry("AveragePool", images, kernel_shape=[2, 2]),
        _entry("AveragePool", images, kernel_shape=[2, 2], pads=[1, 1, 1, 1]),
        _entry("GlobalAveragePool", images),
    ]


def _misfits(actual: Array, wanted: Array) -> str:
    """Where two results differ, element by element; empty: nowhere."""
    if actual.dtype.kind != "f":
        wrong = actual != wanted
    else:
        a, w = actual.astype(np.float64), wanted.astype(np.float64)
        with np.errstate(all="ignore"):
            near = np.abs(a - w) <= 1e-4 * np.abs(w) + 1e-6
        wrong = ~(near | (a == w) | (np.isnan(a) & np.isnan(w)))
    places = np.flatnonzero(wrong)[:4]
    return ", ".join(f"[{i}] {actual.flat[i]} not {wanted.flat[i]}" for i in places)


@pytest.mark.needs_host_gcc
def test_special_numbers(tmp_path: Path) -> None:
    entries = [*_functions(), *_clips(), *_pairs(), *_rows()]
    compiled = [compile_case(case, tmp_path, i) for i, (_, case) in enumerate(entries)]
    device = run_on_host(compiled, tmp_path, SANITIZED)
    failures = []
    for (why, case), item, (on_device,) in zip(entries, compiled, device, strict=True):
        (oracle,) = item.expected
        (reference,) = run_onnxruntime(case.model, case.inputs, optimise=False)
        misfits = {"device, oracle": _misfits(on_device, oracle)}
        if not why:
            misfits["oracle, onnxruntime"] = _misfits(oracle, reference)
        elif not _misfits(oracle, reference):
            misfits["oracle, onnxruntime"] = "no longer differ"
        failures += [f"{case.name}: {who}: {text}" for who, text in misfits.items() if text]
    assert not failures, f"{len(failures)} failures:\n" + "\n".join(failures)


@pytest.mark.needs_host_gcc
def test_functions_of_float64(tmp_path: Path) -> None:
    """The device as the oracle, to 1e-12; onnxruntime, where it has such a kernel, as both."""
    x = SPECIALS.astype(np.float64)
    low, high = np.array(-1.25), np.array(2.5)
    entries = [
        _entry(op, x, result="float64")
        for op in ("Erf", "Exp", "Sigmoid", "Softplus", "Softsign", "Tanh", "Sqrt", "Reciprocal")
    ] + [
        _entry("Clip", x, constants=bounds, result="float64", why=why)
        for why, bounds in (("", {"low": low, "high": high}), (ABSENT, {"low": low}))
    ]  # fmt: skip
    for _, case in entries:
        for value in case.model.graph.input:
            value.type.tensor_type.elem_type = TensorProto.DOUBLE
    compiled = [compile_case(case, tmp_path, k) for k, (_, case) in enumerate(entries)]
    device = run_on_host(compiled, tmp_path)
    for (why, _), item, (found,) in zip(entries, compiled, device, strict=True):
        (wanted,) = item.expected
        assert found.dtype == wanted.dtype == np.float64
        assert np.allclose(found, wanted, 1e-12, 0, equal_nan=True), item.case.name
        if why:
            continue
        try:
            (reference,) = run_onnxruntime(item.case.model, item.case.inputs, optimise=False)
        except Exception as error:
            assert "NOT_IMPLEMENTED" in str(error)
            continue
        assert np.allclose(found, reference, 1e-6, 1e-12, equal_nan=True), item.case.name

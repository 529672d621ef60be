"""Values that a shape depends on, computed at run time: right ones, and ones that contradict it.

The device ends a run with MCU_ERROR_OPERAND where the oracle raises, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper
from operators.lab import Array, Case, build_on_host, compile_case, make_model, run_turns
from sanitizers import SANITIZED

from mcu_deploy import interpreter
from mcu_deploy.errors import McuDeployError, ModelError

_OPERAND = -21
BIG = 2**62
X = np.arange(6, dtype=np.float32).reshape(2, 3)


def _ints(*values: int) -> Array:
    return np.array(values, np.int64)


def _all(length: int, values: tuple[int, ...]) -> list[Array]:
    return [_ints(*chosen) for chosen in product(values, repeat=length)]


# (operator, inputs before the value, result, its shape, values, inputs behind it, attributes)
_Row = tuple[str, list[Array], str, tuple[int, ...], list[Array], list[Array], dict[str, Any]]


def _rows() -> Iterator[_Row]:
    small = (-2, -1, 0, 1, 2, 3, BIG)
    none: list[Array] = []
    yield "Reshape", [X], "float32", (3, 2), _all(2, (*small, 6)), none, {}
    yield "Reshape", [X], "float32", (2, 3), _all(2, (*small, 6)), none, {}
    yield "Reshape", [X], "float32", (2, 3), _all(2, small), none, {"allowzero": 1}
    yield "Reshape", [X.reshape(2, 3, 1)], "float32", (2, 1, 3), _all(3, (-1, 0, 1, 2, 3)), none, {}
    yield "Expand", [X], "float32", (2, 3), _all(2, small), none, {}
    yield "Expand", [X[:1]], "float32", (2, 3), _all(2, small), none, {}
    yield "Expand", [X[:1]], "float32", (4, 1, 3), _all(3, (0, 1, 3, 4)), none, {}
    yield "ConstantOfShape", none, "float32", (2, 3), _all(2, small), none, {}
    yield "Tile", [X], "float32", (4, 3), _all(2, small), none, {}
    yield "Squeeze", [X.reshape(2, 1, 3, 1)], "float32", (2, 3, 1), _all(1, small), none, {}
    ones = X.reshape(1, 2, 1, 3)
    yield "Squeeze", [ones], "float32", (2, 3), _all(2, (-5, -4, -2, 0, 1, 2, 4)), none, {}
    yield "Unsqueeze", [X], "float32", (1, 2, 3, 1), _all(2, (-5, -4, -1, 0, 1, 3, 4)), none, {}
    # Of these axes one or the other gives the shape.
    column = X.reshape(6, 1)
    yield "Unsqueeze", [column], "float32", (6, 1, 1), _all(1, (-4, -3, -1, 0, 1, 2, 3)), none, {}
    depths = [np.array(v, np.int64) for v in small]
    on_off = [np.array([0, 1], np.float32)]
    yield "OneHot", [_ints(0, 2)], "float32", (2, 3), depths, on_off, {}
    real = [np.array(v, np.float32) for v in (2.5, 3.0, 3.9, 4.0, -1, np.nan)]
    yield "OneHot", [_ints(0, 2)], "float32", (3, 2), real, on_off, {"axis": 0}
    limits = [np.array(v, np.int64) for v in (-BIG, -1, 0, 4, 5, 6, 7, BIG)]
    yield "Range", [np.array(0, np.int64)], "int64", (3,), limits, [np.array(2, np.int64)], {}
    down = [np.array(v, np.int32) for v in (-9, -3, -2, 0, 5, 2**31 - 1, -(2**31))]
    yield "Range", [np.array(5, np.int32)], "int32", (4,), down, [np.array(-2, np.int32)], {}
    reals = [np.array(v, np.float32) for v in (0.5, 0.75, 1.0, 1.01, np.nan, np.inf, -1)]
    yield "Range", [np.array(0, np.float32)], "float32", (4,), reals, [np.float32([0.25])[0]], {}


def _slices() -> Iterator[tuple[Case, list[tuple[Array, ...]]]]:
    """Both bounds along one axis of five, by steps of 1, 2 and -2."""
    x = np.arange(5, dtype=np.float32)
    values = (-BIG, -6, -5, -3, -1, 0, 1, 2, 4, 5, 7, BIG)
    for step, count in ((1, 2), (2, 2), (-2, 2), (-1, 1), (3, 1)):
        constants = {"axes": _ints(0), "steps": _ints(step)}
        node = helper.make_node("Slice", ["x", "start", "end", "axes", "steps"], ["y"], "node")
        types = {"x": ("float32", (5,)), "start": ("int64", (1,)), "end": ("int64", (1,))}
        model = make_model([node], types, {"y": ("float32", (count,))}, constants)
        pairs = [(x, _ints(a), _ints(b)) for a, b in product(values, values)]
        yield Case(f"Slice by {step}", model, pairs[0]), pairs


def _window(op: str) -> tuple[Case, list[tuple[Array, ...]]]:
    """Two of five from a position on, or before it: nothing declares that they are two."""
    given, other = ("start", "end") if op == "Add" else ("end", "start")
    nodes = [
        helper.make_node(op, [given, "two"], [other], op),
        helper.make_node("Slice", ["x", "start", "end"], ["window"], "node"),
        helper.make_node("Neg", ["window"], ["y"], "neg"),
    ]
    types = {"x": ("float32", (5,)), given: ("int64", (1,))}
    model = make_model(nodes, types, {"y": ("float32", (2,))}, {"two": _ints(2)})
    values = [(np.arange(5, dtype=np.float32), _ints(at)) for at in range(-8, 8)]
    return Case(f"a window by {op}", model, values[8]), values


def _cases() -> Iterator[tuple[Case, list[tuple[Array, ...]]]]:
    yield from _slices()
    yield _window("Add")
    yield _window("Sub")
    for op, before, result, shape, values, behind, attributes in _rows():
        by_shape: dict[tuple[int, ...], list[tuple[Array, ...]]] = {}
        for value in values:
            given = tuple(np.asarray(v) for v in (*before, value, *behind))
            by_shape.setdefault(value.shape, []).append(given)
        for inputs in by_shape.values():
            names = {f"x{k}": (v.dtype.name, v.shape) for k, v in enumerate(inputs[0])}
            node = helper.make_node(op, list(names), ["y"], "node", **attributes)
            model = make_model([node], names, {"y": (result, shape)})
            yield Case(f"{op} to {shape} {attributes}", model, inputs[0]), inputs


@pytest.mark.needs_host_gcc
def test_the_device_refuses_what_the_oracle_refuses(tmp_path: Path) -> None:
    cases = list(_cases())
    compiled = [compile_case(case, tmp_path, i) for i, (case, _) in enumerate(cases)]
    executable = build_on_host(compiled, tmp_path, SANITIZED)
    failures, right, wrong = [], 0, 0
    count = max(len(inputs) for _, inputs in cases)
    turns = [[inputs[turn % len(inputs)] for _, inputs in cases] for turn in range(count)]
    for given, found in zip(turns, run_turns(executable, compiled, turns), strict=True):
        for item, inputs, (status, outputs) in zip(compiled, given, found, strict=True):
            try:
                wanted = interpreter.run(item.graph, list(inputs))
            except ModelError as error:
                wrong += 1
                assert "was given values that the model was not compiled for" in str(error)
                if status != _OPERAND:
                    failures.append(f"{item.case.name} {inputs}: {status}, but {error}")
                continue
            right += 1
            if status != 0 or not np.array_equal(outputs[0], wanted[0], equal_nan=True):
                failures.append(f"{item.case.name} {inputs}: {status} {outputs[0]}")
    assert not failures, f"{len(failures)} failures:\n" + "\n".join(failures[:20])
    assert right > 100
    assert wrong > 1000


def test_shapes_that_no_value_gives_are_refused_when_compiling(tmp_path: Path) -> None:
    for op, count, shape in (("Reshape", 3, (3, 2)), ("Tile", 2, (5, 3)), ("Expand", 3, (4, 4, 3))):
        types = {"x": ("float32", X.shape), "v": ("int64", (count,))}
        node = helper.make_node(op, ["x", "v"], ["y"], "node")
        model = make_model([node], types, {"y": ("float32", shape)})
        with pytest.raises(McuDeployError, match="node"):
            compile_case(Case(op, model, (X, _ints(*[1] * count))), tmp_path, 0)

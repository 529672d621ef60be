"""Comparisons, logic, integer arithmetic and casts: every type, any shapes, every corner."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import sampling
from hypothesis import strategies as st
from operators.exact_cases import (
    FLOATS,
    INTEGERS,
    broadcast,
    check_on_host,
    check_values,
    examples,
    one_node,
)
from operators.lab import Array, Case

pytestmark = pytest.mark.needs_host_gcc

COMPARISONS = ("Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Equal")
NUMBERS = (*INTEGERS, *FLOATS)


@st.composite
def comparisons(draw: st.DrawFn) -> Case:
    op = draw(st.sampled_from(COMPARISONS))
    dtype = draw(st.sampled_from([*NUMBERS, "bool"] if op == "Equal" else NUMBERS))
    return one_node(op, draw(broadcast(2, [dtype] * 2)), bool, opset=19)


@st.composite
def logic(draw: st.DrawFn) -> Case:
    op = draw(st.sampled_from(["And", "Or", "Xor", "Not", "Where"]))
    if op == "Where":
        dtype = draw(st.sampled_from([*NUMBERS, "bool"]))
        return one_node(op, draw(broadcast(3, ["bool", dtype, dtype])), dtype)
    count = 1 if op == "Not" else 2
    return one_node(op, draw(broadcast(count, ["bool"] * count)), bool)


@st.composite
def arithmetic(draw: st.DrawFn) -> Case:
    op = draw(st.sampled_from(["Add", "Sub", "Mul", "Div", "Mod", "Max", "Min"]))
    dtype = draw(st.sampled_from(INTEGERS))
    attributes = {"fmod": draw(st.integers(0, 1))} if op == "Mod" else {}
    count = draw(st.integers(1, 4)) if op in ("Max", "Min") else 2
    return one_node(op, draw(broadcast(count, [dtype] * count)), dtype, attributes)


@st.composite
def powers(draw: st.DrawFn) -> Case:
    base = draw(st.sampled_from(["int32", "int64"]))
    exponent = draw(st.sampled_from(INTEGERS))
    return one_node("Pow", draw(broadcast(2, [base, exponent])), base)


@st.composite
def bits(draw: st.DrawFn) -> Case:
    op = draw(st.sampled_from(["BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitwiseNot", "BitShift"]))
    dtype = draw(st.sampled_from(INTEGERS))
    attributes = {}
    if op == "BitShift":
        attributes["direction"] = draw(st.sampled_from(["LEFT", "RIGHT"]))
    count = 1 if op == "BitwiseNot" else 2
    values = draw(broadcast(count, [dtype] * count))
    return one_node(op, values, dtype, attributes, opset=28 if op == "BitShift" else 18)


@st.composite
def unary(draw: st.DrawFn) -> Case:
    op = draw(st.sampled_from(["Abs", "Neg", "Sign", "Relu"]))
    signed = [d for d in NUMBERS if not d.startswith("uint")]
    dtype = draw(st.sampled_from(NUMBERS if op in ("Abs", "Sign") else signed))
    return one_node(op, draw(broadcast(1, [dtype])), dtype)


@st.composite
def casts(draw: st.DrawFn) -> Case:
    source, target = (draw(st.sampled_from([*NUMBERS, "bool"])) for _ in range(2))
    values = draw(broadcast(2, [source, target]))
    if draw(st.booleans()):
        return one_node("CastLike", values, target)
    code = one_node("Abs", values[1:], target).model.graph.output[0].type.tensor_type.elem_type
    return one_node("Cast", values[:1], target, {"to": code})


FAMILIES = (comparisons, logic, arithmetic, powers, bits, unary, casts)


@pytest.mark.parametrize("family", range(len(FAMILIES)))
def test_the_host_gives_the_oracles_bits(family: int, tmp_path: Path) -> None:
    check_on_host(examples(FAMILIES[family](), sampling.examples(40, 10)), tmp_path)


def _row(
    op: str, dtype: str, given: Sequence[Sequence[int]], wanted: Sequence[int], **more: int
) -> tuple[Case, Array]:
    values = [np.array(v, dtype) for v in given]
    return one_node(op, values, dtype, more), np.array(wanted, dtype)


def test_integer_arithmetic_is_defined_for_every_value(tmp_path: Path) -> None:
    """Wrap-around, division by zero, the lowest number over -1."""
    rows = []
    for dtype in ("int8", "int16", "int32", "int64"):
        low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
        dividends, divisors = [low, 7, -7, 7, -7, low, 0], [-1, 2, 2, 0, 0, 0, 5]
        rows += [
            _row("Add", dtype, [[high, low], [1, -1]], [low, high]),
            _row("Sub", dtype, [[low, high], [1, -1]], [high, low]),
            _row("Mul", dtype, [[low, high], [-1, 2]], [low, -2]),
            _row("Neg", dtype, [[low, high]], [low, -high]),
            _row("Abs", dtype, [[low, -high]], [low, high]),
            _row("Div", dtype, [dividends, divisors], [low, 3, -3, 0, 0, 0, 0]),
            _row("Mod", dtype, [dividends, divisors], [0, 1, 1, 7, -7, low, 0]),
            _row("Mod", dtype, [dividends, divisors], [0, 1, -1, 7, -7, low, 0], fmod=1),
            _row("Mod", dtype, [[7, -7], [-5, -5]], [-3, -2]),
        ]
    rows.append(_row("Pow", "int32", [[3, -2, 1, -1, 5, 0, 2], [4, 3, -5, -5, -1, -2, 40]],
                     [81, -8, 1, -1, 0, 0, 0]))  # fmt: skip
    check_values(rows, tmp_path)


def _cast(values: Array, target: str) -> Case:
    return one_node("CastLike", [values, np.zeros(1, target)], target)


def test_casts_of_floats_saturate(tmp_path: Path) -> None:
    values = np.array([np.nan, np.inf, -np.inf, 1e30, -1e30, 2.9, -2.9, 300.0, -0.0], np.float32)
    rows = []
    for target in INTEGERS:
        low, high = np.iinfo(target).min, np.iinfo(target).max
        wanted = [0, high, low, high, low, 2, max(-2, low), min(300, high), 0]
        rows.append((_cast(values, target), np.array(wanted, target)))
        rows.append((_cast(values.astype(np.float64), target), np.array(wanted, target)))
    rows.append((_cast(values, "bool"), np.array([1, 1, 1, 1, 1, 1, 1, 1, 0], bool)))
    check_values(rows, tmp_path)

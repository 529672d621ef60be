"""Reductions of every type, running sums, positions of extremes, and tensors made of little."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import sampling
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from operators.exact_cases import INTEGERS, check_on_host, elements, examples, one_node
from operators.lab import Array, Case

pytestmark = pytest.mark.needs_host_gcc

TYPES = (*INTEGERS, "float32", "float64")


def tensor(draw: st.DrawFn, dtype: str, least: int = 1) -> Array:
    """Floats are small whole numbers, so that no order of a sum shows."""
    finite = st.integers(-4, 4).map(float) if dtype.startswith("float") else elements(dtype)
    shapes = hnp.array_shapes(min_dims=least, max_dims=3, max_side=4)
    return draw(hnp.arrays(dtype, shapes, elements=finite))


@st.composite
def reductions(draw: st.DrawFn) -> Case:
    wide = ("int32", "uint32", "int64", "uint64", "float32", "float64")
    extreme = draw(st.booleans())
    names = ["Sum", "Prod", "Mean", "L1", "SumSquare"]
    op = draw(st.sampled_from(["Max", "Min"] if extreme else names))
    dtype = draw(st.sampled_from((*wide, "int8", "uint8") if extreme else wide))
    x = tensor(draw, dtype)
    axes = draw(st.lists(st.integers(0, x.ndim - 1), unique=True))
    attributes = {"keepdims": draw(st.integers(0, 1))}
    if axes:
        return one_node(f"Reduce{op}", [x], dtype, attributes, {1: np.array(axes)})
    return one_node(f"Reduce{op}", [x], dtype, attributes)


@st.composite
def running(draw: st.DrawFn) -> Case:
    dtype = draw(st.sampled_from(["int32", "uint32", "int64", "uint64", "float32"]))
    x = tensor(draw, dtype)
    attributes = {name: draw(st.integers(0, 1)) for name in ("exclusive", "reverse")}
    # onnxruntime takes a vector of one number, too.
    shape = draw(st.sampled_from([(), (1,)]))
    axis = np.full(shape, draw(st.integers(-x.ndim, x.ndim - 1)))
    return one_node("CumSum", [x], dtype, attributes, {1: axis})


@st.composite
def positions(draw: st.DrawFn) -> Case:
    dtype = draw(st.sampled_from(TYPES))
    shapes = hnp.array_shapes(min_dims=1, max_dims=3, max_side=4)
    x = draw(hnp.arrays(dtype, shapes, elements=elements(dtype)))
    attributes = {
        "axis": draw(st.integers(-x.ndim, x.ndim - 1)),
        "keepdims": draw(st.integers(0, 1)),
        "select_last_index": draw(st.integers(0, 1)),
    }
    return one_node(draw(st.sampled_from(["ArgMax", "ArgMin"])), [x], np.int64, attributes)


@st.composite
def expansions(draw: st.DrawFn) -> Case:
    op = draw(st.sampled_from(["Expand", "Tile", "Trilu", "OneHot"]))
    dtype = draw(st.sampled_from((*TYPES, "bool")))
    x = tensor(draw, dtype, least=2) if dtype != "bool" else np.array([[True, False], [True] * 2])
    if op == "Expand":
        column = x[..., :1]
        return one_node(op, [column], dtype, {}, {1: np.array([2, *x.shape])})
    if op == "Tile":
        repeats = [draw(st.integers(1, 3)) for _ in x.shape]
        return one_node(op, [x], dtype, {}, {1: np.array(repeats)})
    if op == "Trilu":
        k = np.array(draw(st.one_of(st.integers(-3, 3), st.just(-(1 << 62)))))
        attributes = {"upper": draw(st.integers(0, 1))}
        return one_node(op, [x, k], dtype, attributes)
    depth, kind = draw(st.integers(1, 4)), draw(st.sampled_from(["int32", "int64", "uint8"]))
    at = draw(hnp.arrays(kind, (2, 3), elements=elements(kind)))
    axis = {"axis": draw(st.integers(-3, 2))}
    return one_node(op, [at, x.reshape(-1)[:2]], dtype, axis, {1: np.array(depth)})


@st.composite
def ranges(draw: st.DrawFn) -> Case:
    """The output's shape is stated; start, limit and delta come from outside, and give it."""
    dtype = draw(st.sampled_from(["int16", "int32", "int64", "float32"]))
    start, count = draw(st.integers(-100, 100)), draw(st.integers(1, 5))
    delta = draw(st.integers(1, 9)) * draw(st.sampled_from([1, -1]))
    behind = draw(st.integers(1, abs(delta))) * (1 if delta > 0 else -1)
    given = (start, start + (count - 1) * delta + behind, delta)
    return one_node("Range", [np.array(v, dtype) for v in given], dtype, shape=[count])


FAMILIES = (reductions, running, positions, expansions, ranges)


@pytest.mark.parametrize("family", range(len(FAMILIES)))
def test_the_host_gives_the_oracles_bits(family: int, tmp_path: Path) -> None:
    check_on_host(examples(FAMILIES[family](), sampling.examples(40, 10)), tmp_path)

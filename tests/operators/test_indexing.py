"""Indices that come from outside: gathers, scatters, slices; also indices that lead nowhere."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sampling
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from operators.exact_cases import (
    INTEGERS,
    check_on_host,
    check_values,
    elements,
    examples,
    one_node,
)
from operators.lab import Array, Case

pytestmark = pytest.mark.needs_host_gcc

TYPES = (*INTEGERS, "float32", "bool")
SHAPES = hnp.array_shapes(min_dims=1, max_dims=3, max_side=4)


def indices(draw: st.DrawFn, shape: Sequence[int], size: int) -> Array:
    """Most of them inside of the axis; some far away, up to the ends of the type."""
    dtype = draw(st.sampled_from(["int32", "int64"]))
    info = np.iinfo(dtype)
    near = st.integers(-size - 2, size + 1)
    far = st.sampled_from([int(info.min), int(info.max), 1 << 30])
    return draw(hnp.arrays(dtype, tuple(shape), elements=st.one_of(near, near, near, far)))


def data(draw: st.DrawFn, dtype: str, shape: Sequence[int]) -> Array:
    finite = st.integers(-4, 4).map(float) if dtype == "float32" else elements(dtype)
    return draw(hnp.arrays(dtype, tuple(shape), elements=finite))


@st.composite
def gathers(draw: st.DrawFn) -> Case:
    dtype = draw(st.sampled_from(TYPES))
    x = data(draw, dtype, draw(SHAPES))
    axis = draw(st.integers(-x.ndim, x.ndim - 1))
    at = indices(draw, draw(hnp.array_shapes(min_dims=0, max_dims=2, max_side=3)), x.shape[axis])
    if draw(st.booleans()):
        # a table in flash
        return one_node("Gather", [at], dtype, {"axis": axis}, {0: x})
    return one_node("Gather", [x, at], dtype, {"axis": axis})


@st.composite
def element_gathers(draw: st.DrawFn) -> Case:
    dtype = draw(st.sampled_from(TYPES))
    x = data(draw, dtype, draw(SHAPES))
    axis = draw(st.integers(-x.ndim, x.ndim - 1))
    shape = [draw(st.integers(1, size)) for size in x.shape]
    shape[axis] = draw(st.integers(1, 5))
    at = indices(draw, shape, x.shape[axis])
    return one_node("GatherElements", [x, at], dtype, {"axis": axis})


def reduction(draw: st.DrawFn, dtype: str) -> dict[str, Any]:
    names = ["none"] if dtype == "bool" else ["none", "add", "mul", "max", "min"]
    return {"reduction": draw(st.sampled_from(names))}


@st.composite
def element_scatters(draw: st.DrawFn) -> Case:
    dtype = draw(st.sampled_from(TYPES))
    x = data(draw, dtype, draw(SHAPES))
    axis = draw(st.integers(-x.ndim, x.ndim - 1))
    shape = [draw(st.integers(1, size)) for size in x.shape]
    at = indices(draw, shape, x.shape[axis])
    attributes = {"axis": axis, **reduction(draw, dtype)}
    return one_node("ScatterElements", [x, at, data(draw, dtype, shape)], dtype, attributes)


@st.composite
def tuples(draw: st.DrawFn) -> Case:
    """GatherND and ScatterND: an index for each of the first axes."""
    dtype = draw(st.sampled_from(TYPES))
    x = data(draw, dtype, draw(SHAPES))
    depth = draw(st.integers(1, x.ndim))
    rows = draw(hnp.array_shapes(min_dims=1, max_dims=2, max_side=3))
    at = indices(draw, (*rows, depth), min(x.shape[:depth]))
    if draw(st.booleans()):
        return one_node("GatherND", [x, at], dtype)
    updates = data(draw, dtype, (*rows, *x.shape[depth:]))
    return one_node("ScatterND", [x, at, updates], dtype, reduction(draw, dtype))


@st.composite
def slices(draw: st.DrawFn) -> Case:
    """The output's shape is stated, and the bounds that are read give it."""
    dtype = draw(st.sampled_from(TYPES))
    x = data(draw, dtype, draw(SHAPES))
    axes = draw(st.lists(st.integers(0, x.ndim - 1), min_size=1, unique=True))
    shape, steps, starts, ends = list(x.shape), [], [], []
    for axis in axes:
        size, step = x.shape[axis], draw(st.sampled_from([1, 1, 2, -1, -2]))
        count = draw(st.integers(1, (size - 1) // abs(step) + 1))
        reach = (count - 1) * step
        first = draw(st.integers(max(0, -reach), min(size, size - reach) - 1))
        last = first + reach
        end = last + draw(st.integers(1, abs(step))) * (1 if step > 0 else -1)
        # Behind the first element there is nothing to count from the end.
        ends.append(-9 * size if end < 0 else end if end < size else 99)
        starts.append(first - size * draw(st.integers(0, 1)))
        steps.append(step)
        shape[axis] = count
    kind = draw(st.sampled_from([np.int32, np.int64]))
    bounds = [np.array(starts, kind), np.array(ends, kind)]
    constants = {3: np.array(axes, kind), 4: np.array(steps, kind)}
    return one_node("Slice", [x, *bounds], dtype, constants=constants, shape=shape)


FAMILIES = (gathers, element_gathers, element_scatters, tuples, slices)


@pytest.mark.parametrize("family", range(len(FAMILIES)))
def test_the_host_gives_the_oracles_bits(family: int, tmp_path: Path) -> None:
    check_on_host(examples(FAMILIES[family](), sampling.examples(40, 10)), tmp_path)


def test_an_index_beyond_an_end_reads_the_nearest_and_writes_nothing(tmp_path: Path) -> None:
    x = np.array([1, 2, 3, 4], np.int32)
    far = np.array([-9, -4, -1, 3, 4, 1 << 40], np.int64)
    read = np.array([1, 1, 4, 4, 4, 4], np.int32)
    new = np.arange(10, 16).astype(np.int32)
    written = np.array([11, 2, 3, 13], np.int32)
    check_values([
        (one_node("Gather", [x, far], np.int32), read),
        (one_node("GatherElements", [x, far], np.int32), read),
        (one_node("GatherND", [x, far[:, None]], np.int32), read),
        (one_node("ScatterND", [x, far[:, None], new], np.int32), written),
    ], tmp_path)  # fmt: skip


def test_each_batch_is_read_at_its_own_index(tmp_path: Path) -> None:
    x = np.array([[1, 2], [3, 4]], np.int32)
    at = np.array([[1], [0]], np.int64)
    gather = one_node("GatherND", [x, at], np.int32, {"batch_dims": 1})
    check_values([(gather, np.array([2, 3], np.int32))], tmp_path)

"""Models of one operator on any element types, and random ones of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from onnx import helper, numpy_helper
from operators.lab import Array, Case, check_device, compile_case, run_on_host
from sanitizers import SANITIZED

INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
FLOATS = ("float32", "float64")
# What C leaves open must not happen: no overflow, no shift or index beyond an end.


def one_node(
    op: str,
    inputs: Sequence[Array],
    dtype: npt.DTypeLike,
    attributes: Mapping[str, Any] | None = None,
    constants: Mapping[int, Array] | None = None,
    shape: Sequence[int] | None = None,
    opset: int = 18,
) -> Case:
    """A model of one node. constants: inputs by their place that are known at compile time."""
    known = dict(constants or {})
    count = len(inputs) + len(known)
    names = [f"x{k}" for k in range(count)]
    free = [k for k in range(count) if k not in known]
    code = helper.np_dtype_to_tensor_dtype
    graph = helper.make_graph(
        [helper.make_node(op, names, ["y"], op, **(attributes or {}))],
        "case",
        [
            helper.make_tensor_value_info(names[k], code(value.dtype), value.shape)
            for k, value in zip(free, inputs, strict=True)
        ],
        [helper.make_tensor_value_info("y", code(np.dtype(dtype)), shape)],
        [numpy_helper.from_array(value, names[k]) for k, value in known.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)
    label = f"{op} {dict(attributes or {})} {[f'{v.dtype}{list(v.shape)}' for v in inputs]}"
    return Case(label, model, tuple(inputs), tolerance=1e-5)


def integers(dtype: str) -> st.SearchStrategy[int]:
    """Integers of a type; often small ones, and often its ends."""
    info = np.iinfo(dtype)
    low, high = int(info.min), int(info.max)
    ends = st.sampled_from([low, low + 1, 0, 1, high - 1, high])
    return st.one_of(st.integers(max(low, -9), 9), ends, st.integers(low, high))


def elements(dtype: str) -> st.SearchStrategy[Any]:
    """Values of any type; floats with infinities and NaN."""
    if dtype == "bool":
        return st.booleans()
    if dtype in FLOATS:
        width = 32 if dtype == "float32" else 64
        return st.one_of(st.integers(-5, 5).map(float), st.floats(width=width))
    return integers(dtype)


@st.composite
def broadcast(draw: st.DrawFn, count: int, dtypes: Sequence[str]) -> list[Array]:
    """Arrays of these types whose shapes broadcast together."""
    shapes = draw(hnp.mutually_broadcastable_shapes(num_shapes=count, max_dims=4, max_side=4))
    return [
        draw(hnp.arrays(dtype, shape, elements=elements(dtype)))
        for dtype, shape in zip(dtypes, shapes.input_shapes, strict=True)
    ]


def examples(strategy: st.SearchStrategy[Case], count: int) -> list[Case]:
    """Drawn once, always the same ones."""
    found: list[Case] = []

    @settings(max_examples=count, deadline=None, derandomize=True, database=None)
    @given(strategy)
    def collect(case: Case) -> None:
        found.append(case)

    collect()
    return found


def check_on_host(cases: Sequence[Case], folder: Path) -> None:
    """All cases compile, without a warning; the host gives the oracle's bits (floats: nearly)."""
    compiled = [compile_case(case, folder, index) for index, case in enumerate(cases)]
    for item, outputs in zip(compiled, run_on_host(compiled, folder, SANITIZED), strict=True):
        try:
            check_device(item, outputs)
        except AssertionError as error:
            raise AssertionError(f"{item.case.name}: {error}") from error


def check_values(rows: Sequence[tuple[Case, Array]], folder: Path) -> None:
    """The oracle and the host give these values."""
    compiled = [compile_case(case, folder, index) for index, (case, _) in enumerate(rows)]
    found = run_on_host(compiled, folder, SANITIZED)
    for item, outputs, (case, wanted) in zip(compiled, found, rows, strict=True):
        for who, values in (("oracle", item.expected), ("host", outputs)):
            assert values[0].dtype == wanted.dtype, f"{case.name}: {who}"
            assert np.array_equal(values[0], wanted, equal_nan=wanted.dtype.kind == "f"), (
                f"{case.name}: {who} gives {values[0].tolist()}, not {wanted.tolist()}"
            )

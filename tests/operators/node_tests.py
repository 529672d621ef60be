"""ONNX's own node tests (onnx.backend.test), as cases of the laboratory.

The onnx package generates them: a model of one node, inputs, and the outputs that ONNX wants. Where
a test gives as an input what must be known at compile time (a shape, weights, the bounds of a
Clip), its value is put into the model as a constant.
"""

from __future__ import annotations

import functools
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper
from operators.lab import Array, Case, Compiled, compile_case, relative_error

from mcu_deploy.errors import McuDeployError


@dataclass(frozen=True)
class NodeTest:
    """One data set of a node test."""

    name: str
    model: onnx.ModelProto
    inputs: tuple[Array, ...]
    outputs: tuple[Array, ...]

    @property
    def expanded(self) -> bool:
        """Whether the operator's function body stands in its place."""
        return self.name.endswith("_expanded")


@functools.cache
def node_tests() -> tuple[NodeTest, ...]:
    """All node tests whose data are plain arrays, by name."""
    from onnx.backend.test.case.node import collect_testcases

    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # overflowing casts, wanted ones
        cases = collect_testcases(None)
    for case in cases:
        for inputs, outputs in case.data_sets or ():
            arrays = (*inputs, *outputs)
            if case.model is None or not all(isinstance(a, np.ndarray) for a in arrays):
                continue
            if any(a.dtype.kind in "OUSc" or a.dtype.name not in _KNOWN for a in arrays):
                continue
            found.append(NodeTest(case.name, case.model, tuple(inputs), tuple(outputs)))
    return tuple(sorted(found, key=lambda t: t.name))


_KNOWN = {
    "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32",
}  # fmt: skip


def _with_constants(test: NodeTest, kept: int) -> tuple[onnx.ModelProto, tuple[Array, ...]]:
    """The model with all inputs but the first `kept` as constants."""
    model = onnx.ModelProto()
    model.CopyFrom(test.model)
    names = [i.name for i in model.graph.input]
    for name, value in list(zip(names, test.inputs, strict=True))[kept:]:
        model.graph.initializer.append(numpy_helper.from_array(value, name))
        del model.graph.input[[i.name for i in model.graph.input].index(name)]
    return model, test.inputs[:kept]


def compile_node_test(test: NodeTest, folder: Path, index: int) -> Compiled | str:
    """The compiled test, with as many inputs as can be; or the compiler's sentence."""
    refusal = ""
    for kept in dict.fromkeys((len(test.inputs), 1)):
        model, inputs = _with_constants(test, kept)
        try:
            return compile_case(Case(test.name, model, inputs), folder, index)
        except McuDeployError as error:
            refusal = str(error)
    return refusal


def check_outputs(test: NodeTest, actual: list[Array], tolerance: float = 1e-5) -> None:
    """Integers and booleans as ONNX wants them exactly, floats within the tolerance."""
    assert len(actual) == len(test.outputs)
    for found, wanted in zip(actual, test.outputs, strict=True):
        assert found.dtype == wanted.dtype
        if wanted.dtype.kind == "f":
            error = relative_error(found, wanted)
            assert error <= tolerance, f"relative error {error:g}"
        else:
            assert np.array_equal(found, wanted), "integers differ"

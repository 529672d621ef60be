"""ONNX's own node tests (onnx.backend.test), as cases of the laboratory.

The onnx package generates them: a model of one node, inputs, and the outputs that ONNX wants. Where
a test gives as an input what must be known at compile time (a shape, weights, the bounds of a
Clip), its value is put into the model as a constant.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import onnx
from onnx import numpy_helper
from operators.lab import Array, Case, Compiled, compile_case, relative_error

from mcu_deploy.errors import McuDeployError
from mcu_deploy.ir import DType


@dataclass(frozen=True)
class NodeTest:
    """The data set of a node test: arrays, and of sequences and optionals lists and None."""

    name: str
    model: onnx.ModelProto
    inputs: tuple[Any, ...]
    outputs: tuple[Any, ...]

    @property
    def expanded(self) -> bool:
        """Whether the operator's function body stands in its place."""
        return self.name.endswith("_expanded")


# The pools of 32 x 32 x 32 values: onnx computes what it wants of these alone for five seconds.
SLOW = ("test_averagepool_3d_default", "test_lppool_3d_default", "test_maxpool_3d_default")


@functools.cache
def node_tests(whole: bool = True) -> tuple[NodeTest, ...]:
    """All node tests, by name; or all but the slow ones, as long as nobody has asked for these."""
    from onnx.backend.test.case.base import Base
    from onnx.backend.test.case.node import collect_testcases

    def export(cls: type, _name: str, _bases: Any, members: dict[str, Any]) -> None:
        """As onnx does it, without a second for the texts of the functions, for its pages."""
        for name in members:
            made = f"test_{name.removeprefix('export_')}"
            if name.startswith("export") and (whole or made not in SLOW):
                np.random.seed(seed=0)
                getattr(cls, name)()

    found = []
    with warnings.catch_warnings(), mock.patch.object(type(Base), "__init__", export):
        warnings.simplefilter("ignore")  # overflowing casts, wanted ones
        cases = collect_testcases(None)
    for case in cases:
        assert case.model is not None
        for inputs, outputs in case.data_sets or ():
            given, wanted = map(_value, inputs), map(_value, outputs)
            found.append(NodeTest(case.name, case.model, tuple(given), tuple(wanted)))
    return tuple(sorted(found, key=lambda t: t.name))


def _value(value: Any) -> Any:
    """Numbers as arrays without axes; types that numpy lacks come as protobuf."""
    if isinstance(value, onnx.TensorProto):
        return numpy_helper.to_array(value)
    return np.asarray(value) if isinstance(value, np.generic) else value


# The inputs that decide the shape of an output or which axes are meant; of a Reduce... the second.
_SHAPES: Mapping[str, Sequence[int]] = {
    "AffineGrid": (1,), "CenterCropPad": (1,), "Col2Im": (1, 2), "ConstantOfShape": (0,),
    "DFT": (1, 2), "Expand": (1,), "MaxUnpool": (2,), "MelWeightMatrix": range(5), "OneHot": (1,),
    "Pad": (1, 3), "Range": range(3), "Reshape": (1,), "Resize": (1, 2, 3), "STFT": (1, 3),
    "Slice": range(1, 5), "Split": (1,), "Squeeze": (1,), "Tile": (1,), "TopK": (1,),
    "Unsqueeze": (1,), "Upsample": (1,),
    **dict.fromkeys(("BlackmanWindow", "HammingWindow", "HannWindow"), (0,)),
}  # fmt: skip


def shape_operands(test: NodeTest) -> set[str]:
    """The names of a test's inputs that decide shapes; an expanded test has those of its twin."""
    name = test.name.partition("_expanded")[0]
    node = next(t for t in node_tests(name in SLOW) if t.name == name).model.graph.node[-1]
    places = (1,) if node.op_type.startswith("Reduce") else _SHAPES.get(node.op_type, ())
    return {node.input[k] for k in places if k < len(node.input)}


def _with_constants(
    test: NodeTest, bound: Collection[str]
) -> tuple[onnx.ModelProto, tuple[Array, ...]]:
    """The model with these inputs as constants, and the values of the others. An optional that is
    not given is no input."""
    model = onnx.ModelProto()
    model.CopyFrom(test.model)
    given = []
    for place, value in zip(test.model.graph.input, test.inputs, strict=True):
        if value is None:
            del model.graph.input[[i.name for i in model.graph.input].index(place.name)]
            for node in model.graph.node:
                node.input[:] = ["" if name == place.name else name for name in node.input]
        elif place.name in bound:
            model.graph.initializer.append(numpy_helper.from_array(value, place.name))
            del model.graph.input[[i.name for i in model.graph.input].index(place.name)]
        else:
            given += value if isinstance(value, list) else [value]
    return model, tuple(given)


def _open_shapes(test: NodeTest, model: onnx.ModelProto) -> dict[str, tuple[int, ...]]:
    """Of the inputs that the model has of the test's: of sequences, whose lengths no model says,
    those of the elements."""
    there = {i.name for i in model.graph.input}
    found = {}
    for place, value in zip(test.model.graph.input, test.inputs, strict=True):
        if isinstance(value, list):
            found |= {f"{place.name}_{k}": element.shape for k, element in enumerate(value)}
        elif place.name in there and any(d.dim_param for d in place.type.tensor_type.shape.dim):
            found[place.name] = value.shape
    return found


def bound_inputs(test: NodeTest) -> tuple[onnx.ModelProto, tuple[Array, ...]]:
    """The model in which what decides shapes is constant, and the values of its other inputs."""
    return _with_constants(test, shape_operands(test))


def compile_node_test(test: NodeTest, folder: Path, index: int) -> Compiled | str:
    """The compiled test, with as many inputs as can be; or the compiler's sentence.

    First all values are inputs, then those that decide shapes are constants, then all but the
    first.
    """
    refusal = ""
    plain = all(isinstance(v, list) or v.dtype.kind != "O" for v in test.inputs if v is not None)
    named = zip(test.model.graph.input, test.inputs, strict=True)
    rest = {i.name for i, value in [*named][1:] if isinstance(value, np.ndarray)}
    tried: tuple[set[str], ...] = (set(), shape_operands(test), rest) if plain else (set(),)
    for bound in dict.fromkeys(map(frozenset, tried)):
        model, inputs = _with_constants(test, bound)
        case = Case(test.name, model, inputs, shapes=_open_shapes(test, model))
        try:
            return compile_case(case, folder, index)
        except McuDeployError as error:
            refusal = str(error)
    return refusal


def _counted(found: Array, wanted: Array, count: int) -> Array:
    assert found.ndim == wanted.ndim
    assert found.shape == wanted.shape or count in wanted.shape
    there = found[tuple(slice(extent) for extent in wanted.shape)]
    assert np.count_nonzero(found) == np.count_nonzero(there)
    return there


# A step of the types whose results others compute otherwise, and round then.
_STEPS = {DType.FLOAT16: 2.0**-10, DType.BFLOAT16: 2.0**-7}


def check_outputs(test: NodeTest, actual: list[Array], tolerance: float = 1e-5) -> None:
    """Floats within the tolerance, or a step of theirs; what has 8 bits or fewer exactly, as
    integers and booleans. Of outputs that are counted as many elements, behind which are zeros. A
    sequence is as many outputs."""
    each = [v if isinstance(v, list) else [v] for v in test.outputs]
    outputs = [value for values in each for value in values]
    if len(actual) > len(outputs):
        *actual, count = actual
        actual = [_counted(a, w, int(count)) for a, w in zip(actual, outputs, strict=True)]
    assert len(actual) == len(outputs)
    for found, wanted in zip(actual, outputs, strict=True):
        assert found.shape == wanted.shape
        assert found.dtype == wanted.dtype
        dtype = DType.of(wanted.dtype)
        if dtype.wide.is_float and dtype.bits >= 16:
            error = relative_error(found, wanted)
            assert error <= max(tolerance, _STEPS.get(dtype, 0.0)), f"relative error {error:g}"
        else:
            alike = dtype.to_memory(found), dtype.to_memory(wanted)
            assert np.array_equal(*alike), "integers or bits differ"

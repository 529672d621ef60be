"""Models of many small quantized layers side by side, so that one firmware tests them all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnx
from onnx import helper, numpy_helper
from sampling import examples


class Quantized(NamedTuple):
    """How a tensor lies on the integers."""

    scale: float = 1.0
    zero: int = 0
    dtype: str = "int8"


# Bytes over an emulator's line are what takes long: layers behind so many of an input read it from
# its first again.
INPUTS = 8_000


class LayersModel:
    """A model in QDQ form: of each type one input and one output, which all layers share."""

    def __init__(self) -> None:
        self._nodes: list[onnx.NodeProto] = []
        self._constants: list[onnx.TensorProto] = []
        self._taken = {"int8": 0, "uint8": 0}
        self._inputs = dict(self._taken)
        self._ends: dict[str, list[str]] = {"int8": [], "uint8": []}

    def _name(self, word: str) -> str:
        return f"{word}_{len(self._nodes)}_{len(self._constants)}"

    def constant(self, value: Any) -> str:
        name = self._name("constant")
        self._constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def node(self, op: str, inputs: Sequence[str], name: str = "", **attributes: Any) -> str:
        """Adds an operator of one output, and gives that."""
        output = self._name(op.lower())
        self._nodes.append(helper.make_node(op, inputs, [output], name or output, **attributes))
        return output

    def dequantized(self, value: str, scale: Any, zero: Any, dtype: str, **axis: int) -> str:
        kind = np.dtype(dtype).type
        operands = [value, self.constant(np.float32(scale)), self.constant(np.array(zero, kind))]
        return self.node("DequantizeLinear", operands, **axis)

    def input(self, shape: Sequence[int], how: Quantized) -> str:
        """The next elements of the model's input, as a real tensor."""
        begin = self._taken[how.dtype]
        self._taken[how.dtype] = end = begin + int(np.prod(shape))
        self._inputs[how.dtype] = max(self._inputs[how.dtype], end)
        part = self.node("Slice", [how.dtype, self.constant([begin]), self.constant([end])])
        part = self.node("Reshape", [part, self.constant(np.array(shape))])
        return self.dequantized(part, how.scale, how.zero, how.dtype)

    def quantized(self, value: str, how: Quantized) -> str:
        """A real tensor, rounded to what the integers hold of it."""
        kind = np.dtype(how.dtype).type
        operands = [value, self.constant(np.float32(how.scale)), self.constant(kind(how.zero))]
        return self.dequantized(self.node("QuantizeLinear", operands), *how)

    def output(self, value: str, how: Quantized) -> None:
        """Makes a real tensor a part of the model's output, with which a layer is whole."""
        kind = np.dtype(how.dtype).type
        operands = [value, self.constant(np.float32(how.scale)), self.constant(kind(how.zero))]
        part = self.node("QuantizeLinear", operands)
        self._ends[how.dtype].append(self.node("Reshape", [part, self.constant([-1])]))
        self._taken = {dtype: n if n <= INPUTS else 0 for dtype, n in self._taken.items()}

    def save(self, path: Path) -> Path:
        inputs, outputs = [], []
        for dtype, ends in self._ends.items():
            element = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
            if self._inputs[dtype]:
                shape = (self._inputs[dtype],)
                inputs.append(helper.make_tensor_value_info(dtype, element, shape))
            if ends:
                self._nodes.append(helper.make_node("Concat", ends, [f"{dtype}_y"], axis=0))
                outputs.append(helper.make_tensor_value_info(f"{dtype}_y", element, None))
        graph = helper.make_graph(self._nodes, "layers", inputs, outputs, self._constants)
        opset = [helper.make_opsetid("", 17)]
        onnx.save_model(helper.make_model(graph, opset_imports=opset, ir_version=8), path)
        return path


def side_by_side(
    add: Callable[[Any, LayersModel, int], object],
) -> Callable[[Sequence[Any], Path], Path]:
    """What saves a model of cases. add: adds the layer of a case, with the number of the case."""

    def model(cases: Sequence[Any], path: Path) -> Path:
        made = LayersModel()
        for number, case in enumerate(cases):
            add(case, made, number)
        return made.save(path)

    return model


def extremes(path: Path) -> Path:
    """Samples of such a model beside it: random, the end of the range that is farther from zero
    (where sums are largest), the other end, and either of both.

    In the sample one, of which the second half is at that end, as bytes take long."""
    model = onnx.load(path)
    arrays: dict[str, np.ndarray] = {}
    random = np.random.default_rng(7)
    for value in model.graph.input:
        dtype = np.dtype(value.name)
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        near, far = sorted((low, high), key=abs)
        size = value.type.tensor_type.shape.dim[0].dim_value
        rows = [
            random.integers(low, high + 1, size), np.full(size, far), np.full(size, near),
            random.choice([low, high], size),
        ]  # fmt: skip
        if examples(2, 1) == 1:
            rows = [np.where(np.arange(size) < size // 2, rows[0], rows[1])]
        arrays[value.name] = np.stack(rows).astype(dtype)
    np.savez(samples := path.with_suffix(".npz"), **arrays)
    return samples

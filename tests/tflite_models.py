"""TFLite files made from lists of tensors and operators, for tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import flatbuffers
import numpy as np
import numpy.typing as npt
import tflite

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Sparsity:
    """How the elements of a constant lie. levels: the size of a dense one, or the segments and
    indices of a sparse one, in whose dtype they are written."""

    order: tuple[int, ...]
    levels: tuple[int | tuple[Array, Array], ...]
    blocks: tuple[int, ...] = ()


@dataclass(frozen=True)
class Tensor:
    """A tensor by name; type: TFLite's name, by default that of the value or FLOAT32."""

    name: str
    shape: tuple[int, ...] = ()
    type: str = "FLOAT32"
    scale: tuple[float, ...] = ()
    zero_point: tuple[int, ...] = ()
    axis: int = 0
    value: Array | None = None
    variable: bool = False
    signature: tuple[int, ...] = ()
    sparsity: Sparsity | None = None
    details: int = 0


@dataclass(frozen=True)
class Operator:
    """options: fields of the operator's table, by the names of the generated Python functions."""

    kind: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    table: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    custom: str = ""
    version: int = 1
    custom_options: bytes = b""


def constant(name: str, value: Array, scale: Sequence[float] = (), axis: int = 0) -> Tensor:
    """A constant; with a scale it is quantized with the zero point 0."""
    zeros = (0,) * len(scale)
    type_ = value.dtype.name.upper()
    return Tensor(name, value.shape, type_, tuple(scale), zeros, axis, value)


def int8(name: str, shape: Sequence[int], scale: float, zero_point: int) -> Tensor:
    """A computed tensor of int8."""
    return Tensor(name, tuple(shape), "INT8", (scale,), (zero_point,))


@dataclass(frozen=True)
class Subgraph:
    """A graph with tensors of its own, which an operator runs by its number in the file."""

    tensors: Sequence[Tensor]
    operators: Sequence[Operator]
    inputs: Sequence[str] = ()
    outputs: Sequence[str] = ()


def write(
    tensors: Sequence[Tensor],
    operators: Sequence[Operator],
    inputs: Sequence[str],
    outputs: Sequence[str],
    version: int = 3,
    others: Sequence[Subgraph] = (),
) -> bytes:
    """The bytes of a .tflite file. others: the subgraphs behind the network's own, from 1."""
    return _Writer((Subgraph(tensors, operators, inputs, outputs), *others)).finish(version)


class _Writer:
    def __init__(self, graphs: Sequence[Subgraph]) -> None:
        self.builder = flatbuffers.Builder(1024)
        self.graphs = graphs
        self.operators = [o for graph in graphs for o in graph.operators]
        self.buffers: list[Array | None] = [None]  # the first is empty by convention

    def _numbers(self, start: Any, prepend: Any, values: Sequence[Any]) -> int:
        start(self.builder, len(values))
        for value in reversed(values):
            prepend(value)
        return int(self.builder.EndVector())

    def _tables(self, start: Any, offsets: Sequence[int]) -> int:
        return self._numbers(start, self.builder.PrependUOffsetTRelative, offsets)

    def _table(self, name: str, fields: Mapping[str, Any]) -> int:
        getattr(tflite, f"{name}Start")(self.builder)
        for key, value in fields.items():
            getattr(tflite, f"{name}Add{key}")(self.builder, value)
        return int(getattr(tflite, f"{name}End")(self.builder))

    def _buffer(self, value: Array | None) -> int:
        if value is None:
            return self._table("Buffer", {})
        raw = self.builder.CreateByteVector(np.ascontiguousarray(value).tobytes())
        return self._table("Buffer", {"Data": raw})

    def _quantization(self, tensor: Tensor) -> int:
        b = self.builder
        scale = self._numbers(
            tflite.QuantizationParametersStartScaleVector, b.PrependFloat32, tensor.scale
        )
        zero = self._numbers(
            tflite.QuantizationParametersStartZeroPointVector, b.PrependInt64, tensor.zero_point
        )
        return self._table(
            "QuantizationParameters",
            {
                "Scale": scale,
                "ZeroPoint": zero,
                "DetailsType": tensor.details,
                "QuantizedDimension": tensor.axis,
            },
        )

    def _sparsity(self, sparsity: Sparsity) -> int:
        b = self.builder
        levels = []
        for level in sparsity.levels:
            if isinstance(level, int):
                levels.append(self._table("DimensionMetadata", {"Format": 0, "DenseSize": level}))
                continue
            fields: dict[str, Any] = {"Format": 1}
            for key, values in zip(("ArraySegments", "ArrayIndices"), level, strict=True):
                name = f"{values.dtype.name.capitalize()}Vector"
                fields[key] = self._table(name, {"Values": b.CreateNumpyVector(values)})
                fields[f"{key}Type"] = getattr(tflite.SparseIndexVector, name)
            levels.append(self._table("DimensionMetadata", fields))
        lists = {
            key: b.CreateNumpyVector(np.array(values, np.int32))
            for key, values in (("TraversalOrder", sparsity.order), ("BlockMap", sparsity.blocks))
        }
        start = tflite.SparsityParametersStartDimMetadataVector
        return self._table(
            "SparsityParameters", lists | {"DimMetadata": self._tables(start, levels)}
        )

    def _tensor(self, tensor: Tensor) -> int:
        b = self.builder
        fields: dict[str, Any] = {"Name": b.CreateString(tensor.name)}
        if tensor.scale or tensor.details:
            fields["Quantization"] = self._quantization(tensor)
        if tensor.sparsity:
            fields["Sparsity"] = self._sparsity(tensor.sparsity)
        fields["Shape"] = self._numbers(tflite.TensorStartShapeVector, b.PrependInt32, tensor.shape)
        if tensor.signature:
            fields["ShapeSignature"] = self._numbers(
                tflite.TensorStartShapeSignatureVector, b.PrependInt32, tensor.signature
            )
        fields["Type"] = getattr(tflite.TensorType, tensor.type)
        fields["Buffer"] = len(self.buffers)
        self.buffers.append(tensor.value)
        fields["IsVariable"] = tensor.variable
        return self._table("Tensor", fields)

    def _operator(self, operator: Operator, index: Mapping[str, int]) -> int:
        b = self.builder
        fields: dict[str, Any] = {"OpcodeIndex": self.operators.index(operator)}
        if operator.table:
            options = {key: self._option(value) for key, value in operator.options.items()}
            place = "2" if hasattr(tflite.BuiltinOptions2, operator.table) else ""
            kinds = getattr(tflite, f"BuiltinOptions{place}")
            fields[f"BuiltinOptions{place}"] = self._table(operator.table, options)
            fields[f"BuiltinOptions{place}Type"] = getattr(kinds, operator.table)
        if operator.custom_options:
            fields["CustomOptions"] = b.CreateByteVector(operator.custom_options)
        for key, names in (("Inputs", operator.inputs), ("Outputs", operator.outputs)):
            numbers = [index[n] if n else -1 for n in names]
            start = getattr(tflite, f"OperatorStart{key}Vector")
            fields[key] = self._numbers(start, b.PrependInt32, numbers)
        return self._table("Operator", fields)

    def _option(self, value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return self.builder.CreateNumpyVector(value)
        return self.builder.CreateString(value) if isinstance(value, str) else value

    def _opcode(self, operator: Operator) -> int:
        number = getattr(tflite.BuiltinOperator, operator.kind)
        fields = {"DeprecatedBuiltinCode": min(number, 127), "BuiltinCode": number}
        fields["Version"] = operator.version
        if operator.custom:
            fields["CustomCode"] = self.builder.CreateString(operator.custom)
        return self._table("OperatorCode", fields)

    def _subgraph(self, graph: Subgraph, name: str) -> int:
        b = self.builder
        index = {t.name: i for i, t in enumerate(graph.tensors)}
        tensors = [self._tensor(t) for t in graph.tensors]
        operators = [self._operator(o, index) for o in graph.operators]
        fields: dict[str, Any] = {"Name": b.CreateString(name)}
        for key, names in (("Inputs", graph.inputs), ("Outputs", graph.outputs)):
            start = getattr(tflite, f"SubGraphStart{key}Vector")
            fields[key] = self._numbers(start, b.PrependInt32, [index[n] for n in names])
        fields["Tensors"] = self._tables(tflite.SubGraphStartTensorsVector, tensors)
        fields["Operators"] = self._tables(tflite.SubGraphStartOperatorsVector, operators)
        return self._table("SubGraph", fields)

    def finish(self, version: int) -> bytes:
        b = self.builder
        names = ["main", *(f"graph_{i}" for i in range(1, len(self.graphs)))]
        graphs = [self._subgraph(g, n) for g, n in zip(self.graphs, names, strict=True)]
        codes = [self._opcode(o) for o in self.operators]
        buffers = [self._buffer(value) for value in self.buffers]
        model = {
            "Version": version,
            "OperatorCodes": self._tables(tflite.ModelStartOperatorCodesVector, codes),
            "Subgraphs": self._tables(tflite.ModelStartSubgraphsVector, graphs),
            "Buffers": self._tables(tflite.ModelStartBuffersVector, buffers),
        }
        b.Finish(self._table("Model", model), b"TFL3")
        return bytes(b.Output())


def small_model() -> bytes:
    """A quantized network of several operators, of about 3 kB."""
    rng = np.random.default_rng(0)
    window = {"Padding": tflite.Padding.SAME, "StrideH": 2, "StrideW": 2}
    return write(
        [
            int8("x", (1, 8, 8, 3), 0.05, 3),
            constant("w", rng.integers(-9, 9, (4, 3, 3, 3), np.int8), [0.1, 0.2, 0.1, 0.2]),
            constant("b", rng.integers(-90, 90, 4, np.int32)),
            int8("c", (1, 4, 4, 4), 0.1, -5),
            int8("p", (1, 2, 2, 4), 0.1, -5),
            constant("shape", np.array([1, 16], np.int32)),
            int8("r", (1, 16), 0.1, -5),
            constant("v", rng.integers(-9, 9, (5, 16), np.int8), [0.1]),
            int8("f", (1, 5), 0.2, 1),
            int8("y", (1, 5), 1 / 256, -128),
        ],
        [
            Operator("CONV_2D", ("x", "w", "b"), ("c",), "Conv2DOptions",
                     {**window, "DilationHFactor": 1, "DilationWFactor": 1}),
            Operator("AVERAGE_POOL_2D", ("c",), ("p",), "Pool2DOptions",
                     {**window, "FilterHeight": 2, "FilterWidth": 2}),
            Operator("RESHAPE", ("p", "shape"), ("r",), "ReshapeOptions"),
            Operator("FULLY_CONNECTED", ("r", "v", ""), ("f",), "FullyConnectedOptions"),
            Operator("SOFTMAX", ("f",), ("y",), "SoftmaxOptions", {"Beta": 1.0}),
        ],
        ["x"],
        ["y"],
    )  # fmt: skip

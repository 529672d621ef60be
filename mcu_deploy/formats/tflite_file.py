"""The tables of a .tflite file as plain values.

The FlatBuffers package for Python does not verify a file: an offset may point anywhere, and a
vector may claim any length. So everything that is read goes through `_Reader`, which bounds it by
the file's size, and what Python raises for an offset outside of the file is the caller's to catch
(`SIGNS_OF_DAMAGE`). Schema: tensorflow/compiler/mlir/lite/schema/schema.fbs, version 3.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import tflite

from mcu_deploy.arithmetic import Array
from mcu_deploy.errors import ModelError, shorten
from mcu_deploy.errors.obstacles import tensors
from mcu_deploy.formats.consistency import too_large
from mcu_deploy.formats.mistaken import other_kind
from mcu_deploy.formats.tflite_operation import SECOND, Operation, Subgraph, TfliteTensor
from mcu_deploy.formats.tflite_sparse import dense
from mcu_deploy.ir import DType, Quantization, TensorType

# What Python, numpy and flatbuffers raise where a file says something impossible.
SIGNS_OF_DAMAGE = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    MemoryError,
    RuntimeError,
    TypeError,
    ValueError,
    struct.error,
)

_IDENTIFIER = b"TFL3"
_LARGEST_RANK = 8

_DTYPES: Mapping[int, DType] = {
    getattr(tflite.TensorType, dtype.name): dtype
    for dtype in (
        DType.FLOAT32, DType.FLOAT64, DType.BOOL, DType.INT8, DType.UINT8, DType.INT16,
        DType.UINT16, DType.INT32, DType.UINT32, DType.INT64, DType.UINT64,
    )
}  # fmt: skip
_BLOCKWISE = 2  # BlockwiseQuantization of QuantizationDetails, newer than the package tflite
_TYPE_NAMES = {v: k for k, v in vars(tflite.TensorType).items() if isinstance(v, int)}
_KINDS = {v: k for k, v in vars(tflite.BuiltinOperator).items() if isinstance(v, int)}


# The operators that run other subgraphs: their options, and the fields of these with the numbers.
_CALLS: Mapping[str, tuple[type[Any], tuple[str, ...]]] = {
    "CALL_ONCE": (tflite.CallOnceOptions, ("InitSubgraphIndex",)),
    "IF": (tflite.IfOptions, ("ThenSubgraphIndex", "ElseSubgraphIndex")),
    "STABLEHLO_COMPOSITE": (tflite.StableHLOCompositeOptions, ("DecompositionSubgraphIndex",)),
    "WHILE": (tflite.WhileOptions, ("CondSubgraphIndex", "BodySubgraphIndex")),
}


@dataclass(frozen=True)
class File(Subgraph):
    """The first subgraph of a file, which is the network that TFLite runs.

    problems: sentences about tensors that are unreadable.
    """

    problems: tuple[str, ...] = ()


def parse(raw: bytes, where: str) -> File:
    """The file's first subgraph. `where` names the file in errors.

    Raises ModelError for what is no such file or has several meanings, UnsupportedError for types
    that no backend computes, and any of SIGNS_OF_DAMAGE where an offset leads out of the file.
    """
    if len(raw) < 8 or raw[4:8] != _IDENTIFIER:
        what = other_kind(raw, ".tflite") or (
            "no TFLite file: it lacks the identifier TFL3. It is damaged or of another format; "
            "copy or convert it again."
        )
        raise ModelError(f"{where} is {what}")
    return _Reader(raw, where).read()


def _unreadable(table: Any, shape: Sequence[int]) -> str | None:
    if len(shape) > _LARGEST_RANK or any(d < 0 for d in shape):
        return f"has no static shape ({list(shape)}); convert the model with fixed input shapes"
    quantization = table.Quantization()
    if quantization is not None and quantization.DetailsType() == _BLOCKWISE:
        return "is quantized in blocks, which mcu-deploy lacks; convert it with a scale a channel"
    if table.Sparsity() is None:
        return None
    if table.Type() == tflite.TensorType.INT4:
        return "is stored sparsely in 4 bits, which mcu-deploy does not read; convert it to int8"
    return too_large(TensorType(DType.INT8, tuple(shape)))


class _Reader:
    """Reads one file. `budget` bounds what all vectors of tables and numbers together may hold.

    No writer shares them between tables, so an honest file has fewer elements than bytes; in a
    forged one a thousand tables may share a vector as long as the file.
    """

    def __init__(self, raw: bytes, where: str) -> None:
        self.raw = raw
        self.where = where
        self.budget = len(raw)
        self.model = tflite.Model.GetRootAsModel(raw, 0)
        self.clauses: dict[str, list[str]] = {}
        self.open: list[int] = []

    def read(self) -> File:
        if self.model.Version() != 3:
            raise ModelError(
                f"{self.where} has the schema version {self.model.Version()}; mcu-deploy reads "
                "version 3. Convert the model again with a newer TensorFlow."
            )
        if self.model.SubgraphsLength() == 0:
            raise ModelError(f"{self.where} holds no network. Convert the model again.")
        return File(**vars(self.subgraph(0)), problems=tensors(self.clauses))

    def subgraph(self, index: int) -> Subgraph:
        """A subgraph and those that its operators run."""
        if not 0 <= index < self.model.SubgraphsLength() or index in self.open:
            raise ModelError(
                f"{self.where} has an operator that runs the subgraph number {index}, which is "
                "missing or runs the operator itself. The file is damaged; copy or convert it "
                "again."
            )
        self.open.append(index)
        found = _SubgraphReader(self, self.model.Subgraphs(index)).read()
        self.open.pop()
        return found

    def length(self, elements: int) -> int:
        """The length of a vector, charged to the budget."""
        self.budget -= elements
        if self.budget < 0:
            raise ValueError("its vectors are longer than the file")
        return elements

    def numbers(self, vector: Any) -> list[int]:
        """A vector of integers; an absent one is empty (flatbuffers says 0)."""
        if isinstance(vector, int):
            return []
        self.length(len(vector))
        return [int(n) for n in vector]

    def buffer(self, index: int) -> Array:
        """The bytes of a buffer, aligned; those of more than 2 GiB lie behind the tables."""
        if index >= self.model.BuffersLength():
            raise ModelError(
                f"{self.where} uses the buffer number {index}, and it has "
                f"{self.model.BuffersLength()}. The file is damaged; copy or convert it again."
            )
        table = self.model.Buffers(index)
        offset, size = int(table.Offset()), int(table.Size())
        if offset > 1:
            if offset + size > len(self.raw):
                raise ValueError("a buffer lies outside of the file")
            return np.frombuffer(self.raw, np.uint8, size, offset).copy()
        data = table.DataAsNumpy()
        return np.zeros(0, np.uint8) if isinstance(data, int) else np.array(data, np.uint8)


class _SubgraphReader:
    """Reads one subgraph of a file; tensors are numbered by subgraph."""

    def __init__(self, file: _Reader, graph: Any) -> None:
        self.file, self.model, self.where = file, file.model, file.where
        self.numbers, self.length = file.numbers, file.length
        self.graph = graph
        self.tensors: dict[int, TfliteTensor] = {}
        self.count = self.length(graph.TensorsLength())

    def read(self) -> Subgraph:
        graph = self.graph
        tables = (graph.Operators(i) for i in range(self.length(graph.OperatorsLength())))
        operations = tuple(
            self._operation(i, table)
            for i, table in enumerate(tables)
            if not self._is_done_by_now(table)
        )
        return Subgraph(
            (graph.Name() or b"").decode("utf-8", "replace") or "main",
            tuple(self._tensors(self.numbers(graph.InputsAsNumpy()))),
            tuple(self._tensors(self.numbers(graph.OutputsAsNumpy()))),
            operations,
        )

    def _tensors(self, indices: list[int]) -> Iterator[TfliteTensor]:
        for index in indices:
            yield self._tensor(index)

    def _opcode(self, table: Any) -> tuple[Any, str]:
        """The kind of an operator, as the file has it, and its name."""
        code = table.OpcodeIndex()
        if code >= self.model.OperatorCodesLength():
            raise ModelError(
                f"{self.where} has an operator of the unlisted kind {code}. The file is damaged; "
                "copy or convert it again."
            )
        opcode = self.model.OperatorCodes(code)
        # Numbers above 127 have no place in the older field; the larger of the two holds.
        number = max(opcode.BuiltinCode(), opcode.DeprecatedBuiltinCode())
        return opcode, _KINDS.get(number, f"operator number {number}")

    def _is_done_by_now(self, table: Any) -> bool:
        """Whether an operator is a DENSIFY of a constant, or a DEQUANTIZE of float16: that was made
        dense, or float32, when it was read, and is the output, too."""
        kind = self._opcode(table)[1]
        if kind not in ("DENSIFY", "DEQUANTIZE"):
            return False
        if table.InputsLength() != 1 or table.OutputsLength() != 1:
            raise ValueError(f"a {kind} has not one input and one output")
        source = self._tensor(table.Inputs(0))
        if source.value is None or (kind == "DEQUANTIZE" and not source.type.dtype.is_float):
            return False
        self.tensors[table.Outputs(0)] = source
        return True

    def _operation(self, index: int, table: Any) -> Operation:
        opcode, kind = self._opcode(table)
        custom, custom_options = (opcode.CustomCode() or b"").decode("utf-8", "replace"), b""
        # LiteRT's compilers for NPUs leave out the number, and 0 is that of ADD.
        if custom or kind == "CUSTOM":
            kind = f"custom operator {shorten(custom)}"
            custom_options = bytes(self.numbers(table.CustomOptionsAsNumpy()))
        inputs, second = self.numbers(table.InputsAsNumpy()), kind in SECOND
        operation = Operation(
            index,
            kind,
            int(opcode.Version()),
            tuple(None if i == -1 else self._tensor(i) for i in inputs),
            tuple(self._tensors(self.numbers(table.OutputsAsNumpy()))),
            tuple(self._tensors(self.numbers(table.IntermediatesAsNumpy()))),
            (),
            custom,
            custom_options,
            table.BuiltinOptions2() if second else table.BuiltinOptions(),
            int(table.BuiltinOptions2Type() if second else table.BuiltinOptionsType()),
        )
        if kind not in _CALLS:
            return operation
        options, fields = _CALLS[kind]
        read = operation.options(options)
        return replace(
            operation, subgraphs=tuple(self.file.subgraph(getattr(read, f)()) for f in fields)
        )

    def _tensor(self, index: int) -> TfliteTensor:
        if not 0 <= index < self.count:
            raise ModelError(
                f"{self.where} uses the tensor number {index}, and it has {self.count}. "
                "The file is damaged; copy or convert it again."
            )
        if index not in self.tensors:
            self.tensors[index] = self._read_tensor(index)
        return self.tensors[index]

    def _read_tensor(self, index: int) -> TfliteTensor:
        table = self.graph.Tensors(index)
        name = (table.Name() or b"").decode("utf-8", "replace") or f"tensor_{index}"
        shape = tuple(self.numbers(table.ShapeAsNumpy()))
        signature = tuple(self.numbers(table.ShapeSignatureAsNumpy())) or shape
        code = table.Type()
        clause = _unreadable(table, shape)
        if clause is not None:
            return self._stand_in(index, name, clause)
        if code == tflite.TensorType.RESOURCE:
            return TfliteTensor(index, name, TensorType(DType.INT32, ()), shape, is_handle=True)
        value = self._value(table, code, shape, name)
        if code == tflite.TensorType.FLOAT16 and value is not None:
            dtype = DType.FLOAT32
        elif code == tflite.TensorType.INT4 and value is not None:
            dtype = DType.INT8
        elif code in _DTYPES:
            dtype = _DTYPES[code]
        else:
            kind = _TYPE_NAMES.get(code, f"number {code}")
            return self._stand_in(
                index, name,
                f"has elements of type {kind}, which no backend computes; convert the model to "
                "float32 or int8",
            )  # fmt: skip
        clause = too_large(TensorType(dtype, shape)) if value is None else None
        if clause is not None:
            return self._stand_in(index, name, clause)
        quantization = self._quantization(table.Quantization(), shape, name)
        type_ = TensorType(dtype, shape, quantization if dtype.is_integer else None)
        return TfliteTensor(index, name, type_, signature, value, bool(table.IsVariable()))

    def _stand_in(self, index: int, name: str, clause: str) -> TfliteTensor:
        """An unreadable tensor, told with the others of its kind."""
        self.file.clauses.setdefault(clause, []).append(name)
        return TfliteTensor(index, name, TensorType(DType.FLOAT32, ()), (), unreadable=True)

    def _value(self, table: Any, code: int, shape: tuple[int, ...], name: str) -> Array | None:
        """A constant's elements; None for a tensor whose buffer is empty."""
        data = self.file.buffer(int(table.Buffer()))
        if not len(data):
            return None
        if code == tflite.TensorType.FLOAT16:
            elements: Array = data.view(np.float16).astype(np.float32)
        elif code == tflite.TensorType.INT4:
            # Two in a byte, the first in the low half; of an odd number the last half is unused.
            halves = np.stack([data << 4, data & 0xF0], axis=1).astype(np.uint8).reshape(-1)
            elements = (halves.view(np.int8) >> 4)[: math.prod(shape)]
        elif code in _DTYPES:
            elements = data.view(_DTYPES[code].numpy)
        else:
            return None
        if table.Sparsity() is not None:
            elements = dense(table.Sparsity(), self.numbers, elements, shape)
        if elements.size != math.prod(shape):
            raise ModelError(
                f"The constant {shorten(name)!r} of {self.where} has {elements.size} elements, and "
                f"its shape {list(shape)} wants {math.prod(shape)}. The file is damaged; copy or "
                "convert it again."
            )
        return elements.reshape(shape)

    def _quantization(self, table: Any, shape: tuple[int, ...], name: str) -> Quantization | None:
        """Scale and zero point; None where the tensor has none (min and max alone say nothing)."""
        if table is None or table.ScaleLength() == 0:
            return None
        scales = np.array(table.ScaleAsNumpy(), np.float32)
        self.length(len(scales))
        points = self.numbers(table.ZeroPointAsNumpy()) or [0] * len(scales)
        axis = int(table.QuantizedDimension())
        if len(shape) == 1:
            axis = 0  # older converters give a bias the axis of its weights
        fits = len(points) in (1, len(scales)) and (
            len(scales) == 1 or (0 <= axis < len(shape) and shape[axis] == len(scales))
        )
        # Converters write a scale of 0 for a tensor of zeros.
        finite = np.all(np.isfinite(scales)) and np.all(scales >= 0)
        if not fits or not finite or any(abs(p) >= 1 << 31 for p in points):
            raise ModelError(
                f"The tensor {shorten(name)!r} of {self.where} has {len(scales)} scales and "
                f"{len(points)} zero points that do not fit its shape {list(shape)} or are no "
                "numbers to scale by. The file is damaged; copy or convert it again."
            )
        if len(scales) == 1 and scales[0] == 0:
            return None
        return Quantization.from_arrays(scales, points, axis)

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
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import tflite

from mcu_deploy.arithmetic import Array
from mcu_deploy.errors import ModelError, UnsupportedError, shorten
from mcu_deploy.errors.obstacles import tensors
from mcu_deploy.formats.consistency import too_large
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
    tflite.TensorType.FLOAT32: DType.FLOAT32,
    tflite.TensorType.FLOAT64: DType.FLOAT64,
    tflite.TensorType.INT8: DType.INT8,
    tflite.TensorType.UINT8: DType.UINT8,
    tflite.TensorType.INT16: DType.INT16,
    tflite.TensorType.UINT16: DType.UINT16,
    tflite.TensorType.INT32: DType.INT32,
    tflite.TensorType.UINT32: DType.UINT32,
    tflite.TensorType.INT64: DType.INT64,
    tflite.TensorType.UINT64: DType.UINT64,
    tflite.TensorType.BOOL: DType.BOOL,
}
_TYPE_NAMES = {v: k for k, v in vars(tflite.TensorType).items() if isinstance(v, int)}
_KINDS = {v: k for k, v in vars(tflite.BuiltinOperator).items() if isinstance(v, int)}

Table = TypeVar("Table")


@dataclass(frozen=True)
class TfliteTensor:
    """A tensor of the file; its axes are in TFLite's order (batch, rows, columns, channels).

    value: that of a constant, of the type's shape; None for a computed tensor. signature: the
    shape with -1 for an axis that the file leaves open. variable: whether it keeps its value
    between runs. unreadable: no backend computes its type; the one here stands in for it.
    """

    index: int
    name: str
    type: TensorType
    signature: tuple[int, ...]
    value: Array | None = None
    variable: bool = False
    unreadable: bool = False


@dataclass(frozen=True)
class Operation:
    """An operator of the file: kind is TFLite's name ("CONV_2D"); absent inputs are None."""

    index: int
    kind: str
    version: int
    inputs: tuple[TfliteTensor | None, ...]
    outputs: tuple[TfliteTensor, ...]
    intermediates: tuple[TfliteTensor, ...]
    _options: Any = None
    _options_type: int = 0

    @property
    def name(self) -> str:
        """TFLite gives operators no names; they go by the tensor that they write.

        A converter that merges operators joins their names with semicolons; the first one stays.
        """
        return self.outputs[0].name.split(";")[0] if self.outputs else f"{self.kind}_{self.index}"

    def input(self, index: int) -> TfliteTensor:
        """An input that must be there."""
        tensor = self.optional(index)
        if tensor is None:
            raise self.damaged(f"its input {index} is missing")
        return tensor

    def optional(self, index: int) -> TfliteTensor | None:
        return self.inputs[index] if index < len(self.inputs) else None

    def constant(self, index: int) -> Array:
        """The value of an input that must be a constant."""
        tensor = self.input(index)
        if tensor.value is None:
            raise self.unsupported(
                f"reads the tensor {shorten(tensor.name)!r}, which is computed at run time",
                "Make it a constant in the model.",
            )
        return tensor.value

    @property
    def output(self) -> TfliteTensor:
        """The output of an operator that has one."""
        if len(self.outputs) != 1:
            raise self.damaged(f"it has {len(self.outputs)} outputs, not one")
        return self.outputs[0]

    def options(self, table: type[Table]) -> Table:
        """The operator's options; the schema's defaults where the file has none.

        Raises ModelError where the file has the options of another operator.
        """
        read: Any = table()
        if self._options is None or self._options_type == 0:
            read.Init(_EMPTY_TABLE, 4)
            return read  # type: ignore[no-any-return]
        if self._options_type != getattr(tflite.BuiltinOptions, table.__name__):
            raise self.damaged("its options are those of another operator")
        read.Init(self._options.Bytes, self._options.Pos)
        return read  # type: ignore[no-any-return]

    def require_alike(self, *tensors: TfliteTensor) -> None:
        """Raises where integers that are moved as they are would not mean the same numbers."""
        kinds = {(tensor.type.dtype, tensor.type.quantization) for tensor in tensors}
        if len(kinds) > 1:
            raise self.unsupported(
                "moves integers between tensors of different types or scales",
                "TFLite-Micro does not rescale them either; convert the model again.",
            )

    def damaged(self, clause: str) -> ModelError:
        """An error for sizes or values that do not fit together."""
        return ModelError(
            f"{self.kind} {shorten(self.name)!r} of the model cannot be computed: {clause}. "
            "The model is damaged; convert it again."
        )

    def unsupported(self, clause: str, remedy: str) -> UnsupportedError:
        """An error for something that mcu-deploy does not compute: "KIND 'name' <clause>"."""
        return Refused(self, clause, remedy)


class Refused(UnsupportedError):
    """An operator that is not computed in the form that it has; clause: why not, and a remedy."""

    def __init__(self, operation: Operation, clause: str, remedy: str) -> None:
        super().__init__(f"{operation.kind} {shorten(operation.name)!r} {clause}. {remedy}")
        self.clause = f"it {clause}; {remedy[:1].lower()}{remedy[1:].rstrip('.')}"


@dataclass(frozen=True)
class File:
    """The first subgraph of a file, which is the network that TFLite runs.

    problems: sentences about tensors that are unreadable.
    """

    name: str
    inputs: tuple[TfliteTensor, ...]
    outputs: tuple[TfliteTensor, ...]
    operations: tuple[Operation, ...]
    problems: tuple[str, ...] = ()


# A table without fields: a vtable of its own size and the table's, then the offset back to it.
_EMPTY_TABLE = struct.pack("<HHi", 4, 4, 4)


def parse(raw: bytes, where: str) -> File:
    """The file's first subgraph. `where` names the file in errors.

    Raises ModelError for what is no such file or has several meanings, UnsupportedError for types
    that no backend computes, and any of SIGNS_OF_DAMAGE where an offset leads out of the file.
    """
    if len(raw) < 8 or raw[4:8] != _IDENTIFIER:
        raise ModelError(
            f"{where} is no TFLite file: it lacks the identifier TFL3. It is damaged or of another "
            "format; copy or convert it again."
        )
    return _Reader(raw, where).read()


def _unreadable(table: Any, shape: Sequence[int]) -> str | None:
    if len(shape) > _LARGEST_RANK or any(d < 0 for d in shape):
        return f"has no static shape ({list(shape)}); convert the model with fixed input shapes"
    if table.Sparsity() is not None:
        return "is stored sparsely, which mcu-deploy does not read; convert it without that"
    return None


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
        self.tensors: dict[int, TfliteTensor] = {}
        self.clauses: dict[str, list[str]] = {}

    def read(self) -> File:
        if self.model.Version() != 3:
            raise ModelError(
                f"{self.where} has the schema version {self.model.Version()}; mcu-deploy reads "
                "version 3. Convert the model again with a newer TensorFlow."
            )
        if self.model.SubgraphsLength() == 0:
            raise ModelError(f"{self.where} holds no network. Convert the model again.")
        graph = self.model.Subgraphs(0)
        self.graph = graph
        self.count = self._length(graph.TensorsLength())
        operations = tuple(self._operation(i) for i in range(self._length(graph.OperatorsLength())))
        return File(
            (graph.Name() or b"").decode("utf-8", "replace") or "main",
            tuple(self._tensors(self._numbers(graph.InputsAsNumpy()))),
            tuple(self._tensors(self._numbers(graph.OutputsAsNumpy()))),
            operations,
            tensors(self.clauses),
        )

    def _length(self, elements: int) -> int:
        """The length of a vector, charged to the budget."""
        self.budget -= elements
        if self.budget < 0:
            raise ValueError("its vectors are longer than the file")
        return elements

    def _numbers(self, vector: Any) -> list[int]:
        """A vector of integers; an absent one is empty (flatbuffers says 0)."""
        if isinstance(vector, int):
            return []
        self._length(len(vector))
        return [int(n) for n in vector]

    def _tensors(self, indices: list[int]) -> Iterator[TfliteTensor]:
        for index in indices:
            yield self._tensor(index)

    def _operation(self, index: int) -> Operation:
        table = self.graph.Operators(index)
        code = table.OpcodeIndex()
        if code >= self.model.OperatorCodesLength():
            raise ModelError(
                f"{self.where} has an operator of the unlisted kind {code}. The file is damaged; "
                "copy or convert it again."
            )
        opcode = self.model.OperatorCodes(code)
        # Numbers above 127 have no place in the older field; the larger of the two holds.
        number = max(opcode.BuiltinCode(), opcode.DeprecatedBuiltinCode())
        kind = _KINDS.get(number, f"operator number {number}")
        if kind == "CUSTOM":
            custom = (opcode.CustomCode() or b"").decode("utf-8", "replace")
            kind = f"custom operator {shorten(custom)}"
        inputs = self._numbers(table.InputsAsNumpy())
        return Operation(
            index,
            kind,
            int(opcode.Version()),
            tuple(None if i == -1 else self._tensor(i) for i in inputs),
            tuple(self._tensors(self._numbers(table.OutputsAsNumpy()))),
            tuple(self._tensors(self._numbers(table.IntermediatesAsNumpy()))),
            table.BuiltinOptions(),
            int(table.BuiltinOptionsType()),
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
        shape = tuple(self._numbers(table.ShapeAsNumpy()))
        signature = tuple(self._numbers(table.ShapeSignatureAsNumpy())) or shape
        code = table.Type()
        clause = _unreadable(table, shape)
        if clause is not None:
            return self._stand_in(index, name, clause)
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
        self.clauses.setdefault(clause, []).append(name)
        return TfliteTensor(index, name, TensorType(DType.FLOAT32, ()), (), unreadable=True)

    def _value(self, table: Any, code: int, shape: tuple[int, ...], name: str) -> Array | None:
        """A constant's elements; None for a tensor whose buffer is empty."""
        data = self._buffer(int(table.Buffer()))
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
        if elements.size != math.prod(shape):
            raise ModelError(
                f"The constant {shorten(name)!r} of {self.where} has {elements.size} elements, and "
                f"its shape {list(shape)} wants {math.prod(shape)}. The file is damaged; copy or "
                "convert it again."
            )
        return elements.reshape(shape)

    def _buffer(self, index: int) -> Array:
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

    def _quantization(self, table: Any, shape: tuple[int, ...], name: str) -> Quantization | None:
        """Scale and zero point; None where the tensor has none (min and max alone say nothing)."""
        if table is None or table.ScaleLength() == 0:
            return None
        scales = np.array(table.ScaleAsNumpy(), np.float32)
        self._length(len(scales))
        points = self._numbers(table.ZeroPointAsNumpy()) or [0] * len(scales)
        axis = int(table.QuantizedDimension())
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

"""Tensors and operators of a .tflite file, as values that converters read."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any, TypeVar

import tflite

from mcu_deploy.arithmetic import Array
from mcu_deploy.errors import ModelError, UnsupportedError, shorten
from mcu_deploy.ir import TensorType

Table = TypeVar("Table")

SECOND = ("STABLEHLO_COMPOSITE",)
"""The operators whose options lie in the file's second place for some."""

# A table without fields: a vtable of its own size and the table's, then the offset back to it.
_EMPTY_TABLE = struct.pack("<HHi", 4, 4, 4)


OPEN_SIZES = (
    "Sizes that the model leaves open are 1 in its file, whatever they are in a run; convert the "
    "model with fixed input shapes."
)


@dataclass(frozen=True)
class TfliteTensor:
    """A tensor of the file; its axes are in TFLite's order (batch, rows, columns, channels).

    value: that of a constant, of the type's shape; None for a computed tensor. signature: the
    shape with -1 for an axis that the file leaves open. variable: whether it keeps its value
    between runs. unreadable: no backend computes its type; the one here stands in for it.
    is_handle: it stands for a variable (RESOURCE), and has no value.
    """

    index: int
    name: str
    type: TensorType
    signature: tuple[int, ...]
    value: Array | None = None
    variable: bool = False
    unreadable: bool = False
    is_handle: bool = False


@dataclass(frozen=True)
class Operation:
    """An operator of the file: kind is TFLite's name ("CONV_2D"); absent inputs are None.

    subgraphs: those that it runs, in the order of its options. custom: the name of an operator that
    is none of TFLite's, and custom_options: what only it understands.
    """

    index: int
    kind: str
    version: int
    inputs: tuple[TfliteTensor | None, ...]
    outputs: tuple[TfliteTensor, ...]
    intermediates: tuple[TfliteTensor, ...]
    subgraphs: tuple[Subgraph, ...] = ()
    custom: str = ""
    custom_options: bytes = b""
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

    @property
    def given(self) -> tuple[TfliteTensor, ...]:
        """All inputs, which must be there."""
        return tuple(self.input(index) for index in range(len(self.inputs)))

    def constant(self, index: int) -> Array:
        """The value of an input that must be a constant."""
        tensor = self.input(index)
        if tensor.value is None:
            raise self.unsupported(
                f"reads the tensor {shorten(tensor.name)!r}, which is computed at run time",
                "Make it a constant in the model.",
            )
        return tensor.value

    def image(self, index: int) -> TfliteTensor:
        """An input of four axes: converters leave a shape out that they do not know."""
        tensor = self.input(index)
        if tensor.type.rank != 4:
            raise self.unsupported(
                f"reads the tensor {shorten(tensor.name)!r} of the shape "
                f"{list(tensor.type.shape)}, not of four axes",
                "Convert the model with static shapes.",
            )
        return tensor

    def weights(self, index: int) -> TfliteTensor:
        """An input that must be a constant where it is integers; real ones may be computed, as from
        float16 or int8."""
        tensor = self.input(index)
        if not tensor.type.dtype.is_float:
            self.constant(index)
        return tensor

    def state(self, index: int) -> TfliteTensor:
        """An input that must be variable."""
        tensor = self.input(index)
        if not tensor.variable or tensor.value is not None:
            raise self.unsupported(
                f"takes its state from the tensor {tensor.name!r}, which is not variable",
                "Convert the model with TensorFlow 2.",
            )
        return tensor

    def number(self, index: int) -> int:
        """The first element of an input that must be a constant."""
        return int(self.constant(index).reshape(-1)[0])

    def axis(self, tensor: TfliteTensor, number: int) -> int:
        """The axis of a tensor, from its first one, that a number means."""
        rank = tensor.type.rank
        if not -rank <= number < rank:
            raise self.damaged(f"its input has no axis {number}")
        return number % rank

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
        kinds = tflite.BuiltinOptions2 if self.kind in SECOND else tflite.BuiltinOptions
        if self._options_type != getattr(kinds, table.__name__):
            raise self.damaged("its options are those of another operator")
        read.Init(self._options.Bytes, self._options.Pos)
        return read  # type: ignore[no-any-return]

    def require_alike(self, *tensors: TfliteTensor, compared: bool = False) -> None:
        """Raises where integers that are moved, or compared, as they are would not mean the same
        numbers."""
        kinds = {(tensor.type.dtype, tensor.type.quantization) for tensor in tensors}
        if len(kinds) > 1 and compared:
            raise self.unsupported(
                "compares integers of different types or scales",
                "mcu-deploy compares them as they are; convert the model without quantization.",
            )
        if len(kinds) > 1:
            raise self.unsupported(
                "moves integers between tensors of different types or scales",
                "TFLite-Micro does not rescale them either; convert the model again.",
            )

    def damaged(self, clause: str) -> ModelError:
        """An error for sizes or values that do not fit together."""
        remedy = OPEN_SIZES if self.is_open else "The model is damaged; convert it again."
        name = f"{self.kind} {shorten(self.name)!r}"
        told = f"{name} of the model cannot be computed: {clause}. {remedy}"
        return ModelError(told)

    @property
    def is_open(self) -> bool:
        """Whether the file leaves sizes of its tensors open, besides their first one."""
        tensors = (*self.inputs, *self.outputs)
        return any(t is not None and -1 in t.signature[1:] for t in tensors)

    def unsupported(self, clause: str, remedy: str) -> UnsupportedError:
        """An error for something that mcu-deploy does not compute: "KIND 'name' <clause>"."""
        return Refused(self, clause, remedy)


class Refused(UnsupportedError):
    """An operator that is not computed in the form that it has; clause: why not, and a remedy."""

    def __init__(self, operation: Operation, clause: str, remedy: str) -> None:
        super().__init__(f"{operation.kind} {shorten(operation.name)!r} {clause}. {remedy}")
        # A name (TFLite) keeps its capitals.
        first = remedy[:1] if remedy[1:2].isupper() else remedy[:1].lower()
        self.clause = f"it {clause}; {first}{remedy[1:].rstrip('.')}"


@dataclass(frozen=True)
class Subgraph:
    """Operators in the order in which they run."""

    name: str
    inputs: tuple[TfliteTensor, ...]
    outputs: tuple[TfliteTensor, ...]
    operations: tuple[Operation, ...]

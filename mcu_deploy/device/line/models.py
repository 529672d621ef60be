"""The models on a device, and whether they are those that were just built."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from mcu_deploy.device.line import messages
from mcu_deploy.device.line.codes import TensorKind, Type
from mcu_deploy.device.line.messages import ModelHeader, TensorInfo
from mcu_deploy.errors import DeviceError, RequestError
from mcu_deploy.ir import DType

Array = NDArray[np.generic]
Ask = Callable[[Type, bytes], bytes]


@dataclass(frozen=True)
class ExpectedModel:
    """A model that was just built, and that the device has to run. SHA-256 in lower-case hex."""

    name: str
    source_sha256: str
    object_sha256: str


@dataclass(frozen=True)
class PartitionInfo:
    """A part of a model that can be run alone."""

    index: int
    name: str
    inputs: tuple[TensorInfo, ...]
    outputs: tuple[TensorInfo, ...]


@dataclass(frozen=True)
class ModelInfo(ModelHeader):
    """A model on the device. Sizes in bytes; stack_bytes 0: unknown."""

    inputs: tuple[TensorInfo, ...]
    outputs: tuple[TensorInfo, ...]
    partitions: tuple[PartitionInfo, ...] = ()
    kept: tuple[TensorInfo, ...] = ()
    states: tuple[TensorInfo, ...] = ()

    def size_of(self, inputs: Sequence[Array] | Sequence[TensorInfo]) -> int | None:
        """The size of a run on these inputs; None where all shapes are static, or where they are
        not the model's."""
        if self.size is None or len(inputs) != len(self.inputs):
            return None
        shape = inputs[self.size.input].shape
        return shape[self.size.axis] if self.size.axis < len(shape) else None

    def refuse_sizes(self, inputs: Sequence[Array], board: str) -> None:
        """For a firmware that sets no sizes: raises DeviceError where these inputs have another."""
        pairs = zip(inputs, self.inputs, strict=False)
        other = next((t for a, t in pairs if a.ndim == len(t.shape) and a.shape != t.shape), None)
        if other is not None:
            raise DeviceError(
                f"The firmware on board {board} knows no request that sets a size (RESIZE), so it "
                f"runs model {self.name} with its input {other.name!r} of shape "
                f"{list(other.shape)} alone. Give that, or build and load it anew."
            )

    def at(self, size: int, ask: Ask) -> ModelInfo:
        """As it is when the device has set the size. Raises RequestError where it has no such."""
        known = self.size
        if known is None:
            raise RequestError(
                f"Model {self.name} has one size alone, that of its shapes. Build it with a bound, "
                "as --shape x=N,8:N<=64, where each run is to decide one."
            )
        if not known.least <= size <= known.most:
            raise RequestError(
                f"Model {self.name} runs for sizes from {known.least} to {known.most}, not for "
                f"{size}. Give an input of such a size, or build it with another bound."
            )
        ask(Type.RESIZE, messages.pack_resize(self.index, size))
        return replace(
            self,
            inputs=_tensors(ask, self.index, TensorKind.INPUT, self.num_inputs),
            outputs=_tensors(ask, self.index, TensorKind.OUTPUT, self.num_outputs),
        )


@dataclass(frozen=True)
class Signature:
    """What a run takes and gives: a model's tensors, or those of one of its partitions.

    key: the indices of the model and, if it is one, of the partition. called: for messages.
    """

    key: tuple[int, int | None]
    called: str
    inputs: tuple[TensorInfo, ...]
    outputs: tuple[TensorInfo, ...]

    @classmethod
    def of(cls, model: ModelInfo, partition: int | str | None = None) -> Signature:
        """UsageError where the model has no such partition."""
        if partition is None:
            return cls((model.index, None), f"model {model.name}", model.inputs, model.outputs)
        for part in model.partitions:
            if partition in (part.index, part.name):
                called = f"partition {part.name!r} of model {model.name}"
                return cls((model.index, part.index), called, part.inputs, part.outputs)
        names = ", ".join(part.name for part in model.partitions) or "none at all"
        raise RequestError(f"Model {model.name} has no partition {partition!r}; it has {names}.")

    def input(self, index: int) -> bytes:
        """The reference of an input."""
        return self._reference(TensorKind.INPUT, TensorKind.PARTITION_INPUT, index)

    def output(self, index: int) -> bytes:
        """The reference of an output."""
        return self._reference(TensorKind.OUTPUT, TensorKind.PARTITION_OUTPUT, index)

    def _reference(self, whole: TensorKind, part: TensorKind, index: int) -> bytes:
        model, partition = self.key
        if partition is None:
            return messages.pack_tensor(model, whole, index)
        return messages.pack_tensor(model, part, partition, index)


def unpack_array(tensor: TensorInfo, data: bytes) -> Array:
    """The array whose bytes these are. Raises DeviceError where they are too many or too few."""
    dtype = DType.of(tensor.dtype)
    if len(data) != dtype.size(math.prod(tensor.shape)):
        raise DeviceError(
            f"The device sent {len(data)} bytes of the tensor {tensor.name!r}, which has the shape "
            f"{list(tensor.shape)} of {tensor.dtype}. The firmware is damaged: build and load it "
            "again."
        )
    return dtype.from_memory(data, tensor.shape)


def pack_array(tensor: TensorInfo, array: Array, what: str) -> bytes:
    """An array's bytes; UsageError where it has not the tensor's very type and shape."""
    if array.dtype.newbyteorder("<") != tensor.dtype or array.shape != tensor.shape:
        raise RequestError(
            f"{what} is {tensor.dtype} of shape {tensor.shape}; {array.dtype} of shape "
            f"{array.shape} was given."
        )
    ordered = np.ascontiguousarray(array, dtype=tensor.dtype)
    return DType.of(tensor.dtype).to_memory(ordered).tobytes()


def find_tensor(tensors: Sequence[TensorInfo], name: str, message: str) -> int:
    """The index of the tensor of this name; UsageError with `message` where there is none.

    A descriptor holds the first 63 bytes of a name; UsageError too where these are of several.
    """
    short = name.encode()[:63].decode(errors="ignore")
    found = [index for index, tensor in enumerate(tensors) if tensor.name in (name, short)]
    if len(found) == 1:
        return found[0]
    if found:
        raise RequestError(
            f"{len(found)} tensors of the model have names that begin like {name!r}, of which the "
            "device knows 63 bytes. Give them shorter names in the model."
        )
    names = ", ".join(repr(tensor.name) for tensor in tensors) or "none"
    raise RequestError(f"{message}; it has {names}.")


def _tensors(
    ask: Ask, model: int, kind: TensorKind, count: int, partition: int | None = None
) -> tuple[TensorInfo, ...]:
    found = []
    for number in range(count):
        place = (number, 0) if partition is None else (partition, number)
        request = messages.pack_tensor(model, kind, *place)
        found.append(messages.unpack_tensor(ask(Type.DESCRIBE_TENSOR, request)))
    return tuple(found)


def describe(model: int, ask: Ask) -> ModelInfo:
    """All that a device says of a model. ask: sends a request and returns the reply."""
    head = messages.unpack_describe(ask(Type.DESCRIBE, model.to_bytes(2, "little")))

    tensors = partial(_tensors, ask, model)

    def partition(number: int) -> PartitionInfo:
        request = messages.pack_partition(model, number)
        inputs, outputs, name = messages.unpack_partition(ask(Type.DESCRIBE_PARTITION, request))
        return PartitionInfo(
            number,
            name,
            tensors(TensorKind.PARTITION_INPUT, inputs, number),
            tensors(TensorKind.PARTITION_OUTPUT, outputs, number),
        )

    return ModelInfo(
        **vars(head) | {"index": model},
        inputs=tensors(TensorKind.INPUT, head.num_inputs),
        outputs=tensors(TensorKind.OUTPUT, head.num_outputs),
        partitions=tuple(map(partition, range(head.num_partitions))),
        kept=tensors(TensorKind.KEPT, head.num_kept),
        states=tensors(TensorKind.STATE, head.num_states),
    )


def refuse_other_models(
    board: str, models: Sequence[ModelHeader], expect: Sequence[ExpectedModel]
) -> None:
    """DeviceError, with what to do, where one of `expect` is not among `models` as it was built."""
    has = {model.name: model for model in models}
    for wanted in expect:
        name = wanted.name.encode()[:63].decode(errors="replace")
        found = has.get(name)
        if found is None:
            names = ", ".join(has) or "no model"
            raise DeviceError(
                f"The firmware on board {board} has {names}, not {wanted.name}: it is not the one "
                "that was just built; load firmware.elf of this build."
            )
        if found.source_sha256 != wanted.source_sha256:
            raise DeviceError(
                f"The model {wanted.name} on board {board} was built from another model file "
                f"(SHA-256 {found.source_sha256[:12]}..., not {wanted.source_sha256[:12]}...); "
                "load firmware.elf of this build."
            )
        if found.object_sha256 != wanted.object_sha256:
            raise DeviceError(
                f"The model {wanted.name} on board {board} is another build of the same model file "
                f"(object {found.object_sha256[:12]}..., not {wanted.object_sha256[:12]}...); "
                "load firmware.elf of this build."
            )

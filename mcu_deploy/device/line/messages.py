"""Messages of the serial protocol as values, and their bytes (docs/protocol.md, 3 to 5).

Every `unpack_*` is total: bytes that are no such message raise DeviceError, nothing else.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from mcu_deploy.device.line.codes import (
    Capability,
    CounterKind,
    Provoke,
    RunFlag,
    TensorKind,
    name_of_error,
    name_of_request,
)
from mcu_deploy.errors import DeviceError, one_line
from mcu_deploy.ir import DType


class ProtocolError(DeviceError):
    """The device refused a request: `code`, `detail` and `text` as it sent them."""

    def __init__(self, request: int, code: int, detail: int, text: str) -> None:
        self.request, self.code, self.detail, self.text = request, code, detail, text
        what = name_of_request(request)
        name = name_of_error(code)
        super().__init__(f"The device refused the request {what}: {text} ({name}, {detail}).")


@dataclass(frozen=True)
class Hello:
    """What the device is."""

    protocol_version: int
    counter_kind: CounterKind
    mtu: int
    receive_window: int
    capabilities: Capability
    model_abi: int
    clock_hz: int
    baud: int
    stack_bytes: int
    num_models: int
    board: str
    core: str


@dataclass(frozen=True)
class TensorInfo:
    """An input or an output: little-endian dtype, shape, quantization (scale 0: none)."""

    name: str
    dtype: np.dtype[np.generic]
    shape: tuple[int, ...]
    scale: float
    zero_point: int
    bytes: int


@dataclass(frozen=True)
class RunSize:
    """A size that each run decides, from `least` to `most`: that of an input, given by its index,
    along an axis."""

    least: int
    most: int
    input: int
    axis: int


@dataclass(frozen=True)
class ModelHeader:
    """A model's description without its tensors. The SHA-256 are in lower-case hex.

    size: None where all shapes are static, and where the firmware is of before there were sizes.
    """

    index: int
    name: str
    source_sha256: str
    object_sha256: str
    num_inputs: int
    num_outputs: int
    num_layers: int
    num_partitions: int
    num_kept: int
    num_states: int
    workspace_bytes: int
    stack_bytes: int
    abi_version: int
    size: RunSize | None = field(kw_only=True)


@dataclass(frozen=True)
class RunResult:
    """What a run says. The counters are in units of the hello's counter kind, over the
    repetitions; 0 where there is none."""

    model: int
    stopped: bool
    outputs_valid: bool
    repetitions: int
    layers: int
    counter_total: int
    counter_least: int
    counter_most: int
    stack_used: int
    stack_size: int


@dataclass(frozen=True)
class LayerCrc:
    """The CRC-32 of one output of one layer, right after the layer ran."""

    layer: int
    output: int
    num_outputs: int
    bytes: int
    crc: int


@dataclass(frozen=True)
class LayerTime:
    """The counter's difference over one layer in one repetition."""

    layer: int
    repetition: int
    counter: int


class _Payload:
    """Reads a payload field by field."""

    def __init__(self, data: bytes, what: str) -> None:
        self._data, self._what, self._at = data, what, 0

    def fields(self, layout: str) -> tuple[int, ...]:
        try:
            values = struct.unpack_from("<" + layout, self._data, self._at)
        except struct.error:
            raise self.broken(f"ends after {len(self._data)} bytes") from None
        self._at += struct.calcsize("<" + layout)
        return values

    def take(self, size: int) -> bytes:
        if self._at + size > len(self._data):
            raise self.broken(f"ends after {len(self._data)} bytes")
        self._at += size
        return self._data[self._at - size : self._at]

    def text(self) -> str:
        (size,) = self.fields("B")
        return self.take(size).decode("utf-8", errors="replace")

    @property
    def left(self) -> int:
        """How many bytes have not been read."""
        return len(self._data) - self._at

    def rest(self) -> bytes:
        return self.take(self.left)

    def broken(self, reason: str) -> DeviceError:
        return DeviceError(
            f"The device's {self._what} makes no sense: it {reason}. The firmware is damaged or "
            "of another version of mcu-deploy: build and load it anew."
        )


def unpack_error(payload: bytes) -> ProtocolError:
    """The error in an ERROR reply."""
    data = _Payload(payload, "ERROR reply")
    code, request, detail = data.fields("HHi")
    text = one_line(data.rest().decode("utf-8", errors="replace"))
    return ProtocolError(request, code, detail, text)


def unpack_hello(payload: bytes) -> Hello:
    """The reply to HELLO; fields that a newer firmware appends are ignored."""
    data = _Payload(payload, "HELLO reply")
    version, kind, mtu, window, can, abi, clock, baud, stack, models = data.fields("BBHIIIIIIH")
    board, core = data.text(), data.text()
    if not 256 <= mtu <= 32768:
        raise data.broken(f"has an MTU of {mtu} bytes")
    try:
        counter = CounterKind(kind)
    except ValueError:
        raise data.broken(f"has a counter of unknown kind {kind}") from None
    known = Capability(can & sum(Capability))
    return Hello(version, counter, mtu, window, known, abi, clock, baud, stack, models, board, core)


def unpack_describe(payload: bytes) -> ModelHeader:
    """The reply to DESCRIBE; that of an older firmware ends with the name."""
    data = _Payload(payload, "DESCRIBE reply")
    index, *counts = data.fields("HHHHHHHIII")
    source, binary = data.take(32).hex(), data.take(32).hex()
    name = data.text()
    least, most, number, axis = data.fields("IIHH") if data.left else (0, 0, 0, 0)
    size = RunSize(least, most, number, axis) if most else None
    if size is not None and not (1 <= least <= most < 1 << 31 and number < counts[0]):
        raise data.broken(f"has sizes from {least} to {most} of input {number}")
    return ModelHeader(index, name, source, binary, *counts, size=size)


def unpack_partition(payload: bytes) -> tuple[int, int, str]:
    """The reply to DESCRIBE_PARTITION: how many inputs and outputs, and the name."""
    data = _Payload(payload, "DESCRIBE_PARTITION reply")
    inputs, outputs = data.fields("HH")
    return inputs, outputs, data.text()


def unpack_tensor(payload: bytes) -> TensorInfo:
    """The reply to DESCRIBE_TENSOR."""
    data = _Payload(payload, "DESCRIBE_TENSOR reply")
    code, bits, ndim, size = data.fields("BBHI")
    (scale,) = struct.unpack("<f", data.take(4))
    (zero_point,) = data.fields("i")
    shape = data.fields(f"{ndim}I")
    name = data.text()
    type_ = DType.of_dlpack(code, bits)
    if type_ is None:
        raise data.broken(f"has the element type {code} of {bits} bits")
    dtype = type_.numpy.newbyteorder("<")
    if type_.size(math.prod(shape)) != size:
        raise data.broken(f"has the shape {shape} of {dtype} in {size} bytes")
    return TensorInfo(name, dtype, shape, scale, zero_point, size)


def unpack_read(payload: bytes) -> tuple[int, int, bytes]:
    """The reply to READ: offset, bytes of the whole tensor, data."""
    data = _Payload(payload, "READ reply")
    offset, total = data.fields("II")
    return offset, total, data.rest()


def unpack_crc(payload: bytes) -> tuple[int, int]:
    """The reply to TENSOR_CRC: CRC-32 and bytes of the tensor."""
    crc, size = _Payload(payload, "TENSOR_CRC reply").fields("II")
    return crc, size


def unpack_read_reply(payload: bytes) -> tuple[int, bytes]:
    """The reply to READ_REPLY: bytes of the whole frame (0: there is none), and a part of them."""
    data = _Payload(payload, "READ_REPLY reply")
    (total,) = data.fields("H")
    return total, data.rest()


def unpack_run(payload: bytes) -> RunResult:
    """The reply to RUN."""
    values = _Payload(payload, "RUN reply").fields("HHHHQQQII")
    model, flags, repetitions, layers, *counters, used, size = values
    intact = repetitions == 1 or bool(flags & 4)
    stopped = bool(flags & 1)
    total, least, most = counters
    return RunResult(
        model, stopped, intact and not stopped, repetitions, layers, total, least, most, used, size
    )


def unpack_busy(payload: bytes) -> tuple[int, int]:
    """A BUSY event: the model, and how many of its layers are finished."""
    model, layers = _Payload(payload, "BUSY event").fields("HH")
    return model, layers


def unpack_self_test(payload: bytes) -> int:
    """The reply to SELF_TEST: a bit for each test that failed."""
    return _Payload(payload, "SELF_TEST reply").fields("I")[0]


def unpack_layer_crc(payload: bytes) -> LayerCrc:
    """A LAYER_CRC event."""
    _, *values = _Payload(payload, "LAYER_CRC event").fields("HHHHII")
    return LayerCrc(*values)


def unpack_layer_time(payload: bytes) -> LayerTime:
    """A LAYER_TIME event."""
    _, layer, repetition, _, counter = _Payload(payload, "LAYER_TIME event").fields("HHHHQ")
    return LayerTime(layer, repetition, counter)


def pack_tensor(model: int, kind: TensorKind, index: int, output: int = 0) -> bytes:
    """A tensor reference: for kind LAYER output `output` of layer `index`, for a partition's kinds
    tensor `output` of partition `index`, else output is 0."""
    return struct.pack("<HHHH", model, kind, index, output)


def pack_write(tensor: bytes, offset: int, data: bytes) -> bytes:
    """The payload of WRITE."""
    return tensor + struct.pack("<I", offset) + data


def pack_read(tensor: bytes, offset: int, count: int) -> bytes:
    """The payload of READ."""
    return tensor + struct.pack("<IH", offset, count)


def pack_read_reply(seq: int, offset: int, count: int) -> bytes:
    """The payload of READ_REPLY: which part of the reply's frame to request `seq`."""
    return struct.pack("<HHH", seq, offset, count)


def pack_resize(model: int, size: int) -> bytes:
    """The payload of RESIZE."""
    return struct.pack("<HI", model, size)


WHOLE_NETWORK = 0xFFFF


def pack_run(
    model: int,
    flags: RunFlag,
    repeat: int,
    stop_after: int,
    crcs: Sequence[int],
    partition: int | None = None,
) -> bytes:
    """The payload of RUN; one CRC-32 for each input, or none."""
    part = WHOLE_NETWORK if partition is None else partition
    return struct.pack(f"<HHHHH{len(crcs)}I", model, part, flags, repeat, stop_after, *crcs)


def pack_partition(model: int, partition: int) -> bytes:
    """The payload of DESCRIBE_PARTITION."""
    return struct.pack("<HH", model, partition)


def pack_provoke(what: Provoke, *, model: int = 0, layer: int | None = None) -> bytes:
    """The payload of PROVOKE: at once, or in that layer of the next run."""
    return struct.pack("<BBHH", what, layer is not None, model, layer or 0)

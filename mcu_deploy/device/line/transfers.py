"""Whole tensors to the device and from it, proven by their CRC-32."""

from __future__ import annotations

import zlib

from mcu_deploy.device.line import messages
from mcu_deploy.device.line.codes import Type
from mcu_deploy.device.line.link import Link
from mcu_deploy.errors import DeviceError


def write_tensor(link: Link, reference: bytes, data: bytes) -> None:
    """Writes an input's bytes; that they are all there is compared when it is run."""
    link.transfer(
        Type.WRITE,
        len(data),
        lambda at, count: messages.pack_write(reference, at, data[at : at + count]),
    )


def write_state(link: Link, reference: bytes, data: bytes) -> None:
    """Writes a state's bytes, and asks for their CRC-32, as no run does."""
    write_tensor(link, reference, data)
    crc, _ = messages.unpack_crc(link.request(Type.TENSOR_CRC, reference))
    if crc != zlib.crc32(data):
        raise DeviceError("A state is not on the device as it was sent; write it again.")


def read_tensor(link: Link, reference: bytes) -> bytes:
    """Reads a tensor's bytes, and compares them with the CRC-32 that the device finds."""
    crc, size = messages.unpack_crc(link.request(Type.TENSOR_CRC, reference))
    replies = link.transfer(
        Type.READ, size, lambda at, count: messages.pack_read(reference, at, count)
    )
    data = b""
    for asked in sorted(replies):
        offset, _, part = messages.unpack_read(replies[asked])
        if offset != asked or offset != len(data):
            raise DeviceError("The device sent another part of the tensor than was asked for.")
        data += part
    if len(data) != size or zlib.crc32(data) != crc:
        raise DeviceError(
            f"What arrived is not the tensor of {size} bytes that the device holds: the line has "
            "damaged it in a way that the frames did not show; read it again."
        )
    return data

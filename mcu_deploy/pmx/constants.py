"""The bytes of constants: each once in a file, on request compressed one by one (document 002)."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from mcu_deploy.ir import DType, TensorType
from mcu_deploy.ir.graph import freeze
from mcu_deploy.pmx import pmx_generated as fb
from mcu_deploy.pmx.context import Reader, Writer
from mcu_deploy.pmx.damage import Damage

_LEVEL = 9
# Of all constants together: more than the flash and the external memory of any board.
_MOST_BYTES = 1 << 28


def encode(constants: Iterable[bytes], compress: bool) -> list[fb.ConstantT]:
    """The constants as tables; one that does not become smaller stays as it is."""
    return [_encode(data, compress) for data in constants]


def _encode(data: bytes, compress: bool) -> fb.ConstantT:
    made = fb.ConstantT()
    made.bytes = len(data)
    made.flags = fb.Compression.NONE
    if compress:
        packed = zlib.compress(data, _LEVEL)
        if len(packed) < len(data):
            made.flags, data = fb.Compression.ZLIB, packed
    made.data = np.frombuffer(data, np.uint8)
    return made


def decode(model: fb.Model) -> list[memoryview]:
    """The bytes of all constants. Raises Damage, before memory is taken, for what is too large."""
    tables = [model.Constants(i) for i in range(model.ConstantsLength())]
    sizes = [table.Bytes() for table in tables]
    if sum(sizes) > _MOST_BYTES:
        raise Damage(f"its constants have {sum(sizes):,} bytes; {_MOST_BYTES:,} are allowed")
    return [_decode(table, size) for table, size in zip(tables, sizes, strict=True)]


def _decode(table: fb.Constant, size: int) -> memoryview:
    flags = table.Flags()
    data = memoryview(table.DataAsNumpy()) if not table.DataIsNone() else memoryview(b"")
    if flags == fb.Compression.ZLIB:
        data = memoryview(_inflate(data, size))
    elif flags != fb.Compression.NONE:
        raise Damage(f"a constant is compressed in the way {flags}, which is not known")
    if len(data) != size:
        raise Damage(f"a constant has {len(data):,} bytes instead of {size:,}")
    return data


def _inflate(data: memoryview, size: int) -> bytes:
    """Decompresses to `size` bytes; never more than that is made."""
    stream = zlib.decompressobj()
    try:
        made = stream.decompress(data, max_length=size)
        # What is left is the end mark, for which no byte may come out.
        rest = stream.decompress(stream.unconsumed_tail, max_length=1) if made else b""
    except zlib.error as error:
        raise Damage(f"a constant cannot be decompressed ({error})") from None
    if rest or not stream.eof or stream.unused_data:
        raise Damage(f"a constant is compressed from other than {size:,} bytes")
    return made


def encode_array(writer: Writer, value: npt.NDArray[Any]) -> fb.ArrayT:
    """An array: its type and its bytes."""
    made = fb.ArrayT()
    made.type = writer.number(TensorType(DType.of(value.dtype), value.shape))
    made.constant = writer.constant(value)
    return made


def decode_array(reader: Reader, table: fb.Array | None) -> npt.NDArray[Any]:
    """The read-only array of a table. Raises Damage where its bytes are too many or too few."""
    if table is None:
        raise Damage("an array is missing")
    return array(reader, reader.lists[TensorType][table.Type()], table.Constant())


def array(reader: Reader, type_: TensorType, number: int) -> npt.NDArray[Any]:
    """The read-only array of a constant's bytes."""
    data, dtype = reader.constants[number], type_.dtype
    if len(data) != type_.bytes:
        raise Damage(f"a {type_} has {type_.bytes:,} bytes, and its constant {len(data):,}")
    if dtype is DType.BOOL:
        return freeze((np.frombuffer(data, np.uint8) != 0).reshape(type_.shape))
    return freeze(np.frombuffer(data, dtype.numpy).reshape(type_.shape))


def numbers(vector: Any) -> list[Any]:
    """The numbers of a vector, as the generated reader gives it: 0 where it is absent."""
    found: list[Any] = vector.tolist() if isinstance(vector, np.ndarray) else []
    return found

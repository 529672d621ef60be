"""Constants: each once in a file, on request compressed one by one (document 002)."""

from __future__ import annotations

import math
import zlib
from typing import Any

import numpy as np
import numpy.typing as npt

from mcu_deploy.ir import DType, TensorType
from mcu_deploy.ir.graph import freeze
from mcu_deploy.pmx import pmx_generated as fb
from mcu_deploy.pmx.context import Reader, Writer
from mcu_deploy.pmx.damage import Damage
from mcu_deploy.pmx.reordered import Reordered, reorders

_LEVEL = 9
_NUMPY = {dtype: dtype.numpy for dtype in DType}
# Of all constants together: more than the flash and the external memory of any board.
_MOST_BYTES = 1 << 28


def encode(writer: Writer, compress: bool) -> list[fb.ConstantT]:
    """The constants as tables; one that does not become smaller stays as it is."""
    reordered = reorders(writer.arrays)
    made = []
    for number, data in enumerate(writer.constants):
        if number in reordered:
            made.append(_encode_reordered(len(data), reordered[number]))
        else:
            made.append(_encode(data, compress))
    return made


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


def _encode_reordered(size: int, reordered: Reordered) -> fb.ConstantT:
    made = fb.ConstantT()
    made.bytes = size
    made.source, made.item = reordered.source, reordered.item
    made.shape, made.order = list(reordered.shape), list(reordered.order)
    return made


def decode(model: fb.Model) -> list[memoryview | Reordered]:
    """All constants. Raises Damage, before memory is taken, for what is too large."""
    tables = [model.Constants(i) for i in range(model.ConstantsLength())]
    sizes = [table.Bytes() for table in tables]
    if sum(sizes) > _MOST_BYTES:
        raise Damage(f"its constants have {sum(sizes):,} bytes; {_MOST_BYTES:,} are allowed")
    return [_decode(table, size) for table, size in zip(tables, sizes, strict=True)]


def _decode(table: fb.Constant, size: int) -> memoryview | Reordered:
    source = table.Source()
    if source >= 0:
        shape, order = numbers(table.ShapeAsNumpy()), numbers(table.OrderAsNumpy())
        return Reordered(source, table.Item(), tuple(shape), tuple(order))
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
    """The read-only array of a constant's bytes; one for all that have it in this type."""
    key = number, type_.dtype, type_.shape
    found = reader.arrays.get(key)
    if found is None:
        found = reader.arrays[key] = _array(reader, type_, number)
    return found


def _array(reader: Reader, type_: TensorType, number: int) -> npt.NDArray[Any]:
    data, dtype = reader.constants[number], _NUMPY[type_.dtype]
    if isinstance(data, Reordered):
        elements = data.elements(reader.constants)
        if data.item == dtype.itemsize and elements.shape == type_.shape:
            return elements.view(dtype)
        _count_copy(reader, elements.nbytes)
        data = memoryview(elements.tobytes())
    size = math.prod(type_.shape) * dtype.itemsize
    if len(data) != size:
        raise Damage(f"a {type_} has {size:,} bytes, and its constant {len(data):,}")
    if type_.dtype is DType.BOOL:  # a byte may hold more than 0 and 1
        _count_copy(reader, size)
        return freeze((np.frombuffer(data, np.uint8) != 0).reshape(type_.shape))
    return np.frombuffer(data, dtype).reshape(type_.shape)  # read-only, as the file's bytes are


def _count_copy(reader: Reader, size: int) -> None:
    """One constant may be asked for in many types: what is copied for that has an end."""
    reader.copied += size
    if reader.copied > _MOST_BYTES:
        raise Damage(f"more than {_MOST_BYTES:,} bytes of constants are copies of others")


def numbers(vector: Any) -> list[Any]:
    """The numbers of a vector, as the generated reader gives it: 0 where it is absent."""
    found: list[Any] = vector.tolist() if isinstance(vector, np.ndarray) else []
    return found

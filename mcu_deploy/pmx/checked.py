"""FlatBuffers' tables, read with every offset checked: what the generated reader is built on.

The Python library has no verifier: its `Table` follows any offset, also a negative one, and one
small table may be reached by a million paths. The module that `flatc` generates imports this one in
the library's place (`generate.py`), so that nothing of a file is believed unchecked: each read lies
inside of the file, and all reads together take no more than the file's own size can justify.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import numpy.typing as npt
from flatbuffers import encode, number_types, packer, util

from mcu_deploy.pmx.damage import Damage

__all__ = ["Content", "encode", "number_types", "packer", "table", "util"]

_MOST_TABLES = 1 << 20  # of a file: a thousand times what the largest models need
_OFFSET = struct.Struct("<I")
_SIGNED_OFFSET = struct.Struct("<i")
_SIZES = struct.Struct("<HH")


class Content:
    """The bytes of a FlatBuffer, and how much may still be read of them.

    Our writer stores nothing twice and our reader reads nothing twice, so what is read is at most
    what is there; a table reached by many paths exceeds that.
    """

    __slots__ = ("data", "left", "tables_left", "vtables")

    def __init__(self, data: bytes | memoryview) -> None:
        self.data = memoryview(data)  # slices of it are no copies
        self.left = len(data)
        self.tables_left = min(len(data) // 4, _MOST_TABLES)
        self.vtables: dict[int, tuple[int, ...]] = {}

    @property
    def root(self) -> int:
        """Where the root table begins."""
        if len(self.data) < 8:
            raise Damage("it is too short")
        return int(_OFFSET.unpack_from(self.data)[0])

    def take(self, start: int, size: int) -> memoryview:
        """A stretch of bytes, which nothing reads again."""
        self.left -= size
        if self.left < 0 or start + size > len(self.data):
            raise Damage("a vector in it is longer than the file")
        return self.data[start : start + size]

    def vtable(self, start: int) -> tuple[int, ...]:
        """The fields' offsets in a table, behind the sizes of vtable and table."""
        found = self.vtables.get(start)
        if found is None:
            if start < 0:
                raise Damage("a table in it begins before the file")
            size, table_size = _SIZES.unpack_from(self.data, start)
            if size < 4 or size % 2:
                raise Damage("a table in it has no description")
            found = struct.unpack_from(f"<{size // 2}H", self.data, start)
            if max(found[2:], default=0) >= max(table_size, 1):
                raise Damage("a field of a table in it lies outside of the table")
            self.vtables[start] = found
        return found


class Table:
    """The methods of flatbuffers.table.Table that generated readers call, with checks.

    Reading behind the end raises struct.error, as in the library. `Bytes` is a Content.
    """

    __slots__ = ("Bytes", "Pos", "_vtable")

    def __init__(self, buf: Content, pos: int) -> None:
        self.Bytes = buf
        self.Pos = pos
        self._vtable: tuple[int, ...] | None = None
        buf.tables_left -= 1
        if buf.tables_left < 0:
            raise Damage("tables in it refer to each other without end")

    def Offset(self, vtable_offset: int) -> int:
        """The place of a field in its table; 0: it is absent."""
        vtable = self._vtable
        if vtable is None:
            content = self.Bytes
            distance = _SIGNED_OFFSET.unpack_from(content.data, self.Pos)[0]
            vtable = self._vtable = content.vtable(self.Pos - distance)
        slot = vtable_offset >> 1
        return vtable[slot] if slot < len(vtable) else 0

    def Get(self, flags: Any, off: int) -> Any:
        """A number at a place."""
        return flags.packer_type.unpack_from(self.Bytes.data, off)[0]

    def Indirect(self, off: int) -> int:
        """Where the offset at a place leads."""
        return off + int(_OFFSET.unpack_from(self.Bytes.data, off)[0])

    def String(self, off: int) -> bytes:
        """The bytes of the text to which the offset at a place leads."""
        data = self.Bytes.data
        start = off + _OFFSET.unpack_from(data, off)[0]
        found = self.Bytes.take(start + 4, _OFFSET.unpack_from(data, start)[0])
        return bytes(found)

    def Vector(self, off: int) -> int:
        """Where the elements of the vector in a field begin."""
        place = off + self.Pos
        return place + int(_OFFSET.unpack_from(self.Bytes.data, place)[0]) + 4

    def VectorLen(self, off: int) -> int:
        """The number of elements of the vector in a field."""
        return int(_OFFSET.unpack_from(self.Bytes.data, self.Vector(off) - 4)[0])

    def GetVectorAsNumpy(self, flags: Any, off: int) -> npt.NDArray[Any]:
        """The numbers of the vector in a field."""
        start = self.Vector(off)
        length = _OFFSET.unpack_from(self.Bytes.data, start - 4)[0]
        found = self.Bytes.take(start, length * flags.bytewidth)
        return np.frombuffer(found, flags.packer_type.format)


class table:
    """What generated readers call flatbuffers.table."""

    Table = Table

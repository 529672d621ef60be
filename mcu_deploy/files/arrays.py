"""Arrays in .npy and .npz files, whose headers are believed only as far as the file reaches.

`np.load` allocates what a header declares before it reads, inflates without end, and raises
whatever the layers below it raise. Here the header is looked at first, and then as much is read.
"""

from __future__ import annotations

import math
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from mcu_deploy.errors import RequestError, one_line

Array = npt.NDArray[Any]

_NPY, _ZIP = b"\x93NUMPY", (b"PK\x03\x04", b"PK\x05\x06")
_COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # that numpy writes
_LARGEST_BYTES = 1 << 30
_MOST_AXES = 32


@dataclass(frozen=True)
class Header:
    """What an array's header says."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    is_transposed: bool

    @property
    def bytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize


class _Wrong(Exception):
    """What is wrong with a file, as a clause."""


class ArrayFile:
    """An .npy or .npz file. names: of the arrays of an .npz; None for the only one of an .npy.

    All methods raise UsageError, which names the file, where it is none of these, is damaged or cut
    off, or holds other things than numbers.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._members: dict[str, zipfile.ZipInfo] = {}
        with self._sentences():
            with file.open("rb") as stream:
                mark = stream.read(len(_NPY))
            if mark.startswith(_ZIP):
                with zipfile.ZipFile(file) as archive:
                    members = archive.infolist()
                self._members = {m.filename.removesuffix(".npy"): m for m in members}
            elif mark != _NPY:
                raise _Wrong("it begins like neither of them" if mark else "it is empty")
        self.names = None if mark == _NPY else tuple(self._members)

    def header(self, name: str = "") -> Header:
        """What is known of an array before it is read."""
        with self._sentences(), self._open(name) as (stream, size):
            return _header(stream, size)

    def read(self, name: str = "") -> Array:
        """An array, of at most 1 GiB."""
        with self._sentences(), self._open(name) as (stream, size):
            header = _header(stream, size)
            data = stream.read(header.bytes)
            if len(data) != header.bytes or (self._members and stream.read(1)):
                raise _Wrong("it does not end where its array does")
            order = header.shape[::-1] if header.is_transposed else header.shape
            array = np.frombuffer(data, header.dtype).reshape(order)
            return array.transpose() if header.is_transposed else array

    def rows(self, name: str = "") -> Iterator[Array]:
        """What lies along the first axis of an array, read one by one."""
        header = self.header(name)
        if header.is_transposed:
            yield from self.read(name)
            return
        size = header.bytes // header.shape[0] if header.shape[0] else 0
        with self._open(name) as (stream, whole):
            with self._sentences():
                _header(stream, whole)
            for index in range(header.shape[0]):
                last = index + 1 == header.shape[0]
                with self._sentences():
                    data = stream.read(size)
                    if len(data) != size or (last and self._members and stream.read(1)):
                        raise _Wrong("it does not end where its array does")
                yield np.frombuffer(data, header.dtype).reshape(header.shape[1:])

    @contextmanager
    def _open(self, name: str) -> Iterator[tuple[IO[bytes], int]]:
        """The bytes of an array with its header, and how many there are."""
        if not self._members:
            with self._file.open("rb") as stream:
                yield stream, self._file.stat().st_size
            return
        member = self._members[name]
        if member.flag_bits & 1 or member.compress_type not in _COMPRESSIONS:
            raise _Wrong("it is encrypted or compressed in another way than numpy's")
        with zipfile.ZipFile(self._file) as archive, archive.open(member) as stream:
            yield stream, member.file_size

    @contextmanager
    def _sentences(self) -> Iterator[None]:
        try:
            yield
        except _Wrong as wrong:
            clause = str(wrong)
        except (zipfile.BadZipFile, zlib.error, EOFError):
            clause = "it is damaged or cut off"
        except Exception as error:
            # zipfile, zlib, tokenize, ast and numpy have many kinds of exceptions for damage.
            clause = one_line(f"{type(error).__name__}: {error}", 200).rstrip(". ")
        else:
            return
        raise RequestError(
            f"{self._file} is no readable .npz or .npy file ({clause}). Write it with np.savez or "
            "np.save."
        )


def _header(stream: IO[bytes], size: int) -> Header:
    """Reads the header of an array; it and its array have `size` bytes. Raises _Wrong, or else."""
    version = np.lib.format.read_magic(stream)
    if version not in ((1, 0), (2, 0)):  # 3.0 is for names of fields
        raise _Wrong(f"its format is of version {version[0]}.{version[1]}")
    first = version == (1, 0)
    parse = np.lib.format.read_array_header_1_0 if first else np.lib.format.read_array_header_2_0
    try:
        shape, is_transposed, dtype = parse(stream)
    except Exception:  # tokenize's, ast's, numpy's; MemoryError too, at thousands of brackets
        raise _Wrong("its header makes no sense") from None
    if dtype.kind not in "biuf" or dtype.itemsize > 8:
        raise _Wrong(f"it holds {one_line(str(dtype), 60)}, and no plain numbers")
    # A bool is an int to numpy's parser, and none to its reshape.
    if len(shape) > _MOST_AXES or any(type(axis) is not int or axis < 0 for axis in shape):
        raise _Wrong("its shape is none")
    header = Header(shape, dtype, is_transposed)
    if header.bytes > size - stream.tell():
        raise _Wrong("it is cut off: its array is longer than the file")
    if header.bytes > _LARGEST_BYTES:
        raise _Wrong(f"its array has {header.bytes:,} bytes, and {_LARGEST_BYTES:,} are allowed")
    return header

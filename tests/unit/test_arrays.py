"""Headers of .npy and .npz files that promise too much, and files that are something else."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from mcu_deploy.errors import RequestError
from mcu_deploy.files.arrays import ArrayFile


def _npy(shape: str, content: bytes = b"", descr: str = "'<f4'") -> bytes:
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + content


def _npz(content: bytes, way: int = zipfile.ZIP_DEFLATED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", way) as archive:
        archive.writestr("in0.npy", content)
    return stream.getvalue()


def _refusal(data: bytes, folder: Path, name: str = "") -> str:
    path = folder / "x.npz"
    path.write_bytes(data)
    with pytest.raises(RequestError) as caught:
        ArrayFile(path).read(name)
    assert str(path) in str(caught.value) and str(caught.value).isprintable()
    return str(caught.value)


def test_what_numpy_writes_is_read(tmp_path: Path) -> None:
    path = tmp_path / "x"
    arrays = {
        "a": np.arange(24, dtype=np.float32).reshape(2, 3, 4),
        "b": np.asfortranarray(np.arange(6, dtype=np.int8).reshape(2, 3)),
        "c": np.array(True),
        "d": np.zeros((0, 3), np.int64),
    }
    for save in (np.savez, np.savez_compressed):
        with path.open("wb") as stream:
            save(stream, **arrays)  # type: ignore[arg-type]
        file = ArrayFile(path)
        assert file.names == tuple(arrays)
        for name, array in arrays.items():
            assert file.header(name).shape == array.shape
            found = file.read(name)
            assert np.array_equal(found, array) and found.dtype == array.dtype
    with path.open("wb") as stream:
        np.save(stream, arrays["b"])
    assert ArrayFile(path).names is None
    assert np.array_equal(ArrayFile(path).read(), arrays["b"])


@pytest.mark.parametrize("shape", ["(1000000000000,)", "(1 << 62, 4)", "(268435457,)", "(-1,)"])
def test_shapes_that_would_fill_the_memory(shape: str, tmp_path: Path) -> None:
    for data, name in ((_npy(shape), ""), (_npz(_npy(shape)), "in0")):
        _refusal(data, tmp_path, name)


def test_an_archive_that_inflates_to_more_than_it_may(tmp_path: Path) -> None:
    """Its directory says how much, and the header of the array has to agree."""
    content = _npy("(300000000,)", bytes(4_000_000))
    assert "cut off" in _refusal(_npz(content), tmp_path, "in0")
    assert "does not end where its array does" in _refusal(
        _npz(_npy("(1,)", bytes(4_000_000))), tmp_path, "in0"
    )


@pytest.mark.parametrize("descr", ["'|O'", "'<U4'", "'<c8'", "[('a', '<f4')]", "'<M8[s]'"])
def test_what_is_no_number(descr: str, tmp_path: Path) -> None:
    assert "no plain numbers" in _refusal(_npy("(1,)", bytes(64), descr), tmp_path)


@pytest.mark.parametrize("way", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_compressions_that_numpy_does_not_write(way: int, tmp_path: Path) -> None:
    assert "another way than numpy's" in _refusal(
        _npz(_npy("(1,)", bytes(4)), way), tmp_path, "in0"
    )


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "it is empty"),
        (b"junk", "it begins like neither of them"),
        (b"\x80\x04N.", "it begins like neither of them"),  # a pickle
        (b"PK\x03\x04junk", "damaged or cut off"),
        (b"\x93NUMPY\x03\x00", "of version 3.0"),
        (_npy("(" * 5000), "its header makes no sense"),
    ],
)
def test_files_of_another_kind(data: bytes, words: str, tmp_path: Path) -> None:
    assert words in _refusal(data, tmp_path)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_rows_are_read_one_by_one(save: Callable[..., None], tmp_path: Path) -> None:
    arrays = {
        "a": np.arange(24, dtype=np.float32).reshape(4, 3, 2),
        "b": np.asfortranarray(np.arange(6, dtype=np.int8).reshape(2, 3)),
        "c": np.zeros((0, 3), np.int64),
    }
    save(tmp_path / "x.npz", **arrays)
    for name, array in arrays.items():
        rows = list(ArrayFile(tmp_path / "x.npz").rows(name))
        assert [row.tolist() for row in rows] == array.tolist()
    np.save(tmp_path / "x.npy", arrays["a"])
    rows = ArrayFile(tmp_path / "x.npy").rows()
    np.testing.assert_array_equal(next(rows), arrays["a"][0])


def test_rows_of_an_array_that_goes_on_are_refused(tmp_path: Path) -> None:
    (tmp_path / "x.npz").write_bytes(_npz(_npy("(2, 2)", bytes(20))))
    with pytest.raises(RequestError, match="does not end where its array does"):
        list(ArrayFile(tmp_path / "x.npz").rows("in0"))

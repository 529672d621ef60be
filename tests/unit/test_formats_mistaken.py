"""Files that are something else than their ending says are named by what they are."""

from __future__ import annotations

from pathlib import Path

import pytest
from onnx import TensorProto, helper
from tflite_models import small_model

from mcu_deploy.errors import ModelError
from mcu_deploy.formats import load

_LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935\nsize 12345\n"


def _onnx() -> bytes:
    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, [1]) for n in "xy")
    graph = helper.make_graph([helper.make_node("Neg", ["x"], ["y"])], "g", [x], [y])
    model: bytes = helper.make_model(graph).SerializeToString()
    return model


@pytest.mark.parametrize("ending", ["onnx", "tflite"])
@pytest.mark.parametrize(
    ("content", "said"),
    [
        (_LFS, "is a pointer of Git LFS, in the place of the model"),
        (b"\n<!DOCTYPE html>\n<html>", "is a page of the web"),
        (b"\x89HDF\r\n\x1a\n", "is an HDF5 file, as Keras writes them"),
        (b"PK\x03\x04\x14\0\0\0", "is a zip file, as PyTorch and Keras write them"),
        (b"\x1f\x8b\x08\0\0\0\0\0", "is packed by gzip"),
    ],
)
def test_what_is_no_model_is_named(ending: str, content: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / f"m.{ending}"
    path.write_bytes(content)
    with pytest.raises(ModelError, match=said):
        load(path)


def test_a_model_with_the_ending_of_the_other_format_is_named(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(small_model())
    with pytest.raises(ModelError, match=r"is a TFLite file, .* Give it the ending \.tflite\."):
        load(path)
    path = tmp_path / "m.tflite"
    path.write_bytes(_onnx())
    with pytest.raises(ModelError, match=r"is to all appearance an ONNX file, .* ending \.onnx\."):
        load(path)


def test_a_short_onnx_file_is_not_told_its_own_ending(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(_onnx()[:-5])
    with pytest.raises(ModelError, match=r"It is damaged or cut short; copy or export it again\."):
        load(path)


def test_a_short_tflite_file_is_told_in_words(tmp_path: Path) -> None:
    path = tmp_path / "m.tflite"
    path.write_bytes(small_model()[:-400])
    with pytest.raises(ModelError) as raised:
        load(path)
    size = path.stat().st_size
    assert f"an offset in it leads out of its {size:,} bytes. It is damaged" in str(raised.value)

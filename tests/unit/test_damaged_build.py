"""Build folders whose files were cut off, removed or changed, and paths that are none."""

from __future__ import annotations

import json
import shutil
import struct
from pathlib import Path

import pytest
import report_values
from fuzz import target_elf
from pmx_cases import small_model

from mcu_deploy import formats
from mcu_deploy.api.building import build
from mcu_deploy.api.folder import BuildFolder, as_folder, open_folder
from mcu_deploy.boards import load_board
from mcu_deploy.errors import BoardError, ModelError, UsageError
from mcu_deploy.hygiene.images import require_whole
from mcu_deploy.options import Options


def _image() -> bytes:
    """One for the host, or for Arm where a test may make one."""
    program = shutil.which("true")
    assert program is not None
    return Path(program).read_bytes()


def _refusal(path: Path, data: bytes) -> str:
    path.write_bytes(data)
    with pytest.raises(UsageError) as caught:
        require_whole(path)
    return str(caught.value).removeprefix(str(path))


def test_a_whole_image_is_one(tmp_path: Path) -> None:
    path = tmp_path / "firmware.elf"
    path.write_bytes(_image())
    assert require_whole(path) == path


def test_images_that_are_cut_off(tmp_path: Path) -> None:
    path, whole = tmp_path / "firmware.elf", _image()
    for length in (64, 1000, len(whole) // 2, len(whole) - 1):
        assert _refusal(path, whole[:length]) == " is cut off; build again."
    assert _refusal(path, b"").endswith("build again.")
    assert _refusal(path, b"\x7fELF").endswith("build again.")
    assert _refusal(path, b"junk" * 100).endswith("build again.")


@pytest.mark.needs_arm_gcc
def test_an_image_for_a_microcontroller(tmp_path: Path) -> None:
    first, *_, image = target_elf.SEEDS()
    path = tmp_path / "firmware.elf"
    path.write_bytes(image)
    assert require_whole(path) == path
    for length in (53, 84, len(image) // 2, len(image) - 1):
        assert _refusal(path, image[:length]) == " is cut off; build again."
    longer, (table,) = bytearray(image), struct.unpack_from("<I", image, 28)
    struct.pack_into("<I", longer, table + 16, len(image))  # what the first segment has of the file
    assert _refusal(path, bytes(longer)) == " is cut off; build again."
    assert _refusal(path, first) == " is an object and no linked image; give what was linked of it."


def test_an_image_that_is_missing(tmp_path: Path) -> None:
    folder = BuildFolder(tmp_path, load_board("host"), report_values.report())
    for name in ("firmware", "bench"):
        with pytest.raises(UsageError, match=rf"{name}\.elf is not there; build again\."):
            getattr(folder, name)


@pytest.mark.parametrize(
    "text",
    [
        "", "null", "[]", '{"networks": 1}', "[" * 9000, "\xff", '{"board": "host"}',
        json.dumps({"board": "host", "board_file": "../../x.toml", "networks": []}),
        json.dumps({"board": "host", "board_file": None, "networks": [{"name": 1}]}),
    ],
)  # fmt: skip
def test_reports_that_are_none(text: str, tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text(text, encoding="latin-1")
    with pytest.raises(UsageError) as caught:
        open_folder(tmp_path)
    assert "is not a report of this version of mcu-deploy" in str(caught.value)
    assert str(caught.value).isprintable()


def test_names_that_no_file_can_have(tmp_path: Path) -> None:
    """A file system refuses names this long, with another error than for one that is not there."""
    name = tmp_path / ("x" * 300)
    with pytest.raises(ModelError, match="does not exist"):
        formats.load(name.with_suffix(".onnx"))
    with pytest.raises(BoardError, match="cannot be read"):
        load_board(name.with_suffix(".toml"))
    with pytest.raises(UsageError, match="is no build folder"):
        open_folder(name)


@pytest.mark.parametrize("ending", [".onnx", ".tflite", ".pmx"])
def test_a_file_that_would_fill_the_memory(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"m{ending}"
    with path.open("wb") as stream:
        stream.truncate(1 << 40)  # takes no room on the disk
    with pytest.raises(ModelError, match="more than any microcontroller holds"):
        formats.load(path)


@pytest.mark.needs_host_gcc
def test_a_build_that_another_has_replaced_is_compiled_again(tmp_path: Path) -> None:
    """And one that is still there is not."""
    model = small_model(tmp_path)
    first = build(model, "host", tmp_path / "b", name="n")
    assert as_folder(first).compile_again("n") is first.networks[0].network
    build(model, "host", tmp_path / "b", name="n", options=Options(layers_all=True))
    assert as_folder(first).compile_again("n").options.layers_all
    opened = open_folder(tmp_path / "b")
    assert opened.compile_again("n") is opened.compile_again("n")

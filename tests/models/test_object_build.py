"""Builds that fail, that are killed, that replace others, and that stand in odd folders."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper
from operators.lab import make_model

from mcu_deploy.api.building import Build, build
from mcu_deploy.errors import FitError, McuDeployError, ToolError, UsageError
from mcu_deploy.options import Options
from mcu_deploy.output import MARKER

pytestmark = [pytest.mark.needs_arm_gcc, pytest.mark.needs_host_gcc]

PRODUCTS = {
    "network_{}.c", "network_{}.weights.bin", "network_{}.o", "libmcu_crt.a", "include", "src",
    "arena", "LICENSE", "firmware.elf", "bench.elf", "report.json", "firmware_models.c", "obj",
    MARKER,
}  # fmt: skip


def small_model(size: int = 6, seed: int = 0) -> onnx.ModelProto:
    """A fully-connected layer."""
    rng = np.random.default_rng(seed)
    return make_model(
        [helper.make_node("MatMul", ["x", "w"], ["y"])],
        {"x": ("float32", [1, size])},
        {"y": ("float32", [1, 4])},
        {"w": rng.standard_normal((size, 4)).astype(np.float32)},
    )


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "small.onnx"
    onnx.save(small_model(), path)
    return path


def contents(folder: Path) -> Mapping[str, str]:
    """Every file below a folder, with its SHA-256."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def assert_whole(built: Build, *names: str) -> None:
    expected = {product.format(name) for product in PRODUCTS for name in names}
    assert {path.name for path in built.directory.iterdir()} == expected


def test_a_second_build_replaces_the_first(model: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    build(model, "mps2-an386", folder, name="first")
    with contextlib.chdir(folder):
        again = build(model, "mps2-an386", ".", name="second")
    assert_whole(again, "second")
    assert again.networks[0].object == folder / "network_second.o"
    # and is the build that a fresh folder has
    fresh = build(model, "mps2-an386", tmp_path / "fresh", name="second")
    assert contents(folder) == contents(fresh.directory)
    scratch = [path.name for path in folder.rglob("*") if b".mcu-deploy-" in _bytes(path)]
    assert scratch == []  # nor does any file name the folder that it was made in


def _bytes(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() else b""


def test_the_copy_of_the_model_in_the_folder_can_be_built_again(
    model: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "out"
    first = build(model, "host", folder, name="n")
    before = contents(folder)
    kept = folder / first.report.networks[0].kept_model
    build(kept, "host", folder, name="n")
    after = contents(folder)
    # the model's file name
    assert {f for f in before if before[f] != after[f]} == {"report.json", MARKER}


def test_what_does_not_fit_leaves_everything_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "large.onnx"
    onnx.save(small_model(1_000_000), path)
    folder = tmp_path / "new" / "out"
    with pytest.raises(FitError, match="bytes are missing"):
        build(path, "netduinoplus2", folder, name="n")
    assert not folder.parent.exists()
    onnx.save(small_model(), tmp_path / "small.onnx")
    build(tmp_path / "small.onnx", "netduinoplus2", folder, name="old")
    before = contents(folder)
    with pytest.raises(FitError):
        build(path, "netduinoplus2", folder, name="n")
    assert contents(folder.parent) == {f"out/{name}": value for name, value in before.items()}


def test_a_model_that_cannot_be_read_leaves_the_earlier_build_whole(
    model: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "out"
    first = build(model, "host", folder, name="n")
    before = contents(folder)
    damaged = tmp_path / "damaged.onnx"
    damaged.write_bytes(model.read_bytes()[:100])
    with pytest.raises(McuDeployError):
        build([model, damaged], "host", folder, name=["n", "m"])
    assert_whole(first, "n")
    assert contents(folder) == before


def test_folders_that_cannot_be_written_are_a_sentence(model: Path, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("no folder")
    # for root, too; a container may lack them
    denied = [Path(top) / "mcu-deploy" for top in ("/proc", "/sys") if Path(top).is_mount()]
    for output in (file, *denied):
        with pytest.raises(ToolError, match="cannot be written"):
            build(model, "host", output, name="n")
    with pytest.raises(UsageError, match="empty"):
        build(model, "host", "", name="n")
    assert file.read_text() == "no folder"


def test_files_of_the_user_where_a_product_belongs_are_refused(model: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    (folder / "obj").mkdir(parents=True)
    (folder / "obj" / "mylib.o").write_text("mine")
    (folder / "report.json").write_text("mine")
    with pytest.raises(UsageError, match=r"out holds .*: obj/, report\.json\. .*another folder"):
        build(model, "host", folder, name="n")
    assert (folder / "obj" / "mylib.o").read_text() == (folder / "report.json").read_text()
    with contextlib.chdir(tmp_path), pytest.raises(UsageError, match=r"out/, small\.onnx"):
        build(model, "host", ".", name="n")


def test_a_killed_build_leaves_the_earlier_one(model: Path, tmp_path: Path) -> None:
    """SIGKILL while the compilers run."""
    folder = tmp_path / "out"
    build(model, "mps2-an386", folder, name="n")
    before = contents(folder)
    script = "import sys, mcu_deploy; mcu_deploy.build(*sys.argv[1:4], name='n')"
    child = subprocess.Popen(
        [sys.executable, "-c", script, str(model), "mps2-an386", str(folder)],
        start_new_session=True, env=os.environ | {"MCU_DEPLOY_CACHE": "off"},
    )  # fmt: skip
    while not list(tmp_path.glob(".out.mcu-deploy-*/new/obj/*")):
        assert child.poll() is None
        time.sleep(0.001)
    os.killpg(child.pid, signal.SIGKILL)  # with its compilers
    child.wait()
    assert contents(folder) == before
    build(model, "mps2-an386", folder, name="n")
    assert contents(folder) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "small.onnx"]


def test_an_interrupted_build_leaves_nothing(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C, while the firmware is linked."""
    from mcu_deploy import toolchain

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(toolchain, "measure_firmware", interrupted)
    with pytest.raises(KeyboardInterrupt, match=r"interrupted; .*out is as it was"):
        build(model, "host", tmp_path / "out", name="n")
    assert [path.name for path in tmp_path.iterdir()] == ["small.onnx"]


def test_builds_into_one_folder_wait_for_each_other(tmp_path: Path) -> None:
    for seed in range(2):
        onnx.save(small_model(8, seed), tmp_path / f"{seed}.onnx")
    with ThreadPoolExecutor(max_workers=2) as pool:
        made = pool.map(
            lambda seed: build(tmp_path / f"{seed}.onnx", "host", tmp_path / "out", name="n"),
            range(2),
        )
    for built in made:
        assert_whole(built, "n")


def test_several_models_are_one_firmware(tmp_path: Path) -> None:
    paths = []
    for index in range(3):
        paths.append(tmp_path / f"part{index}.onnx")
        onnx.save(small_model(5 + index, index), paths[-1])
    built = build(paths, "mps2-an386", tmp_path / "out")
    assert_whole(built, "part0", "part1", "part2")
    report, networks = built.report, built.report.networks
    assert [n.name for n in networks] == ["part0", "part1", "part2"]
    assert report.flash_bytes == sum(n.flash_bytes for n in networks)
    assert report.arena_bytes == sum(n.arena_bytes for n in networks)
    assert report.macs == sum(n.macs for n in networks)
    symbols = subprocess.run(
        ["arm-none-eabi-nm", built.firmware], capture_output=True, text=True, check=True
    ).stdout
    assert all(f"R _mcu_network_part{i}\n" in symbols for i in range(3))


def test_names_that_clash_are_refused_before_anything_is_written(
    model: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "out"
    with pytest.raises(UsageError, match="would both be called"):
        build([model, model], "host", folder)
    with pytest.raises(UsageError, match="differ in more than case"):
        build([model, model], "host", folder, name=["kws", "KWS"])
    with pytest.raises(UsageError, match="--name was given 1 times for 2 models"):
        build([model, model], "host", folder, name="kws")
    with pytest.raises(UsageError, match="no model"):
        build([], "host", folder)
    with pytest.raises(UsageError, match="one of auto, incbin, array"):
        build(model, "host", folder, name="n", options=Options(weights="hex"))
    for name in ("", "a b", "a-b", "a/b", "../a", "é", "a\n", "%s", "{{x}}", "a" * 49, '"', "*/"):
        with pytest.raises(UsageError, match="cannot be part of a C symbol"):
            build(model, "host", folder, name=name)
    assert not folder.exists()


@pytest.mark.matrix
def test_builds_side_by_side_do_not_disturb_each_other(tmp_path: Path) -> None:
    boards = ("host", "mps2-an386", "host", "mps2-an386")
    for seed in range(len(boards)):
        onnx.save(small_model(8, seed), tmp_path / f"{seed}.onnx")

    def one(seed: int, folder: str) -> Mapping[str, str]:
        built = build(tmp_path / f"{seed}.onnx", boards[seed], tmp_path / folder, name="n")
        return contents(built.directory)

    with ThreadPoolExecutor(max_workers=len(boards)) as pool:
        together = list(pool.map(lambda s: one(s, f"together{s}"), range(len(boards))))
    assert together[1] == one(1, "alone1")
    assert together[2] == one(2, "alone2")
    assert len({t["network_n.weights.bin"] for t in together}) == len(boards)


def test_a_folder_with_an_odd_name(model: Path, tmp_path: Path) -> None:
    name = "-o with space, ünïcödé 日本 quote'\"s$HOME`x`;c&d #new\nline %d * ?[a]{b}"
    folder = tmp_path / name
    folder.mkdir()
    shutil.copy(model, folder / "model.onnx")
    built = build(folder / "model.onnx", "mps2-an386", folder / "out", name="n")
    assert_whole(built, "n")


def test_without_a_name_the_file_names_it(model: Path, tmp_path: Path) -> None:
    odd = tmp_path / "Näme with-dots.v1.2 (copy).onnx"
    shutil.copy(model, odd)
    assert build(odd, "host", tmp_path / "a").networks[0].name == "Name_with_dots_v1_2_copy"
    (tmp_path / "folder name").mkdir()
    shutil.copy(model, tmp_path / "folder name" / "model.onnx")
    built = build(tmp_path / "folder name" / "model.onnx", "host", tmp_path / "b")
    assert built.networks[0].name == "folder_name"

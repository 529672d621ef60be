"""Exports of a network whose runs decide a size: the example has the size of its sample."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import export_programs as programs
import numpy as np
import pytest
import sized_programs
from sampling import first

import mcu_deploy
from mcu_deploy.api.exporting import export
from mcu_deploy.errors import RequestError
from mcu_deploy.options import from_typed

pytestmark = [pytest.mark.needs_arm_gcc, pytest.mark.needs_qemu]
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wcast-qual", "-Werror")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sized")
    options = from_typed({"shape": ["x=1,4,N:N<=40"]})
    return mcu_deploy.build(
        sized_programs.convolution(folder), "mps2-an386", folder / "build", name="sized",
        options=options,
    ).directory  # fmt: skip


def _samples(folder: Path, size: int) -> Path:
    path = folder / f"{size}.npz"
    random = np.random.default_rng(2)
    np.savez(path, x=random.normal(0, 1, (1, 4, size)).astype(np.float32))
    return path


@pytest.mark.parametrize("size", first([13, 40, None]))
def test_the_example_runs_its_sample(
    size: int | None, built: Path, tmp_path: Path, repository: Path
) -> None:
    """Of the answers that are expected two are moved too far, and two as far as floats may be."""
    data = None if size is None else _samples(tmp_path, size)
    out = tmp_path / "exported"
    export(built, "cmake", out, data=data)
    sample, example = out / "example/sample_sized.h", (out / "example/main.c").read_text()
    limit = float(re.findall(r"apart <= (\S+)F", example)[1])  # of the second output
    by = [share * limit for share in (0.5, -0.5, 1.5, -1.5)]
    sample.write_text(programs.moved(sample.read_text(), "sample_sized_output1[", by))
    sources = programs.board_files(tmp_path / "board", repository)
    subprocess.run(
        ["arm-none-eabi-gcc", *programs.CORE, "-std=c99", "-O2", *WARNINGS, "-c",
         out / "example/main.c", f"-I{out / 'include'}", f"-I{out / 'example'}",
         "-o", tmp_path / "main.o"],
        check=True,
    )  # fmt: skip
    subprocess.run(
        ["arm-none-eabi-gcc", *programs.CORE, "-O2", "-nostartfiles", "--specs=nosys.specs",
         "-T", tmp_path / "board/board.ld", *sources, tmp_path / "main.o",
         *sorted((out / "src").rglob("*.c")), f"-I{out / 'include'}", "-lm",
         "-o", tmp_path / "program.elf"],
        check=True,
    )  # fmt: skip
    status, text = programs.run(tmp_path / "program.elf")
    found = re.match(r"sized: (\d+) of (\d+) values as expected", text)
    assert status == 1 and found and int(found[2]) - int(found[1]) == 2, text
    readme = (out / "README.md").read_text()
    assert "a size of 1 to 40 by the shape of its inputs; these are the shapes at 40" in readme
    assert f"whose sample has {size or 40}." in readme


@pytest.mark.parametrize("format", first(["mlf", "rust"]))
def test_an_interface_of_one_size_takes_that(format: str, built: Path, tmp_path: Path) -> None:
    export(built, format, tmp_path / "out", data=_samples(tmp_path, 40))
    with pytest.raises(RequestError, match="run the largest size, which is 40 of 'sized'"):
        export(built, format, tmp_path / "out", data=_samples(tmp_path, 13))

"""network_<name>.h: the sizes are constants, and a block that is too small stops the compiler."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from mcu_deploy import compiler, resources
from mcu_deploy.boards import load_board

SOURCE = """
#include "network_kws.h"
static uint8_t workspace[MCU_KWS_WORKSPACE_SIZE + EXTRA];
MCU_KWS_CHECK_WORKSPACE(workspace);
MCU_KWS_CHECK_ARENA(MCU_KWS_ARENA_PAGES(10) + PAGES, 10);
int main(void) { return workspace[0]; }
"""
COMPILERS = (
    ("gcc", "-xc", "-std=c99"),
    ("gcc", "-xc", "-std=c11"),
    ("g++", "-xc++", "-std=c++11"),
)


@pytest.fixture(scope="module")
def header(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the header of the example."""
    folder = tmp_path_factory.mktemp("header")
    model = resources.examples() / "kws" / "model.onnx"
    network = compiler.compile_model(model, load_board("host"), name="kws")
    (folder / "network_kws.h").write_text(network.sources.header)
    (folder / "main.c").write_text(SOURCE)
    return folder


@pytest.mark.parametrize("command", COMPILERS, ids=lambda c: c[-1])
@pytest.mark.parametrize(
    ("extra", "pages", "said"),
    [
        (0, 0, None),
        (64, 3, None),
        (-1, 0, "workspace_is_too_small_for_kws"),
        (0, -1, "the_arena_is_too_small_for_kws"),
    ],
)
def test_a_block_that_is_too_small_stops_the_compiler(
    header: Path, command: tuple[str, ...], extra: int, pages: int, said: str | None
) -> None:
    result = subprocess.run(
        [
            *command, "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only",
            f"-DEXTRA={extra}", f"-DPAGES={pages}", f"-I{header}",
            f"-I{resources.crt() / 'include'}", str(header / "main.c"),
        ],
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert (result.returncode == 0) == (said is None), result.stderr
    assert said is None or said in result.stderr

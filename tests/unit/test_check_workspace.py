"""MCU_<NAME>_CHECK_WORKSPACE: the compiler stops where an array of the user's is too small."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from mcu_deploy import resources
from mcu_deploy.boards import load_board
from mcu_deploy.compiler import compile_model

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]


@pytest.fixture(scope="module")
def folder(kws_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with network_kws.h."""
    made = tmp_path_factory.mktemp("workspace")
    network = compile_model(kws_dir / "model.onnx", load_board("host"), name="kws")
    (made / "network_kws.h").write_text(network.sources.header)
    return made


def compile_array(folder: Path, language: str, size: str) -> subprocess.CompletedProcess[str]:
    source = folder / f"array.{'cpp' if language.startswith('c++') else 'c'}"
    source.write_text(
        '#include "network_kws.h"\n'
        "MCU_ALIGNED(MCU_KWS_WORKSPACE_ALIGNMENT)\n"
        f"uint8_t arena[{size}];\n"
        "MCU_KWS_CHECK_WORKSPACE(arena);\n"
        "int nothing;\n"
    )
    compiler = "g++" if source.suffix == ".cpp" else "gcc"
    command = [compiler, f"-std={language}", *WARNINGS, f"-I{resources.crt() / 'include'}"]
    return subprocess.run(
        [*command, "-fsyntax-only", str(source)], capture_output=True, text=True, check=False
    )


@pytest.mark.needs_host_gcc
@pytest.mark.parametrize("language", ["c99", "c11", "c17", "c++11", "c++17"])
def test_an_array_that_is_too_small_stops_the_compiler(folder: Path, language: str) -> None:
    for size in ("MCU_KWS_WORKSPACE_SIZE", "MCU_KWS_WORKSPACE_SIZE + 100U"):
        done = compile_array(folder, language, size)
        assert done.returncode == 0, done.stderr
    done = compile_array(folder, language, "MCU_KWS_WORKSPACE_SIZE - 1U")
    assert done.returncode != 0
    assert "arena_is_too_small_for_kws" in done.stderr

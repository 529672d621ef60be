"""network_<name>.h: the sizes are constants, and a block that is too small stops the compiler."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from mcu_deploy import compiler, resources
from mcu_deploy.api.building import build
from mcu_deploy.boards import load_board

SOURCE = """
#include "network_kws.h"
static uint8_t workspace[MCU_KWS_WORKSPACE_SIZE + EXTRA];
MCU_KWS_CHECK_WORKSPACE(workspace);
MCU_KWS_CHECK_ARENA(MCU_KWS_ARENA_PAGES(10) + PAGES, 10);
MCU_STATIC_ASSERT(MCU_KWS_INPUT_0_BYTES == 490 && MCU_KWS_OUTPUT_0_BYTES == 12, bytes);
MCU_STATIC_ASSERT(MCU_KWS_INPUT_0_ZERO_POINT == 83, zero_point_of_the_input);
MCU_STATIC_ASSERT(5 + MCU_KWS_OUTPUT_0_ZERO_POINT == -123, zero_point_of_the_output);
MCU_STATIC_ASSERT(MCU_KWS_STACK_BYTES == 408, stack);
static const float scales[] = {MCU_KWS_INPUT_0_SCALE, MCU_KWS_OUTPUT_0_SCALE};
int main(void) { return workspace[0] + (scales[1] > 0.0F); }
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
    (folder / "network_kws.h").write_text(network.sources.with_stack(408))
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


def test_what_is_not_quantized_has_bytes_alone(models_dir: Path) -> None:
    path = models_dir / "tflm_hello_world_f32" / "model.onnx"
    header = compiler.compile_model(path, load_board("host"), name="sine").sources.header
    macros = dict(re.findall(r"^#define (MCU_SINE_(?:IN|OUT)PUT_\w+) +(\S+)$", header, re.M))
    assert macros == {"MCU_SINE_INPUT_0_BYTES": "4U", "MCU_SINE_OUTPUT_0_BYTES": "4U"}


@pytest.mark.needs_host_gcc
def test_the_header_of_a_build_and_its_report_agree(models_dir: Path, tmp_path: Path) -> None:
    """The bound is known when the network is linked; its object is none the less that header's."""
    model = models_dir / "tflm_hello_world_int8" / "model.onnx"
    report = build(model, "host", tmp_path, name="sine").report.networks[0]
    header = (tmp_path / "include" / "network_sine.h").read_text()
    macros = dict(re.findall(r"^#define MCU_SINE_(\w+) +\(?(\S+?)U?\)?$", header, re.M))
    assert int(macros["STACK_BYTES"]) == report.stack_bytes
    first, last = report.layers[0].inputs[0], report.layers[-1].outputs[0]
    assert first is not None
    for what, (tensor,), layer in (
        ("INPUT", report.inputs, first),
        ("OUTPUT", report.outputs, last),
    ):
        assert int(macros[f"{what}_0_BYTES"]) == tensor.bytes
        assert int(macros[f"{what}_0_ZERO_POINT"]) == tensor.zero_point
        scale = np.float32(macros[f"{what}_0_SCALE"].rstrip("F"))
        assert scale == np.float32(tensor.scale)
        assert (tensor.pool, tensor.offset, tensor.bytes) == (layer.pool, layer.offset, layer.bytes)
    built = (tmp_path / "network_sine.o").read_bytes()
    network = compiler.compile_model(model, load_board("host"), name="sine")
    (tmp_path / "again").mkdir()
    again = compiler.write_network(network, load_board("host"), tmp_path / "again", debug=False)
    assert again.read_bytes() == built

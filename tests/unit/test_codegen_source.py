"""The generated C and header of real models, as a person reads them."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
from pathlib import Path

import pytest
from models import mlperf
from sampling import first

from mcu_deploy import codegen, resources
from mcu_deploy.boards import load_board
from mcu_deploy.codegen import network
from mcu_deploy.compiled import Network
from mcu_deploy.compiler import compile_model
from mcu_deploy.options import Options
from mcu_deploy.plan import InPool

MODELS = ("mlperf_kws_int8", "mlperf_vww_int8", "mlperf_ic_f32", "mlperf_ad_int8")


def compiled(path: Path, name: str, **options: object) -> Network:
    chosen = Options(**options)  # type: ignore[arg-type]
    return compile_model(path, load_board("mps2-an386"), name=name, options=chosen)


def test_codegen_knows_the_numbers_of_the_runtime_s_headers() -> None:
    headers = resources.crt() / "include" / "mcu"
    model, runtime = (headers / "model.h").read_text(), (headers / "runtime.h").read_text()
    assert f"#define MCU_MODEL_ABI_MAJOR   {network.ABI[0]}U\n" in model
    assert f"#define MCU_MODEL_ABI_MINOR   {network.ABI[1]}U\n" in model
    assert f"#define MCU_MAX_TENSORS {network.MOST_TENSORS}\n" in runtime


@pytest.mark.parametrize("model", first([*MODELS]))
@pytest.mark.parametrize("name", first(["", "mlperf_kws_int8"]))
def test_sources_are_laid_out_as_clang_format_would(
    model: str, name: str, models_dir: Path, tmp_path: Path, repository: Path
) -> None:
    program = Path(sys.executable).with_name("clang-format")
    if not program.exists():
        pytest.skip("clang-format is not installed; `make setup` installs it into .venv")
    name = name or model.removeprefix("mlperf_")
    sources = mlperf.compiled(models_dir / model / "model.onnx", "mps2-an386", name).sources
    for file, content in sources.files.items():
        if file.endswith(".bin"):
            continue
        text = content.decode()
        assert max(map(len, text.splitlines())) <= 100
        assert not re.search(r"[ \t]$", text, re.M)
        assert not re.search(r"\n\n\n", text)
        done = subprocess.run(
            [program, f"--style=file:{repository / '.clang-format'}", f"--assume-filename={file}"],
            input=text, capture_output=True, text=True, check=True, cwd=tmp_path,
        )  # fmt: skip
        assert done.stdout == text


def test_each_layer_has_a_comment_with_name_shapes_and_macs(kws_dir: Path) -> None:
    source = compiled(kws_dir / "model.onnx", "kws", backends=("CpuRef",)).sources.source
    assert re.findall(r"^    MCU_LAYER\((\d+), ", source, re.M) == [str(k) for k in range(12)]
    for text in (
        "    /* conv_1: Conv, functional_1/activation/Relu;... (6 nodes):\n"
        "     * int8[1,1,49,10] -> int8[1,64,25,5] NHWC; 320,000 MACs */\n"
        "    int8_t *const input_1 = (int8_t *)(ws + 0);\n"
        "    int8_t *const conv_1 = (int8_t *)(ws + 1792);\n"
        "    MCU_LAYER(0, _mcu_kws_conv",
        "    /* softmax_1: Softmax, Identity_prequant (3 nodes): int8[1,12] -> int8[1,12] */\n",
        " *   layers        12 with 2,656,768 multiply-accumulates\n",
    ):
        assert text in source


def test_the_table_of_the_workspace_is_the_plan(kws_dir: Path) -> None:
    made = compiled(kws_dir / "model.onnx", "kws")
    source = made.sources.source
    rows = re.findall(r"^ \* +(\d+) +(\d+) +(input|\d+) +(output|\d+)  \S.*$", source, re.M)
    assert len(rows) == len(made.plan.buffers)
    places = {b.id: made.plan.places[b.id] for b in made.plan.buffers}
    planned = {
        (place.offset, b.bytes, max(b.first, -1))
        for b in made.plan.buffers
        if isinstance(place := places[b.id], InPool)
    }
    assert {(int(o), int(n), -1 if f == "input" else int(f)) for o, n, f, _ in rows} == planned
    assert max(int(o) + int(n) for o, n, _, _ in rows) <= made.plan.bytes
    assert rows[0][2] == "input"
    assert sum(row[3] == "output" for row in rows) == 1


def test_the_header_says_what_the_inputs_and_outputs_are(kws_dir: Path) -> None:
    made = compiled(kws_dir / "model.onnx", "kws")
    header = made.sources.header
    assert " *   0: input_1: int8_t[1][49][10][1], 490 bytes\n" in header
    assert " *      real value = 0.5847029 * (q - 83)\n" in header
    assert " *   0: Identity: int8_t[1][12], 12 bytes\n" in header
    assert " *      real value = 0.00390625 * (q + 128)\n" in header
    assert f"#define MCU_KWS_WORKSPACE_SIZE      {made.plan.bytes}U\n" in header
    assert "#define mcu_network_kws (&_mcu_network_kws)\n" in header


def test_all_layers_keep_their_tensors_where_that_is_asked(kws_dir: Path) -> None:
    """--layers=all: every output has a place of its own, to the end."""
    made = compiled(kws_dir / "model.onnx", "kws", layers_all=True)
    table = made.sources.source.split("_mcu_kws_regions[")[1].split("};")[0]
    regions = [(int(o), int(n)) for o, n in re.findall(r"\{(\d+), +0, +(\d+)\},", table)]
    assert len(regions) == len(made.plan.steps) == 12
    ends = sorted((o, o + n) for o, n in regions)
    assert all(end <= start for (_, end), (start, _) in itertools.pairwise(ends))


def test_the_table_of_the_firmware(kws_dir: Path) -> None:
    rows = [codegen.FirmwareModel("a", "ab" * 32, "01" * 32, 336)]
    text = codegen.firmware_models(rows)
    assert "static uint8_t workspace_a[MCU_A_WORKSPACE_SIZE];" in text
    assert text.count("0xab") == 32
    assert text.count("0x01") == 32
    assert max(map(len, text.splitlines())) <= 100

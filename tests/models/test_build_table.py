"""Which model fits which board: the table of eight models on seven boards, asserted whole."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from models.mlperf import BOARDS, DOES_NOT_FIT, MODELS
from sampling import first, part

from mcu_deploy.api.building import build
from mcu_deploy.errors import FitError
from mcu_deploy.options import Options
from mcu_deploy.report import read

pytestmark = [pytest.mark.needs_arm_gcc, pytest.mark.needs_host_gcc]

_PRODUCTS = (
    "network_n.c", "include/network_n.h", "include/mcu/runtime.h", "network_n.weights.bin",
    "network_n.o", "libmcu_crt.a", "firmware.elf", "bench.elf", "report.json",
)  # fmt: skip
_REPORT_KEYS = {
    "model", "board", "flash_bytes", "ram_bytes", "arena_bytes", "arena_lower_bound_bytes",
    "stack_bytes", "firmware_flash_bytes", "firmware_ram_bytes", "macs", "instructions", "layers",
    "tools",
}  # fmt: skip


# The sample: the chip that has room for the fewest.
SAMPLE = ("netduinoplus2",)


@pytest.mark.parametrize("board", first((*SAMPLE, *(b for b in BOARDS if b not in SAMPLE))))
def test_every_model_builds_or_says_what_is_missing(
    board: str, models_dir: Path, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    """In the sample one model that fits, and one that lacks flash and one that lacks RAM."""
    fitting = 0
    whole = pytestconfig.getoption("--all")
    refused = {kind: model for (where, model), kind in DOES_NOT_FIT.items() if where == board}
    for model in MODELS if whole else (MODELS[0], *refused.values()):
        folder = tmp_path / model
        source = models_dir / model / "model.onnx"
        kind = DOES_NOT_FIT.get((board, model))
        if kind is None:
            built = build(source, board, folder, name="n")
            assert all((folder / name).is_file() for name in _PRODUCTS)
            report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
            assert read(report) == built.report
            assert report.keys() >= _REPORT_KEYS
            # the rest is what the C library keeps in RAM (errno, for expf)
            parts = report["networks"][0]["ram_parts"]
            assert sum(parts.values()) == report["ram_bytes"]
            assert 0 <= parts["data"] <= 128
            for memory in report["memories"]:
                assert memory["used_bytes"] <= memory["size_bytes"]
            fitting += 1
            continue
        with pytest.raises(FitError) as caught:
            build(source, board, folder, name="n")
        sentence = str(caught.value)
        missing = re.search(
            rf"(?<!{kind} ){kind}(?: \w+)? needs ([\d,]+) bytes and has ([\d,]+): ([\d,]+) bytes "
            "are missing",
            sentence,
        )
        assert missing is not None, sentence
        needs, has, lacks = (int(g.replace(",", "")) for g in missing.groups())
        assert needs - has == lacks > 0
        assert "What would help: int8 quantisation" in sentence
        assert not (folder / "firmware.elf").exists()
        assert not (folder / "report.json").exists()
    assert fitting == ({"netduinoplus2": 5, "stm32f746": 7}.get(board, 8) if whole else 1)


# Arena over lower bound: below 1 where an output lies on its input.
RATIO = {"kws": 0.61, "vww": 0.67, "ic": 0.68, "ad": 1.0}


def test_the_memory_of_the_int8_models_is_within_their_budget(
    models_dir: Path, tmp_path: Path
) -> None:
    budget = {"vww": 57_500, "kws": 17_500, "ic": 51_500, "ad": 2_600}
    for short, bytes_ in part([*budget.items()], 2):
        source = models_dir / f"mlperf_{short}_int8" / "model.onnx"
        options = Options(backends=("CpuRef",))
        report = build(source, "mps2-an386", tmp_path / short, name=short, options=options).report
        assert report.ram_bytes <= bytes_
        assert report.arena_bytes <= report.arena_lower_bound_bytes
        assert report.arena_ratio == pytest.approx(RATIO[short], abs=0.01)

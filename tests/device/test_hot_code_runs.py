"""Kernels that run from RAM (--hot-code): where they lie, that the bits fit, what it saves."""

from __future__ import annotations

from pathlib import Path

import pytest
from models.mlperf import first_samples

from mcu_deploy.api.building import Build, build
from mcu_deploy.api.folder import open_folder
from mcu_deploy.api.profiling import profile
from mcu_deploy.api.validating import validate
from mcu_deploy.elf.reader import load_elf
from mcu_deploy.hygiene import check_files
from mcu_deploy.options import Options

pytestmark = pytest.mark.needs_arm_gcc

MODEL = "digits_cnn_qdq_s8s8_pc"


def _require_in_ram(built: Build) -> None:
    """All hot kernels, and they alone, lie in the memory for them; what is linked is clean."""
    (network,) = built.report.networks
    memory = built.board.memory(built.board.roles.hot_code)
    linked = {s.name: s for s in load_elf(built.firmware).symbols}
    assert network.hot_code_bytes == sum(c.bytes for c in network.waiting_code if c.in_ram) > 0
    for code in network.waiting_code:
        symbol = linked[code.function]
        assert (memory.origin <= symbol.value & ~1 < memory.end) == code.in_ram
        assert symbol.size == pytest.approx(code.bytes, abs=24), code
    built_object = built.directory / f"network_{network.name}.o"
    assert check_files([built_object, built.firmware], built.board).findings == ()
    assert 0 < network.stack_bytes < built.board.stack_bytes


@pytest.mark.parametrize(
    ("board", "waits"),
    [
        pytest.param("mps2-an386", 5, marks=pytest.mark.needs_qemu),
        # In ITCM, at other addresses than data.
        pytest.param("stm32f746", None, marks=[pytest.mark.needs_renode, pytest.mark.matrix]),
        pytest.param("mps2-an500", 5, marks=[pytest.mark.needs_qemu, pytest.mark.matrix]),
        pytest.param("mps2-an505", 5, marks=[pytest.mark.needs_qemu, pytest.mark.matrix]),
        pytest.param("stm32f407", None, marks=[pytest.mark.needs_renode, pytest.mark.matrix]),
    ],
)
def test_kernels_in_ram_give_the_oracles_bits(
    board: str, waits: int | None, models_dir: Path, tmp_path: Path
) -> None:
    source, options = models_dir / MODEL, Options(flash_wait=waits, hot_code=4096)
    built = build(source / "model.onnx", board, tmp_path / "build", name="n", options=options)
    _require_in_ram(built)
    result = validate(built, first_samples(source / "io.npz", 1, tmp_path))
    assert result.problems == ()
    assert result.oracle[0].equal == 1.0


@pytest.mark.needs_qemu
def test_kernels_in_ram_do_not_wait_for_their_code(models_dir: Path, tmp_path: Path) -> None:
    """On the board whose flash waits, by the emulator's own count of each fetch."""
    source = models_dir / MODEL / "model.onnx"
    code, sizes = [], []
    for budget in (0, 8192):
        folder = tmp_path / str(budget)
        built = build(source, "nucleo_l4r5zi", folder, name="n", options=Options(hot_code=budget))
        time = profile(open_folder(folder)).time
        assert time is not None
        code.append(time.code)
        sizes.append((built.report.flash_bytes, built.report.ram_bytes))
    _require_in_ram(built)
    (network,) = built.report.networks
    assert all(kernel.in_ram for kernel in network.waiting_code)
    assert code[1] < code[0] / 3
    # The flash holds the code in any case, of some layers of longer kernels, and the RAM a copy.
    assert 0 <= sizes[1][0] - sizes[0][0] < 512
    assert abs(sizes[1][1] - sizes[0][1] - network.hot_code_bytes) < 64

"""Loops fit into a board's cache of instructions: measured in the disassembly, by what ran how
often, and by how long the board waits for code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from arm_dsp_convolutions import Case, model
from hot_loops import hot_loops
from sampling import first

from mcu_deploy.api.building import build
from mcu_deploy.api.folder import open_folder
from mcu_deploy.device.counting import count_instructions
from mcu_deploy.device.modelling import BoardTime, model_cycles, model_time
from mcu_deploy.device.waiting import memory_lines
from mcu_deploy.elf.disassembly import code_ranges, disassemble
from mcu_deploy.elf.reader import load_elf
from mcu_deploy.options import Options
from mcu_deploy.toolchain.stand_in import link_stand_in

pytestmark = [pytest.mark.needs_arm_gcc, pytest.mark.needs_qemu]

_BOARD, _LONGEST = "nucleo_l4r5zi", 896
_NONE = (0, 0, 0, 0)


@dataclass(frozen=True)
class Layer:
    """longest: the bytes of its longest hot loop."""

    time: BoardTime
    longest: int


def _layers(model: Path, goal: str, folder: Path) -> Iterator[Layer]:
    """Of a build for the board, whose image QEMU's machine of the core runs."""
    built = build(model, _BOARD, folder / "build", name="net", options=Options(optimize_for=goal))
    opened = open_folder(built.directory)
    (folder / "image").mkdir()
    made = link_stand_in(built.directory, opened.board, ["net"], folder / "image")
    assert not isinstance(made, str), made
    counts = count_instructions(
        made.board, made.image, by_address=True, memories=memory_lines(made.board, made.image)
    )
    cycles = model_cycles(made.board, made.image, counts)
    assert not isinstance(cycles, str), cycles
    times = model_time(made.board, counts, cycles).layers
    elf = load_elf(made.image.resolve())
    ranges = [piece for piece in code_ranges(elf)[0] if piece.state == "t"]
    code = sorted((of for _, of in disassemble(ranges)), key=lambda of: of.address)
    functions = {
        (symbol.value & ~1, (symbol.value & ~1) + symbol.size)
        for symbol in elf.symbols
        if symbol.type == "STT_FUNC" and symbol.name.startswith("_mcu_net")
    }
    pieces = [[of for of in code if first <= of.address < end] for first, end in functions]
    for at, time in zip(counts.layers_by_address, times, strict=True):
        ran = (piece for piece in pieces if piece and piece[0].address in at)
        sizes = [loop.bytes for piece in ran for loop in hot_loops(piece, at)]
        yield Layer(time, max(sizes, default=0))


# Of each model the layers, by their numbers, whose longest loop has more bytes than it may have and
# which wait for more than a fiftieth of their time for code: one whose tiles take turns, of which a
# shorter form takes longer (docs/costs.md).
_WORTH_IT = 0.02
_LONG: dict[str, dict[int, int]] = {
    "mlperf_kws_int8": {},
    "mlperf_ad_int8": {},
    "mlperf_vww_int8": {},
    "mlperf_ic_int8": {1: 1428},
}
# Layers of usual sizes, of each family.
_SHAPES = (
    Case((64, 12, 12), 64, group=64), Case((144, 14, 14), 144, group=144),
    Case((144, 14, 14), 144, strides=(2, 2), pads=(0, 0, 1, 1), group=144),
    Case((192, 10, 10), 192, group=192), Case((256, 3, 3), 256, group=256),
    Case((6, 12, 12), 16, (5, 5), pads=_NONE), Case((16, 8, 8), 24, (1, 1), pads=_NONE),
    Case((64, 25, 5), 64, (1, 1), pads=_NONE), Case((128, 6, 6), 128, (1, 1), pads=_NONE),
    Case((16, 20, 20), 16, dilations=(2, 2), pads=_NONE),
    Case((3, 32, 32), 8, strides=(2, 2), pads=_NONE),
    Case((32, 14, 14), 32, pads=_NONE, group=8), Case((16, 16, 16), 16, pads=_NONE, group=2),
    Case((16, 1, 60), 16, (1, 9), pads=_NONE, dilations=(1, 2)),
)  # fmt: skip


def _long(layers: Sequence[Layer]) -> dict[int, int]:
    assert any(layer.longest for layer in layers)
    return {
        number: layer.longest
        for number, layer in enumerate(layers)
        if layer.longest > _LONGEST and layer.time.code_share > _WORTH_IT
    }


@pytest.mark.parametrize("name", first([*_LONG]))
def test_the_loops_of_a_model_fit_or_are_hardly_waited_for(
    name: str, models_dir: Path, tmp_path: Path
) -> None:
    layers = [*_layers(models_dir / name / "model.onnx", "balanced", tmp_path)]
    assert _long(layers) == _LONG[name]


@pytest.mark.matrix
def test_the_loops_of_layers_of_usual_sizes_fit_or_are_hardly_waited_for(tmp_path: Path) -> None:
    layers = [*_layers(model(_SHAPES, tmp_path / "shapes.onnx"), "speed", tmp_path)]
    # The dilated one: tiles over the end of a row are begun by code outside of the loop.
    assert _long(layers) == {1: 898}

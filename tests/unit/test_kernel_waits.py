"""Kernels for memories that answer late: on the interpreter the oracle's bits, loops that fit into
a cache of instructions, and weights that are read once for several tiles."""

from __future__ import annotations

import importlib
from collections import Counter
from dataclasses import replace
from pathlib import Path

import arm_dsp_late_cases
import numpy as np
import pytest
from arm_dsp_convolutions import BLOCK, GROUPS, SHARED, SPEECH, Case, model
from arm_dsp_winograd_cases import TAKEN as WINOGRAD
from kernel_runs import first_sample, runs
from quantized_layers import extremes
from sampling import first, part

from mcu_deploy import compiler, formats, passes
from mcu_deploy.backends.ArmDsp.kernels import convolution, pointwise, pointwise_shared, winograd
from mcu_deploy.backends.interface import Target, layer_of
from mcu_deploy.backends.isa import Assembly
from mcu_deploy.backends.isa.dsp import winograd_core, winograd_groups
from mcu_deploy.backends.isa.dsp.frames import Kernel
from mcu_deploy.backends.isa.encoding import addresses
from mcu_deploy.backends.isa.instruction import Instruction
from mcu_deploy.backends.isa.operands import Label
from mcu_deploy.backends.quantized.layers import Convolution, read
from mcu_deploy.boards import load_board
from mcu_deploy.ir.view import view_of_all
from mcu_deploy.memory_timing import Cache, MemoryTiming
from mcu_deploy.options import Options

# STM32L4R5 at 120 MHz, two banks.
FLASH = MemoryTiming(5, 8, Cache(32, 32, 32, "lru"), Cache(8, 32, 8, "lru"))
LATE = Target("cortex-m4", fpu=True, dsp=True, memory=FLASH)
_MOST_MACS = 300_000
# Of an odd number of tiles, and of rows whose last tile has two outputs, or one.
_IN_TURN = (
    Case((16, 3, 9), 4, zeros=(-128, -5)), Case((16, 2, 17), 2, dtypes=("uint8", "int8")),
    Case((16, 3, 16), 4),
)  # fmt: skip
# Whose rows are a loop, which passes one byte or three of each.
_SMALL = (
    Case((3, 6, 7), 8, zeros=(-128, -5)),
    Case((1, 6, 9), 4, (3, 7), pads=(1, 3, 1, 3), dtypes=("uint8", "int8"), zeros=(9, -128)),
)  # fmt: skip
# Of whole tiles, some more than groups have, of rows with and without bytes behind their words.
_IN_ORDER = (
    Case((3, 9, 9), 8, zeros=(-128, -5)), Case((1, 12, 5), 4, (4, 4), pads=(1, 1, 1, 2)),
    Case((2, 6, 5), 6, (2, 2), pads=(0, 0, 0, 0), dtypes=("uint8", "int8")),
)  # fmt: skip
# Whose groups of tiles have a loop over taps, with rests of one and two pixels and without.
_LOOPED = (
    Case((8, 4, 4), 6), Case((8, 3, 5), 4, (1, 8), pads=(0, 4, 0, 3), zeros=(-128, 3)),
    Case((10, 5, 4), 4, dtypes=("uint8", "int8"), zeros=(9, -128)),
)  # fmt: skip
# Of one row, whose columns are a loop: of groups and of dilated ones.
_TURNED = (
    Case((16, 1, 20), 6, (1, 9), pads=(0, 8, 0, 8), dilations=(1, 2), zeros=(-128, 3)),
    Case((20, 1, 17), 8, (1, 5), pads=(0, 2, 0, 2), group=4, dtypes=("uint8", "int8")),
    Case((6, 1, 23), 4, (1, 4), (1, 2), pads=(0, 3, 0, 2), dilations=(1, 3)),
)  # fmt: skip
# A family, whether there is an FPU, and every which of the cases is in the sample.
_RUNS = first(
    [
        ("arm_dsp_cases", True, 4), ("arm_dsp_cases", False, 5),
        ("arm_dsp_conv_table_cases", True, 3), ("arm_dsp_convolutions", True, 8),
        ("arm_dsp_convolutions", False, 1),
    ],
    4,
)  # fmt: skip


def _cases(family: str, path: Path, every: int) -> Path:
    module = importlib.import_module(family)
    taken = list(module.TAKEN)[::every]
    if family == "arm_dsp_convolutions":
        taken += [
            *_IN_TURN,
            *_SMALL,
            *_IN_ORDER,
            *_LOOPED,
            *_TURNED,
            *SHARED[::every],
            *GROUPS[1::every],
        ]
    build = getattr(module, "model", model)
    found: Path = build(taken, path)
    return found


@pytest.mark.parametrize(("family", "fpu", "every"), _RUNS)
def test_kernels_give_the_oracles_bits(
    family: str, fpu: bool, every: int, tmp_path: Path, request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """What else there would be for these layers does not compete here."""
    for module in (pointwise_shared, winograd):
        monkeypatch.setattr(module, "propose", lambda view, layer: "")
    target = replace(LATE, fpu=fpu)
    monkeypatch.setattr(compiler, "target_of", lambda *_: target)
    every = 1 if request.config.getoption("--all") else every
    path = _cases(family, tmp_path / "cases.onnx", every)
    inputs = first_sample(path, extremes(path))
    seen: Counter[str] = Counter()
    for run in runs(path, inputs):
        if run.choice.layer.macs > _MOST_MACS:
            continue
        assert run.result() == run.output, run.name
        for place in run.choice.workload.in_place:
            assert run.result(place) == run.output, f"{run.name}: {place}"
        function = run.choice.workload.function
        assert function is not None
        head = " ".join(function.comment)
        seen["groups"] += "In place: a group" in head
        seen["in turn"] += "stacks of tiles" in head
        seen["in order"] += "tiles, whose outputs follow each other" in head
        seen["convolution groups"] += "The streams of groups follow each other" in head
    assert seen["groups"]
    if family == "arm_dsp_convolutions":
        assert seen["in order"] > 1 and seen["convolution groups"] > 1
    is_in_turn = fpu and family == "arm_dsp_convolutions"
    assert seen["in turn"] >= len(_IN_TURN) if is_in_turn else not seen["in turn"]


def _layer(case: Case, folder: Path) -> Convolution:
    view = view_of_all(passes.run(formats.load(model([case], folder / "case.onnx"))))
    node = next(node for node in view.nodes if node.op == "Conv")
    found = read(layer_of(view, node, LATE))
    assert isinstance(found, Convolution)
    return found


def loops(code: Assembly) -> list[int]:
    """The bytes of each loop that multiplies, from the shortest on, which all end with conditions
    but for that over tiles."""
    items = code.items
    at = addresses(items)
    places = {item: n for n, item in enumerate(items) if isinstance(item, Label)}
    found = []
    for end, item in enumerate(items):
        if not isinstance(item, Instruction) or item.mnemonic == "b":
            continue
        begin = next((places[to] for to in item.operands if isinstance(to, Label)), end)
        names = {i.name for i in items[begin:end] if isinstance(i, Instruction)}
        if "smlad" in names:
            found.append(at[end + 1] - at[begin])
    return sorted(found)


def test_a_1x1_layer_whose_kernel_is_longer_than_a_cache_has_no_loop_over_channels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What its price says of that is another matter."""
    target = compiler.target_of(load_board("stm32f746"), Options(), frozenset())
    monkeypatch.setattr(compiler, "target_of", lambda *_: target)
    path = model([Case((512, 1, 4), 4, (1, 1), pads=_NONE)], tmp_path / "many.onnx")
    inputs = first_sample(path, extremes(path))
    (run,) = [r for r in runs(path, inputs) if r.choice.layer.op == "Conv"]
    assert run.result() == run.output
    layer = run.choice.layer
    found = read(layer)
    assert isinstance(found, Convolution) and found.loop_bytes == 3584
    assert not pointwise.product(found).has_loop


_NONE = (0, 0, 0, 0)
_PIXELS = (Case((64, 25, 5), 64, (1, 1), pads=_NONE), Case((256, 3, 3), 64, (1, 1), pads=_NONE))


@pytest.mark.parametrize("case", _PIXELS, ids=str)
def test_the_loops_of_a_1x1_layer_fit_into_the_cache(case: Case, tmp_path: Path) -> None:
    layer = _layer(case, tmp_path)
    assert layer.loop_bytes == 896
    # Of taps, tiles and filters; that over groups has the code for late sums in it, too.
    *_, filters, _ = sizes = loops(pointwise.kernel(layer).code)
    assert len(sizes) == 4 and filters <= 896


def test_where_no_cache_keeps_weights_groups_are_taken_if_their_code_is_worth_it(
    tmp_path: Path,
) -> None:
    """They spare no reading of weights then."""
    layer = _layer(_PIXELS[0], tmp_path)
    bare, cached, at_once = (
        pointwise.kernel(replace(layer, target=replace(LATE, memory=memory)))
        for memory in (MemoryTiming(3, 8), replace(FLASH, data_cache=None), None)
    )
    assert not bare.product.is_grouped and bare.code.digest == at_once.code.digest
    assert cached.product.is_grouped and cached.code.longest_loop(layer.pixels // 3) <= 896


@pytest.mark.parametrize("how", [{}, {"is_wide": True}, {"is_shared": True}, {"is_common": True}])
@pytest.mark.parametrize("case", [BLOCK, Case((64, 8, 8), 64), Case((12, 7, 9), 6)], ids=str)
def test_the_loops_of_a_convolution_fit_into_the_cache(
    case: Case, how: dict[str, bool], tmp_path: Path
) -> None:
    kernel = Kernel(_layer(case, tmp_path), **how)
    assert kernel.product.is_in_turn == ("is_shared" in how and case.shape[0] >= 16)
    taps, *_, filters = loops(convolution.assemble(kernel))
    assert taps < filters <= (1024 if kernel.product.is_in_turn else 896)
    assert taps <= 896


def test_a_gather_that_would_be_much_of_a_loop_loops_over_rows(tmp_path: Path) -> None:
    """Nine bytes a row, of which each leaves one behind its words."""
    layer = _layer(Case((3, 96, 96), 8, strides=(2, 2), pads=(0, 0, 1, 1)), tmp_path)
    large = replace(FLASH, instruction_cache=Cache(128, 32, 128, "lru"))
    short, long_ = (
        convolution.assemble(Kernel(replace(layer, target=replace(LATE, memory=memory))))
        for memory in (FLASH, large)
    )
    assert short.bytes < long_.bytes - 100 and short.cycles < 1.03 * long_.cycles


@pytest.mark.parametrize("fpu", first([True, False]))
def test_winograds_passes_give_the_oracles_bits(
    fpu: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cases have late sums and some that no integers round, chunks and rounds of channels."""
    made = winograd._proposal
    monkeypatch.setattr(
        winograd, "_proposal", lambda view, node, k: made(view, node, replace(k, has_passes=True))
    )
    monkeypatch.setattr(convolution, "propose", lambda view, layer: "")
    monkeypatch.setattr(compiler, "target_of", lambda *_: replace(LATE, fpu=fpu))
    path = model(part(WINOGRAD, 2) if fpu else WINOGRAD[::3], tmp_path / "cases.onnx")
    inputs = first_sample(path, extremes(path))
    seen: Counter[str] = Counter()
    for run in runs(path, inputs):
        assert run.result() == run.output, run.name
        function = run.choice.workload.function
        assert function is not None
        head = " ".join(function.comment)
        seen["passes"] += "the windows of a pass" in head
        seen["chunks"] += "chunks of channels" in head
        seen["unsolved"] += "no integers round" in head
        (place,) = run.choice.workload.in_place
        assert run.result(place) == run.output, f"{run.name}: {place}"
    assert seen["passes"] >= 6
    if fpu:
        assert seen["chunks"] and seen["unsolved"]


@pytest.mark.parametrize("channels", [8, 16, 32, 48, 64])
def test_winograds_loops_fit_into_the_cache(channels: int, tmp_path: Path) -> None:
    """Those over filters, and what is in them; more than 896 bytes, and no more than 1,024 with the
    lines that they begin and end in, where words have to be of two chunks."""
    layer = _layer(Case((channels, 8, 9), 64), tmp_path)
    passes_, at_once = winograd.Winograd(layer, has_passes=True), winograd.Winograd(layer)
    shape = passes_.shape
    code = winograd_groups.assemble(shape, passes_.coverage(), 1)
    longest = code.longest_loop(passes_.coverage().groups)
    assert longest <= (896 if shape.chunks == 1 and shape.rounds == 1 else 980)
    assert winograd_core.assemble(at_once.shape, at_once.coverage()).longest_loop() > 2 * longest
    cache = FLASH.data_cache
    assert cache is not None and 8 * shape.pairs <= cache.bytes - cache.line_bytes


def test_small_windows_are_multiplied_by_groups(tmp_path: Path) -> None:
    """Each two filters' words are read once for so many tiles."""
    kernel = Kernel(_layer(SPEECH, tmp_path))
    assert kernel.product.is_grouped and kernel.tiles_together == 5
    assert loops(convolution.assemble(kernel))[-1] <= 896
    small = replace(FLASH, wait_states=0)
    layer = replace(kernel.layer, target=replace(LATE, memory=small))
    assert Kernel(layer).tiles_together == 1


@pytest.mark.parametrize("case", _LOOPED, ids=str)
def test_what_a_cache_of_data_keeps_is_multiplied_with_several_tiles(
    case: Case, tmp_path: Path
) -> None:
    layer = _layer(case, tmp_path)
    kernel = Kernel(layer)
    assert kernel.product.has_loop and kernel.product.is_grouped and kernel.tiles_together > 1
    small = replace(FLASH, data_cache=Cache(8, 16, 8, "lru"))
    other = Kernel(replace(layer, target=replace(LATE, memory=small)))
    assert other.tiles_together == 1
    one, alone = (
        convolution.assemble(k).time(LATE) - convolution.assemble(k).cycles for k in (kernel, other)
    )
    assert one < alone


@pytest.mark.parametrize(
    "case",
    [
        Case((16, 16, 16), 16, group=2, pads=_NONE), Case((32, 9, 9), 16, group=8, pads=_NONE),
        Case((16, 12, 12), 8, strides=(2, 2), pads=_NONE),
        Case((16, 20, 20), 16, dilations=(2, 2), pads=_NONE),
        Case((3, 48, 48), 8, strides=(2, 2), pads=_NONE),  # by groups of tiles
    ],
    ids=str,
)  # fmt: skip
def test_where_few_filters_follow_a_gather_both_fit_into_the_cache(
    case: Case, tmp_path: Path
) -> None:
    layer = _layer(case, tmp_path)
    kernel = Kernel(layer)
    short = convolution.fitting(kernel)
    assert short is not kernel
    long_, code = convolution.assemble(kernel), convolution.assemble(short)
    rounds = kernel.tiles.count / kernel.tiles_together - 1
    assert code.longest_loop(rounds) <= 980 < long_.longest_loop(rounds)
    assert code.waited_for_code(LATE) < 0.011 * code.cycles < 0.05 * long_.cycles
    assert code.time(LATE) < 0.99 * long_.time(LATE)
    # Where memory answers at once there is nothing to fit.
    at_once = Kernel(replace(layer, target=replace(LATE, memory=None)))
    assert convolution.fitting(at_once) is at_once


@pytest.mark.parametrize(
    "case",
    [
        Case((16, 1, 40), 8, (1, 9), pads=(0, 8, 0, 8), dilations=(1, 2)),
        Case((20, 1, 30), 8, (1, 5), pads=(0, 2, 0, 2), group=4),
    ],
    ids=str,
)
def test_columns_of_one_row_are_a_loop_where_they_do_not_follow_each_other(
    case: Case, tmp_path: Path
) -> None:
    layer = _layer(case, tmp_path)
    looped, at_once = (
        Kernel(replace(layer, target=replace(LATE, memory=memory))) for memory in (FLASH, None)
    )
    assert looped.gather.is_turned and not at_once.gather.is_turned
    assert convolution.assemble(looped).bytes < convolution.assemble(at_once).bytes - 150
    assert np.array_equal(looped.gather.weights(), at_once.gather.weights())


def test_what_a_loop_jumps_to_takes_its_place_in_the_cache(tmp_path: Path) -> None:
    """Windows that leave the image are begun by code behind the loop over tiles, and what was
    fetched for that loop is fetched anew afterwards."""
    inside, outside = (
        Kernel(_layer(Case((32, 9, 9), 16, group=8, pads=pads), tmp_path))
        for pads in (_NONE, (1, 1, 1, 1))
    )
    for kernel, share in ((inside, 0.0), (outside, 0.03)):
        short = kernel.leaving(kernel.product.room_for(260))
        code = convolution.assemble(short)
        assert code.longest_loop(kernel.tiles.count - 1) <= 896
        assert share < code.waited_for_code(LATE) / code.cycles < share + 0.1
    assert convolution.fitting(inside) is not inside


def test_the_price_of_a_group_waits_once_for_several_tiles(tmp_path: Path) -> None:
    """The small function for layers of all sizes reads all weights for each tile."""
    layer, at_once = _layer(_PIXELS[0], tmp_path), replace(LATE, memory=None)
    one, other = (
        code.time(LATE) - code.time(at_once)
        for code in (
            pointwise.kernel(layer).code,
            pointwise_shared.kernel(layer, pointwise_shared.WAYS["any_small"]).code,
        )
    )
    assert 0 < one < other / 3


# Of a tile and less, of odd rests, of one and several groups, of more filters than channels and of
# less, and of more words than the cache of data keeps.
_SIZED = [
    Case((channels, rows, columns), filters, (1, 1), pads=_NONE, zeros=zeros)
    for channels, rows, columns, filters, zeros in (
        (4, 1, 3, 2, (3, -5)), (4, 1, 4, 2, (3, -5)), (8, 1, 5, 6, (-128, -5)),
        (32, 5, 7, 20, (3, 0)), (60, 6, 6, 32, (-128, -128)), (112, 3, 5, 8, (1, 2)),
        (128, 3, 5, 8, (1, 2)), (20, 9, 3, 64, (0, 0)), (16, 6, 8, 12, (3, 3)),
    )
]  # fmt: skip


@pytest.mark.parametrize("fpu", first([True, False]))
def test_one_function_for_all_sizes_multiplies_groups(
    fpu: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of all layers, those with late sums and those that no integers round, too."""
    way = pointwise_shared.WAYS["any"]
    monkeypatch.setattr(pointwise_shared, "WAYS", {"any": way})
    monkeypatch.setattr(pointwise, "propose", lambda view, layer: "")
    monkeypatch.setattr(compiler, "target_of", lambda *_: replace(LATE, fpu=fpu))
    sized = model(_SIZED if fpu else _SIZED[::2], tmp_path / "sized.onnx")
    late, rare = arm_dsp_late_cases.model(tmp_path / "late.onnx", depthwise=())
    seen: Counter[str] = Counter()
    for path, file in ((sized, extremes(sized)), (late, rare)):
        inputs = first_sample(path, file)
        for run in runs(path, inputs):
            function = run.choice.workload.function
            if function is None or function.stem != "conv1x1_any_dsp":
                continue
            assert run.result() == run.output, run.name
            (place,) = run.choice.workload.in_place
            assert run.result(place) == run.output, f"{run.name}: {place}"
            seen["all"] += 1
            seen["unsolved"] += "no integers round" in " ".join(function.comment)
    assert seen["all"] >= (17 if fpu else 13) and seen["unsolved"]


@pytest.mark.parametrize("channels", [16, 64, 112])
def test_that_function_takes_little_longer_than_one_of_a_size(
    channels: int, tmp_path: Path
) -> None:
    layer = _layer(Case((channels, 9, 9), 32, (1, 1), pads=_NONE), tmp_path)
    code = pointwise_shared.kernel(layer, pointwise_shared.WAYS["any"]).code
    assert code.time(LATE) < 1.15 * pointwise.kernel(layer).code.time(LATE)
    # Of steps, tiles, filters.
    assert code.longest_loop(layer.pixels // 3) <= 896


def test_windows_that_are_gathered_one_after_the_other_wait_for_their_code_once(
    tmp_path: Path,
) -> None:
    """Five tiles are, and then multiplied, which takes the cache from what gathers."""
    kernel = Kernel(_layer(Case((3, 24, 24), 16, zeros=(-128, -128)), tmp_path))
    assert kernel.tiles_together > 4
    code = convolution.assemble(kernel)
    assert code.waited_for_code(LATE) < 0.08 * code.cycles

"""ArmDsp's fully connected layers: what they read, which of them share code, at what price."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from arm_dsp_dense_cases import REFUSED, SMALL, TAKEN, WIDE, Dense, model
from arm_dsp_proposals import M4, proposals_for
from arm_dsp_tflite_cases import Dense as TfliteDense
from arm_dsp_tflite_cases import LayersFile
from hypothesis import given, settings
from hypothesis import strategies as st
from sampling import examples, part

from mcu_deploy.backends.ArmDsp.kernels import fully_connected
from mcu_deploy.backends.interface import InPlace, Proposals, Target
from mcu_deploy.backends.isa.dsp import dense_row
from mcu_deploy.backends.isa.encoding import addresses
from mcu_deploy.backends.isa.instruction import Instruction
from mcu_deploy.backends.kit import overlap
from mcu_deploy.backends.quantized import dense
from mcu_deploy.backends.quantized.requantization import reach
from mcu_deploy.ir import DType, Quantization, TensorType
from mcu_deploy.memory_timing import USUAL_FLASH, Cache


def proposed(cases: Sequence[Dense], folder: Path, target: Target = M4) -> Proposals:
    return proposals_for(model(cases, folder / "dense.onnx"), target)


def test_two_weights_share_a_word_where_it_holds_them() -> None:
    """A halfword holds 256 times the odd output's weight and the even one's together."""
    for even, odd in itertools.product((-128, -127, -1, 0, 1, 127), repeat=2):
        fits = 256 * odd + even >= -(2**15)
        assert (dense.weights_refusal(np.array([[even], [odd]])) == "") is fits, (even, odd)


def read_by_the_kernel(stream: np.ndarray, x: np.ndarray, is_common: bool) -> np.ndarray:
    """The four sums of each group, the odd ones 256 times, from the words that the kernel reads."""
    words = stream.view(np.int32).astype(np.int64)
    blocks = int(words[0]) // 16
    padded = np.zeros(8 * blocks, np.int64)
    padded[: x.size] = x
    at, sums = 7 if is_common else 3, []
    while at < words.size:
        taps = stream[at + 4 : at + 4 + 8 * blocks].reshape(blocks, 2, 4, 1)
        both, even = taps.view(np.int16), taps.view(np.int8)[..., ::2]
        order = padded.reshape(blocks, 1, 8)[:, :, [0, 2, 1, 3, 4, 6, 5, 7]]
        pairs = order.reshape(blocks, 1, 4, 2)
        raw = words[at + 1 : at + 5 : 2] + (both * pairs).sum(axis=(0, 2, 3))
        evens = words[at : at + 4 : 2] + (even * pairs).sum(axis=(0, 2, 3))
        odds = (raw - evens + 2**31) % 2**32 - 2**31
        sums.append(np.stack([evens, odds], axis=1).reshape(-1))
        at += 4 + 8 * blocks + (0 if is_common else 8)
    return np.stack(sums)


def a_layer(
    random: np.random.Generator, outputs: int, taps: int, factors: np.ndarray
) -> dense.Dense:
    weights = random.integers(-127, 128, (outputs, taps))
    bias = random.integers(-9000, 9000, outputs)
    ends = reach(weights, bias, -128, 127)
    x = TensorType(DType.INT8, (1, taps), Quantization((1.0,), (0,)))
    y = TensorType(DType.INT8, (1, outputs), Quantization((1.0,), (-7,)))
    return dense.Dense(weights, bias, factors.astype(np.float32), ends, x, y, None)


@given(st.integers(1, 40), st.integers(1, 14), st.booleans(), st.integers(0, 2**32 - 1))
@settings(max_examples=examples(200), deadline=None)
def test_what_is_packed_gives_the_bits_of_the_float_product(
    taps: int, outputs: int, is_common: bool, seed: int
) -> None:
    random = np.random.default_rng(seed)
    factors = np.full(outputs, random.uniform(0.001, 0.2)) if is_common else (
        random.uniform(0.001, 0.2, outputs)
    )  # fmt: skip
    layer = a_layer(random, outputs, taps, factors)
    product = dense.row_product(layer)
    shift, common = product.shift, product.common
    stream = product.pack(fully_connected.BLOCK_CODE)
    x = random.choice([-128, 127, random.integers(-128, 128)], taps)
    sums = read_by_the_kernel(stream, x, common is not None)
    scales = stream.view(np.int32).astype(np.int64)
    for output in range(outputs):
        group, place = divmod(output, 4)
        acc = sums[group, place]
        own = scales[3:7] if common else scales[3:].reshape(sums.shape[0], -1)[group, -8:]
        scale, addend = own[2 * (place % (2 if common else 4)) :][:2]
        wanted = layer.channel(output).element(layer.weights @ x + layer.bias)
        if common or own[0]:
            given_ = ((acc * scale >> 32) + addend >> shift + place % 2 * 8).clip(-128, 127)
        else:
            factor = own.astype(np.int32).view(np.float32)[1 + place]
            given_ = np.rint(np.float32(acc) * factor).clip(-121, 134) - 7
        assert given_ == wanted[output]


@pytest.mark.parametrize(("taps", "fits"), [(513, True), (517, False)])
def test_sums_of_more_than_24_bits_are_not_beside_others(taps: int, fits: bool) -> None:
    layer = a_layer(np.random.default_rng(1), 4, taps, np.full(4, 0.01))
    weights, bias = np.full((4, taps), 127), np.zeros(4, np.int64)
    most = replace(layer, weights=weights, bias=bias, reach=reach(weights, bias, -128, 127))
    assert (most.parts == 1) == fits


@pytest.mark.parametrize("common", [None, dense.Rounding((1, 2, 3, 4))])
def test_the_jump_into_the_unrolled_blocks_finds_each_at_its_distance(
    common: dense.Rounding | None,
) -> None:
    layer = a_layer(np.random.default_rng(1), 8, 40, np.full(8, 0.01))
    product = dense.RowProduct(layer, 4, common, dense.BLOCKS)
    items = dense_row.assemble(product).items
    places = dict(zip(items, addresses(items)[:-1], strict=True))
    jumps = [i for i in items if isinstance(i, Instruction) and i.name == "bx"]
    first, *others = blocks = [places[label] for label in jumps[0].targets]
    assert jumps[0].targets == jumps[1].targets
    assert others == [first + n * fully_connected.BLOCK_CODE for n in range(1, dense.BLOCKS)]
    skipped = product.pack(fully_connected.BLOCK_CODE)[1]
    assert first + skipped == blocks[-layer.blocks]


def test_layers_of_other_depths_and_counts_share_the_unrolled_code(tmp_path: Path) -> None:
    cases = [WIDE, Dense(1, 128, 8), Dense(1, 8, 128, zeros=(0, -128)), Dense(1, 48, 20)]
    found = proposed(cases, tmp_path).proposals
    unrolled = [p.price.code for p in found if p.title == "dense, unrolled"]
    assert len(unrolled) == len(cases)
    assert all(code == unrolled[0] for code in unrolled)


def test_one_small_layer_is_not_worth_the_unrolled_code(tmp_path: Path) -> None:
    titles = [p.title for p in proposed([SMALL], tmp_path).proposals]
    assert titles == ["dense", "dense, bytes as they lie"]


def test_a_row_of_few_outputs_may_stay_as_it_lies(tmp_path: Path) -> None:
    """Then it needs no scratch but words, and may be written over where it is read once."""
    for case, in_place in (
        (Dense(1, 64, 4), (InPlace(0, 0, -64),)), (Dense(1, 64, 5), ()), (Dense(1, 64, 17), None),
        (Dense(1, 63, 4), None), (Dense(2, 64, 4), None),
    ):  # fmt: skip
        found = proposed([case], tmp_path).proposals
        direct = [p for p in found if "as they lie" in p.title]
        assert [p.price.scratch_bytes for p in direct] == [28] * (in_place is not None)
        assert [p.price.in_place for p in direct] == [in_place] * len(direct)


def test_where_loops_must_be_short_the_function_has_as_many_blocks_as_fit(tmp_path: Path) -> None:
    shorter = proposed([WIDE, *part(TAKEN, 3)], tmp_path, replace(M4, memory=USUAL_FLASH)).proposals
    sizes = [sum(p.price.code.values()) for p in shorter if p.title == "dense, unrolled"]
    assert sizes and max(sizes) <= 896
    # Long rows have four blocks where others have five; of six outputs two, each as long as two.
    assert min(sizes) > 896 - 3 * fully_connected.BLOCK_CODE


def test_where_no_second_block_fits_there_is_the_loop_alone(tmp_path: Path) -> None:
    memory = replace(USUAL_FLASH, instruction_cache=Cache(22, 16, 22, "lru"))
    found = proposed([WIDE], tmp_path, replace(M4, memory=memory)).proposals
    assert [p.title for p in found] == ["dense"]


@pytest.mark.parametrize(("case", "cycles"), [(WIDE, 103_007), (SMALL, 1_434)])
def test_the_price_is_near_what_the_timings_of_counted_instructions_say(
    case: Dense, cycles: int, tmp_path: Path
) -> None:
    """cycles: of the kernel's addresses counted in QEMU, by Arm's timings for the Cortex-M4."""
    found = proposed([case], tmp_path).proposals
    priced = min(p.price.costs.cycles or 0 for p in found if "as they lie" not in p.title)
    assert priced == pytest.approx(cycles, rel=0.1)


@pytest.mark.parametrize("shape", [(1, 40, 8), (1, 8, 40), (5, 12, 7), (5, 7, 12), (2, 9, 9)])
def test_the_output_follows_the_rows_that_were_read(
    shape: tuple[int, int, int], tmp_path: Path
) -> None:
    rows, taps, outputs = shape
    (proposal, *_) = proposed([Dense(*shape)], tmp_path).proposals
    ends = (np.arange(rows) + 1) * outputs
    wanted = overlap.distance(ends, np.arange(rows) * taps)
    assert proposal.price.in_place[0].distance == max(wanted, -rows * taps)


@pytest.mark.parametrize(
    ("shape", "distance"),
    [
        ((1, 640, 128), 16 * 79 - 8 * 79),  # before the last eight bytes are read
        ((1, 8, 4), -8),
        ((1, 9, 4), 16 - 8),
        ((1, 12, 4), 16 + 6 - 10),  # the tenth element goes to the third place, before the next
        ((2, 16, 4), 32 + 28 - 16),  # all of the scratch before the second row
        ((2, 9, 4), 32 + 28 - 9),
    ],
)
def test_the_scratch_follows_the_row_that_is_read(
    shape: tuple[int, int, int], distance: int, tmp_path: Path
) -> None:
    for proposal in proposed([Dense(*shape)], tmp_path).proposals:
        if "as they lie" in proposal.title:
            continue
        assert proposal.price.in_place[1] == InPlace(0, None, distance)


def test_a_layer_that_it_has_no_kernel_for_is_refused_with_the_reason(tmp_path: Path) -> None:
    for case, reason in REFUSED.items():
        assert reason in proposed([case], tmp_path).refused.values()


def test_a_factor_that_the_second_rounding_does_not_shift_is_refused(tmp_path: Path) -> None:
    file = LayersFile()
    TfliteDense(1, 4, 4, scale=0.7 / 0.75 / 80).add(file, "y")
    found = proposals_for(file.save(tmp_path / "half.tflite"))
    assert not found.proposals
    assert set(found.refused.values()) == {"a factor of it is too large"}


def test_a_core_with_two_issues_loads_words_beside_products(tmp_path: Path) -> None:
    """A block is 16 products; lists, and an address that it is entered by, would take 26 cycles."""
    by_core = {}
    for core in ("cortex-m4", "cortex-m7"):
        target = Target(core, fpu=True, dsp=True)
        found = proposed([WIDE], tmp_path, target).proposals
        by_core[core] = {p.title: p.price.costs.cycles for p in found}
    most = 22 / 32 * WIDE.macs
    assert by_core["cortex-m7"]["dense"] < most < by_core["cortex-m4"]["dense"]
    assert fully_connected.enters(M4, 1) and not fully_connected.enters(target, 1)
    assert fully_connected.enters(target, 2)

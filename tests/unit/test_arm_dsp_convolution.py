"""ArmDsp's convolutions: weights in words, what is refused, and how far outputs follow inputs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from arm_dsp_convolutions import (
    BLOCK,
    GROUPS,
    HALVED,
    LINES,
    REFUSED,
    SHARED,
    SPEECH,
    TAKEN,
    Case,
    model,
)
from arm_dsp_proposals import M4, proposals_for
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sampling import examples

from mcu_deploy import formats, passes
from mcu_deploy.backends.ArmDsp.kernels import pointwise_shared, winograd
from mcu_deploy.backends.interface import Proposals, layer_of
from mcu_deploy.backends.isa.dsp import frames
from mcu_deploy.backends.isa.dsp.bordered import Bordered
from mcu_deploy.backends.isa.encoding import addresses
from mcu_deploy.backends.isa.instruction import Instruction
from mcu_deploy.backends.quantized.dense_product import DenseProduct
from mcu_deploy.backends.quantized.dense_product import words as packed_words
from mcu_deploy.backends.quantized.layers import Convolution, read
from mcu_deploy.backends.quantized.tiles import Tiles


def proposed(case: Case, tmp_path: Path) -> Proposals:
    """Without Winograd's, which are proposed beside them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(winograd, "propose", lambda view, layer: "")
        return proposals_for(model([case], tmp_path / "m.onnx"))


def titles(case: Case, tmp_path: Path) -> list[str]:
    return [proposal.title for proposal in proposed(case, tmp_path).proposals]


def convolution(case: Case, tmp_path: Path) -> Convolution:
    graph = passes.run(formats.load(model([case], tmp_path / "m.onnx")))
    (node,) = (node for node in graph.nodes if node.op == "Conv")
    found = read(layer_of(graph, node, M4))
    assert isinstance(found, Convolution)
    return found


@given(st.data(), st.integers(1, 9).map(lambda n: 2 * n))
@settings(max_examples=examples(100), deadline=None)
def test_wide_words_are_two_taps_of_a_filter_and_two_of_the_next(
    data: st.DataObject, taps: int
) -> None:
    weights = data.draw(arrays(np.int8, (2, taps))).astype(np.int64)
    words = packed_words(weights[:1], weights[1:], is_wide=True)[0]
    halves = words.view(np.int16).reshape(-1, 2, 2)
    np.testing.assert_array_equal(halves.swapaxes(0, 1).reshape(2, taps), weights)


def test_what_one_word_cannot_hold_has_two(tmp_path: Path) -> None:
    case = Case((8, 4, 4), 4, weights=(-128, -1))
    product = DenseProduct(convolution(case, tmp_path), np.full((4, 8), -128))
    assert "-128" in product.refusal()
    assert titles(case, tmp_path) == ["conv3x3, wide weights"]
    for even, odd in ((-1, -127), (0, -128), (-128, -127)):
        weights = np.resize([[even] * 8, [odd] * 8], (4, 8))
        assert DenseProduct(product.layer, weights).refusal() == "", (even, odd)


def test_a_1x1_convolution_of_any_channels_is_taken(tmp_path: Path) -> None:
    case = Case((7, 5, 5), 6, (1, 1), pads=(0, 0, 0, 0))
    assert titles(case, tmp_path) == ["conv1x1", "conv1x1, wide weights"]


def test_windows_share_columns_where_that_is_cheaper(tmp_path: Path) -> None:
    assert "conv3x3, shared columns" in titles(BLOCK, tmp_path)
    for case in SHARED:
        found = [p for p in proposed(case, tmp_path).proposals if "padded" not in p.title]
        cheapest = min(found, key=lambda p: p.price.costs.cycles or 0)
        assert cheapest.title.endswith("shared columns"), case


def test_a_small_image_is_copied_with_its_padding(tmp_path: Path) -> None:
    speech = Bordered(convolution(SPEECH, tmp_path))
    assert not Bordered.refusal(speech.layer)
    assert speech.inside.window.input == (58, 12) and not speech.inside.window.padded
    assert Tiles(speech.inside).are_inside().all()
    # The last windows are read before their outputs are where the copy ends.
    assert speech.is_in_output and speech.scratch_bytes == 0
    few = Bordered(convolution(Case((1, 49, 10), 4, (10, 4), (2, 2), (4, 1, 5, 1)), tmp_path))
    assert not few.is_in_output and few.scratch_bytes == 58 * 12


@pytest.mark.parametrize("case", HALVED, ids=str)
def test_one_half_of_an_image_after_the_other_is_copied(case: Case, tmp_path: Path) -> None:
    layer = convolution(case, tmp_path)
    assert Bordered.may_be_halved(layer)
    whole, half = Bordered(layer), Bordered(layer, is_halved=True)
    assert Tiles(half.inside).are_inside().all()
    assert half.scratch_bytes < whole.scratch_bytes
    (fact,) = half.in_place
    # What the second half reads of the image lies behind what the first one has written.
    rows, row = half.inside.window.output[0], layer.window.input[1] * layer.x.shape[1]
    written = rows * layer.window.output[1] * layer.y.shape[1]
    begin = rows * layer.window.strides[0] - layer.window.begin[0]
    assert fact.distance == max(written - begin * row, -layer.x.bytes)


def test_an_image_whose_copy_is_in_the_output_has_no_halves(tmp_path: Path) -> None:
    assert not Bordered.may_be_halved(convolution(SPEECH, tmp_path))
    # The second half reads rows above the image, or nothing of it.
    for pads in ((9, 0, 0, 0), (0, 0, 9, 0)):
        case = Case((2, 4, 9), 1, (3, 3), (1, 1), pads)
        assert not Bordered.may_be_halved(convolution(case, tmp_path))


def test_an_image_that_is_large_or_has_no_padding_is_not_copied(tmp_path: Path) -> None:
    reasons = {
        Case((4, 4, 4), 4, pads=(0, 0, 0, 0)): "no padding",
        Case((4, 4, 40), 4): "a row of the image",
        Case((4, 120, 20), 4): "the image has more than",
    }
    for case, reason in reasons.items():
        assert reason in Bordered.refusal(convolution(case, tmp_path))


def test_a_convolution_that_it_has_no_kernel_for_is_refused_with_the_reason(
    tmp_path: Path,
) -> None:
    for case, reason in REFUSED.items():
        assert reason in proposed(case, tmp_path).refused.values()


@pytest.mark.parametrize("case", [*TAKEN, SPEECH, *SHARED, *LINES], ids=str)
def test_the_output_may_follow_the_input_as_far_as_the_taps_say(case: Case, tmp_path: Path) -> None:
    layer = convolution(case, tmp_path)
    assert Tiles(layer).distance() == distance(layer, is_shared=False)
    if case in SHARED:
        assert Tiles(layer, is_shared=True).distance() == distance(layer, is_shared=True)


@pytest.mark.parametrize("case", GROUPS, ids=str)
def test_groups_are_written_before_the_last_one_is_read(case: Case, tmp_path: Path) -> None:
    """The fact is that of a tile that is read when it is written."""
    layer = convolution(case, tmp_path)
    found = Tiles(layer).distance()
    least = distance(layer, is_shared=False)
    assert least <= found <= least + 3 * (layer.x.shape[1] + layer.y.shape[1])


def distance(layer: Convolution, is_shared: bool) -> int:
    """Over all taps: the end of each tile's output, minus the lowest byte that is read later."""
    window, channels = layer.window, layer.x.shape[1]
    height, width = window.input
    pixels = [(y, x) for y in range(window.output[0]) for x in range(window.output[1])]
    in_row = window.output[1] if is_shared else len(pixels)
    rows = [pixels[at : at + in_row] for at in range(0, len(pixels), in_row)]
    tiles = [row[at : at + 3] for row in rows for at in range(0, in_row, 3)]

    def lowest(y: int, x: int) -> int:
        """Under a window, of which the columns between taps are read too."""
        rows = [
            y * window.strides[0] - window.begin[0] + k * window.dilations[0]
            for k in range(window.kernel[0])
        ]
        left = x * window.strides[1] - window.begin[1]
        right = left + (window.kernel[1] - 1) * window.dilations[1]
        inside = [
            (row * width + column) * channels
            for row in rows if 0 <= row < height
            for column in range(max(left, 0), min(right + 1, width))
        ]  # fmt: skip
        return min(inside, default=layer.x.bytes)

    found, written = -layer.x.bytes, 0
    of_group, filters = layer.weights.shape[1], layer.y.shape[1]
    for index, tile in enumerate(tiles):
        later = [lowest(y, x) for tile in tiles[index + 1 :] for y, x in tile]
        for group in range(1, layer.groups):
            end = written + len(tile) * filters - filters // layer.groups * (layer.groups - group)
            again = [lowest(y, x) + group * of_group for y, x in tile]
            found = max(found, end - min([*again, *later]))
        written += len(tile) * filters
        if later:
            found = max(found, written - min(later))
    return found


def test_numbers_are_halves_but_for_long_rows(tmp_path: Path) -> None:
    sizes = []
    for columns in (500, 600):
        layer = convolution(Case((64, 2, columns), 2), tmp_path)
        kernel = frames.Kernel(layer)
        taken = frames.numbers(kernel)
        sizes.append(taken.size)
        assert taken[0] == kernel.product.tile_bytes
    assert sizes[0] - 1 == (sizes[1] - 1 + 1) // 2
    assert np.int32(taken[3]) == -(600 * 64 + 64)  # where the first window begins


@pytest.mark.parametrize("channels", [4, 8, 12, 16, 28, 32, 52, 64, 128])
@pytest.mark.parametrize("is_shared", [False, True])
def test_only_the_last_round_over_the_taps_ends_at_a_multiple(
    channels: int, is_shared: bool, tmp_path: Path
) -> None:
    kernel = frames.Kernel(convolution(Case((channels, 4, 6), 2), tmp_path), False, is_shared)
    product = kernel.product
    assert product.ahead + product.rounds * product.unrolled == product.pairs
    assert product.has_loop == (product.rounds > 1) == bool(kernel.alignment > 4)
    left = [n * product.unrolled * product.pair_bytes // 3 for n in range(1, product.rounds)]
    assert all(behind % kernel.alignment for behind in left)


@pytest.mark.parametrize("channels", [4, 20, 32, 36, 512])
def test_the_loop_of_all_1x1_layers_is_entered_where_a_step_begins(
    channels: int, tmp_path: Path
) -> None:
    """A number of the layer is how many bytes in front of the loop's end that is."""
    layer = convolution(Case((channels, 3, 3), 4, (1, 1), pads=(0, 0, 0, 0)), tmp_path)
    way = pointwise_shared.WAYS["any"]
    items = pointwise_shared.kernel(layer, way).code.items
    at = dict(zip(items, addresses(items)[:-1], strict=True))
    (jump,) = (i for i in items if isinstance(i, Instruction) and i.name == "bx")
    (end,) = (i.operands[1] for i in items if isinstance(i, Instruction) and i.name == "adr")
    steps = (channels // 4 - 1) % 8 + 1
    behind = pointwise_shared.kernel(layer, way).numbers[-1]
    assert at[end] - at[jump.targets[-steps]] == behind

"""ArmDsp's convolutions: weights in words, what is refused, and how far outputs follow inputs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from arm_dsp_convolutions import BLOCK, REFUSED, SPEECH, TAKEN, Case, model
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sampling import examples

from mcu_deploy import formats, passes
from mcu_deploy.backends.ArmDsp import ArmDsp, core
from mcu_deploy.backends.ArmDsp.kernels.convolution import Tiles
from mcu_deploy.backends.ArmDsp.layers import Convolution, read
from mcu_deploy.backends.interface import Proposals, Target, layer_of
from mcu_deploy.ir.view import view_of_all

M4 = Target("cortex-m4", fpu=True, dsp=True)


def proposed(case: Case, tmp_path: Path) -> Proposals:
    graph = passes.run(formats.load(model([case], tmp_path / "m.onnx")))
    return ArmDsp().propose(view_of_all(graph), M4)


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
    words = core.words(weights[:1], weights[1:], is_wide=True)[0]
    halves = words.view(np.int16).reshape(-1, 2, 2)
    np.testing.assert_array_equal(halves.swapaxes(0, 1).reshape(2, taps), weights)


def test_what_one_word_cannot_hold_has_two(tmp_path: Path) -> None:
    case = Case((8, 4, 4), 4, weights=(-128, -1))
    product = core.Product(convolution(case, tmp_path), np.full((4, 8), -128))
    assert "-128" in product.refusal()
    assert len(proposed(case, tmp_path).proposals) == 1
    assert len(proposed(BLOCK, tmp_path).proposals) == 2


def test_a_convolution_that_it_has_no_kernel_for_is_refused_with_the_reason(
    tmp_path: Path,
) -> None:
    for case, reason in REFUSED.items():
        assert reason in proposed(case, tmp_path).refused.values()


@pytest.mark.parametrize("case", [*TAKEN, SPEECH], ids=str)
def test_the_output_may_follow_the_input_as_far_as_the_taps_say(case: Case, tmp_path: Path) -> None:
    layer = convolution(case, tmp_path)
    window, channels, filters = layer.window, case.shape[0], case.filters
    height, width = window.input

    def lowest(pixel: int) -> int:
        """The lowest byte of the image under a window, which reads the columns between taps too."""
        y, x = divmod(pixel, window.output[1])
        rows = [
            y * window.strides[0] - window.begin[0] + k * window.dilations[0]
            for k in range(window.kernel[0])
        ]
        left = x * window.strides[1] - window.begin[1]
        right = left + (window.kernel[1] - 1) * window.dilations[1]
        columns = range(max(left, 0), min(right + 1, width))
        inside = [
            (row * width + column) * channels
            for row in rows if 0 <= row < height for column in columns
        ]  # fmt: skip
        return min(inside, default=layer.x.bytes)

    wanted = -layer.x.bytes
    for tile in range(0, layer.pixels, 3):
        later = [lowest(pixel) for pixel in range(tile + 3, layer.pixels)]
        if later:
            wanted = max(wanted, (tile + 3) * filters - min(later))
    assert Tiles(layer).distance() == wanted

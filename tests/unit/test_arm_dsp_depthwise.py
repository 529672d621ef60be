"""ArmDsp's depthwise convolutions of any kernel: what is refused, and what may lie on its input."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
from arm_dsp_convolutions import model
from arm_dsp_depthwise_cases import REFUSED, TAKEN
from arm_dsp_proposals import proposals_for
from hypothesis import given, settings
from hypothesis import strategies as st
from sampling import examples, part

from mcu_deploy.backends.quantized import lines as lines_of

PAIRS = st.tuples(st.integers(1, 4), st.integers(1, 4))


def test_what_is_taken_is_proposed_by_one_kernel_and_the_rest_refused(tmp_path: Path) -> None:
    taken = part(TAKEN, 3)
    found = proposals_for(model([*taken, *REFUSED], tmp_path / "m.onnx"))
    assert len({node.id for p in found.proposals for node in p.part.nodes}) == len(taken)
    assert {p.title.partition("x")[0][:9] for p in found.proposals} == {"depthwise"}
    assert set(REFUSED.values()) <= set(found.refused.values())


@given(st.data(), PAIRS, PAIRS, PAIRS, PAIRS, st.booleans())
@settings(max_examples=examples(400, 60), deadline=None)
def test_no_output_is_written_over_input_that_is_yet_to_be_read(
    data: st.DataObject,
    output: tuple[int, int],
    kernel: tuple[int, int],
    strides: tuple[int, int],
    dilations: tuple[int, int],
    is_transposed: bool,
) -> None:
    """Pixel by pixel, of bands of one and two lines."""
    spans = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    before = tuple(data.draw(st.integers(0, span - 1)) for span in spans)
    after = tuple(data.draw(st.integers(0, span)) for span in spans)
    sizes = tuple(
        max(1, (o - 1) * s + span - b - a)
        for o, s, span, b, a in zip(output, strides, spans, before, after, strict=True)
    )
    lines = lines_of.Lines(
        (sizes[0], sizes[1]), (output[0] * 2, output[1]), kernel, strides, dilations,
        (before[0], before[1]), is_transposed,
    )  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines_of, "_BAND_BYTES", lines.line_bytes * data.draw(st.integers(1, 8)))
        is_safe = True
        for band in range(lines.bands):
            gathered = lines.held - lines.before[0] + band * lines.band * lines.strides[0]
            written = product(range((band + 1) * lines.band), range(lines.output[1]))
            left = product(range(max(0, gathered), lines.input[0]), range(lines.input[1]))
            behind = {place(lines.input, at, is_transposed) for at in left}
            is_safe &= behind.isdisjoint(place(lines.output, at, is_transposed) for at in written)
        assert is_safe or not lines.may_lie_on_input


def place(size: tuple[int, int], at: tuple[int, int], is_transposed: bool) -> int:
    """Of a pixel in the image."""
    line, pixel = at
    return pixel * size[0] + line if is_transposed else line * size[1] + pixel

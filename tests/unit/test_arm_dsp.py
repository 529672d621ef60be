"""ArmDsp: how it packs, how it rounds, what it proposes for which core and at what price."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from arm_dsp_cases import ALONE, DEPTHWISE, REFUSED, Case, model
from arm_dsp_late_cases import FACTORS, LANES, SHIFT, channel
from arm_dsp_proposals import proposals_for
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sampling import examples

from mcu_deploy.arithmetic import tflite
from mcu_deploy.backends.ArmDsp.kernels import pointwise
from mcu_deploy.backends.interface import Target
from mcu_deploy.backends.quantized import gains, requantization
from mcu_deploy.backends.quantized.dense_product import words as packed_words
from mcu_deploy.backends.quantized.rounding_forms import UPPER_ADDED, RoundingForm
from mcu_deploy.backends.quantized.staircases import Channel, Staircases, steps_of
from mcu_deploy.backends.registry import Registry


def halves(word: np.ndarray) -> np.ndarray:
    """The two int16 of a word, as SMLAD takes them."""
    return word[..., None].view(np.int16).astype(np.int64)


def sxtb16(word: np.ndarray) -> np.ndarray:
    return word[..., None].view(np.int8)[..., ::2].astype(np.int64)


@given(st.data(), st.integers(1, 9).map(lambda n: 4 * n))
@settings(max_examples=examples(200), deadline=None)
def test_two_channels_in_a_word_are_two_sums(data: st.DataObject, channels: int) -> None:
    weights = data.draw(arrays(np.int8, (2, channels), elements=st.integers(-127, 127)))
    pixel = data.draw(arrays(np.int8, channels))
    taps = weights[:, pointwise.order(channels)].astype(np.int64)
    words = packed_words(taps[:1], taps[1:], is_wide=False)[0]
    # what the kernel's SXTB16 and SXTB16 ROR #8 make of eight, then of four, bytes of the pixel
    pairs: list[list[int]] = []
    for at in range(0, channels - channels % 8, 8):
        low, high = ([at, at + 2], [at + 4, at + 6]), ([at + 1, at + 3], [at + 5, at + 7])
        pairs += [*low, *high]
    if channels % 8:
        pairs += [[channels - 4, channels - 2], [channels - 3, channels - 1]]
    x = pixel.astype(np.int64)[pairs]
    both, even = (halves(words) * x).sum(), (sxtb16(words) * x).sum()
    wanted = weights.astype(np.int64) @ pixel
    assert (even, both - even) == (wanted[0], 256 * wanted[1])


@given(
    st.floats(1e-6, 0.4), st.integers(-128, 127), st.integers(-(2**20), 2**20),
    st.integers(0, 20_000), st.sampled_from([1, 256, 731]), st.booleans(), st.integers(6, 16),
)  # fmt: skip
@settings(max_examples=examples(300), deadline=None)
def test_integers_round_as_the_oracle_does_for_every_sum(
    factor: float, zero: int, least: int, span: int, lanes: int, is_tflite: bool, bits: int
) -> None:
    reach = (least, least + span)
    fixed = tflite.quantize_multiplier(factor) if is_tflite else None
    channel = Channel(np.float32(factor), zero, (-128, 127), reach, fixed)
    shift = requantization.shift_of(np.array([channel.factor]), lanes)
    sums = np.arange(reach[0], reach[1] + 1, dtype=np.int64)
    wanted = channel.element(sums)
    for form in (UPPER_ADDED, RoundingForm(bits, adds=True)):
        of = Staircases.of([channel])
        (found,) = requantization.accumulations(of, lanes, shift, form)
        (late,) = requantization.accumulations_late(of, lanes, shift, form)
        assert found is None or found == late
        if late is not None:
            assert (found is None) == bool(late.late) or form.bits < 32
            accs = lanes * sums + late.move
            accs = np.where(np.isin(accs, late.late), accs + lanes, accs)
            given_ = (((accs * late.scale >> form.bits) + late.addend) >> shift).clip(-128, 127)
            np.testing.assert_array_equal(given_, wanted)
    single = requantization.multiplications(Staircases.of([channel]), lanes, shift)
    if single.is_solved[0]:
        scale, move = int(single.scales[0]), int(single.moves[0])
        given_ = ((lanes * sums + move) * scale >> 32 + shift).clip(-128, 127)
        np.testing.assert_array_equal(given_, wanted)


@given(
    st.lists(st.tuples(st.floats(1e-6, 0.4), st.integers(-(2**20), 2**20), st.integers(0, 2**21)),
             min_size=1, max_size=12),
    st.integers(-128, 127), st.booleans(), st.floats(0.1, 10),
)  # fmt: skip
@settings(max_examples=examples(100, 8), deadline=None)
def test_lines_meet_the_corners_of_a_staircase_first(
    given_: list[tuple[float, int, int]], zero: int, is_tflite: bool, tilt: float
) -> None:
    """Of all channels at a time: no step is nearer to a line than one of the corners."""
    channels = [
        Channel(
            np.float32(factor), zero, (-128, 127), (least, least + span),
            tflite.quantize_multiplier(factor) if is_tflite else None,
        )
        for factor, least, span in given_
    ]  # fmt: skip
    stairs = Staircases.of(channels)
    values, steps = steps_of(channels)
    for n, one in enumerate(channels):
        slope = int(tilt * float(one.factor) * 2**24)
        is_in, is_above = steps[n] <= one.reach[1], steps[n] > one.reach[0]
        assert stairs.no_at[n] == (not is_in.any())
        assert stairs.no_before[n] == (not is_above.any())
        if not stairs.no_at[n]:
            over = ((values << 24) - slope * steps[n])[is_in].max()
            assert ((stairs.values[n] << 24) - slope * stairs.at[n]).max() == over
        if not stairs.no_before[n]:
            under = ((values << 24) - slope * (steps[n] - 1))[is_above].min()
            assert ((stairs.above[n] << 24) - slope * stairs.before[n]).min() == under
        for value, step in zip(values.tolist(), steps[n].tolist(), strict=True):
            if step <= one.reach[1]:
                assert one.element(np.array([step])) >= value
            if step > one.reach[0]:
                assert one.element(np.array([step - 1])) < value


def test_the_corners_of_a_staircase_are_few() -> None:
    """Else looking at them alone spares nothing."""
    factors = np.random.default_rng(5).uniform(0.001, 0.02, 100).astype(np.float32)
    channels = [Channel(f, -3, (-128, 127), (-(10**5), 10**5)) for f in factors]
    stairs = Staircases.of(channels)
    assert stairs.at.shape[1] <= 40 and stairs.before.shape[1] <= 40


@pytest.mark.parametrize("count", FACTORS)
def test_filters_of_the_cases_have_so_many_late_sums(count: int | None) -> None:
    for factor in FACTORS[count]:
        for lanes in LANES:
            of, shift = Staircases.of([channel(factor)]), SHIFT + lanes.bit_length() - 1
            (found,) = requantization.accumulations_late(of, lanes, shift)
            assert (None if found is None else len(found.late)) == count


@given(
    st.integers(30_000, 45_000), st.integers(1, 2**20), st.integers(-128, 127),
    st.integers(20_000, 100_000),
)  # fmt: skip
@settings(max_examples=examples(100), deadline=None)
def test_a_channel_of_a_depthwise_convolution_is_right_but_for_its_late_sums(
    half: int, nudge: int, zero: int, span: int
) -> None:
    """Factors near simple fractions, whose products lie on ties, are those without integers."""
    factor = np.float32(1 / (half / 256 + nudge * 2.0**-40))
    channel = Channel(factor, zero, (-128, 127), (-span, span))
    shift = requantization.shift_of(np.array([factor]), gains.LEAST_GAIN, 8)
    found = gains.round_channels([channel], [7], shift)[0]
    assume(found is not None)
    assert found is not None
    sums = np.arange(-span, span + 1, dtype=np.int64)
    start = found.start - 7 * found.gain
    given_ = ((found.gain * sums + start) * found.scale >> 32 + shift).clip(-128, 127)
    for sum_, output in found.late:
        (at,) = np.flatnonzero(sums == sum_ + 7)
        assert given_[at] == output
        given_[at] += 1
    np.testing.assert_array_equal(given_, channel.element(sums))


def test_a_channel_without_integers_has_some_for_most_sums() -> None:
    """Of keyword spotting: 13 of its steps are on ties of float32, which it rounds to even."""
    channel = Channel(np.float32(0.007498026825487614), -128, (-128, 127), (-74450, 33670))
    shift = requantization.shift_of(np.array([channel.factor]), gains.LEAST_GAIN, 8)
    found = gains.round_channels([channel], [0], shift)[0]
    assert found is not None
    assert len(found.late) == 6


def test_most_channels_have_a_scale_of_integers(kws_dir: Path) -> None:
    """Else the property above says nothing."""
    random = np.random.default_rng(2)
    factors = random.uniform(1e-4, 1e-2, 200).astype(np.float32)
    solved = [
        requantization.accumulate(
            Channel(f, -128, (-128, 127), (-(10**6), 10**6)), 1,
            requantization.shift_of(factors),
        )
        for f in factors
    ]  # fmt: skip
    assert sum(s is not None for s in solved) > 150


@pytest.mark.parametrize(("case", "cycles"), [(ALONE, 605_868), (DEPTHWISE, 112_543)])
def test_the_price_is_near_what_the_timings_of_counted_instructions_say(
    case: Case, cycles: int, tmp_path: Path
) -> None:
    """cycles: of the kernel's addresses counted in QEMU, by Arm's timings for the Cortex-M4."""
    (price,) = (
        p.price.costs.cycles
        for p in proposals_for(model([case], tmp_path / "m.onnx")).proposals
        if p.title in ("conv1x1", "depthwise3x3")
    )
    assert price == pytest.approx(cycles, rel=0.1)


def test_all_convolutions_of_keyword_spotting_are_proposed(kws_dir: Path) -> None:
    found = proposals_for(kws_dir / "model.onnx")
    titles = [p.title for p in found.proposals]
    assert (titles.count("depthwise3x3"), titles.count("conv1x1")) == (4, 4)
    assert titles.count("conv10x4") == 1 and not found.refused


def test_a_convolution_that_it_has_no_kernel_for_is_refused_with_the_reason(
    tmp_path: Path,
) -> None:
    for case, reason in REFUSED.items():
        assert reason in proposals_for(model([case], tmp_path / "m.onnx")).refused.values()


def test_a_core_without_the_instructions_is_refused_with_the_reason(kws_dir: Path) -> None:
    registry = Registry.builtin()
    for name in ("cortex-m3", "cortex-m4", "cortex-m7", "cortex-m33", "cortex-m55", "cortex-m85"):
        assert "ArmDsp" in [b.id for b in registry.preference(name)]
    for name in ("host", "cortex-m0"):
        assert "ArmDsp" not in [b.id for b in registry.preference(name)]
    found = proposals_for(kws_dir / "model.onnx", Target("cortex-m3", fpu=False))
    assert found.proposals == ()
    reason = "its kernels need the DSP extension (SMLAD), which this cortex-m3 lacks"
    assert set(found.refused.values()) == {reason} and len(found.refused) >= 9

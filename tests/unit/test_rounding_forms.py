"""Forms in which cores round: that instructions compute them, and that the solver proves each."""

from __future__ import annotations

import numpy as np
import pytest
from isa_statements import written

from mcu_deploy.backends.isa import Assembly
from mcu_deploy.backends.isa.interpreter import CoreState, Data, Program
from mcu_deploy.backends.isa.models import MODELS
from mcu_deploy.backends.quantized.requantization import (
    accumulate,
    accumulations,
    reach,
    shift_of,
)
from mcu_deploy.backends.quantized.rounding_forms import DOUBLED, LOWER, UPPER, UPPER_ADDED
from mcu_deploy.backends.quantized.staircases import Channel, Staircases

FORMS = {"upper, added": UPPER_ADDED, "upper": UPPER, "doubled": DOUBLED, "lower": LOWER}
# r0: the accumulator, then the element; r1: the scale; r2: the addend. Shifted by 4.
_CODE = {
    ("upper, added", "cortex-m4"): "smmla r0, r0, r1, r2|asr r0, r0, #4",
    ("upper, added", "cortex-m3"): "smull r3, r0, r0, r1|add r0, r0, r2|asr r0, r0, #4",
    ("upper", "cortex-m4"): "smmul r0, r0, r1|asr r0, r0, #4",
    ("lower", "cortex-m0plus"): "muls r0, r1, r0|adds r0, r0, r2|asrs r0, r0, #4",
}


@pytest.mark.parametrize(("name", "core"), _CODE)
def test_a_form_is_what_the_instructions_compute(name: str, core: str) -> None:
    """Of Helium's there are no instructions here yet: its test is its definition, below."""
    code = Assembly(MODELS[core])
    written(code, *_CODE[name, core].split("|"))
    program, form = Program(code.items), FORMS[name]
    random = np.random.default_rng(4)
    limit = 1 << 31 if form.product_bits == 64 else 1 << 15
    for _ in range(100):
        acc, scale = int(random.integers(-limit, limit)), int(random.integers(1, limit))
        addend = int(random.integers(-(1 << 20), 1 << 20)) if form.adds else 0
        given = {"r0": acc & 0xFFFF_FFFF, "r1": scale, "r2": addend & 0xFFFF_FFFF}
        found = program.run(CoreState(given), Data()).registers["r0"]
        wanted = int(form.rounded(np.array(acc), scale, addend, 4))
        assert (found ^ 1 << 31) - (1 << 31) == wanted


def test_the_doubled_form_is_vqrdmulh_vadd_vrshl() -> None:
    """By the Armv8-M Architecture Reference Manual: RoundShiftRight(2 * a * b, 32) half up, then
    a rounding shift by a negative number."""
    random = np.random.default_rng(9)
    pairs = random.integers(-(1 << 31), 1 << 31, (200, 2)).tolist()
    for acc, scale in [*pairs, (1, 1 << 30), (-1, 1 << 30)]:
        product = (2 * acc * scale + (1 << 31)) >> 32
        for shift in (0, 1, 7):
            wanted = (product + 1234 + (1 << shift >> 1)) >> shift
            assert int(DOUBLED.rounded(np.array(acc), scale, 1234, shift)) == wanted


@pytest.mark.parametrize("sign", [1, -1])
def test_sums_that_leave_a_word_are_not_rounded_by_integers(sign: int) -> None:
    factor = np.float32(2.2260067e-5)
    for end, fits in (((1 << 23) - (1 << 8), True), (1 << 23, False)):
        channel = Channel(factor, 0, (-128, 127), (min(0, sign * end), max(0, sign * end)))
        found = accumulate(channel, 256, shift_of(np.array([factor]), 256, step=1))
        assert (found is not None) == fits


@pytest.mark.parametrize(
    ("name", "taps", "lanes", "least"),
    # Of 64 channels: those of the others need a late sum, or floats.
    [("upper, added", 27, 1, 54), ("upper", 27, 255, 54), ("doubled", 27, 1, 54),
     ("lower", 1, 1, 27)],
)  # fmt: skip
def test_what_the_solver_finds_rounds_every_sum_as_float32_does(
    name: str, taps: int, lanes: int, least: int
) -> None:
    form, random = FORMS[name], np.random.default_rng(1)
    weights = random.integers(-127, 128, (64, taps))
    low, high = reach(weights, random.integers(-500, 500, 64), -128, 127)
    spans = np.maximum(-low, high)
    factors = (random.uniform(90, 130, 64) / spans).astype(np.float32)
    ends = zip(low.tolist(), high.tolist(), strict=True)
    channels = [Channel(f, -7, (-128, 127), of) for f, of in zip(factors, ends, strict=True)]
    shift = shift_of(factors, lanes, step=1) + 32 - form.bits
    if form.product_bits == 32:
        shift = int(np.log2((2.0**30 / spans / factors).min()))
    found = accumulations(Staircases.of(channels), lanes, shift, form)
    for channel, words in zip(channels, found, strict=True):
        if words is not None:
            sums = np.arange(channel.reach[0], channel.reach[1] + 1)
            accs = lanes * sums + words.move
            assert (abs(accs) < 1 << 31).all()
            rounded = form.rounded(accs, words.scale, words.addend, shift)
            assert (np.clip(rounded, *channel.bounds) == channel.element(sums)).all()
            assert form.adds == bool(words.addend)
    assert sum(words is not None for words in found) >= least

"""How weights of ArmMul's convolutions and rows are packed: what a word has room for."""

from __future__ import annotations

import numpy as np
import pytest

from mcu_deploy.backends.ArmMul import pairs, rows

# Two weights whose products with -128, or with 127, take all of a half's room.
_FULL = ([127, 127], [-128, -128])


@pytest.mark.parametrize("pair", _FULL)
def test_a_half_of_a_word_has_room_for_two_products(pair: list[int]) -> None:
    one_more = [*pair, np.sign(pair[0]), 0]
    assert pairs.fits(np.array([*pair, 0, 0]), 4)
    assert not pairs.fits(np.array(one_more), 4)
    assert not pairs.fits(np.array([0, 0, 0, 0, *one_more]), 4)
    assert pairs.fits(np.array(one_more), 2)
    assert rows.pack(np.array([one_more] * 4 + [[1, 2, 3, 4]] * 4)).at_once.tolist() == [2, 4]


@pytest.mark.parametrize("run", [None, 68.0])
def test_runs_of_a_filter_are_its_weights_within_their_room(run: float | None) -> None:
    random = np.random.default_rng(0)
    weights = np.stack([
        random.integers(-128, 128, 600), random.integers(-8, 9, 600),
        np.resize([127, 127, 1], 600), np.resize([-128, -128, -1], 600),
        np.where(np.arange(600) < 300, 1, 127),
    ]).astype(np.int8)  # fmt: skip
    cycles = {2: 75, 3: 67, 4: 85, 8: 140}
    stream = pairs.pack(weights, cycles, run)
    left, middles, most = stream.values.astype(np.int64), [], 0
    for filter_ in weights:
        taps, sums = np.empty(0, np.int64), 0
        while len(taps) < len(filter_):
            step, left = int(left[0]), left[1:]
            count = -(-len(filter_) // step) if run is None else int(left[0])
            assert count > 0
            left = left[run is not None :]
            part, left = np.split(left, [step * count])
            assert pairs.fits(part, step)
            taps, sums = np.append(taps, part), sums + count
        assert np.array_equal(taps[: len(filter_)], filter_) and not taps[len(filter_) :].any()
        middles.append(pairs.MIDDLE * sums)
        most = max(most, len(taps))
    assert not left.size
    assert (stream.taps, [*stream.middles]) == (most, middles)

"""ArmMul's streams of weights: sums of products that stay in the halves of a word."""

from __future__ import annotations

import numpy as np
import pytest

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.ArmMul import rows
from mcu_deploy.backends.ArmMul.pairs import MIDDLE, fits, pack


@pytest.mark.parametrize("run", [20, None])
def test_no_sum_leaves_its_half_of_a_word(run: float | None) -> None:
    random = np.random.default_rng(0)
    weights = random.integers(-128, 128, (5, 1301))
    weights[1] = -128
    weights[2] = 0
    weights[3] = random.integers(-31, 32, 1301)
    weights[4] = np.repeat([1, 100, 1], [600, 101, 600])
    stream = pack(weights, {2: 30, 3: 40, 4: 50, 8: 90}, run)
    values, sums, runs, at = stream.values.astype(int), dict(stream.sums), 0, 0
    for taps, count in zip(weights, stream.middles // MIDDLE, strict=True):
        found: list[int] = []
        while count:
            step, times = values[at], count if run is None else values[at + 1]
            at += 1 if run is None else 2
            of = values[at : at + step * times]
            for low, high in ((-128, 127), (127, -128)):
                ends = np.where(of < 0, of * low, of * high).reshape(-1, step).sum(axis=1)
                assert (ends >= -MIDDLE).all() and (ends + MIDDLE < 1 << 16).all()
            sums[step] -= times
            count, runs, at, found = count - times, runs + 1, at + of.size, [*found, *of]
        assert found[: taps.size] == taps.tolist() and not any(found[taps.size :])
        assert taps.size <= len(found) <= stream.taps < taps.size + 8
    assert at == values.size and not any(sums.values()) and runs == stream.runs


def test_a_filter_is_summed_in_as_few_cycles_as_its_weights_let() -> None:
    cycles, run = {2: 30, 3: 40, 4: 50, 8: 90}, 12
    for weights in np.random.default_rng(0).choice([0, 20, -127], (20, 1, 11)):
        stream = pack(weights, cycles, run)
        taken = sum(cycles[step] * n for step, n in stream.sums.items()) + run * stream.runs
        assert taken == _least(weights[0], cycles, run) + run


def _least(taps: Array, cycles: dict[int, float], run: float, before: int | None = None) -> float:
    """By trying all there are, without the first run."""
    if not taps.size:
        return 0
    return min(
        of + run * (before not in (None, step)) + _least(taps[step:], cycles, run, step)
        for step, of in cycles.items()
        if fits(taps[:step], step)
    )


def test_words_of_a_row_give_its_sums_whatever_it_is() -> None:
    random = np.random.default_rng(0)
    weights = random.integers(-128, 128, (12, 24))
    weights[4:8] = random.choice([-32, 31], (4, 24))
    weights[8:] = np.tile([-128, 0], 12)
    groups, at_once = rows.pack(weights)
    assert at_once.tolist() == groups[:, 0].tolist() == [2, 4, 4]
    for filter_, taps in enumerate(weights):
        group, step = divmod(filter_, 4)
        words = groups[group, 1 + step :: 4]
        signs = np.where(taps < 0, -1, 1)
        inputs = [
            np.full(24, -128),
            np.full(24, 127),
            *(np.clip(s * 128, -128, 127) for s in (signs, -signs)),
        ]
        for row in inputs:
            assert _upper_halves(words, row, at_once[group]) == taps @ row


def _upper_halves(words: Array, row: Array, at_once: int) -> int:
    """As row_sums.c.j2 has it, without what each begins with."""
    x = row[::2] + (row[1::2] << 16)
    mask = 0x00FF00FF
    products = np.column_stack([(words & mask) * x[::2], (words >> 8 & mask) * x[1::2]])
    products -= 0x00800080 * x.reshape(-1, 2)
    if at_once == 4:
        products = products.sum(axis=1)
    halves = (products + 0x7F007F00 & 0xFFFFFFFF) >> 16
    return int((halves - MIDDLE).sum())

"""ArmMul's streams of weights: sums of products that stay in the halves of a word."""

from __future__ import annotations

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.ArmMul.kernels import dense
from mcu_deploy.backends.ArmMul.pairs import MIDDLE, STEPS, pack


def test_no_step_leaves_its_half_of_a_word() -> None:
    random = np.random.default_rng(0)
    weights = random.integers(-128, 128, (5, 301))
    weights[1] = -128
    weights[2] = 0
    weights[3] = random.integers(-31, 32, 301)
    stream, sums, middles = pack(weights)
    steps, at = [], 0
    for taps, count in zip(weights, middles // MIDDLE, strict=True):
        step = int(stream[at])
        of = stream[at + 1 : at + 1 + step * count].astype(int)
        at += 1 + of.size
        steps.append(step)
        assert of[: taps.size].tolist() == taps.tolist()
        assert not of[taps.size :].any() and of.size - taps.size < step
        for low, high in ((-128, 127), (127, -128)):
            extreme = MIDDLE + np.where(of < 0, of * low, of * high).reshape(-1, step).sum(axis=1)
            assert extreme.min() >= 0 and extreme.max() < 1 << 16
        sums[step] -= int(count)
    assert at == stream.size and not any(sums.values())
    assert steps[1:4] == [2, 8, 8] and set(steps) < set(STEPS)


def test_words_of_a_row_give_its_sums_whatever_it_is() -> None:
    random = np.random.default_rng(0)
    weights = random.integers(-128, 128, (12, 24))
    weights[4:8] = random.choice([-32, 31], (4, 24))
    weights[8:] = np.tile([-128, 0], 12)
    stream, at_once = dense.pack(weights)
    assert at_once.tolist() == [2, 4, 4]
    groups = stream.reshape(3, -1)
    assert groups[:, 0].tolist() == at_once.tolist()
    for filter_, taps in enumerate(weights):
        group, step = divmod(filter_, 4)
        words = groups[group, 1 + step :: 4]
        signs = np.where(taps < 0, -1, 1)
        rows = [
            np.full(24, -128),
            np.full(24, 127),
            *(np.clip(s * 128, -128, 127) for s in (signs, -signs)),
        ]
        for row in rows:
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

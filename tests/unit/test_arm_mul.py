"""ArmMul's streams of weights: steps whose sums of products stay in the halves of a word."""

from __future__ import annotations

import numpy as np

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

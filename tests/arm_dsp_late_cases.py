"""Convolutions with sums that ArmDsp's integers round a step too late, or not at all: images that
reach just these sums, and those beside them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from quantized_layers import LayersModel, Quantized

from mcu_deploy.backends.ArmDsp.requantization import Channel, accumulate_late

# Of a filter: its two channels that count. So every sum is reached, by one pair of elements.
_MANY, _ONE = 100, 1
_REACH = (-128 * (_MANY + _ONE), 127 * (_MANY + _ONE))
_ZERO = -5  # of the output
SHIFT = 4
LANES = (1, 4, 256)
# By how many sums are late in all kernels; None: no integers, as half of all multiples are ties.
FACTORS: dict[int | None, tuple[float, ...]] = {
    0: (0.01766, 0.017695, 0.014184, 0.01143, 0.008647, 0.012902),
    1: (0.0126, 0.011799, 0.01675, 0.0142, 0.0174, 0.013573),
    2: (0.0082, 0.0172, 0.01025, 0.01075, 0.0098),
    3: (0.019375, 0.016977, 0.0155, 0.0132),
    None: (2.0**-7,),
}
# The filters of a layer.
_EVERY: tuple[int | None, ...] = (0, 0, 1, 0, 0, 1, 1, 2, 2, 0, 0, 3)
SOLVED = (_EVERY, _EVERY[:10], _EVERY[:9])
UNSOLVED = ((None, 1, *_EVERY[:8], 0, None), (0, None, *_EVERY[2:10]), (1, None, 0))
KERNELS = (1, 3)
_SIZE = (8, 6)


def channel(factor: float) -> Channel:
    return Channel(np.float32(factor), _ZERO, (-128, 127), _REACH)


def sums(factor: float) -> list[int]:
    """Those that are late, and those beside them; of no integers ties."""
    found = accumulate_late(channel(factor), 1, SHIFT)
    late = [64, 192, -64] if found is None else [acc - found.move for acc in found.late]
    return [sum_ + by for sum_ in late for by in (-1, 0, 1)]


def model(path: Path) -> tuple[Path, Path]:
    """The model, and a sample for it."""
    random, made, samples = np.random.default_rng(11), LayersModel(), []
    for wanted in (*SOLVED, *UNSOLVED):
        given = [FACTORS[n][k % len(FACTORS[n])] for k, n in enumerate(wanted)]
        for size in KERNELS:
            weights = np.zeros((len(given), 8, size, size), np.int8)
            weights[:, :2, size // 2, size // 2] = _MANY, _ONE
            whole = np.array(given, np.float32)
            filters = made.dequantized(
                made.constant(weights), whole, np.zeros(len(given)), "int8", axis=0
            )
            x = made.input((1, 8, *_SIZE), Quantized())
            y = made.node("Conv", [x, filters], pads=[size // 2] * 4)
            made.output(y, Quantized(1, _ZERO))
            image = random.integers(-128, 128, (8, *_SIZE)).astype(np.int8)
            hit = np.array([s for factor in given for s in sums(factor)])
            many = np.rint(hit / _MANY)
            assert abs(hit - many * _MANY).max() < 128
            image[0].flat[: hit.size], image[1].flat[: hit.size] = many, hit - many * _MANY
            samples.append(image.reshape(-1))
    np.savez(at := path.with_suffix(".npz"), int8=np.concatenate(samples)[None])
    return made.save(path), at

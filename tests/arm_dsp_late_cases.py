"""Convolutions with sums that ArmDsp's integers round a step too late, or not at all: images that
reach just these sums, and those beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from quantized_layers import LayersModel, Quantized

from mcu_deploy.backends.quantized import gains
from mcu_deploy.backends.quantized.requantization import accumulations_late
from mcu_deploy.backends.quantized.staircases import Channel, Staircases

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
# Depthwise ones, whose gain is 255.
DEPTHWISE = ((0, 1, 0, 3), (1, 2, 1, 1, 3, 0, 1, 2))
_SIZE = (10, 6)


def channel(factor: float) -> Channel:
    return Channel(np.float32(factor), _ZERO, (-128, 127), _REACH)


def sums(factor: float) -> list[int]:
    """Those that are late, and those beside them; of no integers ties."""
    (found,) = accumulations_late(Staircases.of([channel(factor)]), 1, SHIFT)
    late = [64, 192, -64] if found is None else [acc - found.move for acc in found.late]
    return [sum_ + by for sum_ in late for by in (-1, 0, 1)]


def _filters(made: LayersModel, weights: np.ndarray, given: Sequence[float]) -> str:
    scales, zeros = np.array(given, np.float32), np.zeros(len(given))
    return made.dequantized(made.constant(weights), scales, zeros, "int8", axis=0)


def _dense(made: LayersModel, given: Sequence[float], size: int, image: np.ndarray) -> None:
    """A filter's two channels are elements of a pixel."""
    weights = np.zeros((len(given), 8, size, size), np.int8)
    weights[:, :2, size // 2, size // 2] = _MANY, _ONE
    x = made.input((1, 8, *_SIZE), Quantized())
    y = made.node("Conv", [x, _filters(made, weights, given)], pads=[size // 2] * 4)
    made.output(y, Quantized(1, _ZERO))
    hit = np.array([sum_ for factor in given for sum_ in sums(factor)])
    many = np.rint(hit / _MANY)
    image[0].flat[: hit.size], image[1].flat[: hit.size] = many, hit - many * _MANY


def _depthwise(made: LayersModel, given: Sequence[float], image: np.ndarray) -> None:
    """A channel's two elements are neighbours, and what other weights meet is 0."""
    weights = np.zeros((len(given), 1, 3, 3), np.int8)
    weights[:, 0, :, :2] = 1
    weights[:, 0, 1, 1:] = _MANY, _ONE
    x = made.input((1, len(given), *_SIZE), Quantized())
    w = _filters(made, weights, given)
    y = made.node("Conv", [x, w], pads=[1] * 4, group=len(given))
    made.output(y, Quantized(1, _ZERO))
    image[:] = 0
    places = [(row, column) for row in range(1, _SIZE[0], 2) for column in (1, 4)]
    for plane, factor in zip(image, given, strict=True):
        taps = int(weights[0].sum())
        whole = replace(channel(factor), reach=(-128 * taps, 127 * taps))
        (found,) = gains.round_channels([whole], [0], SHIFT + 4)
        assert found is not None
        hit = [sum_ + by for sum_, _ in found.late for by in (-1, 0, 1)]
        for (row, column), sum_ in zip(places, hit, strict=False):
            many = round(sum_ / _MANY)
            plane[row, column : column + 2] = many, sum_ - many * _MANY


def model(
    path: Path,
    dense: Sequence[Sequence[int | None]] = (*SOLVED, *UNSOLVED),
    depthwise: Sequence[Sequence[int | None]] = DEPTHWISE,
) -> tuple[Path, Path]:
    """The model, and a sample for it. dense, depthwise: how many sums are late of the filters."""
    random, made, samples = np.random.default_rng(11), LayersModel(), []
    for wanted in dense:
        given = [FACTORS[n][k % len(FACTORS[n])] for k, n in enumerate(wanted)]
        for size in KERNELS:
            samples.append(random.integers(-128, 128, (8, *_SIZE)).astype(np.int8))
            _dense(made, given, size, samples[-1])
    for wanted in depthwise:
        given = [FACTORS[n][k % len(FACTORS[n])] for k, n in enumerate(wanted)]
        samples.append(random.integers(-128, 128, (len(given), *_SIZE)).astype(np.int8))
        _depthwise(made, given, samples[-1])
    flat = np.concatenate([sample.reshape(-1) for sample in samples])
    np.savez(at := path.with_suffix(".npz"), int8=flat[None])
    return made.save(path), at

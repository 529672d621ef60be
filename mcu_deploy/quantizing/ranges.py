"""Which real numbers the 256 steps of a tensor stand for: ways to say it from a histogram.

Each range holds zero, which has to be a step of its own: padding, and what a Relu leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np

from mcu_deploy import operators
from mcu_deploy.files.arrays import Array
from mcu_deploy.ir.groups import connected
from mcu_deploy.quantizing.net import Net
from mcu_deploy.quantizing.statistics import BINS, Summary

Range = tuple[float, float]

_STEPS = 255
# What the range with the least error is looked for among: parts of the whole, at either end.
_PARTS = np.linspace(0.2, 1.0, 81)
_THRESHOLDS = 128  # that the entropy is computed for


def _whole(summary: Summary) -> Range:
    return min(0.0, summary.low), max(0.0, summary.high)


def _widened(summary: Summary) -> Range:
    """Min-max, wider by 1/n of itself for n samples, as other samples will go further: the largest
    of n of a uniform distribution is on average that much below its end. An end that several
    samples reach is one, as that of a Relu or of pixels."""
    low, high = _whole(summary)
    more = 1 + 1 / summary.samples
    return (
        low * more if summary.at_low == 1 else low,
        high * more if summary.at_high == 1 else high,
    )


def _percentile(share: float) -> Callable[[Summary], Range]:
    def of(summary: Summary) -> Range:
        """The range outside of which lies the least share of elements, half of it at either end."""
        if summary.is_constant:
            return _whole(summary)
        edges = np.linspace(summary.low, summary.high, BINS + 1)
        sums = np.concatenate(([0], np.cumsum(summary.counts))) / summary.counts.sum()
        outside = (1 - share) / 2
        low = edges[int(np.searchsorted(sums, outside, side="right")) - 1]
        high = edges[int(np.searchsorted(sums, 1 - outside, side="left"))]
        # At an end where there is nothing to gain, as that of a Relu, the whole share is taken.
        if summary.low >= 0:
            high = edges[int(np.searchsorted(sums, share, side="left"))]
            return 0.0, float(high)
        return min(0.0, float(low)), max(0.0, float(high))

    return of


def _least_error(summary: Summary) -> Range:
    """The range with the least mean squared error: of what is cut off, and of the rounding, which
    is step**2 / 12 (Sung, Shin, Hwang: Resiliency of deep neural networks under quantization)."""
    if summary.is_constant:
        return _whole(summary)
    whole = _whole(summary)
    edges = np.linspace(summary.low, summary.high, BINS + 1)
    middles, counts = (edges[1:] + edges[:-1]) / 2, summary.counts.astype(np.float64)
    lows = np.unique(_PARTS * whole[0])
    highs = np.unique(_PARTS * whole[1])
    below = [_cut(middles, counts, low, -1) for low in lows]
    above = [_cut(middles, counts, high, 1) for high in highs]
    width = highs[None, :] - lows[:, None]
    inside = (width / _STEPS) ** 2 / 12 * counts.sum()
    error = np.array(below)[:, None] + np.array(above)[None, :] + inside
    error[width <= 0] = np.inf
    # Of equal errors the widest range.
    at = np.argwhere(error == error.min())
    best = max(at, key=lambda place: width[tuple(place)])
    return float(lows[best[0]]), float(highs[best[1]])


def _cut(middles: Array, counts: Array, end: float, side: int) -> float:
    apart = np.maximum(side * (middles - end), 0.0)
    return float((counts * apart**2).sum())


def _entropy(summary: Summary) -> Range:
    """The range whose 255 steps tell most of the distribution: the least divergence of Kullback and
    Leibler between it, what lies outside put at the ends, and its steps (Migacz: 8-bit inference
    with TensorRT, GTC 2017). Both ends at the same distance from zero, as far as there is
    anything."""
    if summary.is_constant:
        return _whole(summary)
    largest = max(abs(summary.low), abs(summary.high))
    edges = np.linspace(summary.low, summary.high, BINS + 1)
    middles = np.abs(edges[1:] + edges[:-1]) / 2
    places = np.minimum((middles / largest * BINS).astype(np.int64), BINS - 1)
    magnitudes = np.bincount(places, weights=summary.counts, minlength=BINS)
    levels = _STEPS if summary.low >= 0 or summary.high <= 0 else _STEPS // 2
    candidates = np.unique(np.linspace(levels + 1, BINS, _THRESHOLDS).astype(np.int64))
    divergences = [_divergence(magnitudes, int(end), levels) for end in candidates]
    end = candidates[int(np.argmin(divergences))] / BINS * largest
    low, high = _whole(summary)
    return max(low, -float(end)), min(high, float(end))


def _divergence(counts: Array, end: int, levels: int) -> float:
    """Of the first `end` bins from `levels` equal steps."""
    kept = counts[:end].astype(np.float64)
    wanted = kept.copy()
    wanted[-1] += counts[end:].sum()
    step = (np.arange(end) * levels) // end
    sums = np.bincount(step, weights=kept, minlength=levels)
    filled = np.bincount(step, weights=kept > 0, minlength=levels)
    share = np.where(filled > 0, sums / np.maximum(filled, 1), 0.0)
    found = np.where(kept > 0, share[step], 0.0)
    if not found.sum():
        return float("inf")
    p, q = wanted / wanted.sum(), found / found.sum()
    told = p > 0
    return float((p[told] * np.log(p[told] / np.maximum(q[told], 1e-9))).sum())


METHODS: Mapping[str, Callable[[Summary], Range]] = {
    "min-max": _whole,
    "min-max, widened": _widened,
    "percentile 99.999": _percentile(0.99999),
    "percentile 99.99": _percentile(0.9999),
    "percentile 99.9": _percentile(0.999),
    "entropy": _entropy,
    "MSE": _least_error,
}


def ranges(net: Net, summaries: Mapping[str, Summary], method: str) -> dict[str, Range]:
    """The range of each tensor by a method; one for all between which elements only move."""
    of = METHODS[method]
    found = {name: of(summary) for name, summary in summaries.items()}
    for group in tied(net):
        members = [found[name] for name in group if name in found]
        if members:
            both = min(low for low, _ in members), max(high for _, high in members)
            found.update({name: both for name in group if name in found})
    # Of an empty range the quantizer would make one around 0, and what is below 0 be no 0 any more.
    return {name: ends if ends[0] < ends[1] else (0.0, 1.0) for name, ends in found.items()}


def tied(net: Net) -> Iterable[list[str]]:
    """Groups of tensors that have to have one scale: builds copy bytes from one to the other."""
    pairs: list[tuple[str, str]] = []
    for node in net.nodes:
        operator = operators.find(node.domain, node.op_type)
        if operator is None or operator.moves is None:
            continue
        data = [name for name in list(node.input)[operator.moves] if net.is_float(name)]
        members = [*data, *(name for name in node.output if net.is_float(name))]
        pairs += [(name, members[0]) for name in members]
    return connected((name for pair in pairs for name in pair), pairs)

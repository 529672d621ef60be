"""Averages of 8 bits over windows: a sum of integers, rounded by integers.

An average is `(sum * scale + offset) >> shift`, tried on all sums that a window can have when the
model is compiled. The contract sums real numbers in float32, one after the other, whose error
depends on the elements, so a sum that lies near the middle of two outputs may give either (of 64
equal scales every tie, of 125 none): those are known by the fraction that is shifted out, and are
summed again, in float32.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.ArmMul.rounding import is_armv6m
from mcu_deploy.backends.ArmMul.workloads import KIT, RunCost, proposal
from mcu_deploy.backends.interface import Layer, LayoutRule, Proposal, SubgraphView
from mcu_deploy.backends.isa.clamps import opened
from mcu_deploy.backends.kit import overlap
from mcu_deploy.backends.kit.arguments import signature
from mcu_deploy.backends.kit.c_functions import QUANTIZE
from mcu_deploy.backends.kit.literals import float_literal
from mcu_deploy.backends.kit.requantization import output_quantization
from mcu_deploy.backends.kit.zero_points import without_zero
from mcu_deploy.backends.quantized import layers
from mcu_deploy.backends.quantized.pool_layer import Pool, read
from mcu_deploy.backends.quantized.pool_rounding import sums_of

OPERATORS = ("AveragePool", "GlobalAveragePool", "ReduceMean", "tflite::AveragePool")

_SHIFTS = range(24, 7, -1)
_WORD = 1 << 31
_DROPPED = 32  # of a product of 64 bits
_MOST_AGAIN = 1 / 2  # of all sums
_FEW = 2  # turns over the taps, which gcc unrolls
_NONE = "no integers round its sums"


class _Model(NamedTuple):
    """Cycles of a pixel, of an output, what 64 bits add to it, of a turn over the taps, of a tap,
    what int8 adds to it, and of one that is summed in float32; bytes of the function, of a tap, and
    of the sum in float32. Counted in QEMU."""

    pixel: float
    output: float
    wide: float
    turn: float
    tap: float
    signed: float
    in_float: float
    code: int
    tap_code: int
    float_code: int


_M3 = _Model(14, 7, 6, 5, 3, 0, 110, 70, 6, 150)
_M0_PLUS = _Model(14, 23, 40, 4.2, 3.3, 1, 250, 90, 8, 170)


class Rounding(NamedTuple):
    """is_wide: whether a product has 64 bits, of which 32 are dropped. margin: how near to a step
    a sum is summed again, a power of two, 0 where none is; again: the share of these sums."""

    scale: int
    offset: int
    shift: int
    is_wide: bool
    margin: int = 0
    again: float = 0.0

    @property
    def scaled(self) -> str:
        """C for `sum` in parts of an output."""
        if self.is_wide:
            return f"(int32_t)((int64_t)sum * {self.scale} >> {_DROPPED})"
        return f"sum * {self.scale}"

    @property
    def fraction(self) -> int:
        """The bits that are all 0 where a sum is near a step, and `margin` was added."""
        return (1 << self.shift) - 2 * self.margin


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """An average by itself, with its clamp."""
    pool = read(opened(node), by=1)
    if isinstance(pool, str):
        return pool
    if pool.window.padded:
        return "a window of it leaves the input"
    rounding = round_sums(pool)
    return rounding if isinstance(rounding, str) else [_Kernel(node, pool, rounding).propose(view)]


def round_sums(pool: Pool) -> Rounding | str:
    """What rounds all sums of a window's elements as they are; or why nothing does, a clause."""
    sums, wanted, is_open = sums_of(pool, pool.taps)
    bounds = pool.y.dtype.range
    sums = sums + pool.taps * pool.zero_points[0]
    for rounding in _lines(pool, sums, wanted, is_open):
        scaled = _scaled(rounding, sums)
        wrong = is_open | (np.clip(scaled >> rounding.shift, *bounds) != wanted)
        if not wrong.any():
            return rounding
        if pool.is_of_integers:
            continue
        for margin in (1 << n for n in range(rounding.shift - 1)):
            found = rounding._replace(margin=margin)
            is_again = (scaled + margin) & found.fraction == 0
            if (is_again | ~wrong).all() and is_again.mean() <= _MOST_AGAIN:
                return found._replace(again=float(is_again.mean()))
    return _NONE


def _lines(pool: Pool, sums: Array, wanted: Array, is_open: Array) -> Iterator[Rounding]:
    """The finest lines of words, with products of 32 bits first, each with an offset in the middle
    of those that put the outputs where they are wanted. sums: with their zero points."""
    slope = _slope(pool)
    low, high = pool.y.dtype.range
    lowest, highest = (wanted > low) & ~is_open, (wanted < high) & ~is_open
    for is_wide in (False, True):
        for shift in _SHIFTS:
            # A little steeper, TFLite's ties are away from zero, and no other sum is at a tie.
            steeper = 1 / (512 * pool.taps) if pool.is_of_integers else 0
            unit = 1 << shift
            scale = slope * (1 + steeper) * unit * (1 << _DROPPED if is_wide else 1)
            line = Rounding(round(scale), 0, shift, is_wide)
            scaled = _scaled(line, sums)
            behind = (wanted << shift) - scaled
            ends = (
                int(behind[lowest].max(initial=-_WORD)),
                int((behind + unit - 1)[highest].min(initial=_WORD - 1)),
            )
            line = line._replace(offset=sum(ends) >> 1)
            values = [*scaled[[0, -1]], *_scaled(line, sums[[0, -1]]), line.offset]
            if line.scale < _WORD and min(values) >= -_WORD and max(values) + unit < _WORD:
                yield line
                break


def _slope(pool: Pool) -> float:
    if pool.is_of_integers:
        return 1 / pool.taps
    return float(pool.x.scaling.scale[0]) / (pool.taps * float(pool.y.scaling.scale[0]))


def _scaled(line: Rounding, sums: Array) -> Array:
    product = sums * line.scale
    return (product >> _DROPPED if line.is_wide else product) + line.offset


@dataclass(frozen=True)
class _Kernel:
    node: Layer
    pool: Pool
    rounding: Rounding

    def propose(self, view: SubgraphView) -> Proposal:
        pool, rounding = self.pool, self.rounding
        rows, columns, _ = pool.runs
        of = _M0_PLUS if is_armv6m(self.node.target) else _M3
        tap = of.tap + (of.signed if pool.is_signed else 0) + rounding.again * of.in_float
        output = of.output + rounding.is_wide * of.wide + pool.taps * tap
        output += rows * of.turn if rows > _FEW else 0
        cycles = pool.pixels * (of.pixel + pool.channels * output)
        code = of.code + columns * of.tap_code + (of.float_code if rounding.margin else 0)
        body = self._body()
        reads = overlap.nested(pool.starts, np.arange(pool.channels))
        return proposal(
            view, self.node, f"{pool.stem}_{pool.x.dtype.value}", body,
            lambda layer: signature(layer, ()),
            work=RunCost(cycles), flash=0, code={body: code},
            title=pool.title,
            layout=LayoutRule.NATURAL if pool.is_natural else LayoutRule.CHANNELS_LAST,
            helpers=(QUANTIZE,) if rounding.margin else (),
            in_place=overlap.in_place(self.node, reads),
        )  # fmt: skip

    def _body(self) -> str:
        pool, rounding = self.pool, self.rounding
        low, high = layers.clamp(self.node)
        rows, columns, step = pool.runs
        again = {}
        if rounding.margin:
            out = output_quantization(self.node)
            again = {
                "x_scale": float_literal(pool.x.scaling.scale[0]), "y_scale": out.scale,
                "taps": float_literal(pool.taps), "store": out.store,
                "element": functools.partial(without_zero, zero_point=pool.zero_points[0]),
            }  # fmt: skip
        return KIT.render(
            "average.c.j2", **again, rounding=rounding, low=low, high=high, rows=rows,
            columns=columns, step=step, channels=pool.channels, images=pool.y.shape[0],
            image=pool.window.input, output=pool.window.output, stride=pool.window.strides,
            x_ctype=pool.x.dtype.c_type, y_ctype=pool.y.dtype.c_type,
        )  # fmt: skip

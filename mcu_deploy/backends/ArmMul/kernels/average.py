"""Averages of 8 bits over windows: a sum of integers, rounded by integers.

An average is `((sum * scale >> dropped) + addend) >> shift`, tried on all sums that a window can
have when the model is compiled; where padding does not count, the scale is divided by how many
elements are inside. The contract sums real numbers in float32, one after the other, whose error
depends on the elements, so a sum that lies near the middle of two outputs may give either (of 64
equal scales every tie, of 125 none): those are known by the fraction that is shifted out, and are
summed again, in float32.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
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
from mcu_deploy.backends.quantized.pool_rounding import Rounding, Sums, every_sum, settled

OPERATORS = (
    "AveragePool", "GlobalAveragePool", "ReduceMean", "tflite::AveragePool", "tflite::ReduceMean"
)  # fmt: skip

_SHIFTS = range(24, 7, -1)
_WORD = 1 << 31
_MOST_DROPPED = 32  # of a product of 64 bits
_MOST_AGAIN = 1 / 2  # of all sums
_FEW = 2  # turns over the taps, which gcc unrolls


class _Model(NamedTuple):
    """Cycles of a pixel, of an output, what 64 bits add to it, of a turn over the taps, of a tap,
    what int8 adds to it, and of one that is summed in float32. Where windows leave the input, what
    a pixel takes more, and a division of its scale, and a row and a tap of those that do. Bytes of
    the function, of a tap, of the sum in float32, and of windows that leave the input. Counted in
    QEMU."""

    pixel: float
    output: float
    wide: float
    turn: float
    tap: float
    signed: float
    in_float: float
    padded_pixel: float
    division: float
    part_row: float
    part_tap: float
    code: int
    tap_code: int
    float_code: int
    padded_code: int


_M3 = _Model(14, 7, 6, 5, 3, 0, 110, 55, 65, 15, 9, 70, 6, 150, 160)
_M0_PLUS = _Model(14, 23, 40, 4.2, 3.3, 1, 250, 90, 230, 15, 10, 90, 8, 170, 160)


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """An average by itself, with its clamp."""
    pool = read(opened(node), by=1)
    if isinstance(pool, str):
        return pool
    rounding = round_sums(pool)
    return rounding if isinstance(rounding, str) else [_Kernel(node, pool, rounding).propose(view)]


def round_sums(pool: Pool) -> Rounding | str:
    """What rounds all sums of a window's elements; or why nothing does, a clause."""
    tried = every_sum(pool)
    for line in _lines(pool, tried):
        margins = (1 << n for n in range(line.shift - 1))
        found = settled(pool, line, tried, _results(pool, line, tried), margins)
        if isinstance(found, Rounding) and found.again <= _MOST_AGAIN:
            return found
    return "no integers round its sums"


def _lines(pool: Pool, tried: Sequence[Sums]) -> Iterator[Rounding]:
    """The finest lines of words, with products of 32 bits first, each with an addend in the middle
    of those that put the outputs where they are wanted."""
    # A little steeper, TFLite's ties are away from zero, and no other sum is at a tie.
    slope = _slope(pool) * (1 + (1 / (512 * pool.taps) if pool.is_of_integers else 0))
    for is_wide in (False, True):
        for shift in _SHIFTS:
            # As many as leave the scale a word.
            dropped = 31 - math.frexp(slope * (1 << shift))[1] if is_wide else 0
            if not 0 <= dropped <= _MOST_DROPPED:
                continue
            line = Rounding(round(slope * (1 << shift + dropped)), 0, shift, dropped=dropped)
            scaled = _results(pool, line, tried)
            least, most = zip(*map(_addends(pool, shift), tried, scaled), strict=True)
            line = line._replace(addend=max(least) + min(most) >> 1)
            ends = [end for of in scaled for end in (of[0], of[-1])]
            values = [*ends, *(end + line.addend for end in ends), line.addend]
            if line.scale < _WORD and min(values) >= -_WORD and max(values) + (1 << shift) < _WORD:
                yield line
                break


def _slope(pool: Pool) -> float:
    """Of an output over a sum, or over one element where windows are not all divided alike."""
    count = 1 if pool.is_of_inside else pool.taps
    if pool.is_of_integers:
        return 1 / count
    if pool.fixed is not None:
        return math.ldexp(pool.fixed[0], pool.fixed[1] - 31)
    return float(pool.x.scaling.scale[0]) / (count * float(pool.y.scaling.scale[0]))


def _results(pool: Pool, line: Rounding, tried: Sequence[Sums]) -> list[Array]:
    """What is shifted, of all sums."""
    # Windows that leave the input begin their sums without its zero point.
    zero = 0 if pool.window.padded else pool.zero_points[0]
    return [
        ((of.values + of.elements * zero) * _scale(pool, line, of.elements) >> line.dropped)
        + line.addend
        for of in tried
    ]


def _scale(pool: Pool, line: Rounding, count: int) -> int:
    return line.scale // count if pool.is_of_inside else line.scale


def _addends(pool: Pool, shift: int) -> Callable[[Sums, Array], tuple[int, int]]:
    """The least and the greatest that put what is scaled where it is wanted."""
    low, high = pool.y.dtype.range

    def ends(of: Sums, scaled: Array) -> tuple[int, int]:
        behind = (of.wanted << shift) - scaled
        is_above, is_below = (of.wanted > low) & ~of.is_open, (of.wanted < high) & ~of.is_open
        most = (behind + (1 << shift) - 1)[is_below].min(initial=_WORD - 1)
        return int(behind[is_above].max(initial=-_WORD)), int(most)

    return ends


@dataclass(frozen=True)
class _Kernel:
    node: Layer
    pool: Pool
    rounding: Rounding

    @functools.cached_property
    def is_wide(self) -> bool:
        return self.rounding.dropped > 0

    def propose(self, view: SubgraphView) -> Proposal:
        pool, body = self.pool, self._body()
        of = _M0_PLUS if is_armv6m(self.node.target) else _M3
        has_floats, is_padded = self.rounding.margin > 0, pool.window.padded
        code = of.code + pool.runs[1] * of.tap_code + has_floats * of.float_code
        code += is_padded * (1 + has_floats) * of.padded_code
        reads = overlap.nested(pool.starts, np.arange(pool.channels))
        return proposal(
            view, self.node, f"{pool.stem}_{pool.x.dtype.value}", body,
            lambda layer: signature(layer, ()),
            work=RunCost(self._cycles(of)), flash=0, code={body: code},
            title=pool.title,
            layout=LayoutRule.NATURAL if pool.is_natural else LayoutRule.CHANNELS_LAST,
            helpers=(QUANTIZE,) if has_floats else (),
            in_place=overlap.in_place(self.node, reads),
        )  # fmt: skip

    def _cycles(self, of: _Model) -> float:
        pool, rounding = self.pool, self.rounding
        again = rounding.again * of.in_float
        output = of.output + self.is_wide * of.wide
        tap = of.tap + pool.is_signed * of.signed + again
        turns = pool.runs[0] * of.turn if pool.runs[0] > _FEW else 0
        whole = pool.pixels * (output + pool.taps * tap + turns)
        if not pool.window.padded:
            return pool.pixels * of.pixel + pool.channels * whole
        rows, columns = (inside for _, inside in pool.spans)
        counts = np.outer(rows, columns)
        is_part = counts < pool.taps
        part = (
            (counts[is_part] * (of.part_tap + again)).sum()
            + (is_part.sum(axis=1) * rows).sum() * of.part_row + is_part.sum() * output
        )  # fmt: skip
        images, whole = pool.y.shape[0], whole * (1 - is_part.mean())
        pixel = of.pixel + of.padded_pixel + pool.is_of_inside * of.division
        return float(pool.pixels * pixel + pool.channels * (whole + images * part))

    def _body(self) -> str:
        pool, rounding = self.pool, self.rounding
        low, high = layers.clamp(self.node)
        rows, columns, step = pool.runs
        again = {}
        if rounding.margin:
            out = output_quantization(self.node)
            again = {
                "x_scale": float_literal(pool.x.scaling.scale[0]), "y_scale": out.scale,
                "store": out.store,
                "element": functools.partial(without_zero, zero_point=pool.zero_points[0]),
            }  # fmt: skip
        return KIT.render(
            "average.c.j2", **again, rounding=rounding, is_wide=self.is_wide, low=low, high=high,
            rows=rows, columns=columns, step=step, channels=pool.channels, images=pool.y.shape[0],
            image=pool.window.input, output=pool.window.output, stride=pool.window.strides,
            x_ctype=pool.x.dtype.c_type, y_ctype=pool.y.dtype.c_type,
            taps=float_literal(pool.taps), kernel=pool.window.kernel, pad=pool.window.begin,
            is_padded=pool.window.padded, is_of_inside=pool.is_of_inside,
            zero=pool.zero_points[0],
        )  # fmt: skip

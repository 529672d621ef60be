"""Dense layers of 8 bits: a row with two taps in a word, four filters at a time.

Of `x0 + (x1 << 16)` times `w1 + (w0 << 16)`, modulo 2**32, the upper half is `x0 * w0 + x1 * w1`:
one multiplication for two products. A word of weights is four taps of a filter, each 128 more than
it is: masked, its bytes 0 and 2 are the first two, and bytes 1 and 3 the last. What the 128 add is
alike for all filters, and taken off where a sum begins. Where four taps leave the upper half within
its 16 bits, two products are summed before it is looked at.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.ArmMul.pairs import MIDDLE, fits, less
from mcu_deploy.backends.ArmMul.rounding import Rounding, is_armv6m, round_sums, unsolved_cycles
from mcu_deploy.backends.ArmMul.workloads import KIT, RunCost, proposal
from mcu_deploy.backends.interface import (
    CFunction,
    Constant,
    InPlace,
    Layer,
    LayoutRule,
    Parameter,
    Proposal,
    SubgraphView,
)
from mcu_deploy.backends.isa.clamps import opened
from mcu_deploy.backends.kit import overlap
from mcu_deploy.backends.kit.arguments import Prototype, signature
from mcu_deploy.backends.kit.requantization import requantization
from mcu_deploy.backends.kit.stems import stem
from mcu_deploy.backends.quantized import dense, layers
from mcu_deploy.backends.quantized.dense import Dense

OPERATORS = ("Gemm", "MatMul", "tflite::FullyConnected", "Conv", "tflite::Conv")

_FILTERS, _TAPS = 4, 4  # of a group, of a word
_OFFSET = 128
_ORDER = (1, 3, 0, 2)  # the taps of a word, from its lowest byte on


class _Cycles(NamedTuple):
    """Of four filters by four taps that are summed at once, or two by two; of four filters; of an
    output, what 64 bits add to it, and what float32 does; of a tap of a row; of a row."""

    four: float
    two: float
    group: float
    output: float
    wide: float
    in_float: float
    tap: float
    row: float


class _Code(NamedTuple):
    """Bytes: of the sums, of the outputs, and of these with those in float32."""

    sums: int
    outputs: int
    in_float: int


_M3 = _Cycles(52, 65, 68, 30, 0, 290, 5, 85)
_M0_PLUS = _Cycles(62, 96, 120, 48, 35, 400, 8, 110)
_M3_CODE = _Code(426, 220, 290)
_M0_PLUS_CODE = _Code(448, 290, 320)


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A layer of any rows, with its clamp; a convolution of one pixel is one."""
    layer = dense.read(opened(node))
    if isinstance(layer, str):
        return layer
    if not layer.rows * layer.weights.size:
        return "there is nothing to compute"
    if reason := layers.bytes_refusal(layer):
        return reason
    rounding = _round(layer, layers.clamp(node))
    return rounding if isinstance(rounding, str) else [_Kernel(node, layer, rounding).propose(view)]


def pack(weights: Array) -> tuple[Array, Array]:
    """Weights [filter, tap] as the stream of words, uint32: of each four filters how many taps are
    summed at once, two or four, then of each four taps a word of each filter. Also these counts."""
    filters, taps = weights.shape
    padded = np.pad(weights, ((0, -filters % _FILTERS), (0, -taps % _TAPS)))
    groups = padded.reshape(-1, _FILTERS, padded.shape[1])
    at_once = np.array([_TAPS if all(fits(f, _TAPS) for f in of) else 2 for of in groups])
    ordered = groups.reshape(*groups.shape[:2], -1, _TAPS)[..., _ORDER] + _OFFSET
    words = np.ascontiguousarray(ordered.astype(np.uint8)).view("<u4")[..., 0].swapaxes(1, 2)
    stream = np.column_stack([at_once, words.reshape(len(groups), -1)])
    return stream.reshape(-1).astype(np.uint32), at_once


class _Kernel:
    def __init__(self, node: Layer, layer: Dense, rounding: Rounding) -> None:
        self.node, self.layer, self.rounding = node, layer, rounding
        self.filters, self.taps = layer.weights.shape
        self.blocks = -(-self.taps // _TAPS)
        self.stream, self.at_once = pack(layer.weights)
        self.ending = None if rounding.is_solved else requantization(node, "f")

    def propose(self, view: SubgraphView) -> Proposal:
        is_v6 = is_armv6m(self.node.target)
        code = _M0_PLUS_CODE if is_v6 else _M3_CODE
        body = KIT.render(
            "dense.c.j2", y_ctype=self.layer.y.dtype.c_type, rounding=self.rounding,
            ending=self.ending, less=less(self.layer.x),
        )  # fmt: skip
        sums = _row_sums()
        return proposal(
            view, self.node, stem("dense_pairs", self.layer.y.dtype.value), body, self._given,
            work=self._work(_M0_PLUS if is_v6 else _M3),
            flash=sum(c.value.nbytes for c in self._constants),
            code={sums.body: code.sums, body: code.in_float if self.ending else code.outputs},
            title="dense, two taps a word",
            layout=LayoutRule.CHANNELS_LAST if self.node.op == "Conv" else LayoutRule.NATURAL,
            helpers=(*(self.ending.helpers if self.ending else ()), sums),
            scratch_bytes=2 * _TAPS * self.blocks, in_place=self._in_place,
        )  # fmt: skip

    @functools.cached_property
    def _constants(self) -> tuple[Constant, ...]:
        """What each filter's sums begin with; scale and addend, of each filter or of all."""
        middles = np.repeat(MIDDLE * self.blocks * _TAPS // self.at_once, _FILTERS)
        starts = self.layer.bias + less(self.layer.x) * self.layer.weights.sum(axis=1)
        starts = starts - middles[: self.filters] + self.rounding.moves
        return (
            Constant("weights", self.stream),
            Constant("starts", starts.astype(np.int32)),
            Constant("scales", self.rounding.words),
            *(self.ending.constants if self.ending else ()),
        )

    def _given(self, layer: Layer) -> Prototype:
        given = signature(layer, self._constants).scratch("uint32_t", "pairs")
        numbers = {
            "rows": self.layer.rows, "taps": self.taps, "filters": self.filters,
            "apart": 2 if len(self.rounding.words) > 1 else 0,
            **self.rounding.numbers,
        }  # fmt: skip
        return given.numbers(numbers)

    @property
    def _in_place(self) -> tuple[InPlace, ...]:
        """A row is read before its outputs are written."""
        row = np.arange(self.layer.rows)
        ends = (row + 1) * self.filters
        return overlap.fact(self.node, 0, overlap.distance(ends, row * self.taps))

    def _work(self, of: _Cycles) -> RunCost:
        fours = int((self.at_once == _TAPS).sum())
        unsolved = self.rounding.unsolved * unsolved_cycles(self.node, of.in_float)
        output = of.output + (of.wide if self.rounding.is_wide else 0)
        cycles: float = self.layer.rows * (
            self.blocks * (fours * of.four + (self.at_once.size - fours) * of.two)
            + self.at_once.size * of.group + self.filters * output + unsolved
            + self.taps * of.tap + of.row
        )  # fmt: skip
        loads = self.layer.rows * sum(c.value.size for c in self._constants)
        return RunCost(cycles, loads)


def _round(layer: Dense, bounds: tuple[int, int]) -> Rounding | str:
    """What rounds all filters, or each by itself; or why nothing does, a clause."""
    if layer.is_uniform:
        rounding = round_sums(_of_one(layer), bounds, looks_for_late=False)
        if isinstance(rounding, Rounding) and rounding.is_solved:
            return rounding
    return round_sums(layer, bounds, looks_for_late=False)


def _of_one(layer: Dense) -> Dense:
    """A layer of one factor as one filter that reaches what any reaches."""
    low, high = layer.reach
    fixed = None if layer.fixed is None else layer.fixed[:1]
    reach = (low.min(keepdims=True), high.max(keepdims=True))
    return replace(layer, factors=layer.factors[:1], reach=reach, fixed=fixed)


def _row_sums() -> CFunction:
    """Of four filters, over a row. end: of the row's words."""
    pairs, end = (Parameter("const uint32_t *", name) for name in ("pairs", "end"))
    weights, sums = Parameter("const uint32_t *", "weights"), Parameter("uint32_t *", "sums")
    body = KIT.render("row_sums.c.j2")
    return CFunction("row_sums", (pairs, end, weights, sums), body, "const uint32_t *")

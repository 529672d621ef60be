"""Dense layers of 8 bits: a row with two taps in a word, four filters at a time (rows.py)."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from mcu_deploy.backends.ArmMul import rows
from mcu_deploy.backends.ArmMul.pairs import less
from mcu_deploy.backends.ArmMul.rounding import Rounding, is_armv6m, round_sums, unsolved_cycles
from mcu_deploy.backends.ArmMul.workloads import KIT, RunCost, proposal
from mcu_deploy.backends.interface import (
    Constant,
    InPlace,
    Layer,
    LayoutRule,
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


class _Cycles(NamedTuple):
    """Of four filters; of an output, what 64 bits add to it, and what float32 does; of a tap of a
    row; of a row."""

    group: float
    output: float
    wide: float
    in_float: float
    tap: float
    row: float


class _Code(NamedTuple):
    """Bytes: of a row's words, of the sums, of the outputs, and of these with those in float32."""

    pairs: int
    sums: int
    outputs: int
    in_float: int


_M3 = _Cycles(68, 30, 0, 290, 5, 85)
_M0_PLUS = _Cycles(120, 48, 35, 400, 8, 110)
_M3_CODE = _Code(60, 426, 180, 250)
_M0_PLUS_CODE = _Code(60, 448, 250, 280)


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


class _Kernel:
    def __init__(self, node: Layer, layer: Dense, rounding: Rounding) -> None:
        self.node, self.layer, self.rounding = node, layer, rounding
        self.filters, self.taps = layer.weights.shape
        self.packed = rows.pack(layer.weights)
        self.ending = None if rounding.is_solved else requantization(node, "f")

    def propose(self, view: SubgraphView) -> Proposal:
        is_v6 = is_armv6m(self.node.target)
        code = _M0_PLUS_CODE if is_v6 else _M3_CODE
        pairs, sums = rows.row_pairs(self.layer.x), rows.row_sums()
        body = KIT.render(
            "dense.c.j2", y_ctype=self.layer.y.dtype.c_type, rounding=self.rounding,
            ending=self.ending, pairs=pairs.stem,
        )  # fmt: skip
        return proposal(
            view, self.node, stem("dense_pairs", self.layer.y.dtype.value), body, self._given,
            work=self._work(_M0_PLUS if is_v6 else _M3),
            flash=sum(c.value.nbytes for c in self._constants),
            code={
                pairs.body: code.pairs, sums.body: code.sums,
                body: code.in_float if self.ending else code.outputs,
            },
            title="dense, two taps a word",
            layout=LayoutRule.CHANNELS_LAST if self.node.op == "Conv" else LayoutRule.NATURAL,
            helpers=(*(self.ending.helpers if self.ending else ()), pairs, sums),
            scratch_bytes=rows.row_bytes(self.taps), in_place=self._in_place,
        )  # fmt: skip

    @functools.cached_property
    def _constants(self) -> tuple[Constant, ...]:
        """What each filter's sums begin with; scale and addend, of each filter or of all."""
        starts = self.layer.bias + less(self.layer.x) * self.layer.weights.sum(axis=1)
        starts = starts - self.packed.middles[: self.filters] + self.rounding.moves
        return (
            Constant("weights", self.packed.groups.reshape(-1)),
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
        unsolved = self.rounding.unsolved * unsolved_cycles(self.node, of.in_float)
        output = of.output + (of.wide if self.rounding.is_wide else 0)
        cycles: float = self.layer.rows * (
            self.packed.cycles(self.node.target)
            + len(self.packed.groups) * of.group + self.filters * output + unsolved
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

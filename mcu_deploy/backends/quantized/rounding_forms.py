"""Forms in which cores round an accumulator to an element: what `requantization` solves for.

A core multiplies by a scale of 31 bits, drops the lowest bits of the product, may add to what is
left, and shifts that down. Whatever the instructions, of an accumulator this is the floor of a
straight line, which is all that the solver needs to know; an instruction set states its line here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from mcu_deploy.arithmetic import Array

_Number = TypeVar("_Number", int, Array)


@dataclass(frozen=True)
class RoundingForm:
    """floor((scale * acc + (addend << bits) + half) / 2**(bits + shift)), before it is saturated.

    bits: what the multiplication drops. adds: whether there is an addend; without one the
    accumulator alone is moved, by its bias. rounds: whether multiplication and shift round to
    nearest, ties up: half of what each of them drops is added. product_bits: of the product that
    the multiplication computes before it drops any.
    """

    bits: int
    adds: bool = False
    rounds: bool = False
    product_bits: int = 64

    def half(self, shift: Array | int) -> Array:
        """What is added to every product: int64, of each shift."""
        shifts = np.asarray(shift, np.int64)
        if not self.rounds:
            return np.zeros_like(shifts)
        one = np.int64(1)
        of_shift = np.where(shifts > 0, one << np.maximum(self.bits + shifts - 1, 0), 0)
        return (one << self.bits >> 1) + of_shift

    def multiplied(self, acc: _Number, scale: int) -> _Number:
        """What the multiplication leaves of accumulators, integers or int64."""
        half = (1 << self.bits >> 1) if self.rounds else 0
        return (acc * scale + half) >> self.bits

    def rounded(self, acc: Array, scale: int, addend: int, shift: int) -> Array:
        """What the instructions make of accumulators, int64, before they saturate."""
        half = (1 << shift >> 1) if self.rounds else 0
        left: Array = (self.multiplied(acc, scale) + addend + half) >> shift
        return left


# SMMLA, ASR of cores with DSP; SMULL, ADD, ASR of the Cortex-M3.
UPPER_ADDED = RoundingForm(32, adds=True)
# SMMUL, ASR: an operand less. Its accumulators are to be large multiples of the sum.
UPPER = RoundingForm(32)
# VQRDMULH, VADD, VRSHL of Helium, of which the first doubles, and it and the last round.
DOUBLED = RoundingForm(31, adds=True, rounds=True)
# MULS, ADDS, ASRS of Armv6-M, which has no other product: only for sums of few bits.
LOWER = RoundingForm(0, adds=True, product_bits=32)

"""Weights in fast RAM: which constants an instance copies there, and where each lies."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from mcu_deploy.backends.interface import Constant
from mcu_deploy.plan import control, traffic
from mcu_deploy.plan.alignment import ALIGNMENT, aligned
from mcu_deploy.plan.model import Hot, InPool, Program, Step


@dataclass
class _Array:
    """Constants of one type and equal bytes, which a network holds once: those of which layers."""

    bytes: int
    reads: int = 0
    uses: list[tuple[int, int]] = field(default_factory=list)  # step, index of the constant


def choose(program: Program, budget: int) -> tuple[Hot, ...]:
    """The constants with the most reads per byte, as many as `budget` bytes hold.

    Whole arrays only, each aligned; one that is too large for what is left is passed over. The pool
    that they get is 0 here, from its first byte on.
    """
    if budget <= 0:
        return ()
    arrays = _arrays(program)
    found: list[Hot] = []
    end = 0
    for array in sorted(arrays, key=lambda a: -a.reads / a.bytes):  # stable: else in their order
        if end + aligned(array.bytes) <= budget:
            found += [Hot(s, c, InPool(0, end), array.bytes) for s, c in array.uses]
            end += aligned(array.bytes)
    return tuple(found)


def size(hot: Iterable[Hot]) -> int:
    """The bytes of the pool that these need."""
    return max((item.place.offset + aligned(item.bytes) for item in hot), default=0)


def content(constant: Constant) -> tuple[str, bytes]:
    """What makes two constants one: the element type and the bytes."""
    return constant.ctype, np.ascontiguousarray(constant.value).tobytes()


def _arrays(program: Program) -> list[_Array]:
    found: dict[tuple[str, bytes], _Array] = {}
    for step, times in zip(program, control.times(program), strict=True):
        if not isinstance(step, Step):
            continue
        constants = step.choice.workload.constants
        reads = traffic.of_constants(step.choice.layer, constants)
        for index, constant in enumerate(constants):
            if constant.value.nbytes and constant.alignment <= ALIGNMENT:
                array = found.setdefault(content(constant), _Array(constant.value.nbytes))
                array.reads += times * reads[index]
                array.uses.append((step.index, index))
    return list(found.values())

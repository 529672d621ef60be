"""Code in fast RAM: which kernels of a network the start-up copies there, and what that gains."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from mcu_deploy.backends.interface import CFunction
from mcu_deploy.plan.model import Plan, Step

SECTION = ".text.mcu_hot"
_ALIGNMENT = 4  # MCU_KERNEL of mcu/model.h


@dataclass(frozen=True)
class HotKernel:
    """A kernel that waits for its code: of so many bytes, for so many modelled cycles of one run of
    the network, while it lies in the memory of code. layers: those that it computes, by index.
    is_hot: whether it is copied to RAM, where it waits for none."""

    function: CFunction
    layers: tuple[int, ...]
    bytes: int
    cycles: int
    is_hot: bool = False


def anonymous(function: CFunction) -> CFunction:
    """The function without what layers that share it differ in."""
    return replace(function, fetched=None)


def choose(plan: Plan, budget: int) -> tuple[HotKernel, ...]:
    """The kernels of a plan that wait for their code, those with the most cycles a byte first, and
    hot as many of them as `budget` bytes hold.

    One that is too large for what is left is passed over. What the copies share of the instruction
    cache today is free for the others then, which is not counted.
    """
    left = budget
    found = []
    # Stable: else in the order of their first layers.
    for kernel in sorted(_kernels(plan), key=lambda k: -k.cycles / k.bytes):
        is_hot = kernel.bytes <= left
        left -= kernel.bytes * is_hot
        found.append(replace(kernel, is_hot=is_hot))
    return tuple(found)


def _kernels(plan: Plan) -> Iterable[HotKernel]:
    found: dict[CFunction, HotKernel] = {}
    for step in plan.steps:
        for function in _functions(step):
            if function.fetched is None:
                continue
            key, size = anonymous(function), function.fetched.bytes
            known = found.get(key, HotKernel(key, (), -(-size // _ALIGNMENT) * _ALIGNMENT, 0))
            cycles = known.cycles + plan.times[step.index] * function.fetched.cycles
            layers = tuple(dict.fromkeys((*known.layers, step.index)))
            found[key] = replace(known, layers=layers, cycles=cycles)
    return found.values()


def _functions(step: Step) -> tuple[CFunction, ...]:
    workload = step.choice.workload
    own = () if workload.function is None else (workload.function,)
    return (*workload.helpers, *own)

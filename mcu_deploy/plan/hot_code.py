"""Code in fast RAM: which kernels of a network the start-up copies there, and what that gains."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from mcu_deploy.backends.interface import CFunction
from mcu_deploy.plan.model import Plan, Step

SECTION = "MCU_HOT_SECTION"  # of mcu/internal.h
_ALIGNMENT = 4  # MCU_KERNEL of mcu/internal.h


@dataclass(frozen=True)
class HotKernel:
    """A kernel that waits for its code: of so many bytes, for so many modelled cycles of one run of
    the network, while it lies in the memory of code. layers: those that it computes, by index.
    is_hot: whether it is copied to RAM, where it waits for none. digest: of its text, as a target
    has it."""

    function: CFunction
    layers: tuple[int, ...]
    bytes: int
    cycles: int
    is_hot: bool = False
    digest: str = ""


def anonymous(function: CFunction) -> CFunction:
    """The function without what layers that share it differ in."""
    return replace(function, fetched=None)


def choose(
    plan: Plan, budget: int, priced: frozenset[str] | None = frozenset()
) -> tuple[HotKernel, ...]:
    """The kernels of a plan that wait for their code, those with the most cycles a byte first, and
    hot as many of them as `budget` bytes hold.

    One that is too large for what is left is passed over. What the copies share of the instruction
    cache today is free for the others then, which is not counted. priced: the digests of those that
    the plan's prices take for hot, which come before all others; None where that is all.
    """
    left = budget
    # Stable: else in the order of their first layers.
    found = sorted(_kernels(plan), key=lambda k: -k.cycles / k.bytes)
    hot = set()
    for kernel in sorted(found, key=lambda k: priced is not None and k.digest not in priced):
        if kernel.bytes <= left:
            hot.add(kernel.function)
            left -= kernel.bytes
    return tuple(replace(kernel, is_hot=kernel.function in hot) for kernel in found)


def digests(kernels: Iterable[HotKernel]) -> frozenset[str]:
    """Of those that are hot, as a target has them."""
    return frozenset(kernel.digest for kernel in kernels if kernel.is_hot)


def correction(kernels: Iterable[HotKernel], priced: frozenset[str] | None) -> int:
    """The cycles of a run by which prices are off that take other kernels for hot."""
    return sum(
        kernel.cycles * ((priced is None or kernel.digest in priced) - kernel.is_hot)
        for kernel in kernels
    )


def _kernels(plan: Plan) -> Iterable[HotKernel]:
    found: dict[CFunction, HotKernel] = {}
    for step in plan.steps:
        for function in _functions(step):
            if function.fetched is None:
                continue
            key, size = anonymous(function), function.fetched.bytes
            size = -(-size // _ALIGNMENT) * _ALIGNMENT
            unknown = HotKernel(key, (), size, 0, digest=function.fetched.digest)
            known = found.get(key, unknown)
            cycles = known.cycles + plan.times[step.index] * function.fetched.cycles
            layers = tuple(dict.fromkeys((*known.layers, step.index)))
            found[key] = replace(known, layers=layers, cycles=cycles)
    return found.values()


def _functions(step: Step) -> tuple[CFunction, ...]:
    workload = step.choice.workload
    own = () if workload.function is None else (workload.function,)
    return (*workload.helpers, *own)

"""Loops whose counters and pointers wait in the FPU's registers, as the core's are full inside."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from mcu_deploy.backends.isa import Assembly, Register
from mcu_deploy.backends.kit.strides import Loops


@contextmanager
def counted(
    code: Assembly, left: Register, times: int, before_last: Callable[[], None] | None = None
) -> Iterator[None]:
    """A loop that runs so often, by its count in a register of the FPU; none where that is once.
    before_last: adds what is done if only one more run is left, under the condition `eq`."""
    if times <= 1:
        yield
        return
    count = code.register("count")
    code.number(count, times)
    code.vmov(left, count)
    with code.repeat(times):
        yield
        code.vmov(count, left)
        if before_last is not None:
            code.cmp(count, 2)
            before_last()
        code.subs(count, count, 1)
        code.vmov(left, count)


def move(code: Assembly, pointer: Register, by: int) -> None:
    """A pointer in a register of the FPU goes so many bytes on, or back."""
    if by:
        at, free = code.registers("at free")
        code.vmov(at, pointer)
        code.offset(at, by, free)
        code.vmov(pointer, at)


def each(
    code: Assembly, loops: Loops, left: Sequence[Register], pointers: Sequence[Register],
    body: Callable[[], None], n: int = 0,
) -> None:  # fmt: skip
    """Loops, from the n-th on, which move pointers by their steps. left: their counters."""
    if n == len(loops.extents):
        body()
        return
    with counted(code, left[n], loops.extents[n]):
        each(code, loops, left, pointers, body, n + 1)
        for kept, steps in zip(pointers, loops.steps, strict=True):
            # What the loop inside of this one, if there is one, has added.
            inside = loops.extents[n + 1] * steps[n + 1] if n + 1 < len(steps) else 0
            move(code, kept, steps[n] - inside)

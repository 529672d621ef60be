"""Loops whose counters and pointers wait in the FPU's registers, as the core's are full inside."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from mcu_deploy.backends.isa import Assembly, Register


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

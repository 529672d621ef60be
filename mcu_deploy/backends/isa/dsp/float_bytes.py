"""Weights of int8 as floats of a scalar FPU, whose sums are multiplied by a scale."""

from __future__ import annotations

from collections.abc import Sequence

from mcu_deploy.backends.floats.layers import BYTES
from mcu_deploy.backends.isa import Assembly, Kind, Register

TOGETHER = 4  # that are loaded at once


def pairs(code: Assembly, name: str, count: int) -> list[Register]:
    """D registers for so many weights."""
    return [code.register(f"{name}{n}", kind=Kind.DOUBLE) for n in range(-(-count // 2))]


def fetch(code: Assembly, bytes_: Sequence[Register], at: Register, ahead: int) -> None:
    """Core registers get the weights that lie so many bytes behind another one."""
    for n, byte in enumerate(bytes_, ahead):
        code.ldrsb(byte, at[n])


def convert(code: Assembly, into: Sequence[Register], bytes_: Sequence[Register]) -> None:
    """The halves of `pairs` get what was fetched."""
    halves: list[Register] = []
    for pair, n in zip(into, range(0, len(bytes_), 2), strict=False):
        both = bytes_[n : n + 2]
        halves += pair.halves[: len(both)]
        code.vmov(pair if len(both) == 2 else pair.halves[0], *both)
    for half in halves:
        code.vcvt_f32_s32(half, half)


def load(
    code: Assembly, into: Sequence[Register], count: int, at: Register, ahead: int,
    bytes_: Sequence[Register],
) -> None:  # fmt: skip
    """Both, of so many weights. bytes_: an even number of registers."""
    for first in range(0, count, len(bytes_)):
        some = bytes_[: count - first]
        fetch(code, some, at, ahead + first)
        convert(code, into[first // 2 :], some)


def clear(code: Assembly, sums: Sequence[Register], free: Register) -> None:
    code.number(free, 0)
    for one in sums:
        code.vmov(one, free)


def scale(
    code: Assembly, sums: Sequence[Sequence[Register]], taps: int, stream: Register,
    pair: Sequence[Register],
) -> None:  # fmt: skip
    """Sums, [pixel][filter], of so many taps are multiplied by the scales of their filters, and get
    their biases, which the stream has behind the weights (floats/tiles.py). pair: two registers."""
    if filling := -taps * len(sums[0]) % BYTES:
        code.add(stream, stream, filling)
    factor, bias = pair
    for of_filter in zip(*sums, strict=True):
        code.vldmia(stream.moving, [factor, bias])
        for one in of_filter:
            code.vmul_f32(one, one, factor)
        for one in of_filter:
            code.vadd_f32(one, one, bias)

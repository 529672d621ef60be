"""Sums of a tile's taps, which weights that are moved (moved_weights.py) meet as more taps."""

from __future__ import annotations

from mcu_deploy.backends.isa import Assembly, Register
from mcu_deploy.backends.quantized.moved_weights import TAPS_OF_SUM

_PIXELS = 3
_PAIR_BYTES = 4 * _PIXELS
_UNROLLED = 4  # pairs of a round


def append(code: Assembly, taps: Register, count: int) -> None:
    """Sums of `count` taps of three pixels each, two in a word, behind them. taps: where they
    begin; behind the last ones afterwards."""
    code.note(f"Sums of the taps, of {TAPS_OF_SUM} at most, as taps behind them.")
    x, ones, end = code.registers("x0 x1 x2"), code.register("ones"), code.register("part_end")
    lows, highs = code.registers("low0 low1 low2"), code.registers("high0 high1 high2")
    code.number(ones, 0x10001)
    sums, pairs = -(-count // TAPS_OF_SUM), -(-count // 2)
    read = 0
    for sum_ in range(sums):
        of = highs if sum_ % 2 else lows
        here = min(TAPS_OF_SUM // 2, pairs - read)
        # The last pair may have but one tap.
        whole = here - 1 if count % 2 and read + here == pairs else here
        rounds = whole // _UNROLLED

        def add(first: bool = False, of: list[Register] = of) -> None:
            code.ldmia(taps.moving, x)
            for acc, pixel in zip(of, x, strict=True):
                if first:
                    code.smuad(acc, pixel, ones)
                else:
                    code.smlad(acc, pixel, ones, acc)

        if rounds > 1:
            for acc in of:
                code.mov(acc, 0)
            code.add(end, taps, _PAIR_BYTES * _UNROLLED * rounds)
            with code.repeat(rounds):
                for _ in range(_UNROLLED):
                    add()
                code.cmp(taps, end)
        else:
            rounds = 0
            if not whole:
                for acc in of:
                    code.mov(acc, 0)
        for n in range(whole - _UNROLLED * rounds):
            add(first=not rounds and not n)
        if whole < here:
            code.ldmia(taps.moving, x)
            for acc, pixel in zip(of, x, strict=True):
                code.smlabb(acc, pixel, ones, acc)
        read += here
        if sum_ % 2 or sum_ == sums - 1:
            ahead = _PAIR_BYTES * (pairs - read + sum_ // 2)
            for n, (low, high) in enumerate(zip(lows, highs, strict=True)):
                if sum_ % 2:
                    code.pkhbt(low, low, high.lsl(16))
                code.str(low, taps[ahead + 4 * n])
    code.add(taps, taps, _PAIR_BYTES * -(-sums // 2))

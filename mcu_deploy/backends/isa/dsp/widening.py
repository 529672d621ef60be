"""Bytes that become pairs of int16, in the order in which SXTB16 makes these of words: of four taps
0 and 2, then 1 and 3 (`IN_WORDS`)."""

from __future__ import annotations

from collections.abc import Sequence

from mcu_deploy.backends.isa import Assembly, Register
from mcu_deploy.backends.isa.dsp.tile import pairs
from mcu_deploy.backends.quantized.dense import IN_WORDS


def widen(
    code: Assembly, extend: str, words: Sequence[Register], others: Sequence[Register]
) -> None:
    """Words of four bytes to pairs of int16: bytes 0 and 2 stay, bytes 1 and 3 go to the others."""
    for word, other in zip(words, others, strict=True):
        getattr(code, extend)(other, word.ror(8))
    for word in words:
        getattr(code, extend)(word, word)


class Row:
    """The registers that widen a row: where it is read, where it is written, where whole rounds of
    this end; so many words of four bytes as a round has; two halves of each, widened."""

    def __init__(self, code: Assembly, words: int) -> None:
        self.source, self.into, self.end = code.registers("source into into_end")
        self.words = code.registers("x0123 x4567")[:words]
        self.halves = code.registers("x02 x13 x46 x57")[: 2 * words]


def widen_row(code: Assembly, row: Row, taps: int, extend: str, is_aligned: bool = False) -> None:
    """A row of bytes to pairs of int16, in the order of `IN_WORDS`; both pointers end behind whole
    rounds, the source behind the rest too. Of words that the row does not fill the rest is any.

    extend: "sxtb16" or "uxtb16". is_aligned: rows begin at whole words, where LDM does not trap.
    """
    whole, rest = divmod(taps, 4 * len(row.words))
    if whole:
        with code.repeat(whole):
            if is_aligned:
                code.ldmia(row.source.moving, row.words)
            else:
                for word in row.words:
                    code.ldr(word, row.source.after(4))
            for word, (first, second) in zip(row.words, pairs(row.halves), strict=True):
                getattr(code, extend)(second, word.ror(8))
                getattr(code, extend)(first, word)
            code.stmia(row.into.moving, row.halves)
            code.cmp(row.into, row.end)
    for n in range(rest):
        (code.ldrsb if extend == "sxtb16" else code.ldrb)(row.words[0], row.source.after(1))
        code.strh(row.words[0], row.into[rest_offset(n)])


def rest_offset(tap: int) -> int:
    """Where a tap of the rest goes, in bytes behind the whole rounds."""
    return 8 * (tap // 4) + 2 * IN_WORDS[tap % 4]

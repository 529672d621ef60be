"""A tile: filters times rows of sums in registers, and the products that are added to them.

Rows are what meets the same weights: pixels, windows, columns of a matrix, or one row of a fully
connected layer. A tile has as many of them as the 14 registers have room for (tile_shapes.py):
their sums, what is read of each row, words of weights, and two pointers.

    rows  filters  of a row  words
    3     2        1         3       convolutions, Winograd's
    3     2        1         2 + 1   products of matrices, whose words are widened
    1     4        4         4       fully connected layers
    1     4        2         4       gates of an LSTM

What is read of a row are pairs of taps, widened to int16. A word of weights has one of three forms:
- (narrow) two taps of two filters: each half holds `256 * odd + even` (the carry is settled when it
  is packed), so SMLAD of the word sums 256 * odd + even, and SMLAD of the word through SXTB16 sums
  even; their difference is 256 times the odd filter's sum, and the 1/256 is in its scale;
- (wide) two taps of one filter: that takes twice the flash, has room for any weights and sums, and
  is cheaper where there are few taps;
- (bytes) four taps of one filter, which SXTB16 makes two words of: of what is computed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from mcu_deploy.backends.isa import Assembly, Register
from mcu_deploy.backends.quantized.tile_shapes import PIXELS


class Sums(NamedTuple):
    """Of three rows each, those of the even and of the odd filter."""

    even: tuple[Register, ...]
    odd: tuple[Register, ...]

    @property
    def all(self) -> tuple[Register, ...]:
        return (*self.even, *self.odd)

    @staticmethod
    def of(code: Assembly) -> Sums:
        even, odd = (numbered(code, name, PIXELS.rows) for name in ("even", "odd"))
        return Sums(tuple(even), tuple(odd))


def numbered(code: Assembly, name: str, count: int) -> list[Register]:
    """So many registers of the core, called by their numbers."""
    return code.registers(" ".join(f"{name}{n}" for n in range(count)))


class WordStep(NamedTuple):
    """What a word of weights is multiplied with. sums: of all rows those of its filter, or of the
    even and of the odd one; x: of all rows a pair of taps, which is read before where `is_new`.
    starts: for each filter what has the bias that its sums begin with, None for 0; where there are
    none, they go on."""

    sums: Sequence[Sequence[Register]]
    x: Sequence[Register]
    is_new: bool = False
    starts: Sequence[Register | None] = ()


def multiply_words(code: Assembly, words: Sequence[Register], steps: Sequence[WordStep]) -> None:
    """Words with what each meets. Of two filters' words SXTB16 leaves the even ones'; of a word
    that is where the last odd sum will be, in the place of the last even one."""
    evens = list(words)
    for n, (word, (sums, x, _, starts)) in enumerate(zip(words, steps, strict=True)):
        if len(sums) > 1 and word is sums[1][-1]:
            evens[n] = sums[0][-1]
            code.sxtb16(evens[n], word)
        multiply_add(code, sums[-1], word, x, starts[-1:])
    narrow = [of for of in zip(words, evens, steps, strict=True) if len(of[2].sums) > 1]
    for word, even, _ in narrow:
        if even is word:
            code.sxtb16(word, word)
    for _, even, (sums, x, _, starts) in narrow:
        multiply_add(code, sums[0], even, x, starts[:1])


def multiply_add(
    code: Assembly,
    sums: Sequence[Register],
    word: Register,
    x: Sequence[Register],
    starts: Sequence[Register | None] = (),
) -> None:
    """A pair of taps of all rows to the sums of one filter, or of two in one."""
    for acc, row in zip(sums, x, strict=True):
        if starts and starts[0] is None:
            code.smuad(acc, word, row)
        else:
            code.smlad(acc, word, row, starts[0] if starts else acc)


def multiply(
    code: Assembly,
    taps: Register,
    stream: Register,
    steps: Sequence[WordStep],
    words: Sequence[Register],
    first: Sequence[Register] = (),
    is_backward: bool = False,
) -> None:
    """Steps in their order, by the words of the stream, as many at a time as there are registers.
    first: those of the first ones. is_backward: taps are read so."""
    at, held = 0, first or words
    while at < len(steps):
        taken = steps[at : at + len(held)]
        if len(taken) > 1:
            code.ldmia(stream.moving, held[: len(taken)])
        else:
            code.ldr(held[0], stream.after(4))
        for word, step in zip(held, taken, strict=False):
            if step.is_new:
                (code.ldmdb if is_backward else code.ldmia)(taps.moving, step.x)
            multiply_words(code, [word], [step])
        at, held = at + len(taken), words


def multiply_row(
    code: Assembly,
    taps: Register,
    stream: Register,
    sums: Sequence[Register],
    x: Sequence[Register],
    words: Sequence[Register],
    is_wide: bool = False,
    extend: str = "",
) -> None:
    """One row times filters, two taps for each register of x, of which there are two or four. sums:
    by narrow words of an even filter, and 256 times that of an odd one with the even one's; by wide
    ones of each. extend: what widens the row, where it lies in bytes."""
    if extend:
        if len(x) > 2:
            code.ldmia_w(taps.moving, x[::2])
        else:
            code.ldr(x[0], taps.after(4))
        for word, other in pairs(x):
            getattr(code, extend)(other, word.ror(8))
            getattr(code, extend)(word, word)
    else:
        code.ldmia_w(taps.moving, x)
    of_words = [[sum_] for sum_ in sums] if is_wide else pairs(sums)
    steps = [WordStep([[acc] for acc in of], [row]) for of in of_words for row in x]
    for at in range(0, len(steps), len(words)):
        taken = steps[at : at + len(words)]
        code.ldmia_w(stream.moving, words[: len(taken)])
        multiply_words(code, words[: len(taken)], taken)


def multiply_bytes(
    code: Assembly,
    taps: Register,
    sums: Sequence[Sequence[Register]],
    x: Sequence[Register],
    words: Sequence[Register],
    pair: Register,
    extend: str,
) -> None:
    """Rows times filters, four taps, by words of bytes. sums: of each filter those of all rows. At
    `taps` lie the first and third tap of all rows, then the second and fourth."""
    for by in (0, 8):
        code.ldmia(taps.moving, x)
        for of, word in zip(sums, words, strict=True):
            getattr(code, extend)(pair, word.ror(by) if by else word)
            multiply_add(code, of, pair, x)


def pairs(registers: Sequence[Register]) -> Sequence[tuple[Register, Register]]:
    """Even and odd ones, or scale and addend."""
    return tuple(zip(registers[::2], registers[1::2], strict=True))


def take_apart(code: Assembly, sums: Iterable[tuple[Register, Register]]) -> None:
    """Leaves 256 times the odd ones' sums, of even and odd ones by narrow words."""
    for even, odd in sums:
        code.sub(odd, odd, even)


def join(code: Assembly, sums: Sums, rows: str = "pixel") -> None:
    """Elements of two filters for each row, to halfwords in the even ones' places."""
    code.note(f"Stored: of each {rows} both filters at once.")
    for even, odd in zip(*sums, strict=True):
        code.bfi(even, odd, 8, 8)

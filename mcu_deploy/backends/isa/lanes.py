"""What vectors of Helium do, on the four words that a Q register is made of.

A predicate has a bit for each byte of a vector, whether it is computed. Floats flush to zero, as
vector arithmetic always does.

Source: the pseudocode of the Armv8-M Architecture Reference Manual (DDI 0553), chapter C2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from struct import Struct
from typing import Any, NamedTuple

from mcu_deploy.backends.isa import f32

Words = tuple[int, ...]
Vector = Words | int  # a core register or a number stands for a vector of equal elements
ALL = 0xFFFF
_WORDS = Struct("<4I")
_SINGLES, _DOUBLES, _LONGS = Struct("<4f"), Struct("<4d"), Struct("<4Q")
_UNSIGNED = {1: Struct("<16B"), 2: Struct("<8H"), 4: _WORDS}
_SIGNED = {1: Struct("<16b"), 2: Struct("<8h"), 4: Struct("<4i")}


class Unaligned(Exception):
    """A vector's element lies at an address that is no multiple of its size."""


class Gathered(NamedTuple):
    """The addresses of elements: offsets, shifted, from a base; or, without one, addresses and a
    number that is added to each."""

    base: int
    words: Words
    shift: int = 0


def elements(words: Vector, size: int, signed: bool) -> Words:
    """The elements of a vector, of so many bytes."""
    if isinstance(words, int):
        value = words & (1 << 8 * size) - 1
        top = 1 << 8 * size - 1
        return ((value ^ top) - top if signed else value,) * (16 // size)
    if size == 4 and not signed:
        return words
    return (_SIGNED if signed else _UNSIGNED)[size].unpack(_WORDS.pack(*words))


def words_of(values: Iterator[int] | Words, size: int) -> Words:
    """The vector of such elements, of which the lowest bits are taken."""
    mask = (1 << 8 * size) - 1
    found = [v & mask for v in values]
    return tuple(found) if size == 4 else _WORDS.unpack(_UNSIGNED[size].pack(*found))


def merged(predicate: int, old: Words, new: Words) -> Words:
    """The new bytes where the predicate has them computed."""
    if predicate == ALL:
        return new
    masks = [
        sum(0xFF << 8 * k for k in range(4) if predicate >> 4 * n + k & 1) for n in range(4)
    ]  # fmt: skip
    return tuple(a & ~m | b & m for a, b, m in zip(old, new, masks, strict=True))


def first(size: int, count: int) -> int:
    """The predicate of the first so many elements: VCTP, and the last round of a loop with tail
    predication."""
    return (1 << min(count * size, 16)) - 1


def _clip(value: int, size: int, signed: bool = True) -> int:
    top = 1 << 8 * size - signed
    return min(max(value, -top if signed else 0), top - 1)


def _shifted(value: int, by: int, size: int, rounds: bool) -> int:
    """Left by the signed lowest byte of a number, or right, with half of what it drops."""
    by = ((by & 0xFF) ^ 0x80) - 0x80
    if by >= 0:
        return value << min(by, 8 * size)
    return value + (rounds << -by - 1) >> -by


_Of = Callable[..., int]
# Of elements, and their size in bytes: the operands in their order.
_OPERATIONS: Mapping[str, _Of] = {
    "add": lambda s, a, b: a + b,
    "sub": lambda s, a, b: a - b,
    "mul": lambda s, a, b: a * b,
    "mla": lambda s, d, a, b: d + a * b,
    "mlas": lambda s, d, a, b: d * a + b,
    "max": lambda s, a, b: max(a, b),
    "min": lambda s, a, b: min(a, b),
    "and": lambda s, a, b: a & b,
    "orr": lambda s, a, b: a | b,
    "eor": lambda s, a, b: a ^ b,
    "bic": lambda s, a, b: a & ~b,
    "mvn": lambda s, a: ~a,
    "qadd": lambda s, a, b: _clip(a + b, s),
    "qsub": lambda s, a, b: _clip(a - b, s),
    "mulh": lambda s, a, b: a * b >> 8 * s,
    "rmulh": lambda s, a, b: a * b + (1 << 8 * s - 1) >> 8 * s,
    "qdmulh": lambda s, a, b: _clip(2 * a * b >> 8 * s, s),
    "qrdmulh": lambda s, a, b: _clip(2 * a * b + (1 << 8 * s - 1) >> 8 * s, s),
    "shl": lambda s, a, b: _shifted(a, b, s, False),
    "rshl": lambda s, a, b: _shifted(a, b, s, True),
    "shr": lambda s, a, n: a >> n,
    "rshr": lambda s, a, n: a + (1 << n - 1) >> n,
}


def each(operation: str, size: int, signed: bool, *operands: Vector) -> Words:
    """An operation on the elements of vectors."""
    of = _OPERATIONS[operation]
    lanes = [elements(operand, size, signed) for operand in operands]
    return words_of(tuple([of(size, *values) for values in zip(*lanes, strict=True)]), size)


def immediate(operation: str, size: int, signed: bool, vector: Words, number: int) -> Words:
    """An operation on the elements of a vector and a number."""
    of = _OPERATIONS[operation]
    return words_of(tuple([of(size, a, number) for a in elements(vector, size, signed)]), size)


def widened(size: int, signed: bool, top: int, vector: Words) -> Words:
    """Every other element, from the first one or (top) the second, to twice the size."""
    return words_of(elements(vector, size, signed)[top::2], 2 * size)


def narrowed(
    size: int, signed: bool, top: int, into: Words, vector: Words,
    by: int = 0, rounds: bool = False, to: str = "",
) -> Words:  # fmt: skip
    """Elements of so many bytes, shifted right, to half the size, as every other one of `into`.
    to: saturated, s or u."""
    held = [*elements(into, size // 2, False)]
    half = (1 << by >> 1) if rounds else 0
    values = [value + half >> by for value in elements(vector, size, signed)]
    if to:
        values = [_clip(value, size // 2, to == "s") for value in values]
    mask = (1 << 4 * size) - 1
    held[top::2] = [value & mask for value in values]
    return words_of(tuple(held), size // 2)


def products(
    size: int, signed: bool, start: int, a: Words, b: Words, predicate: int
) -> int:  # fmt: skip
    """The sum of products, 32 bits."""
    pairs = zip(elements(a, size, signed), elements(b, size, signed), strict=True)
    if predicate == ALL:
        return start + sum([x * y for x, y in pairs]) & 0xFFFF_FFFF
    active = [x * y for n, (x, y) in enumerate(pairs) if predicate >> n * size & 1]
    return start + sum(active) & 0xFFFF_FFFF


def total(size: int, signed: bool, start: int, a: Words, predicate: int) -> int:
    """The sum of elements, 32 bits."""
    lanes = enumerate(elements(a, size, signed))
    return start + sum([x for n, x in lanes if predicate >> n * size & 1]) & 0xFFFF_FFFF


def extreme(pick: str, size: int, signed: bool, start: int, a: Words, predicate: int) -> int:
    """The largest or smallest of elements and the lowest bits of a word."""
    of = elements(a, size, signed)
    lanes = [elements(start, size, signed)[0]]
    lanes += [x for n, x in enumerate(of) if predicate >> n * size & 1]
    return (max if pick == "max" else min)(lanes) & 0xFFFF_FFFF


def counting(size: int, start: int, step: int) -> Words:
    """start, start + step and so on."""
    return words_of(tuple([start + n * step for n in range(16 // size)]), size)


def repeated(size: int, value: int) -> Words:
    return words_of((value,) * (16 // size), size)


# Floats.


def _flushed(bits: int) -> int:
    return bits if bits & 0x7F80_0000 else bits & 0x8000_0000


def _quiet(bits: int) -> int:
    """One NaN for all."""
    return 0x7FC0_0000 if bits & 0x7FFF_FFFF > 0x7F80_0000 else bits


def _multiply_flushed(a: int, b: int) -> int:
    """What is too small before it is rounded is flushed."""
    exact = f32.number(a) * f32.number(b)
    if exact == exact and abs(exact) < 2.0**-126:
        return (a ^ b) & 0x8000_0000
    return f32.multiply(a, b)


def _fused_flushed(addend: int, a: int, b: int) -> int:
    found = f32.fused(addend, a, b)
    # A sum that rounds up to the smallest normal number was smaller before.
    if found & 0x7FFF_FFFF == 0x0080_0000 and f32.is_below_normal(addend, a, b):
        return found & 0x8000_0000
    return found


_FLOATS: Mapping[str, Callable[..., int]] = {
    "add": f32.add,
    "sub": f32.subtract,
    "mul": _multiply_flushed,
    "fma": _fused_flushed,
    "fmas": lambda d, a, b: _fused_flushed(b, d, a),
}


# The same on float64, in which a product of two float32 is exact.
_NUMBERS: Mapping[str, Callable[..., float]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "fma": lambda d, a, b: d + a * b,
    "fmas": lambda d, a, b: d * a + b,
}
_SMALL, _LARGE = 2.0**-125, 2.0**127


def floats(operation: str, *operands: Vector) -> Words:
    """An operation on float32 elements."""
    found = _of_plain(operation, operands)
    if found is not None:
        return found
    of = _FLOATS[operation]
    lanes = [
        [bits if bits & 0x7F80_0000 else bits & 0x8000_0000 for bits in elements(operand, 4, False)]
        for operand in operands
    ]
    return tuple([_quiet(_flushed(of(*values))) for values in zip(*lanes, strict=True)])


def _of_plain(operation: str, operands: Sequence[Vector]) -> Words | None:
    """Of all elements at once, where none, nor what comes of them, is near the ends of what float32
    has, and none is rounded twice: to a float64 halfway between two float32, and from there."""
    lanes = [_SINGLES.unpack(_WORDS.pack(*elements(each, 4, False))) for each in operands]
    if [x for lane in lanes for x in lane if -_SMALL < x < _SMALL and x]:
        return None
    found = [*map(_NUMBERS[operation], *lanes)]
    if [x for x in found if not _SMALL < abs(x) < _LARGE and x]:
        return None
    if len(lanes) == 3:
        longs = _LONGS.unpack(_DOUBLES.pack(*found))
        if [x for x in longs if x & 0x1FFF_FFFF == 0x1000_0000]:
            return None
    return _WORDS.unpack(_SINGLES.pack(*found))


_RELATIONS: Mapping[str, Callable[[float, float], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "ge": lambda a, b: a >= b,
    "lt": lambda a, b: not a >= b,
    "gt": lambda a, b: a > b,
    "le": lambda a, b: not a > b,
}


def compared(condition: str, a: Vector, b: Vector) -> int:
    """The predicate of float32 elements: lt and le are what ge and gt are not, with NaN too."""
    of = _RELATIONS[condition]
    pairs = zip(elements(a, 4, False), elements(b, 4, False), strict=True)
    return sum(
        0xF << 4 * n
        for n, (x, y) in enumerate(pairs)
        if of(f32.number(_flushed(x)), f32.number(_flushed(y)))
    )


def float_of(vector: Words, signed: bool) -> Words:
    return tuple([f32.of(value) for value in elements(vector, 4, signed)])


def nearest(vector: Words, ties_away: bool = False) -> Words:
    """Of float32 elements the nearest int32, ties to even, or away from zero."""
    of = f32.nearest_away if ties_away else f32.nearest
    return tuple([of(_flushed(bits), -(1 << 31), (1 << 31) - 1) & 0xFFFF_FFFF for bits in vector])


# Memory.


def _lanes(
    at: int | Gathered, held: int, size: int, predicate: int
) -> Iterator[tuple[int, int]]:  # fmt: skip
    """The active elements of so many bytes in the register, and their addresses in memory, where
    they have `held` bytes."""
    if isinstance(at, Gathered):
        addresses = [at.base + (offset << at.shift) & 0xFFFF_FFFF
                     for offset in elements(at.words, size, False)]  # fmt: skip
    else:
        addresses = [at + n * held for n in range(16 // size)]
    for n, address in enumerate(addresses):
        if not predicate >> n * size & 1:
            continue
        if address % held:
            raise Unaligned(f"an element of {held} bytes is at {address:#x}")
        yield n, address


def load(
    memory: Any, at: int | Gathered, held: int, size: int, signed: bool, predicate: int
) -> Words:
    """Elements of `held` bytes in memory, widened to size; what is not active is 0."""
    if predicate == ALL and held == size and not isinstance(at, Gathered):
        if at % held:
            raise Unaligned(f"an element of {held} bytes is at {at:#x}")
        return _WORDS.unpack(memory.read(at, 16))
    values = [0] * (16 // size)
    top = 1 << 8 * held - 1
    for n, address in _lanes(at, held, size, predicate):
        value = memory.load(address, held)
        values[n] = (value ^ top) - top if signed else value
    return words_of(tuple(values), size)


def store(
    memory: Any, at: int | Gathered, held: int, size: int, words: Words, predicate: int
) -> None:
    """The lowest `held` bytes of elements of a size."""
    if predicate == ALL and held == size and not isinstance(at, Gathered):
        if at % held:
            raise Unaligned(f"an element of {held} bytes is at {at:#x}")
        memory.write(at, _WORDS.pack(*words))
        return
    values = elements(words, size, False)
    mask = (1 << 8 * held) - 1
    for n, address in _lanes(at, held, size, predicate):
        memory.store(address, held, values[n] & mask)


def store_rows(memory: Any, at: int, words: Words, rows: tuple[int, ...]) -> None:
    """Of four vectors, one behind the other, some bytes with the same index, which become a word in
    memory at this index."""
    if at % 4:
        raise Unaligned(f"a word of four vectors is at {at:#x}")
    columns = [elements(words[4 * n : 4 * n + 4], 1, False) for n in range(4)]
    for row in rows:
        memory.write(at + 4 * row, bytes(column[row] for column in columns))

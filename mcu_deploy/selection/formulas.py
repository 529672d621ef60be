"""Numbers that depend on a size that a run decides, found by what they are at some sizes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

_LARGEST_DIVISOR = 4
# What the parameter of C functions that holds the size is called.
SIZE = "size"


@dataclass(frozen=True)
class Formula:
    """square * size**2 + step * ((size + before) // divisor) + behind.

    square: 0 where there is a divisor.
    """

    step: int
    before: int = 0
    divisor: int = 1
    behind: int = 0
    square: int = 0

    def __call__(self, size: int) -> int:
        return (
            self.square * size * size
            + self.step * ((size + self.before) // self.divisor)
            + self.behind
        )

    @property
    def is_constant(self) -> bool:
        return not self.square and not self.step

    def __str__(self) -> str:
        """C for a positive int32_t `size`, in brackets where it is no single word."""
        size = SIZE
        if self.before:
            size = f"({size} + {self.before})"
        if self.divisor != 1:
            size = f"{size} / {self.divisor}" if self.step == 1 else f"({size} / {self.divisor})"
        terms = []
        if self.square:
            terms.append(f"{_factor(self.square)}{SIZE} * {SIZE}")
        if self.step:
            terms.append(_factor(self.step) + size)
        if self.behind or not terms:
            terms.append(str(self.behind))
        text = " + ".join(terms).replace("+ -", "- ")
        return text if text.isidentifier() or text.isdigit() else f"({text})"


def _factor(number: int) -> str:
    return "" if number == 1 else f"{number} * "


def fit(values: Mapping[int, int]) -> Formula | None:
    """The simplest formula that gives these numbers at these sizes; None where none does."""
    return next((f for f in _candidates(values) if all(f(n) == v for n, v in values.items())), None)


def _candidates(values: Mapping[int, int]) -> Iterator[Formula]:
    sizes = sorted(values)
    first, last = sizes[0], sizes[-1]
    if values[first] == values[last]:
        yield Formula(0, behind=values[first])
    if len(sizes) < 2:
        return
    for divisor in range(1, _LARGEST_DIVISOR + 1):
        for before in range(divisor):
            low, high = ((size + before) // divisor for size in (first, last))
            if low != high and (values[last] - values[first]) % (high - low) == 0:
                step = (values[last] - values[first]) // (high - low)
                yield Formula(step, before, divisor, values[first] - step * low)
    if len(sizes) > 2:
        yield from _square(values, first, sizes[len(sizes) // 2], last)


def _square(values: Mapping[int, int], a: int, b: int, c: int) -> Iterator[Formula]:
    """The parabola through three points, where its coefficients are integers."""
    left = (values[b] - values[a]) * (c - b)
    right = (values[c] - values[b]) * (b - a)
    square, rest = divmod(right - left, (c - b) * (b - a) * (c - a))
    if rest:
        return
    step, rest = divmod(values[b] - values[a] - square * (b * b - a * a), b - a)
    if not rest:
        yield Formula(step, behind=values[a] - square * a * a - step * a, square=square)


@dataclass(frozen=True)
class SizedExtent:
    """An extent of an input or output that depends on the size. tensor: inputs, then outputs."""

    tensor: int
    axis: int
    formula: Formula


@dataclass(frozen=True)
class Size:
    """A size that each run decides: that of an input, given by its index, along an axis."""

    least: int
    most: int
    tensor: int
    axis: int
    extents: tuple[SizedExtent, ...]

    def shape(self, tensor: int, size: int, largest: Sequence[int]) -> tuple[int, ...]:
        """The shape at a size of an input or output (inputs, then outputs) that has the shape
        `largest` at the largest one."""
        found = list(largest)
        for extent in self.extents:
            if extent.tensor == tensor:
                found[extent.axis] = extent.formula(size)
        return tuple(found)

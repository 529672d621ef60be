"""A stream of constants, and what all heads of kernels say alike: in which order taps come.

A head is taken by its word: in the order in which it names what is in the stream, that is read. So
a head that is wrong gives other weights, other biases or other roundings, or a HeadError.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

Tap = tuple[int, int, int]  # channel, row, column
_COUNTS = {"four": 4, "eight": 8}


class HeadError(ValueError):
    """A head, or the stream by it, is of no form that is known."""


@dataclass(frozen=True)
class Filter:
    """weights: by their taps. Its accumulator begins with `begin` and is `lanes` times the sum.
    scale, addend: as the kernel has them; shift: how far the accumulator times the scale goes down
    in all, where the head says it. factor: of float32, where no integers round it. late: those
    accumulators that are rounded one step too low."""

    weights: dict[Tap, int]
    begin: int
    lanes: int = 1
    scale: int = 0
    addend: int = 0
    factor: float | None = None
    late: tuple[int, ...] = ()
    shift: int | None = None


class Words:
    """A stream, word by word."""

    def __init__(self, words: np.ndarray) -> None:
        self._words, self._at = words.view(np.int32).tolist(), 0

    @property
    def left(self) -> int:
        return len(self._words) - self._at

    def next(self) -> int:
        """As a signed integer."""
        if not self.left:
            raise HeadError("the stream ends before its head does")
        self._at += 1
        return int(self._words[self._at - 1])

    def several(self, count: int) -> list[int]:
        return [self.next() for _ in range(count)]

    def halves(self) -> tuple[int, int]:
        word = self.next()
        return signed(word, 16), word >> 16

    def bytes(self) -> list[int]:
        word = self.next()
        return [signed(word >> at, 8) for at in (0, 8, 16, 24)]

    def end(self) -> None:
        if self.left:
            raise HeadError(f"{self.left} words are behind what the head names")


def signed(word: int, bits: int) -> int:
    return (word & (1 << bits) - 1 ^ 1 << bits - 1) - (1 << bits - 1)


def real(word: int) -> float:
    """The float32 of these bits."""
    return float(np.array([word], np.int32).view(np.float32)[0])


def said(pattern: str, head: str) -> re.Match[str]:
    """What a head must say."""
    found = re.search(pattern, head)
    if found is None:
        raise HeadError(f"the head does not say {pattern!r}")
    return found


def taps(head: str, channels: int, rows: int, columns: int) -> list[Tap | None]:
    """Those of a filter in the order of the stream; None for a 0 that fills up two."""
    order = said(r"\bt are (.*?)\.( |$)", head)[1]
    if found := re.fullmatch(
        r"rows of a window, of each four channels of a row (\d) and (\d) of each column, then "
        r"(\d) and (\d)",
        order,
    ):
        pairs = [(int(found[1]), int(found[2])), (int(found[3]), int(found[4]))]
        return [
            (four + c, row, column)
            for row in range(rows)
            for four in range(0, channels, 4)
            for pair in pairs
            for column in range(columns)
            for c in pair
        ]
    found_: list[Tap | None] = []
    behind: list[Tap | None] = []
    forms = re.findall(r"(four|eight)(?: at the end)?(?: in the order)? (\d(?: \d)+)", order)
    for run in _runs(order, channels, rows, columns):
        at = 0
        for count, by in forms:
            while at + _COUNTS[count] <= len(run):
                found_ += [run[at + int(k)] for k in by.split()]
                at += _COUNTS[count]
        left: list[Tap | None] = [*run[at:]]
        if "behind those of all rows what is left of each" in order:
            behind += left
        elif left and "is in its order, with a 0 where it is odd" not in order:
            raise HeadError(f"{len(left)} taps of a row have no order")
        else:
            found_ += left + [None] * (len(left) % 2)
    return found_ + behind


def _runs(order: str, channels: int, rows: int, columns: int) -> list[list[Tap]]:
    """What orders of four and eight are of."""
    every = [
        [[(c, row, column) for c in range(channels)] for column in range(columns)]
        for row in range(rows)
    ]
    if order.startswith("channels, "):
        return every[0]
    if order.startswith("rows of a window, of each the columns, of each column the bytes"):
        return [run for row in every for run in row]
    if order.startswith("rows of a window, of each row the bytes"):
        return [[tap for run in row for tap in run] for row in every]
    raise HeadError(f"no order of taps is known as {order!r}")


def swapped(head: str, pattern: str, between: str) -> Iterator[tuple[str, str]]:
    """A head with two neighbours of a list, which differ, in each other's place; and what was
    changed, as a text. pattern: its first group is the list."""
    for found in re.finditer(pattern, head):
        parts = found[1].split(between)
        for n in range(len(parts) - 1):
            if parts[n] != parts[n + 1]:
                other = between.join([*parts[:n], parts[n + 1], parts[n], *parts[n + 2 :]])
                begin, end = found.span(1)
                yield f"{other} for {found[1]}", head[:begin] + other + head[end:]

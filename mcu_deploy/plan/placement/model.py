"""The words of placement: a problem in bytes, its answer, and what the searches work with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

# Two buffers i < j, and the open interval (low, high) that offset[i] - offset[j] must not lie in.
Conflict = tuple[int, int, int, int]


@dataclass(frozen=True)
class PlacementProblem:
    """Buffers 0..n-1 of `sizes` bytes, to be placed at multiples of `alignment`.

    sizes: multiples of `alignment`. conflicts: in any order; pairs that are not named may lie
    anywhere. Two buffers that must not overlap have (-size_i, size_j). Where j is an input that i,
    an output, may overwrite while j is read `distance` behind, the pair is (-distance, size_j): the
    output starts at least `distance` bytes below the input. distance may be 0 or negative, which
    lets them share more. Mirrored, where the output has the smaller number's place: the input i and
    the output j have (-size_i, distance). A pair may have several intervals: an output that may lie
    on its input exactly, or apart from it, has (-size_i, 0) and (0, size_j).
    lower_bound: bytes that no placement can do without, 0 if unknown; reaching it ends the search.
    """

    sizes: tuple[int, ...]
    conflicts: Sequence[Conflict]
    alignment: int = 16
    lower_bound: int = 0

    def __post_init__(self) -> None:
        for i, size in enumerate(self.sizes):
            if size < 0 or size % self.alignment:
                raise ValueError(f"buffer {i} has {size} bytes, no multiple of {self.alignment}")
        for i, j, _, _ in self.conflicts:
            if not 0 <= i < j < len(self.sizes):
                raise ValueError(f"({i}, {j}) is no pair of {len(self.sizes)} buffers in order")


@dataclass(frozen=True)
class Placement:
    """The offset of every buffer, and the bytes that all need.

    method: the way that found it. optimal: whether it is known that nothing is smaller.
    """

    offsets: tuple[int, ...]
    bytes: int
    method: str
    optimal: bool


# A neighbour j of a buffer i, and (low, high) that place[i] - place[j] must not lie between.
Ban = tuple[int, int, int]


@dataclass(frozen=True)
class Instance:
    """A problem in units of its alignment, so that every whole number is a legal place.

    bans: for every buffer its neighbours, by number, one more than once where several intervals are
    banned. Those without a whole number are left out.
    """

    sizes: tuple[int, ...]
    bans: tuple[tuple[Ban, ...], ...]

    def height(self, places: Sequence[int]) -> int:
        """The end of the buffer that reaches highest."""
        return max((p + s for p, s in zip(places, self.sizes, strict=True)), default=0)

    @staticmethod
    def of(problem: PlacementProblem) -> Instance:
        unit = problem.alignment
        bans: list[list[Ban]] = [[] for _ in problem.sizes]
        for i, j, low, high in sorted(problem.conflicts):
            # The widest legal steps: the difference is at most `below` or at least `above`.
            below, above = low // unit, -(-high // unit)
            if above - below > 1:
                bans[i].append((j, below, above))
                bans[j].append((i, -above, -below))
        return Instance(
            tuple(size // unit for size in problem.sizes), tuple(tuple(sorted(b)) for b in bans)
        )


class OutOfWork(Exception):
    """The budget of a search is spent."""


class Work:
    """A budget in units of work: about one pair of buffers that is looked at.

    Counting work, not seconds, gives the same placement on every machine.
    """

    def __init__(self, units: int) -> None:
        self.left = units

    def spend(self, units: int) -> None:
        """Raises OutOfWork when nothing is left."""
        self.left -= units
        if self.left < 0:
            raise OutOfWork

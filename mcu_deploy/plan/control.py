"""Control flow in a program: what stands between the layers, and which stretches run again.

A program stays a flat list, so that a position in it is a number: an If is its Branch, the items of
one graph, an Otherwise, those of the other, and an End; a Loop or a Scan is its Repeat, the items
of a round, and an End. They bear the id of their node, by which they find each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mcu_deploy.ir import EdgeId, NodeId


@dataclass(frozen=True)
class _OfNode:
    """An item that belongs to an If, a Loop or a Scan. edges: what it reads or writes."""

    node: NodeId

    @property
    def edges(self) -> tuple[EdgeId, ...]:
        return ()


@dataclass(frozen=True)
class Branch(_OfNode):
    """What follows runs where the condition holds, else what is behind the Otherwise."""

    condition: EdgeId

    @property
    def edges(self) -> tuple[EdgeId, ...]:
        return (self.condition,)


@dataclass(frozen=True)
class Otherwise(_OfNode):
    """Between the two ways of a Branch."""


@dataclass(frozen=True)
class Repeat(_OfNode):
    """What follows, up to the End, runs round after round while the condition holds.

    trips: an edge that says how many rounds there are at most; most: the same as a number; both
    None: there is no such limit. condition: looked at before each round; None: it always holds.
    exactly: how many rounds the static shapes ask for; a run with another number of them fails.
    """

    trips: EdgeId | None
    most: int | None
    condition: EdgeId | None
    exactly: int | None

    @property
    def edges(self) -> tuple[EdgeId, ...]:
        return tuple(e for e in (self.trips, self.condition) if e is not None)

    @property
    def is_checked(self) -> bool:
        """Whether only a run shows if the number of rounds is right."""
        return self.exactly is not None and not (
            self.condition is None and self.most == self.exactly
        )


@dataclass(frozen=True)
class Count(_OfNode):
    """The number of the round is written: 0, 1, 2, as an int64."""

    edge: EdgeId

    @property
    def edges(self) -> tuple[EdgeId, ...]:
        return (self.edge,)


@dataclass(frozen=True)
class Element(_OfNode):
    """The element that belongs to the round is copied out of a tensor, or into it.

    It consists of `pieces` pieces of `bytes` bytes; the tensor has `count` elements along its axis,
    so that pieces of one element are count * bytes apart. backwards: the last comes first.
    """

    whole: EdgeId
    element: EdgeId
    into: bool
    pieces: int
    bytes: int
    count: int
    backwards: bool

    @property
    def edges(self) -> tuple[EdgeId, ...]:
        return (self.whole, self.element)


@dataclass(frozen=True)
class End(_OfNode):
    """Behind the last item of a Branch or a Repeat."""


ControlItem = Branch | Otherwise | Repeat | Count | Element | End


@dataclass(frozen=True)
class Block:
    """Positions of what belongs together: the first item, the Otherwise if any, and the End."""

    node: NodeId
    begin: int
    otherwise: int | None
    end: int


def blocks(program: Sequence[Any]) -> Mapping[int, Block]:
    """Every Branch and Repeat of a program, by the position of its first item."""
    begins: dict[NodeId, int] = {}
    others: dict[NodeId, int] = {}
    found: dict[int, Block] = {}
    for position, item in enumerate(program):
        if isinstance(item, Branch | Repeat):
            begins[item.node] = position
        elif isinstance(item, Otherwise):
            others[item.node] = position
        elif isinstance(item, End):
            begin = begins[item.node]
            found[begin] = Block(item.node, begin, others.get(item.node), position)
    return dict(sorted(found.items()))


def times(program: Sequence[Any]) -> list[int]:
    """How often each position runs: the rounds that are known, and a branch as if it were taken."""
    found = [1] * len(program)
    for loop in loops(program):
        item = program[loop.begin]
        known = item.exactly if item.exactly is not None else item.most
        if known is not None and (item.condition is None or item.exactly is not None):
            for position in range(loop.begin, loop.end + 1):
                found[position] *= known
    return found


def holders(program: Sequence[Any]) -> list[NodeId | None]:
    """The innermost If, Loop or Scan that each position is in."""
    found: list[NodeId | None] = [None] * len(program)
    for block in blocks(program).values():  # outer ones first
        found[block.begin : block.end + 1] = [block.node] * (block.end + 1 - block.begin)
    return found


def loops(program: Sequence[Any]) -> list[Block]:
    """The stretches that run again and again, outer ones first."""
    found = blocks(program)
    return [s for begin, s in found.items() if isinstance(program[begin], Repeat)]

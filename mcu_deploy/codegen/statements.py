"""Statements of generated C, and the functions that hold them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Statement:
    """Lines of C with the comment that stands above them.

    before, after: what is done for memory around them. pad: the indentation, which `text` has
    already. opens: it ends in the bracket of a block.
    """

    comment: tuple[str, ...]
    text: str
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    pad: str = "    "
    opens: bool = False


@dataclass(frozen=True)
class Function:
    """A static function of the instance. parts: the partitions that call it, by number.

    has_status: it returns a code, as it may fail; returns: it does so in its statements.
    is_lane: it runs beside another one, and is called by the function that has both. has_size: it
    gets the size of the run, where there is one.
    """

    stem: str
    title: str
    declarations: tuple[str, ...]
    statements: tuple[Statement, ...]
    parts: frozenset[int] = frozenset()
    has_status: bool = False
    returns: bool = False
    is_lane: bool = False
    has_size: bool = False

"""What is known of the pipeline of a core that issues in order, for who orders its instructions and
counts their cycles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from mcu_deploy.backends.isa.accesses import Resource, Span
from mcu_deploy.backends.isa.instruction import Instruction


class Issue(Protocol):
    """An instruction as a core sees it: reads, each with what the core says of when it is needed;
    span: where it is known to load or store; advance: a register that goes on by a number;
    is_product: a multiplication, of which a kernel's time is made."""

    @property
    def reads(self) -> tuple[tuple[Resource, Any], ...]: ...
    @property
    def writes(self) -> frozenset[Resource]: ...
    @property
    def loads(self) -> bool: ...
    @property
    def stores(self) -> bool: ...
    @property
    def region(self) -> str: ...
    @property
    def span(self) -> Span | None: ...
    @property
    def advance(self) -> tuple[Resource, int] | None: ...
    @property
    def is_product(self) -> bool: ...


class Pipeline(Protocol):
    """A core while it issues."""

    cycle: int

    def may(self, issue: Any) -> bool: ...
    def step(self) -> None: ...
    def issue(self, issue: Any) -> None: ...


@dataclass(frozen=True)
class Model:
    """core: whose timings they are. delay(one, other, resource, need): how many cycles behind one
    the other may issue that reads so what the first has written. cycles(issues, is_loop): of a
    straight piece. taken, left: the cycles of a branch of a loop each time that it is taken, and
    when the loop is left; of a loop that LR counts (LE) `counted_left`. splits_lists: whether two
    words are better loaded by themselves than as a list. orders: whether kernels gain from another
    order than the one that they are written in."""

    core: str
    issue_of: Callable[[Instruction], Issue]
    pipeline: Callable[[], Pipeline]
    delay: Callable[[Any, Any, Resource, Any], int]
    cycles: Callable[[Sequence[Any], bool], int]
    splits_lists: bool
    taken: int
    left: int
    counted_left: int
    orders: bool = True

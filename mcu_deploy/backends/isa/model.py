"""What is known of a core that issues in order, for who counts the cycles of its instructions and
puts them into an order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from mcu_deploy.backends.isa.accesses import Resource, Span
from mcu_deploy.backends.isa.instruction import Instruction

# Of resources the other ones that stand for them.
Names = Mapping[Resource, Resource]


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
    """A core while it issues: `cycle` is the present one."""

    @property
    def cycle(self) -> float: ...
    def issue(self, issue: Any) -> None: ...


class OrderedPipeline(Pipeline, Protocol):
    """One that can be asked what it may issue: has_room(issue), whether the present cycle can if
    it has what it reads; is_full: it can issue nothing. take(issue): there, and no register is
    looked at. prefers(issue, other, pairing): whether of two that it may this one makes more of the
    cycle; pairing: 2, or 1 where it is but for products. turn(): behind a straight piece. end: the
    first cycle that has issued nothing; state: all that what follows depends on."""

    @property
    def cycle(self) -> int: ...
    @property
    def is_full(self) -> bool: ...
    @property
    def end(self) -> int: ...
    @property
    def state(self) -> object: ...
    def has_room(self, issue: Any) -> bool: ...
    def step(self) -> None: ...
    def take(self, issue: Any) -> None: ...
    def turn(self) -> None: ...
    def prefers(self, issue: Any, other: Any, pairing: int) -> bool: ...


@dataclass(frozen=True)
class Ordering:
    """For a core whose kernels gain from another order than the one that they are written in; what
    it issues are `Issue`s. delay(one, other, resource, need): how many cycles behind one the other
    may issue that reads so what the first has written. pairs: whether it issues two at once; two
    words are then better loaded by themselves than as a list. valued(issue, before, behind): by the
    values that core registers hold, which may then have others; None: each has its own.
    least(issues): cycles that no order takes less than; 0 where nobody knows."""

    pipeline: Callable[[], OrderedPipeline]
    delay: Callable[[Any, Any, Resource, Any], int]
    pairs: bool
    valued: Callable[[Any, Names, Names], Any] | None = None
    least: Callable[[Sequence[Any]], int] = lambda _: 0


@dataclass(frozen=True)
class Model:
    """core: whose timings they are. issue_of: an instruction as the core sees it; a ValueError, a
    sentence, where nobody knows it. cycles(issues, is_loop): of a straight piece, alone or each
    time where it runs again and again. taken, left: the cycles of a branch of a loop each time that
    it is taken, and when the loop is left; of a loop that LR counts (LE) `counted_left`.
    column: of the table, in which the instructions that kernels for it may have have cycles; None:
    all that the table has. is_narrow: whether nearly all instructions have 16 bits, which name r0
    to r7."""

    core: str
    issue_of: Callable[[Instruction], Any]
    pipeline: Callable[[], Pipeline]
    cycles: Callable[[Sequence[Any], bool], float]
    taken: int
    left: int
    counted_left: int
    column: int | None
    ordering: Ordering | None = None
    is_narrow: bool = False


_APART = 24  # instructions between two looks at the state


def rounds(core: OrderedPipeline, issues: Sequence[Any], is_loop: bool) -> tuple[int, ...]:
    """The cycles of a straight piece of code alone; where it is a loop, with those of its third
    round. That is as the one before it from where both have found the core in the same state."""
    ends, seen = [0], dict[int, tuple[object, int]]()
    for _ in range(3 if is_loop else 1):
        for n, issue in enumerate(issues):
            if is_loop and n % _APART == _APART // 2:
                was, now = seen.get(n), (core.state, core.cycle)
                if was is not None and was[0] == now[0]:
                    return ends[1], now[1] - was[1]
                seen[n] = now
            core.issue(issue)
        core.turn()
        ends.append(core.end)
    return (ends[1], ends[-1] - ends[-2]) if is_loop else (ends[1],)


def one_by_one(core: Pipeline, issues: Sequence[Any], is_loop: bool) -> float:
    """The cycles of a straight piece of code that a core, which has issued nothing yet, issues in
    its order: alone, or each time where it runs again and again. What a branch at its end takes
    where it is taken is not in it, unless it always is."""
    before = core.cycle
    for _ in range(2 if is_loop else 1):
        before = core.cycle
        for issue in issues:
            core.issue(issue)
    return core.cycle - before

"""List scheduling: takes a straight run of instructions one by one, of what may be issued now by
its core's model the first by a rule.

What an instruction reads, it finds as before: by registers, flags and memory (in one region a load
does not pass a store, nor a store anything).
"""

from __future__ import annotations

import bisect
import functools
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from mcu_deploy.backends.isa.accesses import Resource
from mcu_deploy.backends.isa.instruction import Instruction
from mcu_deploy.backends.isa.model import Issue, Ordering
from mcu_deploy.backends.isa.renaming import Values, Whereabouts

Rule = Callable[[int], tuple[object, ...]]
_MOST_SEEN = 12  # of what could be issued if it has a register: else all loads of a run are
_LONGEST_WAIT = 100  # cycles in which nothing is issued where no place will ever be free


class Preference(NamedTuple):
    """rule: what is taken first of what may be issued; pairing: of cores that issue two at once,
    how much what makes pairs goes before that (`OrderedPipeline.prefers`); 0: it does not."""

    rule: Rule
    pairing: int


@dataclass(frozen=True)
class Order:
    """What a listing has found. numbers: of its instructions; alone: the cycles that they take."""

    numbers: Sequence[int]
    alone: int
    places: Whereabouts | None

    def of(self, code: Sequence[Instruction]) -> tuple[Instruction, ...]:
        """Instructions in this order, whose values have the places that it found."""
        if self.places is None:
            return tuple([code[n] for n in self.numbers])
        return tuple([self.places.renamed(n, code[n]) for n in self.numbers])


class Listing:
    """List scheduling of a straight run of instructions, which `code` has plain."""

    def __init__(
        self, issue_of: Callable[[Instruction], Issue], ordering: Ordering,
        code: Sequence[Instruction], values: Values | None = None,
    ) -> None:  # fmt: skip
        self._values, self._ordering = values, ordering
        self.issues = [*map(issue_of, code)]
        if values is not None:
            assert ordering.valued is not None
            self.issues = [
                ordering.valued(issue, *names) if any(names) else issue
                for issue, names in zip(self.issues, values.names(), strict=True)
            ]
        self._followers = dependences(self.issues, ordering)
        self.has_vectors = any(instruction.is_vector for instruction in code)
        self._together = _together(code)
        # A VPST waits for what its instructions wait for.
        first = {n: vpst for vpst, end in self._together.items() for n in range(vpst + 1, end)}
        for n, after in enumerate(self._followers if first else ()):
            for one in [k for k in after if k in first and first.get(n, n) != first[k]]:
                after[first[one]] = max(after[one], after.get(first[one], 0))
        self._inside = first
        self._waits = [0] * len(code)
        for after in self._followers:
            for n in after:
                self._waits[n] += 1
        self._found: dict[int, Order | None] = {}

    @functools.cached_property
    def ways(self) -> tuple[Preference, ...]:
        """Those that are worth trying, the best at first."""
        if self._ordering.pairs:
            if self._values is not None:
                return Preference(self._by_due, 2), Preference(self._by_due, 1)
            return Preference(self._by_urgency, 0), Preference(self._by_due_and_urgency, 2)
        rules = self._by_urgency, lambda n: (n,), *self._of_vectors, self._products, self._loads
        return tuple(Preference(rule, 0) for rule in rules)

    @functools.cached_property
    def _urgency(self) -> list[int]:
        """Of each instruction the longest way to the end."""
        issues = self.issues
        urgency = [0] * len(issues)
        for n in range(len(issues) - 1, -1, -1):
            farthest = 0
            for k, delay in self._followers[n].items():
                farthest = max(farthest, urgency[k] + delay)
            urgency[n] = farthest + issues[n].is_product
        return urgency

    @functools.cached_property
    def _due(self) -> list[int]:
        """The cycle in which each must be issued if products follow each other without a pause, in
        the order that they have."""
        products = [issue.is_product for issue in self.issues]
        held = 1 if self._ordering.pairs else 2
        due = [held * n for n in itertools.accumulate(products, initial=0)]
        for n in range(len(products) - 1, -1, -1):
            after = [due[k] - delay for k, delay in self._followers[n].items()]
            if after:
                due[n] = min([due[n], *after] if products[n] else after)
        return due

    def _by_urgency(self, n: int) -> tuple[object, ...]:
        return -self._urgency[n], n

    def _by_due(self, n: int) -> tuple[object, ...]:
        return self._due[n], n

    def _by_due_and_urgency(self, n: int) -> tuple[object, ...]:
        return self._due[n], -self._urgency[n], n

    def _products(self, n: int) -> tuple[object, ...]:
        return not self.issues[n].is_product, -self._urgency[n], n

    def _loads(self, n: int) -> tuple[object, ...]:
        return not self.issues[n].loads, -self._urgency[n], n

    @property
    def _of_vectors(self) -> tuple[Rule, ...]:
        return (self._by_due,) if self.has_vectors else ()

    def order(self, way: int) -> Order | None:
        """One that keeps what depends on each other, by one of the ways; None where their values
        have found no places."""
        if way not in self._found:
            self._found[way] = self._order(self.ways[way])
        return self._found[way]

    def _order(self, way: Preference) -> Order | None:
        count = len(self.issues)
        waits, followers = [*self._waits], self._followers
        inside, issues, pairing = self._inside, self.issues, way.pairing
        by_rank = sorted(range(count), key=way.rule)
        rank = [0] * count
        for k, n in enumerate(by_rank):
            rank[n] = k
        ready = sorted([rank[n] for n, c in enumerate(waits) if not c and n not in inside])
        places = Whereabouts(self._values) if self._values is not None else None
        core, order = self._ordering.pipeline(), list[int]()
        has_room = core.has_room
        # Of what is ready the first cycle that has what it reads.
        when = [0] * count
        waited = 0
        while ready:
            if core.is_full:
                core.step()
            now = core.cycle
            seen = ready if places is None else ready[:_MOST_SEEN]
            found, first = -1, None
            for k in seen:
                n = by_rank[k]
                if when[n] > now or not has_room(issues[n]):
                    continue
                if found < 0:
                    if places is None or places.may(n):
                        found, first = k, issues[n]
                        if not pairing:
                            break
                elif core.prefers(issues[n], first, pairing) and (places is None or places.may(n)):
                    found = k
                    break
            if found < 0:
                core.step()
                waited += 1
                if waited > _LONGEST_WAIT:
                    return None
                continue
            waited = 0
            ready.remove(found)
            n = by_rank[found]
            for one in range(n, self._together.get(n, n + 1)):
                while when[one] > core.cycle or not has_room(issues[one]):
                    core.step()
                now = core.cycle
                core.take(issues[one])
                order.append(one)
                if places is not None and not places.issue(one):
                    return None
                for other, delay in followers[one].items():
                    waits[other] -= 1
                    if now + delay > when[other]:
                        when[other] = now + delay
                    if not waits[other] and other not in inside:
                        bisect.insort(ready, rank[other])
        return Order(order, core.end, places)


def _together(code: Sequence[Instruction]) -> dict[int, int]:
    """Of each VPST where what it predicates ends."""
    return {n: n + len(i.name) - 2 for n, i in enumerate(code) if i.name.startswith("vpst")}


def dependences(issues: Sequence[Issue], ordering: Ordering) -> list[dict[int, int]]:
    """Of each instruction those that have to stay behind it, and how many cycles behind it."""
    followers: list[dict[int, int]] = [{} for _ in issues]
    writer: dict[Resource, int] = {}
    readers: dict[Resource, list[int]] = {}
    memory, delay_of = _Memory(), ordering.delay
    for n, issue in enumerate(issues):
        for resource, need in issue.reads:
            one = writer.get(resource)
            if one is not None:
                delay, after = delay_of(issues[one], issue, resource, need), followers[one]
                if delay > after.get(n, -1):
                    after[n] = delay
        for resource in issue.writes:
            one = writer.get(resource)
            if one is not None:
                followers[one][n] = max(1, followers[one].get(n, 0))
            for reader in readers.get(resource, ()):
                followers[reader].setdefault(n, 0)
            writer[resource] = n
            readers[resource] = []
        for resource, _ in issue.reads:
            readers.setdefault(resource, []).append(n)
        for earlier in memory.behind(n, issue):
            followers[earlier].setdefault(n, 0)
    return followers


class _Memory:
    """What was loaded and stored so far, by its region: the last of each that nothing has passed.
    Addresses are a base as it was once, and a number."""

    def __init__(self) -> None:
        self._bases: dict[Resource, tuple[int, int]] = {}
        self._accesses: dict[str, tuple[_Accesses, _Accesses]] = {}  # loads, stores
        self._begun = 0

    def _base(self, resource: Resource) -> tuple[int, int]:
        if resource not in self._bases:
            self._begun += 1
            self._bases[resource] = self._begun, 0
        return self._bases[resource]

    def behind(self, n: int, issue: Issue) -> list[int]:
        """The earlier instructions that one has to stay behind."""
        found: list[int] = []
        if issue.loads or issue.stores:
            touched = None
            if issue.span is not None:
                begun, number = self._base(issue.span.base)
                first = number + issue.span.offset
                touched = begun, first, first + issue.span.bytes
            loads, stores = self._accesses.setdefault(issue.region, ([], []))
            for k, other in [*loads, *stores] if issue.stores else stores:
                if _may_meet(touched, other):
                    found.append(k)
            if issue.stores and touched is None:
                loads.clear()
                stores.clear()
            (stores if issue.stores else loads).append((n, touched))
        for resource in issue.writes if self._bases else ():
            if issue.advance is not None and issue.advance[0] == resource:
                begun, number = self._base(resource)
                self._bases[resource] = begun, number + issue.advance[1]
            else:
                self._bases.pop(resource, None)
        return found


_Bytes = tuple[int, int, int]
_Accesses = list[tuple[int, _Bytes | None]]


def _may_meet(one: _Bytes | None, other: _Bytes | None) -> bool:
    if one is None or other is None or one[0] != other[0]:
        return True
    return one[1] < other[2] and other[1] < one[2]

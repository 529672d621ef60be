"""List scheduling: takes a straight run of instructions one by one, of what may be issued now by
its core's model the first by a rule.

What an instruction reads, it finds as before: by registers, flags and memory (in one region a load
does not pass a store, nor a store anything).
"""

from __future__ import annotations

import bisect
import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from mcu_deploy.backends.isa.accesses import Resource
from mcu_deploy.backends.isa.instruction import Instruction
from mcu_deploy.backends.isa.model import Issue, Ordering
from mcu_deploy.backends.isa.plain import plain
from mcu_deploy.backends.isa.renaming import Values, Whereabouts

Rule = Callable[[int], tuple[object, ...]]
_MOST_SEEN = 12  # of what could be issued if it has a register: else all loads of a run are
_LONGEST_WAIT = 100  # cycles in which nothing is issued where no place will ever be free


class Preference(NamedTuple):
    """rule: what is taken first of what may be issued; pairing: of cores that issue two at once,
    how much what makes pairs goes before that (`OrderedPipeline.prefers`); 0: it does not."""

    rule: Rule
    pairing: int


class Listing:
    """List scheduling of a straight run of instructions."""

    def __init__(
        self, issue_of: Callable[[Instruction], Issue], ordering: Ordering,
        code: Sequence[Instruction], values: Values | None = None,
    ) -> None:  # fmt: skip
        self._code, self._values, self._ordering = code, values, ordering
        self._pipeline = ordering.pipeline
        self._issues = [issue_of(plain(instruction)) for instruction in code]
        if values is not None:
            assert ordering.valued is not None
            self._issues = [
                ordering.valued(issue, *names)
                for issue, names in zip(self._issues, values.names(), strict=True)
            ]
        self._followers = dependences(self._issues, ordering)
        self.has_vectors = any(instruction.is_vector for instruction in code)
        self._together = _together(code)
        # A VPST waits for what its instructions wait for.
        first = {n: vpst for vpst, end in self._together.items() for n in range(vpst + 1, end)}
        for n, after in enumerate(self._followers):
            for one in [k for k in after if k in first and first.get(n, n) != first[k]]:
                after[first[one]] = max(after[one], after.get(first[one], 0))
        self._inside = first
        self._waits = [0] * len(code)
        for after in self._followers:
            for n in after:
                self._waits[n] += 1

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
        issues = self._issues
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
        products = [issue.is_product for issue in self._issues]
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
        return not self._issues[n].is_product, -self._urgency[n], n

    def _loads(self, n: int) -> tuple[object, ...]:
        return not self._issues[n].loads, -self._urgency[n], n

    @property
    def _of_vectors(self) -> tuple[Rule, ...]:
        return (self._by_due,) if self.has_vectors else ()

    def listed(self, way: Preference) -> tuple[Instruction, ...] | None:
        """The instructions in an order that keeps what depends on each other; None where their
        values have found no places."""
        found = self._order(way)
        if found is None:
            return None
        order, places = found
        if places is None:
            return tuple([self._code[n] for n in order])
        return tuple([places.renamed(n, self._code[n]) for n in order])

    def issued(self, way: Preference) -> tuple[Issue, ...] | None:
        """What of them the core sees in that order; values stand for the registers they have."""
        found = self._order(way)
        return None if found is None else tuple([self._issues[n] for n in found[0]])

    def _order(self, way: Preference) -> tuple[list[int], Whereabouts | None] | None:
        count = len(self._issues)
        waits = [*self._waits]
        inside, issues = self._inside, self._issues
        by_rank = sorted(range(count), key=way.rule)
        rank = [0] * count
        for k, n in enumerate(by_rank):
            rank[n] = k
        ready = sorted([rank[n] for n, c in enumerate(waits) if not c and n not in inside])
        places = Whereabouts(self._values) if self._values is not None else None
        pipeline, order = self._pipeline(), list[int]()
        # Of what is ready all that it reads is written already.
        when = [0] * count
        waited = 0

        def may(n: int) -> bool:
            return (
                when[n] <= pipeline.cycle and pipeline.has_room(issues[n])
                and (places is None or places.may(n))
            )  # fmt: skip

        while ready:
            seen = ready if places is None else ready[:_MOST_SEEN]
            found = next((k for k in seen if may(by_rank[k])), None)
            if found is None:
                pipeline.step()
                waited += 1
                if waited > _LONGEST_WAIT:
                    return None
                continue
            if way.pairing:
                first = issues[by_rank[found]]
                for k in seen:
                    n = by_rank[k]
                    if k > found and pipeline.prefers(issues[n], first, way.pairing) and may(n):
                        found = k
                        break
            waited = 0
            ready.remove(found)
            n = by_rank[found]
            for one in range(n, self._together.get(n, n + 1)):
                pipeline.issue(issues[one])
                order.append(one)
                if places is not None and not places.issue(one):
                    return None
                for other in self._followers[one]:
                    waits[other] -= 1
                    if not waits[other] and other not in inside:
                        when[other] = pipeline.when(issues[other])
                        bisect.insort(ready, rank[other])
        return order, places


def _together(code: Sequence[Instruction]) -> dict[int, int]:
    """Of each VPST where what it predicates ends."""
    return {n: n + len(i.name) - 2 for n, i in enumerate(code) if i.name.startswith("vpst")}


def dependences(issues: Sequence[Issue], ordering: Ordering) -> list[dict[int, int]]:
    """Of each instruction those that have to stay behind it, and how many cycles behind it."""
    followers: list[dict[int, int]] = [{} for _ in issues]
    writer: dict[object, int] = {}
    readers: dict[object, list[int]] = {}
    memory = _Memory()

    def follow(first: int, second: int, delay: int) -> None:
        if first != second:
            followers[first][second] = max(delay, followers[first].get(second, 0))

    for n, issue in enumerate(issues):
        for resource, need in issue.reads:
            if resource in writer:
                one = writer[resource]
                follow(one, n, ordering.delay(issues[one], issue, resource, need))
        for resource in issue.writes:
            if resource in writer:
                follow(writer[resource], n, 1)
            for reader in readers.get(resource, ()):
                follow(reader, n, 0)
        for resource, _ in issue.reads:
            readers.setdefault(resource, []).append(n)
        read = {resource for resource, _ in issue.reads}
        for resource in issue.writes:
            writer[resource] = n
            readers[resource] = [n] if resource in read else []
        for earlier in memory.behind(n, issue):
            follow(earlier, n, 0)
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

    def behind(self, n: int, issue: Issue) -> Iterator[int]:
        """The earlier instructions that one has to stay behind."""
        if issue.loads or issue.stores:
            touched = None
            if issue.span is not None:
                begun, number = self._base(issue.span.base)
                first = number + issue.span.offset
                touched = begun, first, first + issue.span.bytes
            loads, stores = self._accesses.setdefault(issue.region, ([], []))
            for k, other in [*loads, *stores] if issue.stores else stores:
                if _may_meet(touched, other):
                    yield k
            if issue.stores and touched is None:
                loads.clear()
                stores.clear()
            (stores if issue.stores else loads).append((n, touched))
        for resource in issue.writes:
            if issue.advance is not None and issue.advance[0] == resource:
                begun, number = self._base(resource)
                self._bases[resource] = begun, number + issue.advance[1]
            else:
                self._bases.pop(resource, None)


_Bytes = tuple[int, int, int]
_Accesses = list[tuple[int, _Bytes | None]]


def _may_meet(one: _Bytes | None, other: _Bytes | None) -> bool:
    if one is None or other is None or one[0] != other[0]:
        return True
    return one[1] < other[2] and other[1] < one[2]

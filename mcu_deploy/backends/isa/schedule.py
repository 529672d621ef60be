"""Puts a kernel's instructions into an order in which a core waits little, by its model.

Straight pieces by themselves: labels, branches and what IT makes conditional stay where they are;
what VPST predicates stays behind it. What an instruction reads, it finds as before: by registers,
flags and memory (in one region a load does not pass a store, nor a store anything). For a core that
is quicker so, lists are split (lists.py).
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Sequence

from mcu_deploy.backends.isa.accesses import Resource
from mcu_deploy.backends.isa.flow import begins
from mcu_deploy.backends.isa.instruction import Instruction, Item, Note
from mcu_deploy.backends.isa.lists import split
from mcu_deploy.backends.isa.model import Issue, Model, Ordering
from mcu_deploy.backends.isa.operands import LR, Label
from mcu_deploy.backends.isa.same import do_the_same

# Jumps, and what begins a loop that predicates its last round.
_STAYING = ("b", "bl", "bx", "cbz", "cbnz", "dlstp.8", "dlstp.16", "dlstp.32")


@functools.lru_cache(1 << 6)  # kernels of layers that are alike are the same
def scheduled(items: tuple[Item, ...], model: Model) -> Sequence[Item]:
    """The same items in another order; all registers have their places."""
    if model.ordering is None:
        return items
    order = functools.partial(_fastest, model)
    return [item for piece in pieces(items, order, model) for item in piece]


def edges(items: Sequence[Item]) -> list[tuple[int, int]]:
    return [*itertools.pairwise([*begins(items), len(items)])]


# Another order for instructions; None where they stay as they are.
Order = Callable[[tuple[Instruction, ...], bool], Sequence[Instruction] | None]


def pieces(items: Sequence[Item], order: Order, model: Model) -> Iterator[list[Item]]:
    first, last = _measured(items)
    for begin, end in edges(items):
        splits = model.ordering is not None and model.ordering.splits_lists
        may_split = splits and not first <= begin < last
        yield [*_piece(items[begin:end], order, may_split)]


def _measured(items: Sequence[Item]) -> tuple[int, int]:
    """The items from the first to the last one of the labels that jumps by an address go to, which
    is found by counting bytes: those between them keep their sizes."""
    targets = {
        label for item in items if isinstance(item, Instruction) and item.targets
        if item.operands[0] is not LR for label in item.targets
    }  # fmt: skip
    labels = [n for n, item in enumerate(items) if isinstance(item, Label)]
    found = [n for n in labels if items[n] in targets]
    if not found:
        return 0, 0
    return found[0], min((n for n in labels if n > found[-1]), default=len(items))


def _piece(items: Sequence[Item], order: Order, may_split: bool) -> Iterator[Item]:
    """Its straight runs, between what stays where it is."""
    run: list[Item] = []
    conditional = 0
    for item in items:
        is_instruction = isinstance(item, Instruction)
        stays = not isinstance(item, Note) and (not is_instruction or conditional > 0)
        if isinstance(item, Instruction) and not stays:
            is_condition = item.name.startswith("it")
            stays = is_condition or bool(item.jumps_to) or item.name in _STAYING
            if is_condition:
                conditional = len(item.name)
        if stays:
            yield from _run(run, order, may_split)
            run = []
            yield item
            conditional -= is_instruction and conditional > 0
        else:
            run.append(item)
    yield from _run(run, order, may_split)


def _run(items: Sequence[Item], order: Order, may_split: bool) -> Sequence[Item]:
    code = tuple([item for item in items if isinstance(item, Instruction)])
    if len(code) < 3:
        return items
    found = order(code, may_split)
    return items if found is None else _noted(found, items)


# Kernels of one family have most of their straight runs in common.
@functools.lru_cache(1 << 12)
def _fastest(
    model: Model, code: tuple[Instruction, ...], may_split: bool
) -> Sequence[Instruction] | None:
    """Of: as it is, in another order, and so with its lists split. What is found is proven."""
    assert model.ordering is not None
    best, taken = None, _cost(model, code)
    for way in (code, split(code)) if may_split else (code,):
        ready = _Ready(model.issue_of, model.ordering, way)
        for rule in ready.rules:
            found = tuple([way[n] for n in ready.listed(rule)])
            cost = _cost(model, found)
            if cost < taken:
                best, taken = found, cost
    if best is not None and not do_the_same(code, best):
        raise AssertionError(f"the order of {code[0]} and what follows it does not do the same")
    return best


@functools.lru_cache(1 << 12)
def good(
    model: Model, code: tuple[Instruction, ...], may_split: bool
) -> Sequence[Instruction] | None:
    if model.ordering is None:
        return None
    way = split(code) if may_split else code
    ready = _Ready(model.issue_of, model.ordering, way)
    # Kernels add vectors in the order of their cycles, which may be better than any other.
    rules = ready.rules[: 3 if ready.has_vectors else 1]
    orders = [tuple([way[n] for n in ready.listed(rule)]) for rule in rules]
    return min(orders, key=lambda order: _cost(model, order)) if len(orders) > 1 else orders[0]


def _cost(model: Model, code: tuple[Instruction, ...]) -> float:
    return cycles(model, code, True) + cycles(model, code, False)


@functools.lru_cache(1 << 13)
def cycles(model: Model, code: tuple[Instruction, ...], is_loop: bool) -> float:
    return model.cycles([model.issue_of(instruction) for instruction in code], is_loop)


def _noted(order: Sequence[Instruction], items: Sequence[Item]) -> list[Item]:
    """With the notes of the items in front of the first instruction that each spoke of."""
    of: dict[Instruction, list[Note]] = {}
    found: list[Item] = []
    pending: list[Note] = []
    for item in items:
        if isinstance(item, Note):
            pending.append(item)
        elif pending and isinstance(item, Instruction):
            of.setdefault(item, []).extend(pending)
            pending = []
    for instruction in order:
        found += [*of.pop(instruction, ()), instruction]
    return [*found, *(note for notes in of.values() for note in notes), *pending]


Rule = Callable[[int], tuple[object, ...]]


class _Ready:
    """List scheduling of a straight run of instructions."""

    def __init__(
        self, issue_of: Callable[[Instruction], Issue], ordering: Ordering,
        code: Sequence[Instruction],
    ) -> None:  # fmt: skip
        self._pipeline = ordering.pipeline
        self._issues = [issue_of(instruction) for instruction in code]
        self._followers = dependences(self._issues, ordering)
        self.has_vectors = any(instruction.is_vector for instruction in code)
        self._together = _together(code)
        # A VPST waits for what its instructions wait for.
        first = {n: vpst for vpst, end in self._together.items() for n in range(vpst + 1, end)}
        for n, after in enumerate(self._followers):
            for one in [k for k in after if k in first and first.get(n, n) != first[k]]:
                after[first[one]] = max(after[one], after.get(first[one], 0))
        self._inside = first

    @property
    def rules(self) -> tuple[Rule, ...]:
        """By which list scheduling takes the first one of what could be issued: of the longest way
        to the end; as it was; of vectors what products soon wait for; products first;
        loads first."""
        issues = self._issues
        urgency = [0] * len(issues)
        for n in range(len(issues) - 1, -1, -1):
            after = self._followers[n].items()
            farthest = max((urgency[k] + delay for k, delay in after), default=0)
            urgency[n] = farthest + issues[n].is_product
        return (
            lambda n: (-urgency[n], n),
            lambda n: (n,),
            *self._of_vectors,
            lambda n: (not issues[n].is_product, -urgency[n], n),
            lambda n: (not issues[n].loads, -urgency[n], n),
        )

    @property
    def _of_vectors(self) -> tuple[Rule, ...]:
        """By the cycle in which each must be issued if products, which take two, follow each other
        without a pause, in the order that they have."""
        if not self.has_vectors:
            return ()
        products = [issue.is_product for issue in self._issues]
        due = [2 * n for n in itertools.accumulate(products, initial=0)]
        for n in range(len(products) - 1, -1, -1):
            after = [due[k] - delay for k, delay in self._followers[n].items()]
            if after:
                due[n] = min([due[n], *after] if products[n] else after)
        return (lambda n: (due[n], n),)

    def listed(self, rule: Rule) -> list[int]:
        """The instructions by their numbers in an order that keeps what depends on each other."""
        waits = [0] * len(self._issues)
        for after in self._followers:
            for n in after:
                waits[n] += 1
        inside = self._inside
        ready = sorted((n for n, c in enumerate(waits) if not c and n not in inside), key=rule)
        pipeline, order = self._pipeline(), list[int]()
        while ready:
            found = next((n for n in ready if pipeline.may(self._issues[n])), None)
            if found is None:
                pipeline.step()
                continue
            ready.remove(found)
            freed = []
            for one in range(found, self._together.get(found, found + 1)):
                pipeline.issue(self._issues[one])
                order.append(one)
                for n in self._followers[one]:
                    waits[n] -= 1
                    if not waits[n] and n not in inside:
                        freed.append(n)
            if freed:
                ready = sorted([*ready, *freed], key=rule)
        return order


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
        self._accesses: dict[str, list[tuple[int, bool, _Bytes | None]]] = {}
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
            of = self._accesses.setdefault(issue.region, [])
            yield from (k for k, stores, other in of
                        if (stores or issue.stores) and _may_meet(touched, other))  # fmt: skip
            if issue.stores and touched is None:
                of.clear()
            of.append((n, issue.stores, touched))
        for resource in issue.writes:
            if issue.advance is not None and issue.advance[0] == resource:
                begun, number = self._base(resource)
                self._bases[resource] = begun, number + issue.advance[1]
            else:
                self._bases.pop(resource, None)


_Bytes = tuple[int, int, int]


def _may_meet(one: _Bytes | None, other: _Bytes | None) -> bool:
    if one is None or other is None or one[0] != other[0]:
        return True
    return one[1] < other[2] and other[1] < one[2]

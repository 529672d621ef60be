"""Puts a kernel's instructions into an order in which the Cortex-M7 issues two of them a cycle.

Straight pieces by themselves: labels, branches and what IT makes conditional stay where they are.
What an instruction reads, it finds as before: by registers, flags and memory (a load does not pass
a store, nor a store anything). Lists that are loaded between products become single loads, of which
two are issued at once, and one addition to the base behind them.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence

from mcu_deploy.backends.isa.flow import begins
from mcu_deploy.backends.isa.instruction import Instruction, Item, Note
from mcu_deploy.backends.isa.operands import (
    LR,
    Label,
    Memory,
    Mode,
    Moving,
    Register,
    Registers,
)
from mcu_deploy.backends.isa.pipeline import (
    Class,
    Issue,
    Pipeline,
    Resource,
    cycles,
    issue_of,
    issues_of,
    ready,
    resources_of,
)
from mcu_deploy.backends.isa.same import do_the_same

_FEWEST_PRODUCTS = 4  # of a piece whose lists are split
_FARTHEST = 1000  # bytes from a base


@functools.lru_cache(1 << 6)  # kernels of layers that are alike are the same
def scheduled(items: tuple[Item, ...]) -> Sequence[Item]:
    """The same items in another order; all registers have their places."""
    return [item for piece in _pieces(items, _fastest) for item in piece]


@functools.lru_cache(1 << 9)
def estimated(items: tuple[Item, ...], times: tuple[float, ...]) -> float:
    """The cycles of a kernel whose items run so often, in an order that is good, not the best."""
    total = 0.0
    for (begin, end), piece in zip(_edges(items), _pieces(items, _good), strict=True):
        code = [item for item in piece if isinstance(item, Instruction)]
        often = max(times[begin:end], default=0.0)
        if code and often:
            is_loop = piece[0] in code[-1].jumps_to
            total += often * cycles(issues_of(code), is_loop=is_loop)
    return total


def _edges(items: Sequence[Item]) -> list[tuple[int, int]]:
    return [*itertools.pairwise([*begins(items), len(items)])]


Order = Callable[[Sequence[Instruction], bool], Sequence[Instruction]]


def _pieces(items: Sequence[Item], order: Order) -> Iterator[list[Item]]:
    first, last = _measured(items)
    for begin, end in _edges(items):
        yield [*_piece(items[begin:end], order, not first <= begin < last)]


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
            kind = issue_of(item).kind
            stays = kind in (Class.BRANCH, Class.CONDITIONS)
            if kind is Class.CONDITIONS:
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
    code = [item for item in items if isinstance(item, Instruction)]
    if len(code) < 3:
        return items
    found = order(code, may_split)
    return items if found is code else _noted(found, items)


def _fastest(code: Sequence[Instruction], may_split: bool) -> Sequence[Instruction]:
    """Of: as it is, in another order, and so with its lists split. What is found is proven."""
    best, taken = code, _cost(code)
    for way in (code, _split(code)) if may_split else (code,):
        issues = issues_of(way)
        followers = dependences(issues)
        for rule in _rules(issues, followers):
            found = [way[n] for n in _listed(issues, followers, rule)]
            cost = _cost(found)
            if cost < taken:
                best, taken = found, cost
    if best is not code and not do_the_same(code, best):
        raise AssertionError(f"the order of {code[0]} and what follows it does not do the same")
    return best


def _good(code: Sequence[Instruction], may_split: bool) -> Sequence[Instruction]:
    way = _split(code) if may_split else code
    issues = issues_of(way)
    followers = dependences(issues)
    return [way[n] for n in _listed(issues, followers, _rules(issues, followers)[0])]


def _cost(code: Sequence[Instruction]) -> int:
    issues = issues_of(code)
    return cycles(issues, is_loop=True) + cycles(issues, is_loop=False)


def _noted(order: Sequence[Instruction], items: Sequence[Item]) -> list[Item]:
    """With the notes of the items in front of the first instruction that each spoke of."""
    of: dict[int, list[Note]] = {}
    found: list[Item] = []
    pending: list[Note] = []
    for item in items:
        if isinstance(item, Note):
            pending.append(item)
        elif pending:
            of.setdefault(id(item), []).extend(pending)
            pending = []
    for instruction in order:
        found += [*of.pop(id(instruction), ()), instruction]
    return [*found, *(note for notes in of.values() for note in notes), *pending]


def _split(code: Sequence[Instruction]) -> list[Instruction]:
    """Lists that are loaded become loads of their words, and bases move on at the end, or before
    anything else is done with them."""
    if sum(issue_of(i).kind is Class.MAC for i in code) < _FEWEST_PRODUCTS:
        return [*code]
    made: list[Instruction] = []
    ahead: dict[Resource, tuple[Register, int]] = {}

    def settle(place: Resource) -> None:
        if place in ahead:
            base, by = ahead.pop(place)
            made.append(Instruction("add", (base, base, by)))

    for instruction in code:
        split = _loaded(instruction)
        if split is not None:
            base, registers, moves = split
            (at,) = resources_of(base)
            for register in registers:
                settle(*resources_of(register))
            if at in ahead and ahead[at][1] + 4 * len(registers) > _FARTHEST:
                settle(at)
            first = ahead[at][1] if at in ahead else 0
            made += [
                Instruction("ldr", (register, Memory(base, first + 4 * n)))
                for n, register in enumerate(registers)
            ]
            if moves:
                ahead[at] = base, first + 4 * len(registers)
            continue
        moved = _moved_by(instruction, ahead)
        issue = issue_of(moved)
        base_alone = _base_of(moved) if moved is not instruction else None
        for resource in sorted({resource for resource, _ in issue.reads} | issue.writes):
            if resource in ahead and (resource != base_alone or resource in issue.writes):
                settle(resource)
                moved, base_alone = _moved_by(instruction, ahead), None
        made.append(moved)
    for place in [*ahead]:
        settle(place)
    return made


def _loaded(instruction: Instruction) -> tuple[Register, tuple[Register, ...], bool] | None:
    """Of an LDMIA of core registers that leaves its base: the base, the registers, and whether the
    base moves on."""
    if instruction.mnemonic not in ("ldmia", "ldm"):
        return None
    base, registers = instruction.operands
    assert isinstance(registers, Registers)
    of = base.register if isinstance(base, Moving) else base
    assert isinstance(of, Register)
    if any(r.place == of.place for r in registers.registers):
        return None
    return of, registers.registers, isinstance(base, Moving)


def _base_of(instruction: Instruction) -> Resource | None:
    """The base of its memory where it is no other operand of it as well."""
    memory = instruction.operands[-1]
    assert isinstance(memory, Memory)
    (base,) = resources_of(memory.base)
    others = [w for o in instruction.operands if isinstance(o, Register) for w in resources_of(o)]
    return None if base in others else base


def _moved_by(
    instruction: Instruction, ahead: Mapping[Resource, tuple[Register, int]]
) -> Instruction:
    """A load or store of a word, by how far its base has still to move."""
    memory = instruction.operands[-1] if instruction.operands else None
    if instruction.mnemonic not in ("ldr", "str") or not isinstance(memory, Memory):
        return instruction
    (base,) = resources_of(memory.base)
    if base not in ahead or memory.mode is not Mode.OFFSET:
        return instruction
    if not isinstance(memory.offset, int) or memory.offset < 0:
        return instruction
    moved = Memory(memory.base, memory.offset + ahead[base][1])
    return Instruction(instruction.mnemonic, (*instruction.operands[:-1], moved))


Rule = Callable[[int], tuple[object, ...]]


def _rules(issues: Sequence[Issue], followers: Sequence[dict[int, int]]) -> tuple[Rule, ...]:
    """By which list scheduling takes the first one of what could be issued: of the longest way to
    the end; as it was; products first; loads first."""
    urgency = [0] * len(issues)
    for n in range(len(issues) - 1, -1, -1):
        farthest = max((urgency[k] + delay for k, delay in followers[n].items()), default=0)
        urgency[n] = farthest + (issues[n].kind is Class.MAC)
    return (
        lambda n: (-urgency[n], n),
        lambda n: (n,),
        lambda n: (issues[n].kind is not Class.MAC, -urgency[n], n),
        lambda n: (not issues[n].loads, -urgency[n], n),
    )


def _listed(issues: Sequence[Issue], followers: Sequence[dict[int, int]], rule: Rule) -> list[int]:
    waits = [0] * len(issues)
    for after in followers:
        for n in after:
            waits[n] += 1
    ready = sorted((n for n, count in enumerate(waits) if not count), key=rule)
    pipeline, order = Pipeline(), []
    while ready:
        found = next((n for n in ready if pipeline.may(issues[n])), None)
        if found is None:
            pipeline.step()
            continue
        pipeline.issue(issues[found])
        ready.remove(found)
        order.append(found)
        freed = []
        for n in followers[found]:
            waits[n] -= 1
            if not waits[n]:
                freed.append(n)
        if freed:
            ready = sorted([*ready, *freed], key=rule)
    return order


def dependences(issues: Sequence[Issue]) -> list[dict[int, int]]:
    """Of each instruction those that have to stay behind it, and how many cycles behind it."""
    followers: list[dict[int, int]] = [{} for _ in issues]
    writer: dict[object, int] = {}
    readers: dict[object, list[int]] = {}
    store: int | None = None
    loads: list[int] = []

    def follow(first: int, second: int, delay: int) -> None:
        if first != second:
            followers[first][second] = max(delay, followers[first].get(second, 0))

    for n, issue in enumerate(issues):
        for resource, need in issue.reads:
            if resource in writer:
                follow(writer[resource], n, ready(issues[writer[resource]], 0, resource)[need])
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
        if issue.stores:
            if store is not None:
                follow(store, n, 0)
            for load in loads:
                follow(load, n, 0)
            store, loads = n, []
        elif issue.loads:
            if store is not None:
                follow(store, n, 0)
            loads.append(n)
    return followers

"""What a kernel's instructions take on a core: its model over their straight pieces, in an order
that is good where the core gains from another one."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

from mcu_deploy.backends.isa.instruction import Instruction, Item
from mcu_deploy.backends.isa.model import Model
from mcu_deploy.backends.isa.plain import plain
from mcu_deploy.backends.isa.schedule import Back, Room, edges, good, pieces


@functools.lru_cache(1 << 9)
def estimated(items: tuple[Item, ...], times: tuple[float, ...], model: Model) -> float:
    """The cycles of a kernel whose items run so often, but for the branches of its loops where they
    are taken."""
    total = 0.0
    for begin, end, code, is_loop in _ordered(items, model):
        often = max(times[begin:end])
        if often:
            total += often * _cycles(model, code, is_loop)
    return total


@functools.lru_cache(1 << 6)
def shares(items: tuple[Item, ...], model: Model) -> list[float]:
    """Of each item the cycles that it takes where its straight piece runs alone; those of a piece
    that is put into another order are shared out."""
    found = [0.0] * len(items)
    if model.ordering is None:
        for begin, end in edges(items):
            core = model.pipeline()
            for n in range(begin, end):
                if isinstance(item := items[n], Instruction):
                    before = core.cycle
                    core.issue(model.issue_of(item))
                    found[n] = core.cycle - before
        return found
    for begin, end, code, _ in _ordered(items, model):
        places = [n for n in range(begin, end) if isinstance(items[n], Instruction)]
        share = _cycles(model, code, False) / len(places)
        for n in places:
            found[n] = share
    return found


# Instructions that are put into an order in their room, or stay in theirs.
_Run = tuple[tuple[Instruction, ...], Room | None, Back]


@functools.lru_cache(1 << 6)
def _ordered(
    items: tuple[Item, ...], model: Model
) -> list[tuple[int, int, tuple[_Run, ...], bool]]:
    """The straight pieces that have instructions, [begin, end) by the items' numbers: their runs,
    and whether they are a loop."""
    return [*_pieces(items, model)]


def _pieces(
    items: tuple[Item, ...], model: Model
) -> Iterator[tuple[int, int, tuple[_Run, ...], bool]]:
    for begin, end, parts in pieces(items, model):
        # LE takes no time of its own.
        runs = tuple([
            (tuple([plain(i) for i in code]), part.room, part.back and (plain(part.back[0]),))
            for part in parts
            if (code := [i for i in part.code if i.name not in ("le", "letp")])
        ])  # fmt: skip
        if runs:
            last = items[end - 1]
            yield begin, end, runs, isinstance(last, Instruction) and items[begin] in last.jumps_to


@functools.lru_cache(1 << 12)
def _cycles(model: Model, runs: tuple[_Run, ...], is_loop: bool) -> float:
    """Of a straight piece in a good order, alone or each time where it runs again and again."""
    code, room, back = runs[0]
    if room is not None and len(runs) == 1 + bool(back) and is_loop == (back is not None):
        return good(model, code, room, back)[1]
    issues: list[Any] = []
    for code, room, back in runs:
        issues += map(model.issue_of, code) if room is None else good(model, code, room, back)[0]
    return model.cycles(issues, is_loop)

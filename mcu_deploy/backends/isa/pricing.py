"""What a kernel's instructions take on a core: its model over their straight pieces, in an order
that is good where the core gains from another one."""

from __future__ import annotations

import functools
from collections.abc import Iterator

from mcu_deploy.backends.isa.instruction import Instruction, Item
from mcu_deploy.backends.isa.model import Model
from mcu_deploy.backends.isa.schedule import cycles, edges, good, pieces


@functools.lru_cache(1 << 9)
def estimated(items: tuple[Item, ...], times: tuple[float, ...], model: Model) -> float:
    """The cycles of a kernel whose items run so often, but for the branches of its loops where they
    are taken."""
    total = 0.0
    for begin, end, code, is_loop in _ordered(items, model):
        often = max(times[begin:end])
        if often:
            total += often * cycles(model, code, is_loop)
    return total


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
        share = cycles(model, code, False) / len(places)
        for n in places:
            found[n] = share
    return found


def _ordered(
    items: tuple[Item, ...], model: Model
) -> Iterator[tuple[int, int, tuple[Instruction, ...], bool]]:
    """The straight pieces that have instructions, [begin, end) by the items' numbers: these in
    their order, and whether they are a loop."""
    made = pieces(items, functools.partial(good, model), model)
    for (begin, end), piece in zip(edges(items), made, strict=True):
        code = [item for item in piece if isinstance(item, Instruction)]
        if code:
            is_loop = piece[0] in code[-1].jumps_to
            # LE takes no time of its own.
            yield begin, end, tuple([i for i in code if i.name not in ("le", "letp")]), is_loop

"""Memory in generated C: what a manager gives at run time, and what moves between layers."""

from __future__ import annotations

from collections.abc import Sequence

from mcu_deploy.codegen import describe
from mcu_deploy.codegen.statements import Addresses, Function, Statement
from mcu_deploy.codegen.text import wrap
from mcu_deploy.plan import InPool, Plan


def begin(plan: Plan) -> Function | None:
    """The function that sets the memory manager up; None where there is none."""
    managed = plan.managed
    if managed is None:
        return None
    addresses = Addresses(managed)
    entry = managed.configuration.entry_points
    arguments = [addresses.manager(), addresses.block(), str(managed.bytes)]
    arguments += [str(argument) for argument in entry.arguments]
    statement = Statement(
        (f"{managed.strategy}: what is taken below comes from the begin of the workspace.",),
        wrap(f"    return {entry.begin}(", arguments, ");"),
    )
    return Function("memory", "", tuple(addresses.declarations), (statement,), returns=True)


def takes(plan: Plan, position: int, addresses: Addresses) -> tuple[str, ...]:
    """Takes what is needed from this position of the program on."""
    managed = plan.managed
    if managed is None:
        return ()
    take = managed.configuration.entry_points.take
    calls = [
        f"{take}({addresses.manager()}, {addresses.slot(t.slot)}, {t.bytes})"
        for t in managed.takes.get(position, ())
    ]
    return _unless_ok(calls, "MCU_ERROR_OUT_OF_MEMORY")


def gives(plan: Plan, position: int, addresses: Addresses) -> tuple[str, ...]:
    """Gives back what is not needed behind this position of the program."""
    managed = plan.managed
    if managed is None:
        return ()
    give = managed.configuration.entry_points.give
    calls = [
        f"{give}({addresses.manager()}, {addresses.slot(t.slot)})"
        for t in managed.gives.get(position, ())
    ]
    return _unless_ok(calls, "MCU_ERROR_INVALID_FREE")


def _unless_ok(calls: Sequence[str], error: str) -> tuple[str, ...]:
    if not calls:
        return ()
    conditions = [f"{call} != MCU_OK" for call in calls]
    first, *others = conditions
    lines = [f"    if ({first}", *(f"        {condition}" for condition in others)]
    return (" ||\n".join(lines) + ") {", f"        return {error};", "    }")


def moves(plan: Plan, position: int, addresses: Addresses) -> tuple[str, ...]:
    """The buffers that move before this position of the program."""
    found = []
    for move in plan.moves:
        if move.before_step == position:
            arguments = [
                addresses.pointer("void *", InPool(0, move.target)),
                addresses.pointer("const void *", InPool(0, move.source)),
                str(move.bytes),
            ]
            label = describe.name(plan.buffers[move.buffer].label)
            found.append(f"    /* {label} moves. */\n" + wrap("    memmove(", arguments, ");"))
    return tuple(found)

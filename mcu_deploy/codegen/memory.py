"""Memory in generated C: what a manager gives at run time, and what moves between layers."""

from __future__ import annotations

from collections.abc import Sequence

from mcu_deploy.codegen import describe
from mcu_deploy.codegen.places import Places
from mcu_deploy.codegen.statements import Function, Statement
from mcu_deploy.codegen.text import wrap
from mcu_deploy.ir import Graph
from mcu_deploy.plan import Plan


def begin(graph: Graph, plan: Plan) -> Function | None:
    """The function that sets the memory manager up; None where there is none."""
    managed = plan.managed
    if managed is None:
        return None
    places = Places(graph, plan)
    arguments = [places.manager(), places.pool(0), str(managed.bytes)]
    arguments += [str(argument) for argument in managed.configuration.arguments]
    statement = Statement(
        (f"{managed.strategy}: what is taken below comes from the begin of the workspace.",),
        wrap(f"    return _mcu_{managed.strategy}_begin(", arguments, ");"),
    )
    return Function("memory", "", tuple(places.head), (statement,), returns=True)


def takes(plan: Plan, position: int, places: Places) -> tuple[str, ...]:
    """Takes what is needed from this position of the program on."""
    managed = plan.managed
    if managed is None:
        return ()
    take = f"_mcu_{managed.configuration.family}_take"
    calls = [
        f"{take}({places.manager()}, {places.slot(t.slot, t.buffer)}, {t.bytes})"
        for t in managed.takes.get(position, ())
    ]
    return _unless_ok(calls, "MCU_ERROR_OUT_OF_MEMORY")


def gives(plan: Plan, position: int, places: Places) -> tuple[str, ...]:
    """Gives back what is not needed behind this position of the program."""
    managed = plan.managed
    if managed is None:
        return ()
    give = f"_mcu_{managed.configuration.family}_give"
    calls = [
        f"{give}({places.manager()}, {places.slot(t.slot, t.buffer)})"
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


def moves(plan: Plan, position: int, places: Places) -> tuple[str, ...]:
    """The buffers that move before this position of the program."""
    found = []
    for move in plan.moves:
        if move.before_step == position:
            target, source = (
                f"{places.pool(0)} + {offset}" for offset in (move.target, move.source)
            )
            arguments = [target, source, str(move.bytes)]
            label = describe.name(plan.buffers[move.buffer].label)
            found.append(f"    /* {label} moves. */\n" + wrap("    memmove(", arguments, ");"))
    return tuple(found)

"""Memory in generated C: what a manager gives at run time, and what moves between layers."""

from __future__ import annotations

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
    return _calls(plan, position, places, "take")


def gives(plan: Plan, position: int, places: Places) -> tuple[str, ...]:
    """Gives back what is not needed behind this position of the program."""
    return _calls(plan, position, places, "give")


def _calls(plan: Plan, position: int, places: Places, verb: str) -> tuple[str, ...]:
    managed = plan.managed
    if managed is None:
        return ()
    is_take = verb == "take"
    function = f"_mcu_{managed.configuration.family}_{verb}"
    conditions = [
        f"{function}({places.manager()}, {places.slot(t.slot, t.buffer)}"
        f"{f', {t.bytes}' if is_take else ''}) != MCU_OK"
        for t in (managed.takes if is_take else managed.gives).get(position, ())
    ]
    if not conditions:
        return ()
    error = "MCU_ERROR_OUT_OF_MEMORY" if is_take else "MCU_ERROR_INVALID_FREE"
    tests = " ||\n        ".join(conditions)
    return (f"    if ({tests}) {{", f"        return {error};", "    }")


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

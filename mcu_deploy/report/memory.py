"""The memory of a network in report.json: what lies where and when, and who may overlap whom.

With this an outsider can check a plan without mcu-deploy: what each layer reads, writes and uses as
scratch; that nothing which is read later is overwritten; and where an output meets an input, that
it starts at least the stated distance before it (docs/backends.md, "How a kernel states its
overlap").
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mcu_deploy.compiled import CompiledModel
from mcu_deploy.plan import InPool, Place, Plan, Step


def joint_arena(networks: Sequence[CompiledModel], shared: bool) -> int:
    """The bytes of all arenas of a firmware: with one workspace for all, or one for each."""
    if not shared:
        return sum(n.ram_bytes for n in networks)
    own = sum(n.ram_bytes - n.plan.bytes for n in networks)
    return own + max(n.plan.bytes for n in networks)


def buffers(plan: Plan) -> list[dict[str, Any]]:
    """The buffers: where each lies, from which layer to which, and what it holds.

    first -1: from before the run; last the number of layers: to behind it. A buffer that moves is
    listed with its first place.
    """
    return [
        {
            "id": buffer.id,
            **place(plan, plan.buffer_place(buffer.id)),
            "bytes": buffer.bytes,
            "first": buffer.first,
            "last": buffer.last,
            "persistent": buffer.persistent,
            "holds": buffer.label,
        }
        for buffer in plan.buffers
    ]


def place(plan: Plan, where: Place) -> dict[str, Any]:
    """Pool and offset in bytes; offset None: in the caller's buffer, or wherever it is put."""
    if isinstance(where, InPool):
        return {"pool": plan.pools[where.pool].name, "offset": where.offset}
    return {"pool": "caller" if where.caller else "run time", "offset": None}


def accesses(plan: Plan, step: Step) -> dict[str, Any]:
    """What a layer reads from memory and uses as scratch, and which of its outputs may lie on
    which of its inputs, by position; the distance is in bytes."""
    layer, workload = step.choice.layer, step.choice.workload
    scratch = [step.scratch] if step.scratch is not None else []
    return {
        "inputs": [
            None
            if operand is None or operand.constant is not None
            else {
                "name": operand.name,
                **place(plan, plan.place(operand.edge, step.index)),
                "bytes": operand.type.bytes,
            }
            for operand in layer.inputs
        ],
        "scratch": [
            {**place(plan, plan.buffer_place(b, step.index)), "bytes": plan.buffers[b].bytes}
            for b in (*scratch, *step.regions.values())
        ],
        "overlaps": [
            {"input": fact.input, "output": fact.output, "distance": fact.distance}
            for fact in workload.in_place
        ],
    }

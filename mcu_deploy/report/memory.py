"""The memory of a network in report.json: what lies where and when, and who may overlap whom.

With this an outsider can check a plan without mcu-deploy: what each layer reads, writes and uses as
scratch; that nothing which is read later is overwritten; and where an output or scratch meets an
input, that it starts at least the stated distance before it (docs/backends.md, "How a kernel states
its overlap").
"""

from __future__ import annotations

from collections.abc import Sequence

from mcu_deploy.compiled import CompiledModel
from mcu_deploy.ir import EdgeId, Graph
from mcu_deploy.plan import InPool, Place, Plan, Step
from mcu_deploy.report.places import (
    BufferReport,
    MoveReport,
    OperandReport,
    ScratchReport,
    TensorReport,
)


def joint_arena(networks: Sequence[CompiledModel], shared: bool) -> int:
    """The bytes of all arenas of a firmware: with one workspace for all, or one for each."""
    if not shared:
        return sum(n.ram_bytes for n in networks)
    own = sum(n.ram_bytes - n.plan.bytes for n in networks)
    return own + max(n.plan.bytes for n in networks)


def buffers(plan: Plan) -> tuple[BufferReport, ...]:
    """The buffers of a plan."""
    return tuple(
        BufferReport(
            b.id, *_pool_and_offset(plan, plan.buffer_place(b.id)), b.bytes, b.first, b.last,
            b.persistent, b.label,
            tuple(MoveReport(*move) for move in plan.moved.get(b.id, ())),
        )
        for b in plan.buffers
    )  # fmt: skip


def tensor(
    graph: Graph, plan: Plan, edge: EdgeId, at: int | None = None, name: str | None = None
) -> TensorReport:
    """A tensor and its place: between runs, or at a layer. name: as it is called, if otherwise."""
    type_ = graph.type(edge)
    quantization = type_.quantization
    return TensorReport(
        graph.edge_name(edge) if name is None else name,
        type_.dtype.value,
        tuple(type_.shape),
        None if quantization is None else quantization.scale[0],
        None if quantization is None else quantization.zero_point[0],
        *_pool_and_offset(plan, plan.place(edge, at)),
        type_.bytes,
    )


def operands(plan: Plan, step: Step) -> tuple[OperandReport | None, ...]:
    """What a layer reads from memory."""
    return tuple(
        None
        if operand is None or operand.constant is not None
        else OperandReport(
            operand.name,
            *_pool_and_offset(plan, plan.place(operand.edge, step.index)),
            operand.type.bytes,
        )
        for operand in step.choice.layer.inputs
    )


def scratch(plan: Plan, step: Step) -> tuple[ScratchReport, ...]:
    """What a layer has to itself: its scratch, and its backend's regions."""
    own = [step.scratch] if step.scratch is not None else []
    return tuple(
        ScratchReport(
            *_pool_and_offset(plan, plan.buffer_place(b, step.index)), plan.buffers[b].bytes
        )
        for b in (*own, *step.regions.values())
    )


def _pool_and_offset(plan: Plan, where: Place) -> tuple[str, int | None]:
    """offset None: in the caller's buffer, or wherever it is put."""
    if isinstance(where, InPool):
        return plan.pools[where.pool].name, where.offset
    return "caller" if where.caller else "run time", None

"""Proves a plan from the definition: no tensor is overwritten before its last reader.

Written without the planner's own lifetimes: it walks through the steps, remembers which value
every byte range holds, and looks at each read.
"""

from __future__ import annotations

from mcu_deploy.ir import EdgeId, Graph
from mcu_deploy.plan.model import Plan


class PlanError(AssertionError):
    """A plan that would corrupt a tensor: a bug in the planner, never the user's fault."""


def check(graph: Graph, plan: Plan) -> None:
    """Raises PlanError where a step would read a tensor that is no longer there."""
    for tensor in plan.tensors.values():
        start = plan.offset(tensor.edge)
        if start % plan.alignment or start + tensor.bytes > plan.bytes:
            raise PlanError(f"edge {tensor.edge} lies outside of the workspace or is not aligned")
    # live: which edges hold their value now. A view holds as long as its source does.
    live: set[EdgeId] = set(graph.inputs)
    views = _views(graph, plan)
    _require_disjoint(plan, live, "the inputs")
    live |= _with_views(live, views)
    for step in plan.steps:
        layer = step.choice.layer
        reads = {o.edge for o in layer.inputs if o is not None and o.constant is None}
        missing = reads - live
        if missing:
            raise PlanError(f"{layer.name!r} reads edges {sorted(missing)}, overwritten before")
        writes = {o.edge for o in layer.outputs}
        allowed = {
            layer.input(p.input).edge for p in step.choice.workload.in_place if p.distance == 0
        }
        for edge in writes:
            for other in reads:
                if _overlap(plan, edge, other) and not (
                    other in allowed and plan.offset(edge) == plan.offset(other)
                ):
                    raise PlanError(f"{layer.name!r} would overwrite its own input {other}")
        _require_disjoint(plan, writes, f"the outputs of {layer.name!r}")
        if step.scratch is not None:
            buffer = plan.buffers[step.scratch]
            start = plan.offsets[step.scratch]
            if start + buffer.bytes > plan.bytes:
                raise PlanError(f"the scratch of {layer.name!r} lies outside of the workspace")
            for edge in reads | writes:
                if _ranges_meet(start, buffer.bytes, plan.offset(edge), plan.tensors[edge].bytes):
                    raise PlanError(f"the scratch of {layer.name!r} overlaps edge {edge}")
            live = {e for e in live if not _ranges_meet(
                start, buffer.bytes, plan.offset(e), plan.tensors[e].bytes)}  # fmt: skip
        live = {e for e in live if not any(_overlap(plan, e, w) for w in writes)}
        live |= _with_views(writes, views)
    missing = {e for e in graph.outputs if graph.constant(e) is None} - live
    if missing:
        raise PlanError(f"the outputs {sorted(missing)} are overwritten before the end")


def _views(graph: Graph, plan: Plan) -> dict[EdgeId, set[EdgeId]]:
    called = {step.choice.layer.node.id for step in plan.steps}
    views: dict[EdgeId, set[EdgeId]] = {}
    for node in graph.nodes:
        if node.id in called or not node.inputs or node.inputs[0] is None:
            continue
        for edge in node.outputs:
            if edge is None:
                continue
            source = node.inputs[0]
            if plan.offset(edge) != plan.offset(source):
                raise PlanError(f"the view {edge} lies elsewhere than its source {source}")
            views.setdefault(source, set()).add(edge)
    return views


def _with_views(edges: set[EdgeId], views: dict[EdgeId, set[EdgeId]]) -> set[EdgeId]:
    found = set(edges)
    pending = list(edges)
    while pending:
        for view in views.get(pending.pop(), ()):
            if view not in found:
                found.add(view)
                pending.append(view)
    return found


def _ranges_meet(a: int, a_size: int, b: int, b_size: int) -> bool:
    return a < b + b_size and b < a + a_size


def _overlap(plan: Plan, first: EdgeId, second: EdgeId) -> bool:
    return _ranges_meet(
        plan.offset(first), plan.tensors[first].bytes, plan.offset(second),
        plan.tensors[second].bytes,
    )  # fmt: skip


def _require_disjoint(plan: Plan, edges: set[EdgeId], what: str) -> None:
    ordered = sorted(edges)
    for i, first in enumerate(ordered):
        for second in ordered[i + 1 :]:
            if _overlap(plan, first, second):
                raise PlanError(f"{what} overlap: edges {first} and {second}")

"""Proves a plan from the definition: no tensor is overwritten before its last reader.

Written without the planner's own lifetimes: it walks through the steps, remembers which edges hold
their value, and looks at each read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from mcu_deploy.backends.interface import Layer, Region, RegionCall, RegionKind, Workload
from mcu_deploy.ir import EdgeId, Graph
from mcu_deploy.plan.model import Plan, PlanError, Step
from mcu_deploy.select import Choice

Place = tuple[int, int]  # [start, end) in the workspace


def check(
    graph: Graph, choices: Sequence[Choice], plan: Plan, calls: Sequence[RegionCall] = ()
) -> None:
    """Raises PlanError where the plan does not compute what `choices` compute, in their order.

    What it demands: every computed edge has its own bytes of an aligned place in the workspace;
    every layer is called once; each value that is read was written before and not overwritten
    since; and what one layer reads, writes and uses as scratch is apart, except where its workload
    allows an output to lie exactly on an input. Private regions, of the layers and of `calls`, are
    apart from everything.
    """
    places = _edge_places(graph, choices, plan)
    _require_every_layer(choices, plan)
    views = _views(choices, places)
    _require_apart(graph.inputs, places, "the inputs")
    private = _private_places(choices, calls, plan)
    for edge, place in places.items():
        _require_untouched(private, place, f"edge {edge}")
    # live: the edges that hold their value now.
    live = _with_views(graph.inputs, views)
    for step in plan.steps:
        for place in _scratch_places(step, plan):
            _require_untouched(private, place, f"the scratch of {step.choice.layer.name!r}")
        live = _run(step, plan, places, views, live)
    missing = set(graph.outputs) - live
    if missing:
        raise PlanError(f"the outputs {sorted(missing)} are overwritten before the end")


def _run(
    step: Step,
    plan: Plan,
    places: Mapping[EdgeId, Place],
    views: Mapping[EdgeId, Sequence[EdgeId]],
    live: set[EdgeId],
) -> set[EdgeId]:
    """The edges that hold their value after a step."""
    layer, workload = step.choice.layer, step.choice.workload
    reads = {o.edge for o in layer.inputs if o is not None and o.constant is None}
    writes = [o.edge for o in layer.outputs]
    missing = reads - live
    if missing:
        raise PlanError(f"{layer.name!r} reads edges {sorted(missing)}, overwritten before")
    _require_apart(writes, places, f"the outputs of {layer.name!r}")
    _require_inputs_intact(layer, workload, places)
    overwritten = [places[e] for e in writes]
    scratches = _scratch_places(step, plan)
    for index, scratch in enumerate(scratches):
        for edge in (*reads, *writes):
            if _meet(scratch, places[edge]):
                raise PlanError(f"the scratch of {layer.name!r} overlaps edge {edge}")
        for other in scratches[:index]:
            if _meet(scratch, other):
                raise PlanError(f"the scratch regions of {layer.name!r} overlap")
        overwritten.append(scratch)
    kept = {e for e in live if not any(_meet(places[e], place) for place in overwritten)}
    return kept | _with_views(writes, views)


def _require_inputs_intact(
    layer: Layer, workload: Workload, places: Mapping[EdgeId, Place]
) -> None:
    """An output may meet an input only at the same start, no longer, and where it is allowed."""
    allowed = {(p.input, p.output) for p in workload.in_place if p.distance == 0}
    for o, output in enumerate(layer.outputs):
        start, end = places[output.edge]
        for i, operand in enumerate(layer.inputs):
            if operand is None or operand.constant is not None:
                continue
            other = places[operand.edge]
            fits = start == other[0] and end <= other[1]
            if _meet((start, end), other) and not ((i, o) in allowed and fits):
                raise PlanError(f"{layer.name!r} would overwrite its own input {operand.edge}")


def _edge_places(graph: Graph, choices: Sequence[Choice], plan: Plan) -> dict[EdgeId, Place]:
    computed = [*graph.inputs, *(o.edge for c in choices for o in c.layer.outputs)]
    missing = {*computed, *graph.outputs} - set(plan.tensors)
    if missing:
        raise PlanError(f"edges {sorted(missing)} have no place")
    places = {}
    for edge in computed:
        tensor, size = plan.tensors[edge], graph.type(edge).bytes
        if tensor.bytes != size:
            raise PlanError(f"edge {edge} has {size} bytes, not {tensor.bytes}")
        places[edge] = _place(plan, tensor.buffer, size, f"edge {edge}")
    return places


def _scratch_places(step: Step, plan: Plan) -> list[Place]:
    """Where the scratch buffer and the scratch regions of a step lie."""
    name, workload = step.choice.layer.name, step.choice.workload
    wanted = [(workload.scratch_bytes, step.scratch)] if workload.scratch_bytes else []
    wanted += [
        (region.bytes, step.regions.get(region))
        for region in dict.fromkeys(workload.regions)
        if region.kind is RegionKind.SCRATCH
    ]
    places = []
    for size, buffer in wanted:
        if buffer is None:
            raise PlanError(f"{name!r} needs {size} bytes of scratch and has none")
        places.append(_place(plan, buffer, size, f"the scratch of {name!r}"))
    return places


def _private_places(
    choices: Sequence[Choice], calls: Sequence[RegionCall], plan: Plan
) -> dict[Region, Place]:
    """Where the private regions lie: each inside of the private buffer, apart from the others."""
    used = [r for c in choices if not c.workload.is_view for r in c.workload.regions]
    used += [r for call in calls for r in call.regions]
    start, size = plan.private_place
    places: dict[Region, Place] = {}
    for region in dict.fromkeys(r for r in used if r.kind is RegionKind.PRIVATE):
        what = f"the region {region.name!r} of {region.backend}"
        if plan.private is None or region not in plan.private_offsets:
            raise PlanError(f"{what} has no place")
        at = plan.private_offset(region)
        if at % plan.alignment:
            raise PlanError(f"{what} lies at {at}, which is no multiple of {plan.alignment}")
        place = (at, at + region.bytes)
        if at < start or place[1] > start + size or place[1] > plan.bytes:
            raise PlanError(f"{what} lies outside of the private memory")
        _require_untouched(places, place, what)
        places[region] = place
    return places


def _require_untouched(private: Mapping[Region, Place], place: Place, what: str) -> None:
    for region, other in private.items():
        if _meet(place, other):
            raise PlanError(f"{what} overlaps the region {region.name!r} of {region.backend}")


def _place(plan: Plan, buffer: int, size: int, what: str) -> Place:
    start = plan.offsets.get(buffer)
    if start is None:
        raise PlanError(f"{what} lies in buffer {buffer}, which has no offset")
    if start % plan.alignment:
        raise PlanError(f"{what} lies at {start}, which is no multiple of {plan.alignment}")
    if start < 0 or start + size > plan.bytes:
        raise PlanError(f"{what} lies outside of the workspace")
    return start, start + size


def _require_every_layer(choices: Sequence[Choice], plan: Plan) -> None:
    wanted = [c.layer.node.id for c in choices if not c.workload.is_view]
    called = [step.choice.layer.node.id for step in plan.steps]
    if sorted(wanted) != sorted(called):
        raise PlanError(f"layers {sorted(called)} are called, but {sorted(wanted)} must be")


def _views(choices: Sequence[Choice], places: Mapping[EdgeId, Place]) -> dict[EdgeId, list[EdgeId]]:
    """The views of each edge, each at the very place of its source."""
    views: dict[EdgeId, list[EdgeId]] = {}
    for choice in choices:
        if choice.workload.is_view:
            source, view = choice.layer.input(0).edge, choice.layer.output.edge
            if places.get(source) != places[view]:
                raise PlanError(f"the view {view} lies elsewhere than its source {source}")
            views.setdefault(source, []).append(view)
    return views


def _with_views(edges: Iterable[EdgeId], views: Mapping[EdgeId, Sequence[EdgeId]]) -> set[EdgeId]:
    """Edges and all views of them: they hold a value as long as their source does."""
    found: set[EdgeId] = set()
    pending = list(edges)
    while pending:
        edge = pending.pop()
        found.add(edge)
        pending.extend(views.get(edge, ()))
    return found


def _meet(a: Place, b: Place) -> bool:
    """Whether two places share a byte; an empty one shares none."""
    return max(a[0], b[0]) < min(a[1], b[1])


def _require_apart(edges: Sequence[EdgeId], places: Mapping[EdgeId, Place], what: str) -> None:
    for i, first in enumerate(edges):
        for second in edges[i + 1 :]:
            if _meet(places[first], places[second]):
                raise PlanError(f"{what} overlap: edges {first} and {second}")

"""Proves a plan from the definition: no value is overwritten before its last reader.

Written without the planner's lifetimes and conflicts: it walks through the program of every run,
the whole and each partition, remembers which edges hold their value, and looks at each access.
Where buffers are taken from a memory manager, it asks the manager's model for the addresses that
they get in that run. Where buffers move, it moves them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mcu_deploy.backends.interface import Region, RegionCall, RegionKind, Workload
from mcu_deploy.ir import EdgeId, Graph
from mcu_deploy.ir.nested import flat
from mcu_deploy.plan.check_flow import FlowChecker, next_of, written
from mcu_deploy.plan.check_lanes import exchanged, require_apart
from mcu_deploy.plan.check_places import Stretch, Views, hot_places, with_addresses
from mcu_deploy.plan.model import Copy, InPool, InSlot, Item, Plan, PlanError, PlannedPart, Step
from mcu_deploy.selection import Chosen, choices_within


def check(
    graph: Graph, choices: Sequence[Chosen], plan: Plan, calls: Sequence[RegionCall] = ()
) -> None:
    """Raises PlanError where the plan does not compute what `choices` compute, in their order.

    What it demands: every computed edge has its own bytes of an aligned place inside of a pool, or
    a buffer of the caller; every layer is called once; in the whole run and in every partition
    each value that is read was written before and not overwritten since; what one layer reads,
    writes and uses as scratch is apart, except where its workload allows an output or its scratch
    to overlap an input from far enough in front; outputs and kept tensors hold their values at the
    end, and every state that of its next value. Private regions, states and the table of pointers
    are never written by anything else.
    """
    whole = range(len(plan.program))
    _Checker(graph, choices, with_addresses(plan, whole), calls).run()
    for part in plan.parts:
        concrete = with_addresses(plan, sorted(part.items))
        _Checker(graph, choices, concrete, calls).run_part(part)


class _Checker(FlowChecker):
    def __init__(
        self, graph: Graph, choices: Sequence[Chosen], plan: Plan, calls: Sequence[RegionCall]
    ) -> None:
        self.choices, self.plan = [*choices_within(choices)], plan
        self.states = {state.input for state in plan.exposure.states}
        updates = [Copy(state.output, state.input) for state in plan.exposure.states]
        super().__init__(flat(graph), choices, plan.program, updates)
        self.places = self._edge_places()  # at the position that is looked at
        self.held: set[int] = set()  # there, of the buffers that a manager gives
        self.views = Views(self.choices, self.places)
        self.reserved = self._reserved(calls)

    def run(self) -> None:
        self._require_every_layer()
        for edge, place in self.places.items():
            self._require_unreserved(place, f"edge {edge}", edge)
        for step in self.plan.steps:
            for place in self._scratches(step):
                self._require_unreserved(place, f"the scratch of {step.choice.layer.name!r}")
        exposure = self.plan.exposure
        kept = {kept.edge for kept in exposure.kept}
        whole = range(len(self.plan.program))
        ends = {*exposure.outputs(self.graph), *kept}
        self._simulate(self.graph.inputs, whole, ends, "the network")
        if self.plan.parallel:
            require_apart(self.plan.parallel, self._touched)
            backwards = exchanged(self.plan.parallel, whole)
            self._simulate(self.graph.inputs, backwards, ends, "the network, lanes exchanged")

    def run_part(self, part: PlannedPart) -> None:
        kept = {kept.edge for kept in self.plan.exposure.kept}
        states = [state.input for state in self.plan.exposure.states]
        items = sorted(part.items)
        ends = {*part.outputs, *(kept & self._computed(items))}
        self._simulate((*part.inputs, *states), items, ends, f"partition {part.name!r}")

    def _computed(self, positions: Iterable[int]) -> set[EdgeId]:
        """What items compute; not the states that get their next value."""
        found = {edge for position in positions for edge in written(self.program[position])}
        return self.with_views(found - self.states)

    def with_views(self, edges: Iterable[EdgeId]) -> set[EdgeId]:
        return self.views.with_views(edges)

    def do(self, position: int, target: EdgeId | None, live: set[EdgeId]) -> set[EdgeId]:
        item = self.plan.program[position]
        self._require_held(position, item)
        live = self._move(position, live)
        if target is not None:
            return self._copy(item, target, live)
        assert isinstance(item, Step)
        return self._step(item, live)

    def _simulate(
        self, begin: Sequence[EdgeId], items: Iterable[int], ends: set[EdgeId], what: str
    ) -> None:
        """Runs some items; live: the edges that hold their value now."""
        self.places, self.held = self._edge_places(), set()
        self._require_apart(dict.fromkeys(begin), f"the inputs of {what}")
        positions = list(items)
        live = self.walk(positions, self.with_views(begin))
        done = (self.plan.program[position] for position in positions)
        updated = {item.target for item in done if isinstance(item, Copy)}
        computed = self._computed(positions)
        missing = {edge for edge in ends if edge not in live}
        if missing:
            raise PlanError(f"{what}: the outputs {sorted(missing)} are overwritten before the end")
        for state in self.plan.exposure.states:
            if state.input in updated:
                continue
            if state.output in computed or len(positions) == len(self.plan.program):
                raise PlanError(f"{what}: the state {state.name!r} does not get its next value")
            if state.input not in live:
                raise PlanError(f"{what}: the state {state.name!r} is overwritten")

    def _touched(self, position: int) -> tuple[list[Stretch], list[Stretch]]:
        """What the layer at a position reads, and what it writes; scratch is written."""
        item = self.plan.program[position]
        if not isinstance(item, Step):
            raise PlanError(f"position {position} of a lane is no layer")
        layer = item.choice.layer
        if any(r.kind is RegionKind.PRIVATE for r in item.choice.workload.regions):
            raise PlanError(f"{layer.name!r} has private memory, but does not run alone")
        reads = [self.places[o.edge] for o in layer.inputs if o is not None and o.constant is None]
        writes = [self.places[o.edge] for o in layer.outputs]
        return reads, writes + self._scratches(item)

    def _require_held(self, position: int, item: Item) -> None:
        """What an item uses of what a manager gives is held then."""
        managed = self.plan.managed
        if managed is None:
            return
        self.held |= {take.buffer for take in managed.takes.get(position, ())}
        if not isinstance(item, Step):
            used = {self.plan.tensors[edge].buffer for edge in item.edges}
        else:
            operands = [*item.choice.layer.inputs, *item.choice.layer.outputs]
            edges = [o.edge for o in operands if o is not None and o.constant is None]
            used = {self.plan.tensors[edge].buffer for edge in edges} | {*item.regions.values()}
            used |= set() if item.scratch is None else {item.scratch}
        missing = (used & managed.slots.keys()) - self.held
        if missing:
            raise PlanError(f"buffers {sorted(missing)} are used at {position}, but not held")
        self.held -= {take.buffer for take in managed.gives.get(position, ())}

    def _move(self, position: int, live: set[EdgeId]) -> set[EdgeId]:
        """The edges that hold their value after the moves before a position."""
        for move in self.plan.moves:
            if move.before_step != position:
                continue
            what = f"buffer {move.buffer}, moved before {position},"
            space = ("pool", 0)
            target = Stretch(space, move.target, move.target + move.bytes)
            source = Stretch(space, move.source, move.source + move.bytes)
            if move.target < 0 or target.end > self.plan.bytes or move.target % 16:
                raise PlanError(f"{what} gets a place that it cannot have")
            self._require_unreserved(target, what)
            own = {e for e, tensor in self.plan.tensors.items() if tensor.buffer == move.buffer}
            for edge in own & live:
                place, start = self.places[edge], source.start + self.plan.tensors[edge].offset
                if place.space != space or place.start != start or place.end > source.end:
                    raise PlanError(f"{what} does not lie at {move.source}")
            live = self._survivors(live - own, [target]) | (live & own)
            for edge in own:
                tensor = self.plan.tensors[edge]
                start = target.start + tensor.offset
                self.places[edge] = Stretch(space, start, start + tensor.bytes)
        return live

    def _step(self, step: Step, live: set[EdgeId]) -> set[EdgeId]:
        """The edges that hold their value after a layer."""
        layer, workload = step.choice.layer, step.choice.workload
        reads = {o.edge for o in layer.inputs if o is not None and o.constant is None}
        writes = [o.edge for o in layer.outputs]
        for edge in (*reads, *writes):
            place = self.plan.place(edge, step.index)
            if isinstance(place, InPool) and place.offset != self.places[edge].start:
                raise PlanError(f"{layer.name!r} looks for edge {edge} at {place.offset}")
        missing = reads - live
        if missing:
            raise PlanError(f"{layer.name!r} reads edges {sorted(missing)}, overwritten before")
        self._require_apart(dict.fromkeys(writes), f"the outputs of {layer.name!r}")
        scratches = self._scratches(step)
        own = scratches[:1] if workload.scratch_bytes else []  # the others are of its regions
        self._require_inputs_intact(step, workload, own)
        overwritten = [self.places[e] for e in writes]
        for index, scratch in enumerate(scratches):
            for edge in (*writes, *([] if scratch in own else reads)):
                if scratch.meets(self.places[edge]):
                    raise PlanError(f"the scratch of {layer.name!r} overlaps edge {edge}")
            for other in scratches[:index]:
                if scratch.meets(other):
                    raise PlanError(f"the scratch regions of {layer.name!r} overlap")
            overwritten.append(scratch)
        return self.with_views(self._survivors(live, overwritten).union(writes))

    def _copy(self, copy: Item, as_: EdgeId, live: set[EdgeId]) -> set[EdgeId]:
        """The edges that hold their value after a copy: the target's own is gone.

        as_: what has the value then; a state that lives from run to run has it from the next one
        on.
        """
        assert isinstance(copy, Copy)
        if self.graph.type(copy.source).bytes != self.graph.type(copy.target).bytes:
            raise PlanError(f"edges {copy.source} and {copy.target} differ in size")
        target = self.places[copy.target]
        holds = set() if copy.target in self.states else {as_}
        if as_ == copy.target:
            holds = self.with_views(holds)
        if self.graph.constant(copy.source) is not None:
            return self._survivors(live, [target]) | holds
        source = self.places[copy.source]
        if copy.source not in live:
            raise PlanError(f"edge {copy.source} is overwritten before it is copied")
        if source == target:
            return (live - {copy.target}) | holds
        if source.meets(target) and not self.plan.is_within(copy):
            raise PlanError(f"edges {copy.source} and {copy.target} overlap, but are copied")
        return self._survivors(live, [target]) | holds

    def write(self, edge: EdgeId, source: EdgeId | None, live: set[EdgeId]) -> set[EdgeId]:
        target = self.places[edge]
        if source in self.places and target.meets(self.places[source]):
            raise PlanError(f"edges {source} and {edge} overlap, but are copied")
        return self._survivors(live, [target])

    def _survivors(self, live: set[EdgeId], overwritten: Sequence[Stretch]) -> set[EdgeId]:
        def is_hit(edge: EdgeId) -> bool:
            place = self.places[edge if edge in self.places else next_of(edge)]
            return any(place.meets(other) for other in overwritten)

        return {edge for edge in live if not is_hit(edge)}

    def _require_inputs_intact(
        self, step: Step, workload: Workload, scratch: Sequence[Stretch]
    ) -> None:
        """An output or the scratch may meet an input only where the workload says: from so far in
        front, or exactly there."""
        layer = step.choice.layer
        allowed = {(p.input, p.output): p for p in workload.in_place}
        written = [*enumerate(self.places[output.edge] for output in layer.outputs)]
        for o, at in [*written, *((None, place) for place in scratch)]:
            for i, operand in enumerate(layer.inputs):
                if operand is None or operand.constant is not None:
                    continue
                other = self.places[operand.edge]
                fact = allowed.get((i, o))
                fits = fact is not None and (
                    at.start == other.start
                    if fact.exactly
                    else at.start + fact.distance <= other.start
                )
                if at.meets(other) and not fits:
                    raise PlanError(f"{layer.name!r} would overwrite its own input {operand.edge}")

    # ---- Places ----

    def _edge_places(self) -> dict[EdgeId, Stretch]:
        computed = [*self.graph.inputs, *(o.edge for c in self.choices for o in c.layer.outputs)]
        computed += sorted(self.edges() - set(computed))
        missing = {*computed, *self.graph.outputs} - set(self.plan.tensors)
        if missing:
            raise PlanError(f"edges {sorted(missing)} have no place")
        places = {}
        for edge in computed:
            tensor, size = self.plan.tensors[edge], self.graph.type(edge).bytes
            if tensor.bytes != size:
                raise PlanError(f"edge {edge} has {size} bytes, not {tensor.bytes}")
            places[edge] = self._stretch(tensor.buffer, size, f"edge {edge}", tensor.offset)
        return places

    def _stretch(self, buffer: int, size: int, what: str, begin: int = 0) -> Stretch:
        """Bytes of a buffer, from `begin` on."""
        plan = self.plan
        place = plan.places.get(buffer)
        if place is None:
            raise PlanError(f"{what} lies in buffer {buffer}, which has no place")
        if isinstance(place, InSlot):
            if not 0 <= place.slot < plan.slots:
                raise PlanError(f"{what} lies behind pointer {place.slot} of {plan.slots}")
            if begin:
                raise PlanError(f"{what} lies {begin} bytes behind a pointer")
            return Stretch(("slot", place.slot), 0, size)
        start = place.offset + begin
        if start % plan.alignment:
            raise PlanError(f"{what} lies at {start}, which is no multiple of 16")
        if not 0 <= place.pool < len(plan.pools):
            raise PlanError(f"{what} lies in pool {place.pool}, of which there is none")
        pool = plan.pools[place.pool]
        if start < 0 or start + size > pool.bytes:
            raise PlanError(f"{what} lies outside of the {pool.name}")
        return Stretch(("pool", place.pool), start, start + size)

    def _scratches(self, step: Step) -> list[Stretch]:
        """Where the scratch buffer and the scratch regions of a step lie."""
        name, workload = step.choice.layer.name, step.choice.workload
        wanted = [(workload.scratch_bytes, step.scratch)] if workload.scratch_bytes else []
        wanted += [
            (region.bytes, step.regions.get(region))
            for region in dict.fromkeys(workload.regions)
            if region.kind is RegionKind.SCRATCH
        ]
        found = []
        for size, buffer in wanted:
            if buffer is None:
                raise PlanError(f"{name!r} needs {size} bytes of scratch and has none")
            found.append(self._stretch(buffer, size, f"the scratch of {name!r}"))
        return found

    def _reserved(self, calls: Sequence[RegionCall]) -> list[tuple[str, Stretch, set[EdgeId]]]:
        """What only its owner may write: a name, where it lies, the edges that may lie there."""
        plan = self.plan
        found: list[tuple[str, Stretch, set[EdgeId]]] = []
        for region, place in self._private(calls).items():
            found.append((f"the region {region.name!r} of {region.backend}", place, set()))
        if plan.slots:
            if plan.table is None or plan.table not in plan.places:
                raise PlanError("the table of pointers has no place")
            size = plan.buffers[plan.table].bytes
            found.append(
                ("the table of pointers", self._stretch(plan.table, size, "the table"), set())
            )
        found += [(what, place, set()) for what, place in hot_places(plan)]
        for state in plan.exposure.states:
            owners = {state.input, state.output}
            for edge in owners:
                owners = owners | self.views.same_memory(edge)
            found.append((f"the state {state.name!r}", self.places[state.input], owners))
        for index, (what, place, _) in enumerate(found):
            for other, elsewhere, _ in found[:index]:
                if place.meets(elsewhere):
                    raise PlanError(f"{what} overlaps {other}")
        return found

    def _private(self, calls: Sequence[RegionCall]) -> dict[Region, Stretch]:
        """Where the private regions lie: each inside of the private buffer."""
        plan = self.plan
        used = [r for c in self.choices if not c.workload.is_view for r in c.workload.regions]
        used += [r for call in calls for r in call.regions]
        places: dict[Region, Stretch] = {}
        for region in dict.fromkeys(r for r in used if r.kind is RegionKind.PRIVATE):
            what = f"the region {region.name!r} of {region.backend}"
            if plan.private is None or region not in plan.private_offsets:
                raise PlanError(f"{what} has no place")
            buffer = plan.buffers[plan.private]
            whole = self._stretch(plan.private, buffer.bytes, "the private memory")
            start = whole.start + plan.private_offsets[region]
            if start % plan.alignment:
                raise PlanError(f"{what} lies at {start}, which is no multiple of 16")
            places[region] = Stretch(whole.space, start, start + region.bytes)
            if start < whole.start or start + region.bytes > whole.end:
                raise PlanError(f"{what} lies outside of the private memory")
        return places

    def _require_unreserved(self, place: Stretch, what: str, edge: EdgeId | None = None) -> None:
        for name, other, owners in self.reserved:
            if place.meets(other) and edge not in owners:
                raise PlanError(f"{what} overlaps {name}")

    def _require_apart(self, edges: Iterable[EdgeId], what: str) -> None:
        known: list[EdgeId] = []
        for edge in edges:
            for other in known:
                if self.places[edge].meets(
                    self.places[other]
                ) and other not in self.views.same_memory(edge):
                    raise PlanError(f"{what}, edges {other} and {edge}, overlap")
            known.append(edge)

    def _require_every_layer(self) -> None:
        expected = [c.layer.node.id for c in self.choices if not c.workload.is_view]
        found = [step.choice.layer.node.id for step in self.plan.steps]
        if sorted(found) != sorted(expected):
            raise PlanError(f"layers {sorted(found)} are called, but {sorted(expected)} are needed")
        if [step.index for step in self.plan.steps] != list(range(len(found))):
            raise PlanError("the layers are not numbered in their order")

"""The program of a plan in C: a function of statements for each stretch that runs as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby

from mcu_deploy.backends.interface import Argument, RegionCall, RegionKind, Role
from mcu_deploy.codegen import constants, control, describe, memory, names
from mcu_deploy.codegen.control import ControlLines
from mcu_deploy.codegen.places import Places
from mcu_deploy.codegen.statements import Function, Statement
from mcu_deploy.codegen.symbols import Symbols
from mcu_deploy.codegen.text import wrap
from mcu_deploy.errors import BackendFault, ModelError
from mcu_deploy.ir import Graph
from mcu_deploy.plan import Copy, Parallel, Plan, Step
from mcu_deploy.selection.formulas import SIZE


def functions(graph: Graph, plan: Plan, symbols: Symbols) -> list[Function]:
    """The program, cut where a partition begins or ends: each piece belongs to the same ones."""
    membership = [
        frozenset(number for number, part in enumerate(plan.parts) if position in part.items)
        for position in range(len(plan.program))
    ]
    pieces = [
        (parts, [position for position, _ in items])
        for parts, items in groupby(enumerate(membership), key=lambda pair: pair[1])
    ]
    has_status = plan.managed is not None or control.can_fail(plan)
    if not pieces:
        empty = tuple(Places(graph, plan).head)
        return [Function("layers", "", empty, (), has_status=has_status, has_size=True)]
    if plan.parallel:
        return _with_lanes(graph, plan, symbols)
    found = []
    for number, (parts, positions) in enumerate(pieces):
        flow = _flow(graph, plan, symbols, positions)
        alone = len(pieces) == 1
        owners = ", ".join(names.comment(plan.parts[p].name, 40) for p in sorted(parts))
        found.append(
            Function(
                "layers" if alone else f"piece{number}",
                "" if alone else f"Part of: {owners}." if owners else "Part of no partition.",
                tuple(flow.places.head),
                tuple(flow.statements),
                parts,
                has_status,
                has_size=True,
            )
        )
    return found


def _with_lanes(graph: Graph, plan: Plan, symbols: Symbols) -> list[Function]:
    """The program as one function, and two more for each stretch that runs on two cores."""
    found: list[Function] = []
    flow = _flow(graph, plan, symbols)
    begins = {stretch.positions[0]: stretch for stretch in plan.parallel}
    position = 0
    while position < len(plan.program):
        stretch = begins.get(position)
        if stretch is None:
            _add(flow, position)
            position += 1
            continue
        first = len(found)
        for lane in stretch.lanes:
            found.append(_lane(graph, plan, lane, symbols, len(found)))
        flow.add(partial(_both, stretch, found[first:], symbols.prefix))
        position += len(stretch.positions)
    declarations, statements = tuple(flow.places.head), tuple(flow.statements)
    has_status = control.can_fail(plan)
    return [*found, Function("layers", "", declarations, statements, has_status=has_status)]


def _lane(
    graph: Graph, plan: Plan, positions: Sequence[int], symbols: Symbols, number: int
) -> Function:
    items = [plan.program[position] for position in positions]
    if any(isinstance(item, Step) and item.choice.workload.can_fail for item in items):
        raise ModelError(
            "The schedule runs a layer beside others that may end the run, since it checks values "
            "that are computed then. Let such a layer run alone."
        )
    flow = _flow(graph, plan, symbols, positions)
    return Function(
        f"lane{number}",
        "",
        ("mcu_instance_t *const instance = context;", *flow.places.head),
        tuple(flow.statements),
        is_lane=True,
    )


def _both(stretch: Parallel, lanes: Sequence[Function], prefix: str) -> Statement:
    """Both lanes at once. A hook, which may hold anything, sees one layer after the other."""
    named = " and ".join(
        f"layer {lane[0]}" if len(lane) == 1 else f"layers {lane[0]} to {lane[-1]}"
        for lane in stretch.lanes
    )
    first, second = (f"{prefix}{lane.stem}" for lane in lanes)
    lines = (
        "    if (instance->hook == NULL) {",
        wrap("        _mcu_parallel(", (first, second, "instance"), ");"),
        "    } else {",
        f"        {first}(instance);",
        f"        {second}(instance);",
        "    }",
    )
    comment = (f"On two cores at once: {named}.", "A hook sees them one after the other.")
    return Statement(comment, "\n".join(lines))


def _flow(
    graph: Graph, plan: Plan, symbols: Symbols, positions: Iterable[int] = ()
) -> ControlLines:
    """The statements of these positions of the program."""
    flow = ControlLines(graph, plan, symbols, Places(graph, plan))
    for position in positions:
        _add(flow, position)
    return flow


def _add(flow: ControlLines, position: int) -> None:
    item = flow.plan.program[position]
    if not isinstance(item, Copy) or is_needed(flow.plan, item):
        flow.add(partial(_statement, flow, position))


def _statement(flow: ControlLines, position: int) -> Statement:
    plan, places = flow.plan, flow.places
    item = plan.program[position]
    if isinstance(item, Copy):
        made = _copy(flow, item)
    elif isinstance(item, Step):
        made = _call(flow, item)
    else:
        made = flow.statement(item)
    before = (*memory.moves(plan, position, places), *memory.takes(plan, position, places))
    return replace(made, before=before, after=memory.gives(plan, position, places))


def is_needed(plan: Plan, copy: Copy) -> bool:
    """Whether a copy does something: not where both edges have one place, which does not move."""
    return copy.source not in plan.tensors or plan.place(copy.source) != plan.place(copy.target)


def _copy(flow: ControlLines, copy: Copy) -> Statement:
    graph, plan = flow.graph, flow.plan
    arguments = [
        flow.places.tensor("void *", copy.target),
        flow.source(copy.source),
        str(graph.type(copy.target).bytes),
    ]
    target = describe.name(graph.edge_name(copy.target))
    states = {state.input for state in plan.exposure.states}
    comment = f"{target} takes its next value."
    if copy.target not in states:
        comment = f"{target}, from {describe.name(graph.edge_name(copy.source))}."
    function = "memmove" if plan.is_within(copy) else "memcpy"
    return Statement((comment,), wrap(f"{flow.pad}{function}(", arguments, ");"), pad=flow.pad)


def _call(flow: ControlLines, step: Step) -> Statement:
    plan, symbols = flow.plan, flow.symbols
    workload = step.choice.workload
    function = workload.function
    assert function is not None
    symbol = symbols.kernel(workload.helpers, function, workload.backend, step.index)
    arrays = [symbols.constant(c, step.short, step.index) for c in workload.constants]
    hot = {item.constant: item.place for item in plan.hot if item.step == step.index}

    def argument(item: Argument, ctype: str) -> str:
        if item.role is Role.CONSTANT and item.index in hot:
            stem = f"{step.short}_{workload.constants[item.index].stem}"
            return flow.places.at(ctype, hot[item.index], stem)
        if item.role is Role.CONSTANT:
            return arrays[item.index]
        if item.role is Role.SIZE:
            return SIZE
        if item.role is Role.SCALAR:
            return constants.scalar(ctype, item.value)
        return _place(flow, step, item, ctype)

    arguments = [
        argument(item, parameter.ctype.strip())
        for item, parameter in zip(workload.arguments, function.parameters, strict=True)
    ]
    macro = "MCU_LAYER_OR_RETURN" if workload.can_fail else "MCU_LAYER"
    text = wrap(f"{flow.pad}{macro}({step.index}, {symbol}(", arguments, "));")
    return Statement(describe.layer(flow.graph, step, len(flow.pad)), text, pad=flow.pad)


def _place(flow: ControlLines, step: Step, item: Argument, ctype: str) -> str:
    """The argument of a layer that lies in RAM."""
    plan, places = flow.plan, flow.places
    layer, workload = step.choice.layer, step.choice.workload
    if item.role is Role.SCRATCH:
        assert step.scratch is not None
        return places.buffer(ctype, step.scratch, f"{step.short}_scratch", step.index)
    if item.role is Role.REGION:
        region = workload.regions[item.index]
        if region.kind is RegionKind.PRIVATE:
            return places.at(ctype, plan.private_region(region), region.name)
        stem = f"{step.short}_{region.name}"
        return places.buffer(ctype, step.regions[region], stem, step.index)
    if item.role is Role.OUTPUT:
        return places.tensor(ctype, layer.outputs[item.index].edge, step.index)
    operand = layer.inputs[item.index]
    if operand is None or operand.constant is not None:
        raise BackendFault.of(
            workload.backend,
            f"passes input {item.index} of the {layer.op} {layer.name!r} to its function, which is "
            f"{'absent' if operand is None else 'a constant and has no place in RAM'}",
        )
    return places.tensor(ctype, operand.edge, step.index)


def region_calls(
    stem: str,
    graph: Graph,
    plan: Plan,
    calls: Sequence[tuple[str, RegionCall]],
    symbols: Symbols,
    verb: str,
) -> Function | None:
    """The function that calls the backends' memory managers; None where none is to be called."""
    if not calls:
        return None
    places = Places(graph, plan)
    statements = []
    for backend, call in calls:
        symbol = symbols.kernel(call.helpers, call.function, backend)
        arguments = [
            places.at(parameter.ctype.strip(), plan.private_region(region), region.name)
            for region, parameter in zip(call.regions, call.function.parameters, strict=True)
        ]
        text = wrap(f"    {symbol}(", arguments, ");")
        statements.append(Statement((f"{backend} {verb}.",), text))
    return Function(stem, "", (*places.head, *places.declared()), tuple(statements))

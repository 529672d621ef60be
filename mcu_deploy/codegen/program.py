"""The program of a plan in C: a function of statements for each stretch that runs as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby

from mcu_deploy.backends.interface import Argument, RegionCall, RegionKind, Role
from mcu_deploy.codegen import control, describe, memory, names
from mcu_deploy.codegen.control import Flow
from mcu_deploy.codegen.statements import Addresses, Function, Statement
from mcu_deploy.codegen.symbols import Symbols
from mcu_deploy.codegen.text import wrap
from mcu_deploy.errors import BackendFault, ModelError
from mcu_deploy.ir import Graph
from mcu_deploy.plan import Copy, Parallel, Place, Plan, Step


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
        empty = tuple(Addresses().declarations)
        return [Function("layers", "", empty, (), has_status=has_status)]
    if plan.parallel:
        return _with_lanes(graph, plan, symbols)
    found = []
    for number, (parts, positions) in enumerate(pieces):
        addresses = Addresses(plan.managed)
        flow = Flow(graph, plan, symbols, addresses)
        statements = [_statement(flow, p) for p in positions]
        alone = len(pieces) == 1
        owners = ", ".join(names.comment(plan.parts[p].name, 40) for p in sorted(parts))
        found.append(
            Function(
                "layers" if alone else f"piece{number}",
                "" if alone else f"Part of: {owners}." if owners else "Part of no partition.",
                (*_status(plan, positions), *addresses.declarations),
                tuple(s for s in statements if s is not None),
                parts,
                has_status,
            )
        )
    return found


def _with_lanes(graph: Graph, plan: Plan, symbols: Symbols) -> list[Function]:
    """The program as one function, and two more for each stretch that runs on two cores."""
    found: list[Function] = []
    addresses = Addresses()
    flow = Flow(graph, plan, symbols, addresses)
    statements: list[Statement | None] = []
    begins = {stretch.positions[0]: stretch for stretch in plan.parallel}
    position = 0
    while position < len(plan.program):
        stretch = begins.get(position)
        if stretch is None:
            statements.append(_statement(flow, position))
            position += 1
            continue
        first = len(found)
        for lane in stretch.lanes:
            found.append(_lane(graph, plan, lane, symbols, len(found)))
        statements.append(_both(stretch, found[first:], symbols.prefix))
        position += len(stretch.positions)
    shown = tuple(s for s in statements if s is not None)
    declarations = (*_status(plan, range(len(plan.program))), *addresses.declarations)
    has_status = control.can_fail(plan)
    return [*found, Function("layers", "", declarations, shown, has_status=has_status)]


def _status(plan: Plan, positions: Iterable[int]) -> list[str]:
    """The variable for what layers return that may end the run."""
    items = [plan.program[position] for position in positions]
    fails = any(isinstance(item, Step) and item.choice.workload.can_fail for item in items)
    return ["int32_t status;"] if fails else []


def _lane(
    graph: Graph, plan: Plan, positions: Sequence[int], symbols: Symbols, number: int
) -> Function:
    if _status(plan, positions):
        raise ModelError(
            "The schedule runs a layer beside others that may end the run, since it checks values "
            "that are computed then. Let such a layer run alone."
        )
    addresses = Addresses()
    flow = Flow(graph, plan, symbols, addresses)
    made = [_statement(flow, p) for p in positions]
    return Function(
        f"lane{number}",
        "",
        ("mcu_instance_t *const instance = context;", *addresses.declarations),
        tuple(s for s in made if s is not None),
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


def _statement(flow: Flow, position: int) -> Statement | None:
    plan, addresses = flow.plan, flow.addresses
    item = plan.program[position]
    if isinstance(item, Copy):
        if not is_needed(plan, item):
            return None
        made = _copy(flow, item)
    elif isinstance(item, Step):
        made = _call(flow, item)
    else:
        made = flow.statement(item)
    before = (
        *memory.moves(plan, position, addresses),
        *memory.takes(plan, position, addresses),
    )
    return replace(made, before=before, after=memory.gives(plan, position, addresses))


def is_needed(plan: Plan, copy: Copy) -> bool:
    """Whether a copy does something: not where both edges have one place, which does not move."""
    return copy.source not in plan.tensors or plan.place(copy.source) != plan.place(copy.target)


def _copy(flow: Flow, copy: Copy) -> Statement:
    graph, plan = flow.graph, flow.plan
    arguments = [
        flow.addresses.pointer("void *", plan.place(copy.target)),
        flow.source(copy.source),
        str(graph.type(copy.target).bytes),
    ]
    target = describe.name(graph.edge_name(copy.target))
    states = {state.input for state in plan.exposure.states}
    comment = f"{target} takes its next value."
    if copy.target not in states:
        comment = f"{target}, from {describe.name(graph.edge_name(copy.source))}."
    return Statement((comment,), wrap(f"{flow.pad}memcpy(", arguments, ");"), pad=flow.pad)


def _call(flow: Flow, step: Step) -> Statement:
    plan, symbols, addresses = flow.plan, flow.symbols, flow.addresses
    workload = step.choice.workload
    function = workload.function
    assert function is not None
    symbol = symbols.kernel(workload.helpers, function, workload.backend)
    arrays = [symbols.constant(c, step.short) for c in workload.constants]
    hot = {item.constant: item.place for item in plan.hot if item.step == step.index}

    def argument(item: Argument, ctype: str) -> str:
        if item.role is Role.CONSTANT:
            place = hot.get(item.index)
            return arrays[item.index] if place is None else addresses.pointer(ctype, place)
        return addresses.pointer(ctype, _place(plan, step, item))

    arguments = [
        argument(item, parameter.ctype.strip())
        for item, parameter in zip(workload.arguments, function.parameters, strict=True)
    ]
    pad = flow.pad
    text = wrap(f"{pad}{'status = ' if workload.can_fail else ''}{symbol}(", arguments, ");")
    if workload.can_fail:
        text += f"\n{pad}if (status != MCU_OK) {{\n{pad}    return status;\n{pad}}}"
    return Statement(describe.layer(flow.graph, step), text, step.index, pad=flow.pad)


def _place(plan: Plan, step: Step, item: Argument) -> Place:
    """Where the argument of a layer lies."""
    layer, workload = step.choice.layer, step.choice.workload
    if item.role is Role.SCRATCH:
        assert step.scratch is not None
        return plan.buffer_place(step.scratch, step.index)
    if item.role is Role.REGION:
        region = workload.regions[item.index]
        if region.kind is RegionKind.PRIVATE:
            return plan.private_region(region)
        return plan.buffer_place(step.regions[region], step.index)
    if item.role is Role.OUTPUT:
        return plan.place(layer.outputs[item.index].edge, step.index)
    operand = layer.inputs[item.index]
    if operand is None or operand.constant is not None:
        raise BackendFault(
            workload.backend,
            f"The backend {workload.backend} passes input {item.index} of the {layer.op} "
            f"{layer.name!r} to its function, which is "
            f"{'absent' if operand is None else 'a constant and has no place in RAM'}. "
            "Leave the backend out, and report this to its vendor.",
        )
    return plan.place(operand.edge, step.index)


def region_calls(
    stem: str, plan: Plan, calls: Sequence[tuple[str, RegionCall]], symbols: Symbols, verb: str
) -> Function | None:
    """The function that calls the backends' memory managers; None where none is to be called."""
    if not calls:
        return None
    addresses = Addresses()
    statements = []
    for backend, call in calls:
        symbol = symbols.kernel(call.helpers, call.function, backend)
        arguments = [
            addresses.pointer(parameter.ctype.strip(), plan.private_region(region))
            for region, parameter in zip(call.regions, call.function.parameters, strict=True)
        ]
        text = wrap(f"    {symbol}(", arguments, ");")
        statements.append(Statement((f"{backend} {verb}.",), text))
    return Function(stem, "", tuple(addresses.declarations), tuple(statements))

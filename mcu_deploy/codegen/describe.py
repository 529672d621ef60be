"""What the comments of generated C say: of the network, its workspace, its layers and tensors."""

from __future__ import annotations

import hashlib

import numpy as np

from mcu_deploy.codegen import names
from mcu_deploy.codegen.text import COLUMNS, table, thousands
from mcu_deploy.ir import Graph, Node, TensorType
from mcu_deploy.passes.thinning import removed
from mcu_deploy.plan import InPool, Plan, Step

_LONGEST = 56
_LONGEST_NODE = 76
_AXES = {3: "NCL", 4: "NCHW", 5: "NCDHW"}


def summary(graph: Graph, plan: Plan, weights: bytes) -> list[str]:
    """The network in numbers, a line each."""
    times = plan.times
    macs = sum(step.choice.layer.macs * times[step.index] for step in plan.steps)
    rows = [("source model", f"{name(graph.name)}, SHA-256")]
    rows.append(("", graph.source_sha256))
    if weights:
        rows.append(("constants", f"{thousands(len(weights))} bytes, as a file: SHA-256"))
        rows.append(("", hashlib.sha256(weights).hexdigest()))
    for pool in plan.pools:
        where = f" in {pool.memory}" if pool.memory else ""
        rows.append((pool.name, f"{thousands(pool.bytes)} bytes{where}"))
    rows.append(("layers", f"{len(plan.steps)} with {thousands(macs)} multiply-accumulates"))
    return table(rows)


def pools(plan: Plan) -> list[tuple[str, list[str]]]:
    """Of each pool its name and its plan as a table, in the order in which buffers are needed."""
    found = []
    for number, pool in enumerate(plan.pools):
        rows = sorted(_placed(plan, number), key=lambda row: (row[2], row[0]))
        if rows:
            title = ("offset", "bytes", "from", "to", "holds")
            lines = [title, *(_line(plan, *row) for row in rows)]
            found.append((pool.name, table(lines, right=(0, 1, 2, 3))))
    return found


def pool_sizes(plan: Plan, network: str) -> list[str]:
    """A macro for the bytes of each pool beside the workspace, a line each."""
    rows = [
        (
            f"#define MCU_{network.upper()}_{pool.name.upper()}_SIZE",
            f"{pool.bytes}U",
            f"/* in {pool.memory} */" if pool.memory else "",
        )
        for pool in plan.pools[1:]
    ]
    return [line.rstrip() for line in table(rows, gap=1)]


_Row = tuple[int, int, int, int, str]  # offset, bytes, the first and the last position, label


def _line(plan: Plan, at: int, size: int, first: int, last: int, label: str) -> tuple[str, ...]:
    end = len(plan.program)
    if last > end:
        return str(at), str(size), "always", "always", label
    return str(at), str(size), _moment(first, end, "input"), _moment(last, end, "0"), label


def _placed(plan: Plan, pool: int) -> list[_Row]:
    """What lies in a pool; always: last is behind the end. A buffer that moves has several rows."""
    always = (-1, len(plan.program) + 1)
    found: list[_Row] = []
    for buffer in plan.buffers:
        place = plan.buffer_place(buffer.id)
        if not isinstance(place, InPool) or place.pool != pool:
            continue
        label = name(buffer.label, 48)
        if buffer.persistent:
            found.append((place.offset, buffer.bytes, *always, label))
            continue
        stays = plan.moved.get(buffer.id, ((buffer.first, place.offset),))
        until = [since - 1 for since, _ in stays[1:]] + [buffer.last]
        for (since, offset), last in zip(stays, until, strict=True):
            found.append((offset, buffer.bytes, since, last, label))
    return found + (_managed(plan) if pool == 0 else []) + _hot(plan, pool)


def _hot(plan: Plan, pool: int) -> list[_Row]:
    """The constants in a pool, each once."""
    rows: dict[int, _Row] = {}
    for hot in plan.hot:
        if hot.place.pool == pool:
            choice = plan.steps[hot.step].choice
            stem = choice.workload.constants[hot.constant].stem
            label = f"{stem} of {name(choice.layer.short, 40)}"
            at = hot.place.offset
            rows.setdefault(at, (at, hot.bytes, -1, len(plan.program) + 1, label))
    return list(rows.values())


def _managed(plan: Plan) -> list[_Row]:
    """The memory manager, and what it gives in a whole run."""
    managed = plan.managed
    if managed is None:
        return []
    addresses, _ = managed.addresses(range(len(plan.program)))
    last = {take.buffer: p for p, given in managed.gives.items() for take in given}
    rows = [
        (addresses[take.buffer], take.bytes, position, last.get(take.buffer, len(plan.program)),
         f"{name(plan.buffers[take.buffer].label, 36)} (run time)")
        for position, taken in managed.takes.items()
        for take in taken
    ]  # fmt: skip
    size = managed.end - managed.manager
    return [*rows, (managed.manager, size, -1, len(plan.program) + 1, "the memory manager")]


def _moment(position: int, end: int, before: str) -> str:
    if position < 0:
        return before
    return "output" if position >= end else str(position)


def layer(graph: Graph, step: Step, indent: int) -> tuple[str, ...]:
    """What a layer is, and what it computes: one line of a comment if it fits, else two."""
    view = step.choice.layer
    title = node(view.node)
    leaves = len(graph.leaf_nodes(view.node.id))
    if leaves > 1:
        title += f" ({leaves} nodes)"
    given = [o.type for o in view.inputs if o is not None and o.constant is None]
    inputs = ", ".join(map(type_name, given))
    outputs = ", ".join(type_name(o.type) for o in view.outputs)
    gone = removed(graph, view.output.edge) if view.outputs else None
    if gone is not None:
        outputs += f", {gone.size - len(gone.indices)} of {gone.size} channels"
    macs = f"; {thousands(view.macs)} MACs" if view.macs else ""
    computed = f"{inputs}{' ' if inputs else ''}-> {outputs}{macs}"
    whole = f"{title}: {computed}"
    return (whole,) if indent + len(f"/* {whole} */") <= COLUMNS else (f"{title}:", computed)


def node(of: Node) -> str:
    """A node: its short name, its operator, and what the model calls it."""
    words = [of.short, of.op] if of.short else [of.op]
    known = ": ".join(names.comment(word, 32) for word in words)
    return f"{known}, {name(of.name, min(_LONGEST, _LONGEST_NODE - len(known)))}"


def tensor(graph: Graph, edge: int) -> str:
    """An input or an output: name, C type and dimensions, bytes."""
    type_ = graph.type(edge)
    dimensions = "".join(f"[{extent}]" for extent in type_.shape) or ", a scalar"
    size = f"{thousands(type_.bytes)} byte{'s' if type_.bytes != 1 else ''}"
    return f"{name(graph.edge_name(edge), 40)}: {type_.dtype.c_type}{dimensions}, {size}"


def real_value(scale: float, zero: int) -> str:
    """The formula from a quantized element q to the number that it stands for. scale: a float32."""
    single = np.float32(scale)
    text = np.format_float_positional(single, unique=True, trim="-")
    if len(text) > 16:
        text = np.format_float_scientific(single, unique=True, trim="-")
    if zero == 0:
        return f"{text} * q"
    return f"{text} * (q {'-' if zero > 0 else '+'} {abs(zero)})"


def type_name(type_: TensorType) -> str:
    """Element type, shape in the model's order of axes, and the order in memory if it differs."""
    text = f"{type_.dtype.value}[{','.join(map(str, type_.shape))}]"
    if type_.layout is None or type_.memory_axes() == tuple(sorted(type_.memory_axes())):
        return text
    letters = _AXES.get(type_.rank)
    if letters is None:
        return f"{text} with axes in the order {','.join(map(str, type_.layout))}"
    return f"{text} {''.join(letters[axis] for axis in type_.layout)}"


def name(text: str, longest: int = _LONGEST) -> str:
    """A name from the model, for a comment.

    TFLite's converter joins the names of all operators that it fused by semicolons; the first one
    tells the layer.
    """
    first, separator, _ = text.partition(";")
    if separator and first.strip():
        text = f"{first};..."
    return names.comment(text, longest)

"""Whether the graphs that If, Loop and Scan hold fit their nodes."""

from __future__ import annotations

from collections.abc import Sequence

from mcu_deploy.ir import EdgeId, Graph, Node, TensorType


def misfit(graph: Graph, node: Node) -> str | None:
    """What does not fit, as a clause; None for a node whose graphs can be run."""
    if node.domain or node.op not in _HELD:
        return None
    held = graph.subgraphs(node.id)
    missing = [name for name in _HELD[node.op] if name not in held]
    if missing:
        return f"it has no {missing[0]}"
    check = {"If": _if, "Loop": _loop, "Scan": _scan}[node.op]
    return check(graph, node)


_HELD = {"If": ("then_branch", "else_branch"), "Loop": ("body",), "Scan": ("body",)}


def _if(graph: Graph, node: Node) -> str | None:
    if len(node.inputs) != 1 or not _one(graph, node.inputs[0]):
        return "its condition is not one value"
    for name in _HELD["If"]:
        branch = graph.subgraphs(node.id)[name]
        if len(branch.inputs) != len(node.extra_inputs):
            return f"its {name} has inputs"
        wrong = _unlike(_types(graph, node.outputs), _types(branch, branch.outputs))
        if wrong is not None:
            return f"its {name} has other outputs than it: {wrong}"
    return None


def _loop(graph: Graph, node: Node) -> str | None:
    body = graph.subgraphs(node.id)["body"]
    formal = _formal(node, body)
    if len(formal) < 2 or len(body.outputs) < 1 or len(node.inputs) < 2:
        return "its body has no iteration number and condition"
    controls = (*node.inputs[:2], *formal[:2], body.outputs[0])
    ours, theirs = controls[:2], controls[2:]
    if not all(e is None or _one(graph, e) for e in ours) or not all(_one(body, e) for e in theirs):
        return "its trip count or condition is not one value"
    return _carried(graph, node, node.inputs[2:], formal[2:], body.outputs[1:]) or _collected(
        graph, node, body.outputs[1:], len(node.inputs) - 2, (0,) * len(node.outputs)
    )


def _scan(graph: Graph, node: Node) -> str | None:
    if graph.opset < 9:
        return None  # its items have lengths of their own; the interpreter refuses it
    body, attributes = graph.subgraphs(node.id)["body"], graph.attributes(node.id)
    formal, count = _formal(node, body), int(attributes.get("num_scan_inputs", 0))
    states = len(node.inputs) - count
    if count < 1 or states < 0 or len(formal) != len(node.inputs):
        return f"its body has {len(formal)} inputs, and it {len(node.inputs)}"
    wrong = _carried(graph, node, node.inputs[:states], formal[:states], body.outputs)
    if wrong is not None:
        return wrong
    axes = _axes(attributes.get("scan_input_axes"), count)
    collected = len(node.outputs) - states
    out_axes = _axes(attributes.get("scan_output_axes"), collected)
    for name, wanted in (("input", count), ("output", collected)):
        for what in ("axes", "directions"):
            given = attributes.get(f"scan_{name}_{what}", (0,) * wanted)
            if len(given) != wanted:
                return f"it has {len(given)} scan_{name}_{what}"
    lengths = set()
    for edge, inner, axis in zip(node.inputs[states:], formal[states:], axes, strict=True):
        if edge is None or not -graph.type(edge).rank <= axis < graph.type(edge).rank:
            return f"an input has no axis {axis}"
        shape = graph.type(edge).shape
        lengths.add(shape[axis])
        wrong = _unlike([_element(graph.type(edge), axis)], [body.type(inner)])
        if wrong is not None:
            return f"an element is not what its body takes: {wrong}"
    if len(lengths) != 1:
        return f"it scans over {sorted(lengths)} elements at once"
    wrong = _collected(graph, node, body.outputs, states, (*(0,) * states, *out_axes))
    for edge, axis in zip(node.writes[states:], out_axes, strict=True):
        if wrong is None and graph.type(edge).shape[axis] not in lengths:
            wrong = f"it collects {graph.type(edge).shape[axis]} elements"
    return wrong


def _carried(
    graph: Graph,
    node: Node,
    given: Sequence[EdgeId | None],
    taken: Sequence[EdgeId],
    returned: Sequence[EdgeId],
) -> str | None:
    """What is carried keeps its type: given to the node, taken by the body, returned, written."""
    body = graph.subgraphs(node.id)["body"]
    if len(given) != len(taken) or len(returned) != len(node.outputs):
        return (
            f"it carries {len(given)} values and writes {len(node.outputs)}, but its body takes "
            f"{len(taken)} and gives {len(returned)}"
        )
    if len(given) > len(node.outputs) or None in (*given, *node.outputs):
        return "a value that it carries, or an output, is missing"
    states = _types(graph, given)
    for types in (
        _types(body, taken), _types(body, returned[: len(given)]),
        _types(graph, node.outputs[: len(given)]),
    ):  # fmt: skip
        wrong = _unlike(states, types)
        if wrong is not None:
            return f"a value that it carries changes: {wrong}"
    return None


def _collected(
    graph: Graph, node: Node, returned: Sequence[EdgeId], states: int, axes: Sequence[int]
) -> str | None:
    """An output behind the states is the elements that the body returns, along a new axis."""
    body = graph.subgraphs(node.id)["body"]
    for edge, element, axis in zip(
        node.writes[states:], returned[states:], axes[states:], strict=True
    ):
        type_ = graph.type(edge)
        if not -type_.rank <= axis < type_.rank:
            return f"an output has no axis {axis}"
        wrong = _unlike([_element(type_, axis)], [body.type(element)])
        if wrong is not None:
            return f"an output does not consist of what its body gives: {wrong}"
    return None


def _formal(node: Node, body: Graph) -> tuple[EdgeId, ...]:
    """The inputs of the body without the extra ones."""
    return body.inputs[: len(body.inputs) - len(node.extra_inputs)]


def _axes(given: Sequence[int] | None, count: int) -> list[int]:
    axes = [0] * count if given is None else [int(axis) for axis in given]
    return (axes + [0] * count)[:count]


def _element(type_: TensorType, axis: int) -> TensorType:
    shape = list(type_.shape)
    del shape[axis]
    return TensorType(type_.dtype, tuple(shape))


def _types(graph: Graph, edges: Sequence[EdgeId | None]) -> list[TensorType]:
    return [graph.type(edge) for edge in edges if edge is not None]


def _one(graph: Graph, edge: EdgeId | None) -> bool:
    return edge is not None and graph.type(edge).elements == 1


def _unlike(ours: Sequence[TensorType], theirs: Sequence[TensorType]) -> str | None:
    if len(ours) != len(theirs):
        return f"{len(theirs)} for {len(ours)}"
    for one, two in zip(ours, theirs, strict=True):
        if (one.dtype, one.shape) != (two.dtype, two.shape):
            return f"{one} and {two}"
    return None

"""What follows from the leaf of one tree alone becomes what the leaf says, and sums of trees that
read the same features become one ensemble: so an isolation forest is one, which skl2onnx writes as
trees that give their leaves' numbers, two encoders of each, and a formula of what these give.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mcu_deploy import operators
from mcu_deploy.interpreter import run_node
from mcu_deploy.ir import EdgeId, Graph, GraphEditor, Node
from mcu_deploy.operators.trees import SUM, Forest, Grown, NoForest, aggregate_of


def choose(graph: Graph) -> Graph:
    """The graph, in which trees read all features where they read some that a Gather takes."""
    editor = GraphEditor(graph)
    for node in graph.nodes:
        if (node.domain, node.op) != ("ai.onnx.ml", "TreeEnsemble"):
            continue
        taken = graph.producer(node.reads[0])
        if taken is None or (taken.domain, taken.op) != ("", "Gather"):
            continue
        data, columns = taken.reads[0], graph.constant(taken.reads[1])
        is_of_columns = graph.type(data).rank == 2 and graph.attributes(taken.id).get("axis") == 1
        if columns is None or columns.ndim != 1 or not is_of_columns or columns.min(initial=0) < 0:
            continue
        attributes = graph.attributes(node.id)
        features = np.array(attributes["nodes_featureids"], np.int64)
        if features.min(initial=0) < 0 or features.max(initial=0) >= len(columns):
            continue  # which backends say
        of = tuple(columns[features].tolist())
        editor.set_attributes(node.id, {**attributes, "nodes_featureids": of})
        editor.put(replace(editor.nodes[node.id], inputs=(data,)))
    return editor.finish()


def fold(graph: Graph) -> Graph:
    """The graph, in which functions of one tree's leaf are that tree."""
    editor = GraphEditor(graph)
    for tree, members in _functions(graph).items():
        node, inside = graph.node(tree), {tree, *(m.id for m in members)}
        ends = [
            edge for edge in (node.writes[0], *(m.writes[0] for m in members))
            if edge in graph.outputs or any(c.id not in inside for c in graph.consumers(edge))
        ]  # fmt: skip
        forest = _forest(graph, node)
        if forest is None or len(ends) != 1 or not members:
            continue
        type_ = graph.type(ends[0])
        if type_ != graph.type(node.writes[0]):
            continue
        said = _values(graph, node, forest, members, ends[0])
        made = Grown(forest.splits.dtype, forest.weights.dtype)
        root = grow(made, forest, [made.leaf(((0, weight),)) for weight in said])
        for member in members:
            editor.remove_node(member.id)
        editor.set_outputs(tree, ends)
        found = made.forest(root).attributes()
        editor.set_attributes(tree, {**graph.attributes(tree), **found})
    return editor.finish()


def add(graph: Graph) -> Graph:
    """The graph, in which sums of ensembles of the same features are one."""
    editor = GraphEditor(graph)
    summed: dict[EdgeId, list[Forest]] = {}
    nodes: dict[EdgeId, list[Node]] = {}
    for node in graph.nodes:
        forest = _forest(graph, node, trees=None)
        if forest is not None:
            summed[node.writes[0]], nodes[node.writes[0]] = [forest], [node]
        if not (node.op in ("Add", "Sum") and not node.domain and {*node.reads} <= {*summed}):
            continue
        behind = (summed[edge] for edge in node.reads[1:])
        is_one_by_one = all([len(f.roots) for f in forests] == [1] for forests in behind)
        if is_one_by_one and _are_alike(graph, node, [nodes[edge][0] for edge in node.reads]):
            summed[node.writes[0]] = [f for edge in node.reads for f in summed.pop(edge)]
            nodes[node.writes[0]] = [n for edge in node.reads for n in nodes.pop(edge)] + [node]
    for edge, forests in summed.items():
        ensemble, *rest = nodes[edge]
        if not rest:
            continue
        made, roots = Grown(forests[0].splits.dtype, forests[0].weights.dtype), list[int]()
        for forest in forests:
            leaves = [made.leaf(((0, weight),)) for weight in _weights(forest)]
            roots += grow(made, forest, leaves)
        for node in rest:
            editor.remove_node(node.id)
        editor.set_outputs(ensemble.id, [edge])
        found = made.forest(roots).attributes()
        editor.set_attributes(ensemble.id, {**graph.attributes(ensemble.id), **found})
    return editor.finish()


def _are_alike(graph: Graph, sums: Node, trees: Sequence[Node]) -> bool:
    """Whether a node adds ensembles of the same features, each of which nobody else reads."""
    alone = all(graph.consumers(e) == (sums,) and e not in graph.outputs for e in sums.reads)
    return alone and len({*sums.reads}) == len(sums.reads) and len({n.reads for n in trees}) == 1


def grow(made: Grown, forest: Forest, leaves: Sequence[int]) -> list[int]:
    """Adds a forest with other leaves; gives its roots."""
    known = {~number: leaf for number, leaf in enumerate(leaves)}
    for node in forest.children_first():
        known[node] = made.ask(
            int(forest.features[node]), forest.splits[node], known[int(forest.below[node])],
            known[int(forest.above[node])], bool(forest.lost_below[node]),
        )  # fmt: skip
    return [known[root] for root in forest.roots.tolist()]


def _functions(graph: Graph) -> Mapping[int, list[Node]]:
    """Of each node that is a tree, what follows from its leaf alone: one number each, in order."""
    of: dict[EdgeId, int] = {}
    found: dict[int, list[Node]] = {}
    for node in graph.nodes:
        if _forest(graph, node) is not None:
            of[node.writes[0]] = node.id
            found[node.id] = []
            continue
        trees = {of.get(e) for e in node.reads if graph.constant(e) is None}
        is_plain = len(node.writes) == 1 and operators.find(node.domain, node.op) is not None
        tree = trees.pop() if len(trees) == 1 else None
        if tree is not None and is_plain and not graph.subgraphs(node.id):
            of[node.writes[0]] = tree
            found[tree].append(node)
    return found


def _forest(graph: Graph, node: Node, trees: int | None = 1) -> Forest | None:
    """Of a node that sums trees for one target and one row; trees: so many."""
    if (node.domain, node.op) != ("ai.onnx.ml", "TreeEnsemble"):
        return None
    attributes = graph.attributes(node.id)
    if aggregate_of(attributes) != SUM or graph.type(node.writes[0]).shape != (1, 1):
        return None
    try:
        forest = Forest.of(attributes)
    except NoForest:  # which backends say
        return None
    is_one = np.diff(forest.starts).max(initial=0) <= 1
    return forest if is_one and trees in (None, len(forest.roots)) else None


def _weights(forest: Forest) -> Iterator[Any]:
    """What each leaf adds, or 0."""
    for begin, end in zip(forest.starts[:-1], forest.starts[1:], strict=True):
        yield forest.weights[begin] if begin < end else forest.weights.dtype.type(0)


def _values(
    graph: Graph, tree: Node, forest: Forest, members: Sequence[Node], end: EdgeId
) -> Iterator[Any]:
    """What an edge is for each leaf of the tree."""
    read = {edge for member in members for edge in member.reads}
    values = {e: c for e in read if (c := graph.constant(e)) is not None}
    for weight in _weights(forest):
        values[tree.writes[0]] = np.array([[weight]])
        for member in members:
            (values[member.writes[0]],) = run_node(graph, member, values)
        yield values[end][0, 0]

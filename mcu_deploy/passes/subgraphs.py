"""What the graph around a subgraph knows of it: constants that it reads, and which branch is taken.

Import does the same for what is constant in the file; folding finds more.
"""

from __future__ import annotations

from dataclasses import replace

from mcu_deploy.ir import EdgeId, Graph, GraphEditor, Node


def give_constants(graph: Graph) -> Graph:
    """Constants that If, Loop and Scan read from outside become constants of their graphs."""
    editor = GraphEditor(graph)
    for node in graph.nodes:
        held = graph.subgraphs(node.id)
        known = [edge for edge in node.extra_inputs if graph.constant(edge) is not None]
        if held and known:
            editor.subgraphs[node.id] = {
                name: _with_constants(graph, node, inner) for name, inner in held.items()
            }
            kept = tuple(edge for edge in node.extra_inputs if edge not in known)
            editor.put(replace(node, extra_inputs=kept))
    return editor.finish()


def take_branches(graph: Graph) -> Graph:
    """An If whose condition is constant becomes the branch that is taken."""
    editor = GraphEditor(graph)
    for node in graph.nodes:
        condition = graph.constant(node.inputs[0]) if node.op == "If" and not node.domain else None
        if condition is None or not graph.subgraphs(node.id):
            continue
        taken = "then_branch" if condition.reshape(-1)[0] else "else_branch"
        branch = graph.subgraphs(node.id)[taken]
        current = editor.nodes[node.id]
        _inline(editor, current, branch)
    return editor.finish()


def _inline(editor: GraphEditor, node: Node, branch: Graph) -> None:
    """Puts a branch in the place of its If; what the If writes is a copy of what it gives."""
    edges: dict[EdgeId, EdgeId] = dict(zip(branch.inputs, node.extra_inputs, strict=True))
    inner = {edge for edge in branch.outputs if edge not in edges}
    for edge in sorted(inner):
        edges[edge] = editor.add_edge(branch.edge_name(edge), branch.type(edge))
        value = branch.constant(edge)
        if value is not None:
            editor.constants[edges[edge]] = value
    editor.remove_node(node.id)
    editor.add_graph(branch, edges)
    for source, target in zip(branch.outputs, node.outputs, strict=True):
        if target is not None:
            editor.add_node("Identity", [edges[source]], [target], f"{editor.edges[target]} taken")


def _with_constants(graph: Graph, node: Node, inner: Graph) -> Graph:
    """A graph that a node holds, in which the constants outside are its own."""
    editor = GraphEditor(inner)
    formal = len(inner.inputs) - len(node.extra_inputs)
    inputs = list(inner.inputs[:formal])
    for outside, edge in zip(node.extra_inputs, inner.inputs[formal:], strict=True):
        value = graph.constant(outside)
        if value is None:
            inputs.append(edge)
        else:
            editor.constants[edge] = value
    editor.inputs = inputs
    return editor.finish()

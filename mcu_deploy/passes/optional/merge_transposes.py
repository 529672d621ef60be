"""Merges Transpose nodes that follow each other: into one, or into nothing where they cancel."""

from __future__ import annotations

from mcu_deploy.backends.interface import SubgraphView, Substitution
from mcu_deploy.ir import Graph, GraphEditor, Node, NodeId


def optimize(view: SubgraphView) -> tuple[Substitution, ...]:
    """Each chain of two or more, whose inner tensors nothing else reads."""
    found: list[Substitution] = []
    taken: set[NodeId] = set()
    for node in view.nodes:
        if node.id not in taken:
            chain = _chain(view, node)
            if len(chain) > 1:
                taken |= {n.id for n in chain}
                part = view.part([n.id for n in chain])
                found.append(Substitution(part, _merged(part, chain)))
    return tuple(found)


def _chain(view: SubgraphView, node: Node) -> list[Node]:
    chain: list[Node] = []
    follower: Node | None = node
    while follower is not None and follower.op == "Transpose" and not follower.domain:
        chain.append(follower)
        follower = view.sole_consumer(follower.writes[0])
    return chain


def _merged(part: SubgraphView, chain: list[Node]) -> Graph:
    (source,), (result,) = part.inputs, part.outputs
    x, y = part.type(source), part.type(result)
    perm = tuple(range(x.rank))
    for node in chain:
        own = part.attributes(node.id).get("perm", tuple(reversed(range(x.rank))))
        perm = tuple(perm[axis] for axis in own)
    editor = GraphEditor(part)
    for node in chain:
        editor.remove_node(node.id)
    if perm == tuple(range(x.rank)) and x.quantization == y.quantization:
        editor.outputs = [source]
    else:
        last = chain[-1]
        editor.add_node(
            "Transpose", [source], [result], last.name, {"perm": perm}, short=last.short
        )
    return editor.finish()

"""Assigns a memory layout to every edge, as the backends ask for, and inserts the conversions.

Shapes stay logical; only `TensorType.layout` changes. A Transpose becomes a view of its input's
memory, so transposes around channel-last operators vanish; where a reader wants another order, a
Reorder node (domain "mcu") copies. The model's own inputs and outputs keep the natural order, and
an output that is a constant is copied from it by an Identity, so that every output has memory.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace

from mcu_deploy.backends.interface import LayoutRule
from mcu_deploy.choose import Assignment
from mcu_deploy.ir import EdgeId, Graph, GraphEditor, Node, NodeId, TensorType

Layout = tuple[int, ...] | None


class _Assigner:
    def __init__(
        self,
        graph: Graph,
        rules: dict[NodeId, LayoutRule],
        natural: Container[EdgeId],
        is_inner: bool,
    ) -> None:
        self.graph = graph
        self.is_inner = is_inner
        self.natural = natural
        self.rules = rules
        self.editor = GraphEditor(graph)
        self.converted: dict[tuple[EdgeId, tuple[int, ...]], EdgeId] = {}
        self.copies: dict[EdgeId, EdgeId] = {}

    def run(self) -> Graph:
        for node in self.graph.nodes:
            self._assign(node)
        self.editor.outputs = [self._output(edge) for edge in self.editor.outputs]
        return self.editor.finish()

    def _assign(self, node: Node) -> None:
        rule = self.rules[node.id]
        inputs = [None if e is None else self._wanted(node, e, rule) for e in node.inputs]
        self.editor.set_inputs(node.id, inputs)
        # Subgraphs see their values in natural order.
        extra = [self._wanted(node, e, LayoutRule.NATURAL) for e in node.extra_inputs]
        self.editor.set_extra_inputs(node.id, extra)
        for edge in node.writes:
            type_ = self.editor.types[edge]
            laid_out = replace(type_, layout=self._output_layout(node, type_, rule))
            if edge in self.natural and not laid_out.same_memory(type_):
                self._put_back(node.id, edge, laid_out)
            else:
                self.editor.types[edge] = laid_out

    def _put_back(self, node: NodeId, edge: EdgeId, laid_out: TensorType) -> None:
        """Lets a node write another edge, from which `edge` is copied in natural order."""
        name = self.editor.edges[edge]
        written = self.editor.add_edge(name, laid_out)
        outputs = [written if e == edge else e for e in self.editor.nodes[node].outputs]
        self.editor.set_outputs(node, outputs)
        self.editor.add_node("Reorder", [written], [edge], f"{name} reordered", {}, "mcu")

    def _wanted(self, node: Node, edge: EdgeId, rule: LayoutRule) -> EdgeId:
        if edge in self.editor.constants or rule is LayoutRule.VIEW:
            return edge
        return self._convert(edge, self._rule_layout(node, self.editor.types[edge], rule))

    def _rule_layout(self, node: Node, type_: TensorType, rule: LayoutRule) -> Layout:
        leader = self._leader(node) if rule is LayoutRule.SAME else None
        return rule.order(type_.rank, None if leader is None else leader.layout)

    def _leader(self, node: Node) -> TensorType | None:
        """The input that the others follow: the largest that is computed and has the output's rank.

        Following the largest copies the fewest bytes; of equals the first leads.
        """
        output = next(e for e in node.outputs if e is not None)
        rank = self.editor.types[output].rank
        computed = [e for e in node.inputs if e is not None and e not in self.editor.constants]
        types = [self.editor.types[edge] for edge in computed]
        return max((t for t in types if t.rank == rank), key=lambda t: t.bytes, default=None)

    def _output_layout(self, node: Node, output: TensorType, rule: LayoutRule) -> Layout:
        if rule is LayoutRule.VIEW:
            type_ = self.editor.types[self.editor.nodes[node.id].input(0)]
            if node.op == "Transpose":
                attributes = self.graph.attributes(node.id)
                perm = tuple(attributes.get("perm", tuple(reversed(range(type_.rank)))))
                return tuple(perm.index(axis) for axis in type_.order)
            return type_.layout
        return self._rule_layout(node, output, rule)

    def _convert(self, edge: EdgeId, layout: Layout) -> EdgeId:
        type_ = self.editor.types[edge]
        target = replace(type_, layout=layout)
        if type_.same_memory(target):
            return edge
        key = (edge, target.memory_axes())
        if key not in self.converted:
            name = self.editor.edges[edge]
            copy = self.editor.add_edge(name, target)
            self.editor.add_node("Reorder", [edge], [copy], f"{name} reordered", {}, "mcu")
            self.converted[key] = copy
        return self.converted[key]

    def _output(self, edge: EdgeId) -> EdgeId:
        """A computed edge in natural order for an output of the model; copies bear its name.

        A constant of a subgraph is copied from where it is to where the output is wanted.
        """
        if edge in self.editor.constants:
            return edge if self.is_inner else self._copy_of_constant(edge)
        natural = self._convert(edge, None)
        self.editor.types[natural] = replace(self.editor.types[natural], layout=None)
        return natural

    def _copy_of_constant(self, edge: EdgeId) -> EdgeId:
        if edge not in self.copies:
            name = self.editor.edges[edge]
            self.copies[edge] = self.editor.add_edge(name, self.editor.types[edge])
            self.editor.add_node("Identity", [edge], [self.copies[edge]], f"{name} copied")
        return self.copies[edge]


def assign(graph: Graph, assignment: Assignment, natural: Container[EdgeId] = ()) -> Graph:
    """The graph with layouts on its edges, as the backends of `assignment` want them.

    natural: edges that lie in natural order for everyone who reads or writes them.
    """
    return _assign(graph, assignment, natural, is_inner=False)


def _assign(
    graph: Graph, assignment: Assignment, natural: Container[EdgeId], *, is_inner: bool
) -> Graph:
    # An If or a Loop that is split has no backend of its own; its tensors lie in natural order.
    rules = {
        node.id: assignment.supports[node.id].layout
        if node.id in assignment.supports
        else LayoutRule.NATURAL
        for node in graph.nodes
    }
    assigner = _Assigner(graph, rules, natural, is_inner)
    for node, parts in assignment.subgraphs.items():
        assigner.editor.subgraphs[node] = {
            name: _assign(inner, parts[name], (), is_inner=True)
            for name, inner in graph.subgraphs(node).items()
        }
    return assigner.run()

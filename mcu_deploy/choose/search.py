"""Covers of a graph by candidates and parts, the best first: dynamic programming, node by node.

What the rest of a cover will cost depends on how the tensors lie that are still to be read, on the
parts that are begun, and, where flash counts, on the functions that are there already. Of all ways
to the same state those are kept that are best in what is `weighed`: one figure, or several of
which neither is better in all. That finds the optimum while there are at most `width` ways at a
time, which holds for chains and for networks with a few branches. Beyond it is a beam.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from mcu_deploy.backends.interface import LayoutRule
from mcu_deploy.choose.model import Cover, Part, Problem, Uncovered
from mcu_deploy.ir import EdgeId, Graph, Node, NodeId, TensorType
from mcu_deploy.ir.types import channels_last

Order = tuple[int, ...]
# For each tensor that is still to be read: the order of its axes in memory, and the orders (without
# axes of size 1, as `TensorType.memory_axes`) of the copies that were made of it.
Arrangement = dict[EdgeId, tuple[Order, frozenset[Order]]]


@dataclass(frozen=True)
class Option:
    """A candidate or a part as it is compared.

    time: in the problem's unit, 0 where it is unknown. place: in the preference, summed over the
    nodes. flash: bytes that are its own; code: those of functions, by key. scratch: bytes.
    """

    backend: str
    rule: LayoutRule
    time: int
    place: int
    flash: int = 0
    code: Mapping[str, int] = field(default_factory=dict)
    scratch: int = 0
    part: Part | None = None
    number: int = 0


@dataclass(frozen=True)
class Totals:
    """The sums of a cover. bare: the nodes that are taken as they are. peak: bytes, a guess that
    ranks covers before the planner is asked."""

    time: int = 0
    place: int = 0
    bare: int = 0
    flash: int = 0
    peak: int = 0

    @property
    def cost(self) -> tuple[int, int, int]:
        """What `speed` makes least: time; of equals the preferred backends, and parts rather than
        single nodes."""
        return (self.time, self.place, self.bare)


Weigh = Callable[[Totals], tuple[tuple[int, ...], ...]]


@dataclass(frozen=True)
class Path:
    """The decisions up to a node, their totals, how the tensors lie, and the parts begun.

    live: the bytes of the tensors that are still to be read, and of their copies.
    """

    totals: Totals
    tensors: Arrangement
    live: int = 0
    begun: Mapping[NodeId, Part] = field(default_factory=dict)
    tangle: tuple[Part, ...] = ()
    functions: frozenset[str] = frozenset()
    node: NodeId | None = None
    option: Option | None = None
    previous: Path | None = None

    def cover(self) -> Cover:
        """All decisions."""
        labels: dict[NodeId, str] = {}
        chosen: dict[NodeId, int] = {}
        parts: list[Part] = []
        path: Path | None = self
        while path is not None:
            if path.node is not None and path.option is not None:
                part = path.option.part
                if part is None:
                    labels[path.node] = path.option.backend
                    chosen[path.node] = path.option.number
                else:
                    parts.append(part)
                    labels.update(dict.fromkeys(part.nodes, part.backend))
            path = path.previous
        order = dict(reversed(labels.items()))
        return Cover(order, tuple(reversed(parts)), chosen)


class Search:
    """Follows the best ways to every state. cut: whether any was left because of the width.

    options: of a node as it is; parts: those that begin at a node. conversion: the time of copying
    one element of a tensor into another order. shared: keys of functions that count once.
    """

    def __init__(
        self,
        problem: Problem,
        options: Callable[[NodeId], Sequence[Option]],
        parts: Mapping[NodeId, Sequence[Option]],
        conversion: int,
        shared: frozenset[str] = frozenset(),
    ) -> None:
        self.problem = problem
        self.graph = problem.graph
        self.cut = False
        self._options, self._parts = options, parts
        self._conversion, self._shared = conversion, shared
        self._outputs = frozenset(self.graph.outputs)
        self._positions = self.graph.topology.positions
        self._order = list(self._positions)
        self._natural = {e: natural(t) for e, t in self.graph.data.types.items()}
        self._bytes = {e: t.bytes for e, t in self.graph.data.types.items()}
        # Of each node what it reads, and which tensors nobody reads after it.
        self._reads = {node.id: node.reads for node in self.graph.nodes}
        last = {e: n for n, reads in self._reads.items() for e in reads}
        self._gone: dict[NodeId, list[EdgeId]] = {n: [] for n in self._reads}
        for edge, node_id in last.items():
            self._gone[node_id].append(edge)
        for node in self.graph.nodes:
            self._gone[node.id] += [e for e in node.writes if e not in last]
        self._acyclic: dict[frozenset[int], bool] = {}
        self._in_memory: dict[tuple[EdgeId, Order], Order] = {}

    def run(self, weigh: Weigh, width: int) -> list[Path]:
        """The ways to the end of which none is better in all; the least comes first."""
        inputs: Arrangement = {
            edge: (self._natural[edge], frozenset()) for edge in self.graph.inputs
        }
        paths = [Path(Totals(), inputs, sum(self._bytes[edge] for edge in inputs))]
        for node in self.graph.nodes:
            fronts: dict[object, list[_Weighed]] = {}
            for path in paths:
                for reached in self._decide(path, node):
                    state = (
                        tuple(reached.tensors.items()),
                        frozenset(map(id, reached.tangle)),
                        reached.functions,
                    )
                    _add(fronts.setdefault(state, []), weigh(reached.totals), reached)
            found = [pair for front in fronts.values() for pair in front]
            if not found:
                raise Uncovered(node.id)
            if len(found) > width:
                self.cut = True
                found = _widest(found, width)
            paths = [path for _, path in found]
        front: list[_Weighed] = []
        for path in paths:
            _add(front, weigh(path.totals), path)
        return [path for _, path in sorted(front, key=lambda pair: pair[0])]

    def _decide(self, path: Path, node: Node) -> Iterator[Path]:
        """One path further for each option. A node that is not asked about wants natural order."""
        begun = path.begun.get(node.id)
        if begun is not None:
            yield self._extend(path, node, None, begun)
            return
        if node.id not in self.problem.candidates:
            yield self._extend(path, node, Option("", LayoutRule.NATURAL, 0, 0), None)
            return
        for option in self._options(node.id):
            yield self._extend(path, node, option, None)
        for option in self._parts.get(node.id, ()):
            part = option.part
            assert part is not None
            if path.begun.keys().isdisjoint(part.nodes) and self._is_acyclic(path.tangle, part):
                yield self._extend(path, node, option, part)

    def _extend(self, path: Path, node: Node, option: Option | None, part: Part | None) -> Path:
        """The path with a node decided: a candidate's, a part's first, or another of a part's."""
        tensors, live = dict(path.tensors), path.live
        time = 0 if option is None else option.time
        elements = 0
        rule = LayoutRule.NATURAL if option is None else option.rule
        own: frozenset[NodeId] = frozenset() if part is None else part.nodes
        producers = self.graph.topology.producers
        inputs = [e for e in self._reads[node.id] if e in tensors and producers.get(e) not in own]
        rules = (rule,) if part is None else part.proposal.layouts
        leader = self._leader(node, inputs, tensors) if LayoutRule.SAME in rules else None
        for edge in inputs:
            wants = rule if part is None else part.reads.get(edge, LayoutRule.NATURAL)
            if part is None and edge in node.extra_inputs:  # subgraphs see natural order
                wants = LayoutRule.NATURAL
            if wants is not LayoutRule.VIEW and self._copies(edge, wants, leader, tensors):
                elements += self.graph.type(edge).elements
                live += self._bytes[edge]
        for edge in node.writes:
            if part is None or edge in part.writes:
                wants = rule if part is None else part.writes[edge]
                tensors[edge] = (self._written(node, edge, wants, leader, tensors), frozenset())
                live += self._bytes[edge]
        peak = live + (0 if option is None else option.scratch)
        if part is not None and option is not None:
            # It runs as a whole: all that it reads and writes is there at once.
            borders = (*part.reads, *part.writes)
            peak += sum(self._bytes[e] for e in dict.fromkeys(borders) if e not in tensors)
        for edge in self._gone[node.id]:
            if edge in tensors:
                if edge in self._outputs:
                    if self._copies(edge, LayoutRule.NATURAL, None, tensors):
                        elements += self.graph.type(edge).elements
                else:
                    live -= self._bytes[edge] * (1 + len(tensors[edge][1]))
                del tensors[edge]
        time += self._conversion * elements
        return self._reached(path, node, option, part, tensors, time, live, peak)

    def _reached(
        self, path: Path, node: Node, option: Option | None, part: Part | None,
        tensors: Arrangement, time: int, live: int, peak: int,
    ) -> Path:  # fmt: skip
        totals, functions = path.totals, path.functions
        begun: Mapping[NodeId, Part] = path.begun
        tangle = path.tangle
        flash = 0
        if option is not None:
            flash = option.flash
            if option.code:
                new = {k: b for k, b in option.code.items() if k not in functions}
                functions |= self._shared & new.keys()
                flash += sum(new.values())
            if part is not None and len(part.nodes) > 1:
                begun = {**begun, **dict.fromkeys(part.nodes, part)}
                tangle = (*tangle, part)
        if node.id in begun:
            begun = {n: p for n, p in begun.items() if n != node.id}
        reached = Totals(
            totals.time + time,
            totals.place + (0 if option is None else option.place),
            totals.bare + (part is None and option is not None and option.backend != ""),
            totals.flash + flash,
            max(totals.peak, peak),
        )
        # Parts that are done may be in a cycle with later ones only while others are not done.
        return Path(
            reached, tensors, live, begun, tangle if begun else (), functions,
            node.id if option is not None and option.backend else None, option, path,
        )  # fmt: skip

    def _is_acyclic(self, tangle: Sequence[Part], part: Part) -> bool:
        """Whether the parts of a tangle, each run as a whole, and the new one have an order.

        A cycle leads through parts that begin before others end, so only the nodes between the
        first and the last of them are looked at.
        """
        if not tangle:
            return True
        parts = (*tangle, part)
        key = frozenset(map(id, parts))
        if key not in self._acyclic:
            self._acyclic[key] = self._has_order(parts)
        return self._acyclic[key]

    def _has_order(self, parts: Sequence[Part]) -> bool:
        at = [self._positions[n] for p in parts for n in p.nodes]
        window = self._order[min(at) : max(at) + 1]
        of: dict[NodeId, NodeId] = {n: n for n in window}
        for whole in parts:
            of.update(dict.fromkeys(whole.nodes, min(whole.nodes)))
        return is_acyclic(self.graph, of)

    def _copies(
        self, edge: EdgeId, rule: LayoutRule, leader: Order | None, tensors: Arrangement
    ) -> bool:
        """Whether a tensor is copied for a reader: not where its bytes lie alike, or a copy is
        there already."""
        order, copies = tensors[edge]
        wanted = self._wanted(edge, rule, leader)
        if wanted == order:
            return False
        target = self._lying(edge, wanted)
        if target == self._lying(edge, order) or target in copies:
            return False
        tensors[edge] = (order, copies | {target})
        return True

    def _lying(self, edge: EdgeId, order: Order) -> Order:
        """An order without the axes of size 1, which have no place in memory."""
        key = edge, order
        if key not in self._in_memory:
            shape = self.graph.type(edge).shape
            self._in_memory[key] = tuple(axis for axis in order if shape[axis] != 1)
        return self._in_memory[key]

    def _leader(self, node: Node, inputs: Sequence[EdgeId], tensors: Arrangement) -> Order | None:
        """How the input lies that the others follow under the rule SAME (as in `layouts`)."""
        rank = self.graph.type(node.writes[0]).rank
        alike = [e for e in inputs if self.graph.type(e).rank == rank]
        if not alike:
            return None
        return tensors[max(alike, key=self._bytes.__getitem__)][0]

    def _written(
        self,
        node: Node,
        edge: EdgeId,
        rule: LayoutRule,
        leader: Order | None,
        tensors: Arrangement,
    ) -> Order:
        if rule is not LayoutRule.VIEW:
            return self._wanted(edge, rule, leader)
        source = node.inputs[0]
        if source is None or source not in tensors:
            return self._natural[edge]
        order = tensors[source][0]
        if node.op != "Transpose":
            return order
        perm = self.graph.attributes(node.id).get("perm", tuple(reversed(range(len(order)))))
        return tuple(tuple(perm).index(axis) for axis in order)

    def _wanted(self, edge: EdgeId, rule: LayoutRule, leader: Order | None) -> Order:
        """The order in which a layer wants a tensor that it reads or writes."""
        order = self._natural[edge]
        if rule is LayoutRule.CHANNELS_LAST and len(order) >= 3:
            return channels_last(len(order))
        if rule is LayoutRule.SAME and leader is not None and len(leader) == len(order):
            return leader
        return order


def is_acyclic(graph: Graph, part_of: Mapping[NodeId, NodeId]) -> bool:
    """Whether parts have an order in which each runs as a whole. part_of: of each node, in the
    graph's order, the node that stands for its part; edges to other nodes do not count."""
    followers: dict[NodeId, set[NodeId]] = {p: set() for p in part_of.values()}
    for node, part in part_of.items():
        for edge in graph.node(node).writes:
            for reader in graph.topology.consumers[edge]:
                if part_of.get(reader, part) != part:
                    followers[part].add(part_of[reader])
    waiting = dict.fromkeys(followers, 0)
    for after in followers.values():
        for part in after:
            waiting[part] += 1
    ready = [p for p, count in waiting.items() if count == 0]
    done = 0
    while ready:
        done += 1
        for part in followers[ready.pop()]:
            waiting[part] -= 1
            if waiting[part] == 0:
                ready.append(part)
    return done == len(followers)


_Weighed = tuple[tuple[tuple[int, ...], ...], Path]


def _add(front: list[_Weighed], weight: tuple[tuple[int, ...], ...], path: Path) -> None:
    """Adds a path to those of its state, if none of them is as good in all; drops worse ones."""
    for other, _ in front:
        if all(a <= b for a, b in zip(other, weight, strict=True)):
            return
    front[:] = [
        pair for pair in front if not all(a <= b for a, b in zip(weight, pair[0], strict=True))
    ]
    front.append((weight, path))


def _widest(found: list[_Weighed], width: int) -> list[_Weighed]:
    """The best of all in each figure by turns, until there are enough."""
    figures = len(found[0][0])
    orders = [
        [i for _, i in sorted((weight[first:], i) for i, (weight, _) in enumerate(found))]
        for first in range(figures)
    ]
    kept: dict[int, None] = {}
    for rank in range(len(found)):
        for order in orders:
            kept[order[rank]] = None
            if len(kept) == width:
                return [found[i] for i in kept]
    return found


def natural(type_: TensorType) -> Order:
    """The order of the shape."""
    return tuple(range(type_.rank))

"""Covers of a graph by candidates and parts, the best first: dynamic programming, node by node.

What the rest of a cover will cost depends on how the tensors lie that are still to be read, on the
parts that are begun, and, where flash counts, on the functions that are there already. Of all ways
to the same state those are kept that are best in what is `weighed`: one figure, or several of
which neither is better in all. That finds the optimum while there are at most `width` ways at a
time, which holds for chains and for networks with a few branches. Beyond it is a beam.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar

from mcu_deploy.backends.interface import LayoutRule
from mcu_deploy.choose.convex import parts_before
from mcu_deploy.choose.model import Part, Problem, Uncovered
from mcu_deploy.choose.orders import Orders
from mcu_deploy.choose.paths import (
    NO_COPIES,
    Arrangement,
    CoverState,
    Decision,
    Option,
    Path,
    Totals,
    Weigh,
    Weight,
)
from mcu_deploy.ir import EdgeId, Graph, Node, NodeId
from mcu_deploy.ir.order import in_order

# Of a node that no backend is asked about.
_NOBODY = Option("", LayoutRule.NATURAL, 0, 0)


class _Move(NamedTuple):
    """How the tensors lie behind a decision; its time with that of copies; by how many bytes more
    are live behind it and at most during it than before it."""

    to: Arrangement
    time: int
    live: int
    peak: int


class Search:
    """Follows the best ways to every state. cut: whether any was left because of the width.

    options: of a node as it is; parts: those that begin at a node. conversion: the time of copying
    one element of a tensor into another order. shared: keys of functions that count once. width:
    how many ways are followed at a time.
    """

    def __init__(
        self,
        problem: Problem,
        options: Callable[[NodeId], Sequence[Option]],
        parts: Mapping[NodeId, Sequence[Option]],
        conversion: int,
        shared: frozenset[str] = frozenset(),
        width: int = 1,
    ) -> None:
        self.problem = problem
        self.width = width
        self.graph = problem.graph
        self.cut = False
        self._parts = parts
        self._own = {
            node.id: tuple(options(node.id)) if node.id in problem.candidates else ()
            for node in self.graph.nodes
        }
        self._conversion = conversion
        self._outputs = frozenset(self.graph.outputs)
        self._positions = self.graph.topology.positions
        self._order = list(self._positions)
        self._orders = Orders(self.graph)
        self._bytes = {e: t.bytes for e, t in self.graph.data.types.items()}
        # Of each node what it reads, and which tensors nobody reads after it.
        self._reads = {node.id: node.reads for node in self.graph.nodes}
        last = self._last = {e: n for n, reads in self._reads.items() for e in reads}
        self._gone: dict[NodeId, list[EdgeId]] = {n: [] for n in self._reads}
        for edge, node_id in last.items():
            self._gone[node_id].append(edge)
        for node in self.graph.nodes:
            self._gone[node.id] += [e for e in node.writes if e not in last]
        # After each node the functions that may still be of use: of others it does not matter
        # whether they are there. Each is a bit.
        self._bits = {key: 1 << n for n, key in enumerate(sorted(shared))}
        self._flashes: dict[int, tuple[int, tuple[tuple[int, int], ...]]] = {}
        self._useful: dict[NodeId, int] = {}
        later = 0
        for node in reversed(list(self.graph.nodes)):
            self._useful[node.id] = later
            for option in (*self._own[node.id], *parts.get(node.id, ())):
                for function, _ in self._flash(option)[1]:
                    later |= function
        self._acyclic: dict[frozenset[int], bool] = {}
        # Many paths come to one state, which is one object, and go on alike.
        self._states: dict[object, CoverState] = {}
        # So are equal arrangements, which are known by their identity.
        self._arrangements: dict[object, Arrangement] = {}
        self._moves: dict[object, _Move] = {}
        self._known: dict[CoverState, tuple[Decision, ...]] = {}
        inputs = {edge: (self._orders.natural[edge], NO_COPIES) for edge in self.graph.inputs}
        self._arrangements[tuple(inputs.items())] = inputs
        self._start = CoverState(inputs, sum(self._bytes[edge] for edge in inputs))

    def run(self, weigh: Weigh, width: int | None = None, *, whole: bool = False) -> list[Path]:
        """The ways to the end of which none is better in all; the least comes first. width: another
        than the search's own. whole: there are none where the width would cut some off."""
        width = self.width if width is None else width
        paths = [Path(Totals(), self._start)]
        for node in self.graph.nodes:
            fronts: dict[CoverState, list[_Reached]] = {}
            for path in paths:
                before = path.totals
                for step in self._steps(path.state, node):
                    totals = before.plus(step.adds)
                    reached = weigh(totals), totals, step, path
                    front = fronts.get(step.to)
                    if front is None:
                        fronts[step.to] = [reached]
                    else:
                        front.append(reached)
            found = [one for front in fronts.values() for one in _best(front)]
            if not found:
                raise Uncovered(node.id)
            if len(found) > width:
                self.cut = True
                if whole:
                    return []
                found = _widest(found, width)
            paths = [Path(totals, step.to, step, path) for _, totals, step, path in found]
        last = _best([(weigh(path.totals), path) for path in paths])
        return [path for _, path in sorted(last, key=lambda pair: pair[0])]

    def _steps(self, state: CoverState, node: Node) -> tuple[Decision, ...]:
        known = self._known.get(state)
        if known is None:
            known = self._known[state] = tuple(self._decide(state, node))
        return known

    def _decide(self, state: CoverState, node: Node) -> Iterator[Decision]:
        """One step for each option. A node that is not asked about wants natural order."""
        begun = state.begun.get(node.id)
        if begun is not None:
            yield self._extend(state, node, None, begun)
            return
        if node.id not in self.problem.candidates:
            yield self._extend(state, node, _NOBODY, None)
            return
        for option in self._own[node.id]:
            yield self._extend(state, node, option, None)
        for option in self._parts.get(node.id, ()):
            part = option.part
            assert part is not None
            if state.begun.keys().isdisjoint(part.nodes) and self._is_acyclic(state.tangle, part):
                yield self._extend(state, node, option, part)

    def _extend(
        self, state: CoverState, node: Node, option: Option | None, part: Part | None
    ) -> Decision:
        """The step that decides a node: a candidate's, a part's first, or another of a part's."""
        # The same tensors lie the same way in many states, and options are those of the search.
        key = id(state.tensors), node.id, id(option), id(part)
        move = self._moves.get(key)
        if move is None:
            move = self._moves[key] = self._move(state.tensors, node, option, part)
        return self._step(state, node, option, part, move)

    def _move(
        self, before: Arrangement, node: Node, option: Option | None, part: Part | None
    ) -> _Move:
        """What a decision does to the tensors."""
        tensors, live = dict(before), 0
        time = 0 if option is None else option.time
        elements = 0
        rule = LayoutRule.NATURAL if option is None else option.rule
        own: frozenset[NodeId] = frozenset() if part is None else part.nodes
        producers = self.graph.topology.producers
        inputs = [e for e in self._reads[node.id] if e in tensors and producers.get(e) not in own]
        rules = (rule,) if part is None else part.proposal.layouts
        leader = self._orders.leader(node, inputs, tensors) if LayoutRule.SAME in rules else None
        for edge in inputs:
            wants = rule if part is None else part.reads.get(edge, LayoutRule.NATURAL)
            if part is None and edge in node.extra_inputs:  # subgraphs see natural order
                wants = LayoutRule.NATURAL
            if wants is not LayoutRule.VIEW and self._orders.copies(edge, wants, leader, tensors):
                elements += self.graph.type(edge).elements
                live += self._bytes[edge]
        for edge in node.writes:
            if part is None or edge in part.writes:
                wants = rule if part is None else part.writes[edge]
                tensors[edge] = (
                    self._orders.written(node, edge, wants, leader, tensors),
                    NO_COPIES,
                )
                live += self._bytes[edge]
        peak = live + (0 if option is None else option.scratch)
        if part is not None and option is not None:
            # It runs as a whole: all that it reads and writes is there at once.
            borders = (*part.reads, *part.writes)
            peak += sum(self._bytes[e] for e in dict.fromkeys(borders) if e not in tensors)
        if option is not None:
            done = own or frozenset([node.id])
            peak -= max((b for e, b in option.in_place.items() if self._dies(e, done)), default=0)
        for edge in self._gone[node.id]:
            if edge in tensors:
                if edge in self._outputs:
                    if self._orders.copies(edge, LayoutRule.NATURAL, None, tensors):
                        elements += self.graph.type(edge).elements
                else:
                    live -= self._bytes[edge] * (1 + len(tensors[edge][1]))
                del tensors[edge]
        time += self._conversion * elements
        tensors = self._arrangements.setdefault(tuple(tensors.items()), tensors)
        return _Move(tensors, time, live, peak)

    def _dies(self, edge: EdgeId, nodes: frozenset[NodeId]) -> bool:
        """Whether nothing needs a tensor after these nodes."""
        return self._last.get(edge) in nodes and edge not in self._outputs

    def _step(
        self, state: CoverState, node: Node, option: Option | None, part: Part | None,
        move: _Move,
    ) -> Decision:  # fmt: skip
        # A part goes on where it has other nodes.
        added = () if option is None or part is None or len(part.nodes) == 1 else (part,)
        is_within = bool(added) or len(state.begun) > (node.id in state.begun)
        functions, flash = state.functions, 0
        if option is not None:
            flash, own = self._flash(option)
            for function, size in own:
                if not functions & function:
                    flash += size
                    functions |= function
        functions &= self._useful[node.id]
        # Parts that are done may be in a cycle with later ones only while others are not done.
        tangle = (*state.tangle, *added) if is_within else ()
        is_bare = part is None and option is not None and option.backend != ""
        place = 0 if option is None else option.place
        adds = Totals(move.time, place, is_bare, flash, state.live + move.peak)
        key = node.id, id(move.to), frozenset(map(id, tangle)) if tangle else (), functions
        to = self._states.get(key)
        if to is None:
            live = state.live + move.live
            begun = {**state.begun, **{n: p for p in added for n in p.nodes}}
            begun.pop(node.id, None)
            to = self._states[key] = CoverState(move.to, live, begun, tangle, functions)
        chosen = node.id if option is not None and option.backend else None
        return Decision(adds, to, chosen, option)

    def _flash(self, option: Option) -> tuple[int, tuple[tuple[int, int], ...]]:
        """The bytes that an option takes whatever else is there; its functions that others may
        share, each by its bit, and their bytes."""
        known = self._flashes.get(id(option))
        if known is None:
            shared = {k: self._bits[k] for k in option.code if k in self._bits}
            alone = sum(size for k, size in option.code.items() if k not in shared)
            functions = tuple((bit, option.code[k]) for k, bit in shared.items())
            known = self._flashes[id(option)] = option.flash + alone, functions
        return known

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


def is_acyclic(graph: Graph, part_of: Mapping[NodeId, NodeId]) -> bool:
    """Whether parts have an order in which each runs as a whole. part_of: of each node, in the
    graph's order, the node that stands for its part; edges to other nodes do not count."""
    before = parts_before(graph, part_of)
    return len(in_order(before)) == len(before)


# Of many ways few are followed: a path is made of these alone.
_Reached = tuple[Weight, Totals, Decision, Path]
_Weighed = TypeVar("_Weighed", bound=tuple[Any, ...])  # a weight, and what has it


def _best(found: list[_Weighed]) -> list[_Weighed]:
    """Those that are better than each other one in some figure; of equals the first."""
    if len(found) == 1:
        return found
    if len(found[0][0]) == 1:
        return [min(found, key=itemgetter(0))]
    kept: list[int] = []
    for i in sorted(range(len(found)), key=lambda i: found[i][0]):
        weight = found[i][0]
        # Only what comes before it can be as good, and what comes shortly before most likely is.
        for k in reversed(kept):
            if _is_as_good(found[k][0], weight):
                break
        else:
            kept.append(i)
    return [found[i] for i in sorted(kept)]


def _is_as_good(one: Weight, other: Weight) -> bool:
    """In all figures. A plain loop: it is the innermost of all."""
    for a, b in zip(one, other, strict=True):  # noqa: SIM110
        if a > b:
            return False
    return True


def _widest(found: list[_Reached], width: int) -> list[_Reached]:
    """The best of all in each figure by turns, until there are enough."""
    figures = len(found[0][0])
    orders = [
        [i for _, i in sorted((one[0][first:], i) for i, one in enumerate(found))]
        for first in range(figures)
    ]
    kept: dict[int, None] = {}
    for rank in range(len(found)):
        for order in orders:
            kept[order[rank]] = None
            if len(kept) == width:
                return [found[i] for i in kept]
    return found

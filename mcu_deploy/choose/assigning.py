"""Covers a graph: offers, a strategy's choice, and only then the replacements that won.

Nothing is applied before it has won. What a backend fails is offered to the next one: backends
that are written in Arm NN's words are let optimise what a first cover gave them, what they
substitute competes as a part, what they fail is barred, and the cover is made again until nothing
changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from mcu_deploy.backends.interface import HOST, Backend, Proposal, Proposes, Target, yes
from mcu_deploy.backends.substitute import expand, put
from mcu_deploy.choose import arm_nn, convex, measuring, offers, overrides, strategies, unsupported
from mcu_deploy.choose.model import (
    Assignment,
    Candidate,
    Cover,
    Part,
    Problem,
    Rejection,
    Uncovered,
)
from mcu_deploy.errors import UnsupportedError, UsageError, shorten
from mcu_deploy.errors.obstacles import Obstacle, refusal
from mcu_deploy.ir import Graph, GraphEditor, Node, NodeId, view

# So often backends may propose anew, after what others proposed; what they fail is heard always.
ROUNDS = 8

Peak = Callable[[Graph, Assignment], int]


@dataclass(frozen=True)
class Choosing:
    """How a graph is covered.

    layer_backends: who must compute a layer, by its name. strategy: of strategies/. optimize:
    whether nodes may be replaced. goal: of `goals.GOALS`. peak: what the planner says of a cover.
    measured: what the layers of a cover cost, where that was measured.
    """

    layer_backends: Mapping[str, Backend] = field(default_factory=dict)
    strategy: str = "greedy"
    optimize: bool = True
    goal: str = "speed"
    peak: Peak | None = None
    measured: measuring.Measured | None = None


def assign(
    graph: Graph,
    preference: Sequence[Backend],
    target: Target = HOST,
    choosing: Choosing | None = None,
) -> tuple[Graph, Assignment]:
    """Assigns every node; in the graph that comes back the parts that won are replaced.

    Raises UnsupportedError that lists all nodes that nobody takes, or for a layer whose backend
    was named and cannot compute it; UsageError for names that make no sense; BackendFault where
    a backend breaks its word.
    """
    with _covering(graph, preference, target, choosing or Choosing()) as covering:
        return covering.run()


def covers(
    graph: Graph, preference: Sequence[Backend], target: Target, choosing: Choosing
) -> list[tuple[Graph, Assignment]]:
    """Covers in which every candidate and every part occurs that can be in one, for measuring.

    The graphs of If, Loop and Scan are covered once. Raises as `assign` does.
    """
    with _covering(graph, preference, target, choosing) as covering:
        covering.run()
        return covering.all()


@contextmanager
def _covering(
    graph: Graph, preference: Sequence[Backend], target: Target, choosing: Choosing
) -> Iterator[_Covering]:
    """Makes an error of nodes that nobody takes."""
    overrides.require_known(graph, choosing.layer_backends)
    # Before the search, which would find it out at its end.
    is_hopeless = not choosing.layer_backends and unsupported.is_hopeless(graph, preference)
    if is_hopeless and (found := unsupported.find(graph, preference, target)):
        raise refusal(found, ())
    try:
        yield _Covering(graph, preference, target, choosing)
    except _Orphans as orphans:
        nodes = [*unsupported.find(graph, preference, target), *orphans.nodes]
        raise refusal(list(dict.fromkeys(nodes)), ()) from None


class _Orphans(Exception):
    """Nodes that nobody takes, found on the way."""

    def __init__(self, nodes: Sequence[Obstacle]) -> None:
        super().__init__(nodes)
        self.nodes = nodes


class _Covering:
    def __init__(
        self, graph: Graph, preference: Sequence[Backend], target: Target, choosing: Choosing
    ) -> None:
        self.graph = graph
        self.target = target
        self.choosing = choosing
        self.preference = preference
        named = {b.id: b for b in choosing.layer_backends.values()}
        self.backends = named | {b.id: b for b in preference}
        self.barred: dict[tuple[NodeId, str], str] = {}
        self.offers = offers.Offers()
        self.pinned: dict[NodeId, Backend] = {}
        self.subgraphs: dict[NodeId, Mapping[str, Assignment]] = {}
        self.optimized: set[tuple[str, tuple[NodeId, ...]]] = set()

    def run(self) -> tuple[Graph, Assignment]:
        self._settle()
        rounds = 0
        while True:
            try:
                cover = self._cover()
            except Uncovered as uncovered:
                self._unfuse([self.graph.node(uncovered.node)])
                self._settle()
                continue
            rounds += 1
            if not self.choosing.optimize or not self._optimize(cover, rounds):
                return self._apply(cover)
            self._settle()

    def all(self) -> list[tuple[Graph, Assignment]]:
        """What was offered, after `run`, in covers in which all of it occurs."""
        return [self._apply(cover) for cover in measuring.covers(self._problem())]

    def _settle(self) -> None:
        """Asks the backends, until somebody offers something for each node: bodies are given back,
        and the graphs of If, Loop and Scan covered."""
        while True:
            fresh = [n for n in self.graph.nodes if n.id not in self._known()]
            if fresh:
                self._ask(fresh)
            in_parts = {n for part in self._parts() for n in part.nodes}
            bare = [
                n
                for n in self.graph.nodes
                if n.id not in self.subgraphs
                and n.id not in in_parts
                and not self.offers.candidates[n.id]
            ]
            if control := [n for n in bare if self.graph.subgraphs(n.id)]:
                self._split(control)
            elif bare:
                self._unfuse(bare)
            else:
                return

    def _known(self) -> set[NodeId]:
        return self.offers.candidates.keys() | self.subgraphs.keys()

    def _parts(self) -> list[Part]:
        """The parts that are still there and that nobody is barred from."""
        nodes = self.graph.topology.nodes
        return [
            part
            for part in self.offers.parts
            if all(n in nodes and self._may(part.backend, n) for n in part.nodes)
        ]

    def _may(self, backend: str, node: NodeId) -> bool:
        pin = self.pinned.get(node)
        return (node, backend) not in self.barred and (pin is None or pin.id == backend)

    def _ask(self, nodes: Sequence[Node]) -> None:
        """Asks the backends: of a layer whose backend was named only that one. Backends that
        propose parts are asked about all nodes again, as the graph around them changed."""
        self.pinned |= overrides.resolve(self.graph, nodes, self.choosing.layer_backends)
        asked: dict[NodeId, Sequence[Backend]] = {}
        for node in self.graph.nodes:
            if node.id not in self.subgraphs:
                pin = self.pinned.get(node.id)
                asked[node.id] = self.preference if pin is None else [pin]
        again = any(isinstance(b, Proposes) for b in self.backends.values())
        wanted = [*asked] if again else [n.id for n in nodes]
        goal = self.choosing.goal
        found = offers.collect(self.graph, wanted, asked, self.target, self.barred, goal)
        self.offers.candidates.update(found.candidates)
        self.offers.refusals.update(found.refusals)
        own = [part for part in self.offers.parts if part.made is not None]
        self.offers.parts = [*found.parts, *own] if self.choosing.optimize else []
        self._require_pinned()

    def _require_pinned(self) -> None:
        in_parts = {(n, p.backend) for p in self.offers.parts for n in p.nodes}
        for node, backend in self.pinned.items():
            key = (node, backend.id)
            if not self.offers.candidates.get(node) and key not in in_parts:
                raise UnsupportedError(unsupported.cannot_honour(self.offers.refusals[key]))

    def _split(self, nodes: Sequence[Node]) -> None:
        """Covers the graphs of If, Loop and Scan as the whole is covered."""
        editor = GraphEditor(self.graph)
        for node in nodes:
            parts = {
                name: _Covering(inner, self.preference, self.target, self.choosing).run()
                for name, inner in self.graph.subgraphs(node.id).items()
            }
            editor.subgraphs[node.id] = {name: graph for name, (graph, _) in parts.items()}
            self.subgraphs[node.id] = {name: found for name, (_, found) in parts.items()}
            self.offers.candidates.pop(node.id, None)
        self.graph = editor.finish()

    def _unfuse(self, orphans: Sequence[Node]) -> None:
        """Gives the bodies of fused nodes back; raises where a node has none to give."""
        bare = [n for n in orphans if not unsupported.is_its_body(self.graph, n)]
        if bare:
            said: dict[NodeId, list[Rejection]] = {n.id: [] for n in bare}
            for refused in self.offers.refusals.values():
                said.get(refused.node.id, []).append(refused)
            asked = self.preference
            raise _Orphans([unsupported.obstacle(self.graph, n, said[n.id], asked) for n in bare])
        for node in orphans:
            self.graph = expand(self.graph, node.id)

    def _problem(self) -> Problem:
        nodes = self.graph.topology.nodes
        candidates = {n: c for n, c in self.offers.candidates.items() if n in nodes}
        peak = self.choosing.peak
        return Problem(
            self.graph, candidates, {}, tuple(self._parts()), self.choosing.goal,
            None if peak is None else lambda cover: peak(*self._apply(cover)),
            tuple(b.id for b in self.preference),
        )  # fmt: skip

    def _cover(self) -> Cover:
        if self.choosing.measured is not None:
            measuring.apply(self.offers, self._problem(), self._apply, self.choosing.measured)
        found = strategies.find(self.choosing.strategy)(self._problem())
        cover = found if isinstance(found, Cover) else Cover(dict(found))
        self._require_whole(cover)
        return cover

    def _require_whole(self, cover: Cover) -> None:
        """Raises UsageError for a strategy, which may be an installed one, that covers too little,
        or by something that nobody offered."""
        in_parts = {n for part in cover.parts for n in part.nodes}
        offered = {id(part) for part in self.offers.parts}
        for node in self.graph.nodes:
            candidates = self.offers.candidates.get(node.id, ())
            by = cover.labels.get(node.id)
            alone = node.id in in_parts or any(c.backend == by for c in candidates)
            if node.id not in self.subgraphs and not (by and alone):
                break
        else:
            if all(id(part) in offered for part in cover.parts):
                return
            node = next(n for n in self.graph.nodes if n.id in in_parts)
        raise UsageError(
            f"The strategy {self.choosing.strategy} gives the layer {shorten(node.name)!r} to "
            "nobody that offers to compute it. Choose another with --strategy, and report this to "
            "its author."
        )

    def _optimize(self, cover: Cover, rounds: int) -> bool:
        """Lets backends in Arm NN's words optimise their parts of a cover. Whether that brought
        anything that the cover does not know."""
        plain = {n: b for n, b in cover.items() if not isinstance(self.backends[b], Proposes)}
        is_new = False
        for group in convex.group(self.graph, plain):
            key = (group.backend, group.nodes)
            if key in self.optimized:
                continue
            self.optimized.add(key)
            backend = self.backends[group.backend]
            answer = arm_nn.optimize(backend, view(self.graph, group.nodes))
            for node in (n for failed in answer.failed for n in failed.nodes):
                self._bar(node, backend.id)
                is_new = True
            for substitution in answer.substitutions if rounds <= ROUNDS else ():
                part = arm_nn.proposed(backend, self.graph, substitution, self.target)
                if all(p.nodes != part.nodes for p in self.offers.parts if p.backend == backend.id):
                    self.offers.parts.append(part)
                    is_new = True
        return is_new

    def _bar(self, node: Node, backend: str) -> None:
        reason = "its optimisation gave the node back"
        self.barred[node.id, backend] = reason
        self.offers.refusals[node.id, backend] = Rejection(node, backend, reason)
        left = tuple(c for c in self.offers.candidates[node.id] if c.backend != backend)
        self.offers.candidates[node.id] = left
        self._require_pinned()

    def _apply(self, cover: Cover) -> tuple[Graph, Assignment]:
        """The graph with the parts of a cover replaced, and who computes what of it."""
        editor = GraphEditor(self.graph)
        taken: dict[NodeId, Candidate] = {}
        chosen_by: dict[NodeId, str] = {}
        proposals = {}
        for node in cover.alone():
            taken[node] = cover.taken(node, self.offers.candidates[node])
            chosen_by[node] = "--layer-backend" if node in self.pinned else self.choosing.strategy
            if (proposal := taken[node].proposal) is not None:
                proposals[node] = (proposal, 0)
        for part in cover.parts:
            assert part.proposal.replacement is not None
            new = put(editor, part.proposal.part, part.proposal.replacement)
            made = _wholes(part) if part.made is None else part.made
            for place, (node, candidate) in enumerate(zip(new, made, strict=True)):
                taken[node] = candidate
                chosen_by[node] = f"made by {part.backend}"
                if candidate.proposal is not None:
                    proposals[node] = (candidate.proposal, place)
        graph = editor.finish()
        return graph, self._assignment(graph, taken, chosen_by, proposals, cover)

    def _assignment(
        self, graph: Graph, taken: Mapping[NodeId, Candidate], chosen_by: Mapping[NodeId, str],
        proposals: Mapping[NodeId, tuple[Proposal, int]], cover: Cover,
    ) -> Assignment:  # fmt: skip
        nodes = [n.id for n in graph.nodes if n.id not in self.subgraphs]
        labels = {n: taken[n].backend for n in nodes if n in taken}
        others = self._losers(cover, proposals)
        return Assignment(
            {n: self.backends[labels[n]] for n in labels},
            {n: taken[n].support for n in labels},
            tuple(r for r in self.offers.refusals.values() if r.node.id in labels),
            convex.group(graph, labels),
            {n: self._compared(n, taken[n], others.get(n, ())) for n in labels},
            {n: chosen_by[n] for n in labels},
            {n.id: self.subgraphs[n.id] for n in graph.nodes if n.id in self.subgraphs},
            {n: proposals[n] for n in labels if n in proposals},
        )

    def _compared(
        self, node: NodeId, taken: Candidate, others: Sequence[Candidate]
    ) -> tuple[Candidate, ...]:
        """What a node could be computed by: what is taken, and behind it what has lost."""
        offered = self.offers.candidates.get(node, ())
        return (taken, *(c for c in offered if c is not taken), *others)

    def _losers(
        self, cover: Cover, proposals: Mapping[NodeId, tuple[Proposal, int]]
    ) -> dict[NodeId, list[Candidate]]:
        """The parts that lost, at each of their nodes that is taken as it is; and what a part that
        won was cheaper than, at the first node that it became."""
        found: dict[NodeId, list[Candidate]] = {}
        for node, (proposal, place) in proposals.items():
            if proposal.replacement is not None and place == 0:
                found[node] = [
                    replace(c, title=f"{c.title or n.op} alone ({n.short or shorten(n.name)})")
                    for n in proposal.part.nodes
                    for c in self.offers.candidates.get(n.id, ())
                ]
        won = set(map(id, cover.parts))
        for part in self._parts():
            if id(part) not in won:
                costs = part.proposal.price.costs
                title = f"{part.proposal.title} ({len(part.nodes)} nodes)"
                for node in part.nodes:
                    lost = Candidate(part.backend, yes(), costs, part.proposal, title)
                    found.setdefault(node, []).append(lost)
        return found


def _wholes(part: Part) -> tuple[Candidate, ...]:
    """Of each node of a replacement who computes it; the price is of them all."""
    proposal = part.proposal
    return tuple(
        Candidate(part.backend, yes(rule), proposal.price.costs, proposal, proposal.title)
        for rule in proposal.layouts
    )

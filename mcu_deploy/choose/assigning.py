"""The partitioner: offers, a strategy's choice, convex partitions, the backends' optimisations.

Document 002 ("EngineGraphPartitioner") and 001 ("The Optimizations"): what a backend fails is
offered to the next one; what it fuses in its view is fused in the graph, which all others see.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from mcu_deploy import operators
from mcu_deploy.backends.interface import HOST, Backend, Support, Target, layer_of
from mcu_deploy.choose import convex, offers, overrides, strategies
from mcu_deploy.choose.model import Assignment, Candidate, Partition, Problem, Refusal
from mcu_deploy.choose.optimizing import optimize
from mcu_deploy.errors import BackendFault, UnsupportedError
from mcu_deploy.formats.obstacles import NO_BACKEND, Obstacle, refusal, short
from mcu_deploy.ir import Graph, GraphEditor, Node, NodeId, view
from mcu_deploy.ir.substitute import SubstitutionError, expand, substitute


@dataclass(frozen=True)
class Options:
    """How a graph is split.

    layer_backends: who must compute a layer, by its name. strategy: of strategies/. optimize:
    whether the backends may optimise what they get.
    """

    layer_backends: Mapping[str, Backend] = field(default_factory=dict)
    strategy: str = "greedy"
    optimize: bool = True


def assign(
    graph: Graph,
    preference: Sequence[Backend],
    target: Target = HOST,
    options: Options | None = None,
) -> tuple[Graph, Assignment]:
    """Assigns every node; the graph that comes back is optimised by the backends.

    Raises UnsupportedError that lists all nodes that nobody takes, or for a layer whose backend
    was named and cannot compute it; UsageError for names that make no sense; BackendFault where
    a backend breaks its word.
    """
    chosen = options or Options()
    overrides.require_known(graph, chosen.layer_backends)
    try:
        return _Partitioner(graph, preference, target, chosen).run()
    except _Orphans as orphans:
        nodes = [*unsupported(graph, preference, target), *orphans.nodes]
        raise refusal(list(dict.fromkeys(nodes)), ()) from None


def unsupported(graph: Graph, preference: Sequence[Backend], target: Target) -> list[Obstacle]:
    """The nodes that no backend takes, in the graph and in those that its nodes hold.

    Of a fused node that nobody takes its body is looked at.
    """
    found = []
    for node in graph.nodes:
        layer = layer_of(graph, node, target)
        candidates, refusals = offers.collect(layer, preference, {})
        if candidates:
            continue
        body = graph.body(node.id) if _is_its_body(graph, node) else None
        held = [body] if body is not None else list(graph.subgraphs(node.id).values())
        if not held:
            found.append(_obstacle(node, refusals, preference))
        for inner in held:
            found += unsupported(inner, preference, target)
    return found


class _Orphans(Exception):
    """Nodes that nobody takes, found on the way."""

    def __init__(self, nodes: Sequence[Obstacle]) -> None:
        super().__init__(nodes)
        self.nodes = nodes


class _Partitioner:
    def __init__(
        self, graph: Graph, preference: Sequence[Backend], target: Target, options: Options
    ) -> None:
        self.graph = graph
        self.target = target
        self.options = options
        self.preference = preference
        named = {b.id: b for b in options.layer_backends.values()}
        self.backends = named | {b.id: b for b in preference}
        self.settled: dict[NodeId, Candidate] = {}
        self.refused: dict[tuple[NodeId, str], str] = {}
        self.refusals: dict[tuple[NodeId, str], Refusal] = {}
        self.candidates: dict[NodeId, tuple[Candidate, ...]] = {}
        self.origins: dict[NodeId, str] = {}
        self.subgraphs: dict[NodeId, Mapping[str, Assignment]] = {}

    def run(self) -> tuple[Graph, Assignment]:
        while pending := self._pending():
            self._collect(pending)
            if control := [n for n in pending if self._is_split(n)]:
                self._split(control)
                continue
            orphans = [n for n in pending if not self.candidates[n.id]]
            if orphans:
                self._unfuse(orphans)
                continue
            labels = self._choose(pending)
            for part in convex.group(self.graph, labels):
                self._give(part)
        return self.graph, self._assignment()

    def _pending(self) -> list[Node]:
        done = self.settled.keys() | self.subgraphs.keys()
        return [n for n in self.graph.nodes if n.id not in done]

    def _is_split(self, node: Node) -> bool:
        """Whether its subgraphs are given to backends each, as none computes it as a whole."""
        return bool(self.graph.subgraphs(node.id)) and not self.candidates[node.id]

    def _split(self, nodes: Sequence[Node]) -> None:
        """Partitions the graphs of If, Loop and Scan as the whole is partitioned."""
        editor = GraphEditor(self.graph)
        for node in nodes:
            parts = {
                name: _Partitioner(inner, self.preference, self.target, self.options).run()
                for name, inner in self.graph.subgraphs(node.id).items()
            }
            editor.subgraphs[node.id] = {name: graph for name, (graph, _) in parts.items()}
            self.subgraphs[node.id] = {name: found for name, (_, found) in parts.items()}
        self.graph = editor.finish()

    def _collect(self, pending: Sequence[Node]) -> None:
        """Asks the backends: of a layer whose backend was named only that one."""
        pinned = overrides.resolve(self.graph, pending, self.options.layer_backends)
        for node in pending:
            asked = [pinned[node.id]] if node.id in pinned else self.preference
            layer = layer_of(self.graph, node, self.target)
            found, refusals = offers.collect(layer, asked, self.refused)
            self.candidates[node.id] = found
            self.refusals.update({(r.node.id, r.backend): r for r in refusals})
            if node.id in pinned:
                self.origins[node.id] = "--layer-backend"
                if refusals:
                    raise UnsupportedError(_cannot_honour(refusals[0]))

    def _unfuse(self, orphans: Sequence[Node]) -> None:
        """Gives the bodies of fused nodes back; raises where a node has none to give."""
        bare = [n for n in orphans if not _is_its_body(self.graph, n)]
        if bare:
            said: dict[NodeId, list[Refusal]] = {n.id: [] for n in bare}
            for refused in self.refusals.values():
                said.get(refused.node.id, []).append(refused)
            raise _Orphans([_obstacle(n, said[n.id], self.preference) for n in bare])
        for node in orphans:
            self.graph = expand(self.graph, node.id)

    def _choose(self, pending: Sequence[Node]) -> Mapping[NodeId, str]:
        fixed = {node: candidate.backend for node, candidate in self.settled.items()}
        settled = {node: (candidate,) for node, candidate in self.settled.items()}
        open_ones = {n.id: self.candidates[n.id] for n in pending}
        choose = strategies.find(self.options.strategy)
        choice = choose(Problem(self.graph, settled | open_ones, fixed))
        for node in pending:
            self.origins.setdefault(node.id, self.options.strategy)
        return {n.id: choice[n.id] for n in pending}

    def _give(self, part: Partition) -> None:
        """Lets the backend optimise its partition, and settles what it keeps."""
        backend = self.backends[part.backend]
        # A part before this one may have left nodes without a reader; they are gone.
        kept = [n for n in part.nodes if n in self.graph.topology.nodes]
        if self.options.optimize and kept:
            answer = optimize(backend, view(self.graph, kept))
            failed = {n for v in answer.failed for n in v.node_ids}
            for node in failed:
                self.refused[node, backend.id] = "its optimisation gave the node back"
            kept = [n for v in answer.untouched for n in v.node_ids]
            for substitution in answer.substitutions:
                try:
                    self.graph, new = substitute(
                        self.graph, substitution.substitutable, substitution.replacement
                    )
                except SubstitutionError as error:
                    raise BackendFault(
                        backend.id,
                        f"The backend {backend.id} replaced nodes by something else: {error}. "
                        "Leave the backend out, and report this to its vendor.",
                    ) from error
                self._take_replacement(backend, new)
        for node in kept:
            if node in self.graph.topology.nodes:
                self.settled[node] = next(
                    c for c in self.candidates[node] if c.backend == backend.id
                )

    def _take_replacement(self, backend: Backend, nodes: Iterable[NodeId]) -> None:
        for node_id in nodes:
            if node_id not in self.graph.topology.nodes:
                continue
            layer = layer_of(self.graph, self.graph.node(node_id), self.target)
            support = offers.ask(backend, layer)
            if not support.supported:
                raise BackendFault(
                    backend.id,
                    f"The backend {backend.id} made a {layer.op} of what it was given, and does "
                    f"not compute it itself ({support.reason}). Leave the backend out, and report "
                    "this to its vendor.",
                )
            candidate = Candidate(backend.id, support, backend.estimate(layer))
            self.settled[node_id] = candidate
            self.candidates[node_id] = (candidate,)
            self.origins[node_id] = f"made by {backend.id}"

    def _assignment(self) -> Assignment:
        nodes = [n.id for n in self.graph.nodes if n.id not in self.subgraphs]
        labels = {n: self.settled[n].backend for n in nodes}
        supports: dict[NodeId, Support] = {n: self.settled[n].support for n in nodes}
        return Assignment(
            {n: self.backends[labels[n]] for n in nodes},
            supports,
            tuple(r for r in self.refusals.values() if r.node.id in labels),
            convex.group(self.graph, labels),
            {n: self.candidates[n] for n in nodes},
            {n: self.origins[n] for n in nodes},
            {n.id: self.subgraphs[n.id] for n in self.graph.nodes if n.id in self.subgraphs},
        )


def _is_its_body(graph: Graph, node: Node) -> bool:
    """Whether a node's body computes what the node does, bit for bit.

    An integer operator keeps the sandwich of floats that it was made of as its body, and rounds
    otherwise than that.
    """
    if graph.body(node.id) is None:
        return False
    is_known = operators.find(node.domain, node.op) is not None
    return not (is_known and any(graph.type(edge).is_quantized for edge in node.writes))


def _cannot_honour(refused: Refusal) -> str:
    return (
        f"The backend {refused.backend} cannot compute the {refused.node.op} "
        f"{short(refused.node.name)!r}, as --layer-backend asks: {refused.reason}. Name another "
        "backend for this layer, or leave the choice to the strategy."
    )


def _obstacle(node: Node, refusals: Sequence[Refusal], asked: Sequence[Backend]) -> Obstacle:
    """Why nobody takes a node. Backends that lack its operator altogether are named only where
    others could have it: --backend may ask few of those that there are."""
    label = operators.label(node.domain, node.op)
    lacking = {b.id for b in asked if b.operators and label not in b.operators}
    reasons = [f"{r.backend}: {r.reason}" for r in refusals if r.backend not in lacking]
    nobody = NO_BACKEND if asked else "no backend was given"
    if lacking and operators.find(node.domain, node.op) is not None:
        nobody = f"not an operator of {' or '.join(sorted(lacking))}"
    return Obstacle(label, node.name, "; ".join(reasons) or nobody)

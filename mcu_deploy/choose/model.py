"""The words of choosing: candidates, parts, refusals, the problem, its cover, the assignment."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from mcu_deploy.backends.interface import Backend, Costs, LayoutRule, Proposal, Support
from mcu_deploy.ir import EdgeId, Graph, Node, NodeId


@dataclass(frozen=True)
class Candidate:
    """A backend that computes a node as it is, how its tensors must lie, and what it would cost.

    proposal: what the backend said of it; None where it answers in Arm NN's words. title: for
    people, of one that lost or that is for several nodes. code: bytes of its function, by a key
    that layers which share it have in common.
    """

    backend: str
    support: Support
    costs: Costs
    proposal: Proposal | None = None
    title: str = ""
    code: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Part:
    """What a backend proposes to replace: one node or several, which no path leaves and re-enters.

    reads, writes: how the tensors at its borders must lie. made: of a part that the backend was
    asked for by `optimize_subgraph`, who computes each of its new nodes; then a part without a
    price is the backend's own word against its own layers, and wins against these.
    """

    backend: str
    proposal: Proposal
    reads: Mapping[EdgeId, LayoutRule]
    writes: Mapping[EdgeId, LayoutRule]
    made: tuple[Candidate, ...] | None = None

    @property
    def nodes(self) -> frozenset[NodeId]:
        return self.proposal.nodes


@dataclass(frozen=True)
class Rejection:
    """A node that a backend does not take, and why."""

    node: Node
    backend: str
    reason: str


@dataclass(frozen=True)
class Cover(Mapping[NodeId, str]):
    """Who computes each node: its backend, by node; and the parts that are replaced as wholes.

    chosen: of the candidates of a node the position of the one that was taken.
    """

    labels: Mapping[NodeId, str]
    parts: tuple[Part, ...] = ()
    chosen: Mapping[NodeId, int] = field(default_factory=dict)

    def __getitem__(self, node: NodeId) -> str:
        return self.labels[node]

    def alone(self) -> tuple[NodeId, ...]:
        """The nodes that no part replaces."""
        in_parts = {node for part in self.parts for node in part.nodes}
        return tuple(node for node in self.labels if node not in in_parts)

    def taken(self, node: NodeId, candidates: Sequence[Candidate]) -> Candidate:
        """Of the candidates of a node the one that computes it where no part replaces it."""
        if node in self.chosen:
            return candidates[self.chosen[node]]
        return next(c for c in candidates if c.backend == self.labels[node])

    def __iter__(self) -> Iterator[NodeId]:
        return iter(self.labels)

    def __len__(self) -> int:
        return len(self.labels)


@dataclass(frozen=True)
class Problem:
    """What a strategy decides: which candidates and parts cover the graph, each node once.

    candidates: of each node, in the order of preference; where it has none, only parts cover it.
    fixed: nodes whose backend is settled; it is one of their candidates. goal: of `goals.GOALS`.
    peak: the planner's answer to a cover, in bytes; asked for a few. preference: the ids of
    the backends, where nodes have different candidates.
    """

    graph: Graph
    candidates: Mapping[NodeId, tuple[Candidate, ...]]
    fixed: Mapping[NodeId, str] = field(default_factory=dict)
    parts: Sequence[Part] = ()
    goal: str = "speed"
    peak: Callable[[Cover], int] | None = None
    preference: Sequence[str] = ()


Strategy = Callable[[Problem], Mapping[NodeId, str]]


class Uncovered(Exception):
    """No candidates and parts cover a node together with those before it."""

    def __init__(self, node: NodeId) -> None:
        super().__init__(node)
        self.node = node


@dataclass(frozen=True)
class Group:
    """Nodes that one backend gets at once. Between groups there is no cycle."""

    backend: str
    nodes: tuple[NodeId, ...]


@dataclass(frozen=True)
class Assignment:
    """Which backend computes which node, in which layout, and why others before it did not.

    candidates: what the strategy chose from, what it took first. chosen_by: who decided: a
    strategy, "--layer-backend", or "made by ID". proposals: of nodes that a proposal won, it and
    the node's place in it. An If or Loop that no backend computes as a whole is in `subgraphs`
    instead: the assignments of its graphs, by attribute.
    """

    backends: Mapping[NodeId, Backend]
    supports: Mapping[NodeId, Support]
    refusals: tuple[Rejection, ...] = ()
    groups: tuple[Group, ...] = ()
    candidates: Mapping[NodeId, tuple[Candidate, ...]] = field(default_factory=dict)
    chosen_by: Mapping[NodeId, str] = field(default_factory=dict)
    subgraphs: Mapping[NodeId, Mapping[str, Assignment]] = field(default_factory=dict)
    proposals: Mapping[NodeId, tuple[Proposal, int]] = field(default_factory=dict)

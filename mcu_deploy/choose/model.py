"""The words of partitioning: candidates, refusals, partitions, and the assignment."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from mcu_deploy.backends.interface import Backend, Costs, Support
from mcu_deploy.ir import Graph, Node, NodeId


@dataclass(frozen=True)
class Candidate:
    """A backend that computes a node, how its tensors must lie, and what it would cost."""

    backend: str
    support: Support
    costs: Costs


@dataclass(frozen=True)
class Refusal:
    """A node that a backend does not take, and why."""

    node: Node
    backend: str
    reason: str


@dataclass(frozen=True)
class Problem:
    """What a strategy decides: for each node one of its candidates.

    candidates: in the order of preference, at least one for each node. fixed: nodes whose backend
    is settled; it is one of their candidates.
    """

    graph: Graph
    candidates: Mapping[NodeId, tuple[Candidate, ...]]
    fixed: Mapping[NodeId, str] = field(default_factory=dict)


Strategy = Callable[[Problem], Mapping[NodeId, str]]


@dataclass(frozen=True)
class Partition:
    """Nodes that one backend gets at once. Between partitions there is no cycle."""

    backend: str
    nodes: tuple[NodeId, ...]


@dataclass(frozen=True)
class Assignment:
    """Which backend computes which node, in which layout, and why others before it did not.

    candidates: what the strategy chose from, for the nodes that it was asked about. chosen_by: who
    decided: a strategy, "--layer-backend", or "made by ID". An If or Loop that no backend computes
    as a whole is in `subgraphs` instead: the assignments of its graphs, by attribute.
    """

    backends: Mapping[NodeId, Backend]
    supports: Mapping[NodeId, Support]
    refusals: tuple[Refusal, ...] = ()
    partitions: tuple[Partition, ...] = ()
    candidates: Mapping[NodeId, tuple[Candidate, ...]] = field(default_factory=dict)
    chosen_by: Mapping[NodeId, str] = field(default_factory=dict)
    subgraphs: Mapping[NodeId, Mapping[str, Assignment]] = field(default_factory=dict)

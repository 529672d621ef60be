"""What a backend proposes: a part of the graph, what computes it, and the price of that.

Proposals compete before anything is applied (`choose/`): the cheapest cover of the graph wins, and
only then workloads are made. Teaching: docs/backends.md, "Proposals".
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mcu_deploy.backends.cost import Costs
from mcu_deploy.backends.layer import Layer
from mcu_deploy.backends.workload import InPlace, Workload
from mcu_deploy.ir import Graph, NodeId, SubgraphView
from mcu_deploy.ir.types import channels_last


class LayoutRule(enum.Enum):
    """How a backend wants the tensors of a layer to lie in memory."""

    NATURAL = "natural"
    CHANNELS_LAST = "channels last"
    SAME = "all alike"
    VIEW = "the output in the memory order of the input"

    def order(self, rank: int, leader: tuple[int, ...] | None) -> tuple[int, ...] | None:
        """The order of axes in which a tensor of this rank is wanted; None: that of its shape.

        leader: how the input lies that all others follow.
        """
        if self is LayoutRule.CHANNELS_LAST and rank >= 3:
            return channels_last(rank)
        is_led = self is LayoutRule.SAME and leader is not None and len(leader) == rank
        return leader if is_led else None


@dataclass(frozen=True)
class Price:
    """What a proposal would cost, before it is made.

    costs: of one run, and the bytes of its constants and of code that nothing shares. code: bytes
    of the functions that others may share, by a key: of equal keys the network has one function.
    scratch_bytes, in_place: of the workload, as `Workload` has them; in_place counts inputs and
    outputs as the part does.
    """

    costs: Costs = field(default_factory=Costs)
    code: Mapping[str, int] = field(default_factory=dict)
    scratch_bytes: int = 0
    in_place: tuple[InPlace, ...] = ()


# Makes a workload for each layer of what is proposed, in their order, with layouts assigned; one
# whose result nobody reads is left out. The other argument is what the backend's
# `create_memory_manager` gave for the network.
Make = Callable[[Sequence[Layer], Any], Sequence[Workload]]


@dataclass(frozen=True)
class Proposal:
    """A convex part of a view, and what computes it.

    replacement: the graph that takes the part's place if this wins, as `Substitution` has it; None
    leaves the part, then a single node, as it is. layouts: how the tensors of each node of what
    comes into the graph must lie, in the order of the nodes; SAME and VIEW are for a node alone.
    make: called with the layers in that order if this wins, and before that where costs were
    measured, which are known by the workloads. title: for people, such as "conv1x1 + depthwise3x3".
    only_for: the goal without which it does not compete ("speed"), as it pays for a gain there with
    much of what the others look at; empty: it competes for all.
    """

    part: SubgraphView
    price: Price
    make: Make
    replacement: Graph | None = None
    layouts: tuple[LayoutRule, ...] = (LayoutRule.NATURAL,)
    title: str = ""
    only_for: str = ""

    @property
    def nodes(self) -> frozenset[NodeId]:
        return self.part.node_ids


@dataclass(frozen=True)
class Proposals:
    """A backend's answer about a view. refused: why it has nothing for a node, a clause each."""

    proposals: tuple[Proposal, ...] = ()
    refused: Mapping[NodeId, str] = field(default_factory=dict)

"""The words of the search: options, and ways through the graph by states and steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from mcu_deploy.backends.interface import LayoutRule
from mcu_deploy.choose.model import Cover, Part
from mcu_deploy.ir import EdgeId, NodeId

Order = tuple[int, ...]
# For each tensor that is still to be read: the order of its axes in memory, and the orders (without
# axes of size 1, as `TensorType.memory_axes`) of the copies that were made of it.
Arrangement = dict[EdgeId, tuple[Order, frozenset[Order]]]
NO_COPIES: frozenset[Order] = frozenset()


@dataclass(frozen=True)
class Option:
    """A candidate or a part as it is compared.

    time: in the problem's unit, 0 where it is unknown. place: in the preference, summed over the
    nodes. flash: bytes that are its own; code: those of functions, by key. scratch: bytes.
    in_place: of tensors that it reads, the bytes that it saves by writing over them if nothing
    needs them.
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
    in_place: Mapping[EdgeId, int] = field(default_factory=dict)


class Totals(NamedTuple):
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

    def plus(self, step: Totals) -> Totals:
        """After one more step."""
        peak, other = self.peak, step.peak
        return Totals(
            self.time + step.time, self.place + step.place, self.bare + step.bare,
            self.flash + step.flash, peak if peak > other else other,
        )  # fmt: skip


# Figures of totals, each the better the less.
Weight = tuple[tuple[int, ...], ...]
Weigh = Callable[[Totals], Weight]


@dataclass(frozen=True, eq=False)
class CoverState:
    """What the rest of a cover depends on: how the tensors lie, which parts are begun, and which
    functions are there that what follows may share.

    live: the bytes of the tensors that are still to be read, and of their copies. tangle: the parts
    that are begun, and those that these may be in a cycle with. functions: of each a bit.
    """

    tensors: Arrangement
    live: int = 0
    begun: Mapping[NodeId, Part] = field(default_factory=dict)
    tangle: tuple[Part, ...] = ()
    functions: int = 0


class Decision(NamedTuple):
    """A node decided: what that adds to the totals (its peak is that of the node), and where it
    leads. node, option: None where nothing was chosen."""

    adds: Totals
    to: CoverState
    node: NodeId | None
    option: Option | None


class Path(NamedTuple):
    """The decisions up to a node, the last first, and their totals."""

    totals: Totals
    state: CoverState
    step: Decision | None = None
    previous: Path | None = None

    def cover(self) -> Cover:
        """All decisions."""
        labels: dict[NodeId, str] = {}
        chosen: dict[NodeId, int] = {}
        parts: list[Part] = []
        path: Path | None = self
        while path is not None and path.step is not None:
            node, option = path.step.node, path.step.option
            if node is not None and option is not None:
                part = option.part
                if part is None:
                    labels[node] = option.backend
                    chosen[node] = option.number
                else:
                    parts.append(part)
                    labels.update(dict.fromkeys(part.nodes, part.backend))
            path = path.previous
        order = dict(reversed(labels.items()))
        return Cover(order, tuple(reversed(parts)), chosen)

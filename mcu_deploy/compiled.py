"""What the stages up to the plan make of a model: all that code generation needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcu_deploy.backends.interface import RegionCall, Target
from mcu_deploy.choose import Assignment
from mcu_deploy.choose.select import Selection
from mcu_deploy.ir import EdgeId, Graph
from mcu_deploy.ir.nested import flat
from mcu_deploy.plan import InSlot, Plan

if TYPE_CHECKING:
    from mcu_deploy.options import Options


@dataclass(frozen=True)
class CompiledModel:
    """A model that is planned, made for a target by options; a .pmx file holds one.

    source_tensors: the tensors that the nodes of the model file write, by their names there.
    graph: after optimisation and layouts.
    """

    name: str
    target: Target
    options: Options
    source_tensors: Mapping[EdgeId, str]
    graph: Graph
    assignment: Assignment
    selection: Selection
    plan: Plan

    @property
    def calls(self) -> tuple[tuple[str, RegionCall], ...]:
        """What is called beside the layers, by backend."""
        return (*self.selection.acquire, *self.selection.release)

    @property
    def inputs(self) -> tuple[EdgeId, ...]:
        """The inputs that a caller gives; states are not among them."""
        return self.plan.exposure.inputs(self.graph)

    @property
    def outputs(self) -> tuple[EdgeId, ...]:
        """The outputs that a caller gets."""
        return self.plan.exposure.outputs(self.graph)

    @property
    def ram_bytes(self) -> int:
        """What an instance needs: all pools, and the buffers of the caller."""
        callers = sum(
            self.graph.type(edge).bytes
            for edge in (*self.inputs, *self.outputs)
            if isinstance(self.plan.place(edge), InSlot)
        )
        return self.plan.arena_bytes + callers

    @property
    def macs(self) -> int:
        """Of one run; a layer in a loop counts as often as it is known to run."""
        layers = self.plan.steps
        return sum(s.choice.layer.macs * self.plan.times[s.index] for s in layers)

    @property
    def whole_graph(self) -> Graph:
        """The graph with all graphs inside of it, for looking things up by id."""
        return flat(self.graph)

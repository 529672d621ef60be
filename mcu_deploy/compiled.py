"""What a compile makes of a model, step by step: planned, written in C, built and measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from mcu_deploy.backends.interface import NetworkId, RegionCall, Target
from mcu_deploy.backends.measured import NOT_MEASURED, MeasuredCosts
from mcu_deploy.choose import Assignment
from mcu_deploy.codegen.network import NetworkSource
from mcu_deploy.formats.imported import AssumedShape
from mcu_deploy.ir import EdgeId, Graph
from mcu_deploy.ir.nested import flat
from mcu_deploy.options import Options
from mcu_deploy.plan import InSlot, Plan
from mcu_deploy.selection import Selection
from mcu_deploy.toolchain import NetworkSizes, StackBound


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


@dataclass(frozen=True, kw_only=True)
class Network(CompiledModel):
    """A compiled model and its C source, before it is written.

    model: the file that it is from. measured: the costs beside that. assumed: what it leaves open
    and was taken as something.
    """

    model: Path
    sources: NetworkSource
    measured: MeasuredCosts = NOT_MEASURED
    assumed: tuple[AssumedShape, ...] = ()
    id: NetworkId = 0


@dataclass(frozen=True)
class BuiltNetwork:
    """A network in a build: its object, its sizes in bytes, the bound of its stack.

    second_stack: the bound of its lanes on a second core; None where it has none there.
    """

    network: Network
    object: Path
    sizes: NetworkSizes
    stack: StackBound
    second_stack: StackBound | None = None

    @property
    def name(self) -> str:
        return self.network.name

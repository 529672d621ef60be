"""Backends for tests: CpuRef's workloads under an id, a rank, costs and habits of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from mcu_deploy.backends.CpuRef import CpuRef
from mcu_deploy.backends.interface import (
    Backend,
    BackendBase,
    BackendContext,
    BackendProfiling,
    Costs,
    CreationOptions,
    Descriptor,
    Layer,
    LayerSupport,
    MemoryManager,
    Operand,
    OptimizationViews,
    ProfilingContext,
    SubgraphView,
    Support,
    Workload,
    WorkloadFactory,
    WorkloadInfo,
    no,
)


@dataclass
class Only(BackendBase):
    """Computes some operators, or all, by CpuRef's workloads.

    takes: whether it takes a layer, beside `ops`. optimizes: what it does with a view. contexts,
    profiles: what the session gets. estimated: the costs that it claims, by node name.
    """

    id: str = "Only"
    ops: tuple[str, ...] | None = ("Relu",)
    cores: tuple[str, ...] = ()
    rank: int = 10
    costs: tuple[Costs, ...] = (Costs(),)
    version: tuple[int, int] = (1, 0)
    takes: Callable[[Layer], bool] = lambda layer: True
    optimizes: Callable[[SubgraphView], OptimizationViews] | None = None
    estimated: Mapping[str, Costs] = field(default_factory=dict)
    context: Callable[[CreationOptions], BackendContext] | None = None
    profiler: Callable[[BackendProfiling], ProfilingContext] | None = None
    reference: Backend = field(default_factory=CpuRef)

    def layer_support(self) -> LayerSupport:
        return _Support(self)

    def estimate(self, layer: Layer) -> Costs:
        return self.estimated.get(layer.name, Costs(macs=layer.macs))

    def create_workload_factory(self, memory_manager: MemoryManager | None) -> WorkloadFactory:
        return _Factory(self, memory_manager)

    def optimize_subgraph(self, view: SubgraphView) -> OptimizationViews:
        if self.optimizes is None:
            return super().optimize_subgraph(view)
        return self.optimizes(view)

    def create_backend_context(self, options: CreationOptions) -> BackendContext | None:
        return None if self.context is None else self.context(options)

    def create_profiling_context(
        self, options: CreationOptions, profiling: BackendProfiling
    ) -> ProfilingContext | None:
        return None if self.profiler is None else self.profiler(profiling)


@dataclass
class _Support:
    backend: Only

    def is_layer_supported(
        self,
        layer: Layer,
        inputs: Sequence[Operand | None],
        outputs: Sequence[Operand],
        params: Mapping[str, Any],
    ) -> Support:
        own = self.backend
        if own.ops is not None and layer.op not in own.ops:
            return no(f"it computes {', '.join(own.ops)} only")
        if not own.takes(layer):
            return no("it does not like this one")
        return own.reference.layer_support().is_layer_supported(layer, inputs, outputs, params)


@dataclass
class _Factory:
    backend: Only
    memory_manager: MemoryManager | None

    def create_workloads(self, info: WorkloadInfo, descriptor: Descriptor) -> tuple[Workload, ...]:
        reference = self.backend.reference.create_workload_factory(self.memory_manager)
        (made,) = reference.create_workloads(info, descriptor)
        own = self.backend
        return tuple(replace(made, backend=own.id, costs=costs) for costs in own.costs)

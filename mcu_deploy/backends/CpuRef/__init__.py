"""CpuRef: portable C for every core; the reference that other backends are tested against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from mcu_deploy.backends.CpuRef import costs
from mcu_deploy.backends.CpuRef.kernels import find, names, tree_code
from mcu_deploy.backends.interface import (
    Backend,
    BackendBase,
    Costs,
    Descriptor,
    Layer,
    LayerSupport,
    MemoryManager,
    Operand,
    Proposal,
    SubgraphView,
    Support,
    Workload,
    WorkloadFactory,
    WorkloadInfo,
    no,
)


class CpuRef(BackendBase):
    """The reference backend. Its kernels are in `kernels/`, one file a family."""

    id = "CpuRef"
    rank = 1000
    operators = names()

    def layer_support(self) -> LayerSupport:
        return _LayerSupport()

    def estimate(self, layer: Layer) -> Costs:
        return costs.estimate(layer)

    def other_ways(self, view: SubgraphView, layer: Layer) -> Sequence[Proposal]:
        return tree_code.ways(view, layer)

    def create_workload_factory(self, memory_manager: MemoryManager | None) -> WorkloadFactory:
        return _WorkloadFactory()


class _LayerSupport:
    def is_layer_supported(
        self,
        layer: Layer,
        inputs: Sequence[Operand | None],
        outputs: Sequence[Operand],
        params: Mapping[str, Any],
    ) -> Support:
        kernel = find(layer.domain, layer.op)
        if kernel is None:
            return no("it has no kernel for this operator")
        support = kernel.supports(layer)
        return replace(support, layout=kernel.layout_of(layer)) if support else support


class _WorkloadFactory:
    def create_workloads(self, info: WorkloadInfo, descriptor: Descriptor) -> tuple[Workload, ...]:
        layer = Layer.of(info, descriptor)
        kernel = find(layer.domain, layer.op)
        assert kernel is not None, "asked for workloads of a layer that it does not support"
        return (replace(kernel.made(layer), costs=costs.estimate(layer)),)


def create() -> Backend:
    """The factory that the registry holds."""
    return CpuRef()

"""CpuRef: portable C for every core; the reference that other backends are tested against."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mcu_deploy.backends.CpuRef import costs
from mcu_deploy.backends.CpuRef.kernels import find, names, tree_code
from mcu_deploy.backends.interface import (
    Backend,
    Costs,
    Layer,
    Proposal,
    SubgraphView,
    Support,
    Workload,
    no,
)
from mcu_deploy.backends.kit.backends import LayerBackend


class CpuRef(LayerBackend):
    """The reference backend. Its kernels are in `kernels/`, one file a family."""

    id = "CpuRef"
    rank = 1000
    operators = names()

    def supports(self, layer: Layer) -> Support:
        kernel = find(layer.domain, layer.op)
        if kernel is None:
            return no("it has no kernel for this operator")
        support = kernel.supports(layer)
        return replace(support, layout=kernel.layout_of(layer)) if support else support

    def workloads(self, layer: Layer) -> tuple[Workload, ...]:
        kernel = find(layer.domain, layer.op)
        assert kernel is not None, "asked for workloads of a layer that it does not support"
        return (replace(kernel.made(layer), costs=costs.estimate(layer)),)

    def estimate(self, layer: Layer) -> Costs:
        return costs.estimate(layer)

    def other_ways(self, view: SubgraphView, layer: Layer) -> Sequence[Proposal]:
        return tree_code.ways(view, layer)


def create() -> Backend:
    """The factory that the registry holds."""
    return CpuRef()

"""CpuRef: portable C for every core; the reference that other backends are tested against."""

from __future__ import annotations

from mcu_deploy.backends.CpuRef.kernels import find
from mcu_deploy.backends.interface import Backend, Layer, LayoutRule, Support, Workload, no


class CpuRef:
    """The reference backend. Its kernels are in `kernels/`, one file a family."""

    id = "CpuRef"
    version = (1, 0)
    cores: tuple[str, ...] = ()
    rank = 1000

    def is_layer_supported(self, layer: Layer) -> Support:
        kernel = find(layer.node.domain, layer.op)
        if kernel is None:
            return no("it has no kernel for this operator")
        return kernel.supports(layer)

    def layout_rule(self, layer: Layer) -> LayoutRule:
        kernel = find(layer.node.domain, layer.op)
        assert kernel is not None, "asked for the layout of a layer that it does not support"
        return kernel.layout(layer)

    def create_workloads(self, layer: Layer) -> tuple[Workload, ...]:
        kernel = find(layer.node.domain, layer.op)
        assert kernel is not None, "asked for workloads of a layer that it does not support"
        return (kernel.create(layer),)


def create() -> Backend:
    """The factory that the registry holds."""
    return CpuRef()

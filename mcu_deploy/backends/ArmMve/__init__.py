"""ArmMve: int8 and float32 layers for cores with Helium, the vectors of Armv8.1-M.

Its kernels are assembler, made for each layer's shape; they are in `kernels/`, one file a family.
What it lacks ArmDsp and CpuRef compute.
"""

from __future__ import annotations

import functools

from mcu_deploy.backends.interface import (
    Backend,
    BackendBase,
    LayerSupport,
    MemoryManager,
    Proposals,
    SubgraphView,
    Target,
    WorkloadFactory,
)
from mcu_deploy.backends.kit import families

_KERNELS = f"{__name__}.kernels"


class ArmMve(BackendBase):
    """Cortex-M55 and M85 with Helium and its floats; on those without it says so."""

    id = "ArmMve"
    rank = 100
    cores = ("cortex-m55", "cortex-m85")

    # Its kernels are loaded where somebody asks for them.
    @functools.cached_property
    def operators(self) -> tuple[str, ...]:  # type: ignore[override]
        return families.operators(_KERNELS)

    def layer_support(self) -> LayerSupport:
        from mcu_deploy.backends.ArmMve.reorder import Reorders

        return Reorders()

    def create_workload_factory(self, memory_manager: MemoryManager | None) -> WorkloadFactory:
        from mcu_deploy.backends.ArmMve.reorder import ReorderFactory

        return ReorderFactory()

    def propose(self, view: SubgraphView, target: Target) -> Proposals:
        from mcu_deploy.backends.ArmMve.clamp import assemble
        from mcu_deploy.backends.isa import clamps

        asking = clamps.asking(assemble, "mve")
        return families.propose(_KERNELS, view, target, _lacks(target), asking)


def _lacks(target: Target) -> str:
    if not target.mve:
        return f"its kernels need Helium, which this {target.core} lacks"
    if not target.fpu:
        return f"its kernels round in floats of Helium, which this {target.core} lacks"
    return ""


def create() -> Backend:
    """The factory that the registry holds."""
    return ArmMve()

"""ArmMve: int8 and float32 layers for cores with Helium, the vectors of Armv8.1-M.

Its kernels are assembler, made for each layer's shape; they are in `kernels/`, one file a family.
What it lacks ArmDsp and CpuRef compute.
"""

from __future__ import annotations

from mcu_deploy.backends.interface import Backend, Layer, Support, Target, Workload
from mcu_deploy.backends.kit.backends import FamilyBackend, LayerBackend
from mcu_deploy.backends.kit.families import Asking


class ArmMve(FamilyBackend, LayerBackend):
    """Cortex-M55 and M85 with Helium and its floats; on those without it says so."""

    id = "ArmMve"
    rank = 100
    cores = ("cortex-m55", "cortex-m85")
    kernels = f"{__name__}.kernels"

    def supports(self, layer: Layer) -> Support:
        from mcu_deploy.backends.ArmMve import reorder

        return reorder.supports(layer)

    def workloads(self, layer: Layer) -> tuple[Workload, ...]:
        from mcu_deploy.backends.ArmMve import reorder

        return reorder.workloads(layer)

    def lacks(self, target: Target) -> str:
        if not target.mve:
            return f"its kernels need Helium, which this {target.core} lacks"
        if not target.fpu:
            return f"its kernels round in floats of Helium, which this {target.core} lacks"
        return ""

    def asking(self) -> Asking:
        from mcu_deploy.backends.ArmMve.clamp import assemble
        from mcu_deploy.backends.isa import clamps

        return clamps.asking(assemble, "mve")


def create() -> Backend:
    """The factory that the registry holds."""
    return ArmMve()

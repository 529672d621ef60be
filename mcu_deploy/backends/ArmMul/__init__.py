"""ArmMul: int8 and uint8 layers in portable C for cores without the DSP extension (Cortex-M0, M0+,
M3), which multiply one pair of numbers at a time and compute floats in software.

Its kernels are in `kernels/`, one file a family.
"""

from __future__ import annotations

from mcu_deploy.backends.interface import Backend
from mcu_deploy.backends.kit.backends import FamilyBackend


class ArmMul(FamilyBackend):
    """Sums of products in int32, rounded by integers where CpuRef has float32 in software."""

    id = "ArmMul"
    rank = 300
    cores = ("cortex-m0", "cortex-m0plus", "cortex-m3")
    kernels = f"{__name__}.kernels"


def create() -> Backend:
    """The factory that the registry holds."""
    return ArmMul()

"""ArmDsp: int8 and uint8 layers for cores with the DSP extension of Armv7E-M and Armv8-M (SMLAD),
convolutions, dense and recurrent layers of float32 by their FPU, and trees over integers.

Its kernels are assembler, made for each layer's shape; they are in `kernels/`, one file a family.
"""

from __future__ import annotations

from mcu_deploy.backends.interface import Backend, Target
from mcu_deploy.backends.kit.backends import FamilyBackend
from mcu_deploy.backends.kit.families import Asking


class ArmDsp(FamilyBackend):
    """Cortex-M4, M7, M33; M55 and M85 where ArmMve has no kernel. On the M3, which lacks the
    instructions, it says so."""

    id = "ArmDsp"
    rank = 200
    cores = ("cortex-m3", "cortex-m4", "cortex-m7", "cortex-m33", "cortex-m55", "cortex-m85")
    kernels = f"{__name__}.kernels"

    def lacks(self, target: Target) -> str:
        if not target.dsp:
            return f"its kernels need the DSP extension (SMLAD), which this {target.core} lacks"
        return ""

    def asking(self) -> Asking:
        from mcu_deploy.backends.ArmDsp.clamp import assemble
        from mcu_deploy.backends.isa import clamps

        return clamps.asking(assemble, "dsp")


def create() -> Backend:
    """The factory that the registry holds."""
    return ArmDsp()

"""ArmDsp: int8 and uint8 layers for cores with the DSP extension of Armv7E-M and Armv8-M (SMLAD),
convolutions, dense and recurrent layers of float32 by their FPU, and trees over integers.

Its kernels are assembler, made for each layer's shape; they are in `kernels/`, one file a family.
"""

from __future__ import annotations

import functools

from mcu_deploy.backends.interface import Backend, BackendBase, Proposals, SubgraphView, Target
from mcu_deploy.backends.kit import families

_KERNELS = f"{__name__}.kernels"


class ArmDsp(BackendBase):
    """Cortex-M4, M7, M33; M55 and M85 where ArmMve has no kernel. On the M3, which lacks the
    instructions, it says so."""

    id = "ArmDsp"
    rank = 200
    cores = ("cortex-m3", "cortex-m4", "cortex-m7", "cortex-m33", "cortex-m55", "cortex-m85")

    # Its kernels are loaded where somebody asks for them.
    @functools.cached_property
    def operators(self) -> tuple[str, ...]:  # type: ignore[override]
        return families.operators(_KERNELS)

    def propose(self, view: SubgraphView, target: Target) -> Proposals:
        from mcu_deploy.backends.ArmDsp.clamp import assemble
        from mcu_deploy.backends.isa import clamps

        asking = clamps.asking(assemble, "dsp")
        return families.propose(_KERNELS, view, target, _lacks(target), asking)


def _lacks(target: Target) -> str:
    if not target.dsp:
        return f"its kernels need the DSP extension (SMLAD), which this {target.core} lacks"
    return ""


def create() -> Backend:
    """The factory that the registry holds."""
    return ArmDsp()

"""ArmDsp: int8 and uint8 layers for cores with the DSP extension of Armv7E-M and Armv8-M (SMLAD).

Its kernels are assembler, made for each layer's shape; they are in `kernels/`, one file a family.
"""

from __future__ import annotations

from collections.abc import Sequence

from mcu_deploy.backends.ArmDsp.clamp import clamped, is_narrower, opened
from mcu_deploy.backends.interface import (
    Backend,
    BackendBase,
    Layer,
    Proposal,
    Proposals,
    SubgraphView,
    Target,
)
from mcu_deploy.backends.kit import families

_KERNELS = f"{__name__}.kernels"


class ArmDsp(BackendBase):
    """Cortex-M4, M7, M33; M55 and M85 where ArmMve has no kernel. On the M3, which lacks the
    instructions, it says so."""

    id = "ArmDsp"
    rank = 200
    cores = ("cortex-m3", "cortex-m4", "cortex-m7", "cortex-m33", "cortex-m55", "cortex-m85")
    operators = families.operators(_KERNELS)

    def propose(self, view: SubgraphView, target: Target) -> Proposals:
        return families.propose(_KERNELS, view, target, _lacks(target), _ask)


def _ask(
    found_in: Sequence[families.Family], view: SubgraphView, layer: Layer
) -> tuple[list[Proposal], str]:
    """As `families.ask`; a layer that no kernel clamps as narrowly as it wants is computed in the
    whole range, and clamped behind."""
    found, reason = families.ask(found_in, view, layer)
    if found or not is_narrower(layer):
        return found, reason
    more, reason = families.ask(found_in, view, opened(layer))
    # Chains need what is clamped in their middle.
    return [clamped(one, layer) for one in more if len(one.nodes) == 1], reason


def _lacks(target: Target) -> str:
    if not target.dsp:
        return f"its kernels need the DSP extension (SMLAD), which this {target.core} lacks"
    return ""


def create() -> Backend:
    """The factory that the registry holds."""
    return ArmDsp()

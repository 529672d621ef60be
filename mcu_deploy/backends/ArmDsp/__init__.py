"""ArmDsp: int8 and uint8 layers for cores with the DSP extension of Armv7E-M and Armv8-M (SMLAD).

Its kernels are assembler, made for each layer's shape; they are in `kernels/`, one file a family.
"""

from __future__ import annotations

from mcu_deploy.backends.ArmDsp.clamp import clamped, is_narrower, opened
from mcu_deploy.backends.interface import (
    Backend,
    BackendBase,
    Proposal,
    Proposals,
    SubgraphView,
    Target,
    layer_of,
)
from mcu_deploy.backends.kit import families
from mcu_deploy.ir import NodeId

_KERNELS = f"{__name__}.kernels"


class ArmDsp(BackendBase):
    """Cortex-M4, M7, M33; M55 and M85 where ArmMve has no kernel. On the M3, which lacks the
    instructions, it says so."""

    id = "ArmDsp"
    rank = 200
    cores = ("cortex-m3", "cortex-m4", "cortex-m7", "cortex-m33", "cortex-m55", "cortex-m85")
    operators = families.operators(_KERNELS)

    def propose(self, view: SubgraphView, target: Target) -> Proposals:
        proposals: list[Proposal] = []
        refused: dict[NodeId, str] = {}
        for node in view.nodes:
            found_in = families.find(_KERNELS, node.domain, node.op)
            if not found_in:
                continue
            if reason := _lacks(target):
                refused[node.id] = reason
                continue
            layer = layer_of(view, node, target)
            found, reason = families.ask(found_in, view, layer)
            if not found and is_narrower(layer):
                more, reason = families.ask(found_in, view, opened(layer))
                # Chains need what is clamped in their middle.
                found = [clamped(one, layer) for one in more if len(one.nodes) == 1]
            proposals += found
            if not found:
                refused[node.id] = reason or "it has no kernel for this operator in this form"
        return Proposals(tuple(proposals), refused)


def _lacks(target: Target) -> str:
    if not target.dsp:
        return f"its kernels need the DSP extension (SMLAD), which this {target.core} lacks"
    return ""


def create() -> Backend:
    """The factory that the registry holds."""
    return ArmDsp()

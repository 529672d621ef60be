"""How ArmMve's kernels are written and proposed."""

from __future__ import annotations

from mcu_deploy.backends.isa import Assembly
from mcu_deploy.backends.isa.timing import TIMINGS
from mcu_deploy.backends.isa.workloads import CHANNELS_LAST, NATURAL, Kernels

__all__ = ["CHANNELS_LAST", "NATURAL", "assembly", "proposal", "workload"]

_KERNELS = Kernels("ArmMve")
proposal, workload = _KERNELS.proposal, _KERNELS.workload


def assembly() -> Assembly:
    """Of a kernel to write."""
    return Assembly(TIMINGS["cortex-m55"])

"""How ArmMve's kernels are written, and their workloads."""

from __future__ import annotations

from mcu_deploy.backends.isa import Assembly
from mcu_deploy.backends.isa.timing import TIMINGS
from mcu_deploy.backends.isa.workloads import CHANNELS_LAST, Kernels

__all__ = ["CHANNELS_LAST", "ID", "assembly", "proposal", "workload"]

ID = "ArmMve"
KERNELS = Kernels(ID)
proposal, workload = KERNELS.proposal, KERNELS.workload


def assembly() -> Assembly:
    """Of a kernel to write."""
    return Assembly(TIMINGS["cortex-m55"])

"""How ArmMve's kernels are written and proposed."""

from __future__ import annotations

from mcu_deploy.backends.isa import Assembly
from mcu_deploy.backends.isa.models import MODELS
from mcu_deploy.backends.isa.workloads import CHANNELS_LAST, NATURAL, Kernels

__all__ = ["CHANNELS_LAST", "ID", "NATURAL", "assembly", "driver", "proposal", "workload"]

ID = "ArmMve"
_KERNELS = Kernels(ID)
proposal, driver, workload = _KERNELS.proposal, _KERNELS.driver, _KERNELS.workload


def assembly() -> Assembly:
    """Of a kernel to write."""
    return Assembly(MODELS["cortex-m55"])

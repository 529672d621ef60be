"""How ArmDsp's kernels are proposed, and those of drivers are called."""

from __future__ import annotations

from pathlib import Path

from mcu_deploy.backends.isa.workloads import ALIKE, CHANNELS_LAST, Called, Kernels, called
from mcu_deploy.backends.kit.kit import Kit

__all__ = ["ALIKE", "CHANNELS_LAST", "ID", "KIT", "Called", "called", "driver", "proposal"]

ID = "ArmDsp"
# For the C of drivers.
KIT = Kit(ID, Path(__file__).parent)
_KERNELS = Kernels(ID)
proposal, driver = _KERNELS.proposal, _KERNELS.driver

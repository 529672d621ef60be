"""How ArmDsp's kernels are proposed, and those of drivers are called."""

from __future__ import annotations

from pathlib import Path

from mcu_deploy.backends.interface import Parameter
from mcu_deploy.backends.isa import Assembly
from mcu_deploy.backends.isa.workloads import ALIKE, CHANNELS_LAST, Called, Kernels
from mcu_deploy.backends.kit.kit import Kit
from mcu_deploy.ir import TensorType

__all__ = ["ALIKE", "CHANNELS_LAST", "ID", "KIT", "Called", "called", "driver", "proposal"]

ID = "ArmDsp"
# For the C of drivers.
KIT = Kit(ID, Path(__file__).parent)
_KERNELS = Kernels(ID)
proposal, driver = _KERNELS.proposal, _KERNELS.driver


def called(
    stem: str,
    x: TensorType,
    y: TensorType,
    code: Assembly,
    constants: str = "weights",
    calls: int = 1,
) -> Called:
    """A kernel from an image to another one. constants: what it calls these."""
    parameters = (
        Parameter(f"const {x.dtype.c_type} *", "x"),
        Parameter(f"{y.dtype.c_type} *", "y"),
        Parameter("const uint32_t *", constants), Parameter("uint8_t *", "scratch"),
    )  # fmt: skip
    return Called(stem, parameters, code, calls)

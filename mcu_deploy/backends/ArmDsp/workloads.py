"""How ArmDsp's kernels are proposed, and those of drivers are called."""

from __future__ import annotations

from pathlib import Path

from mcu_deploy.backends.interface import CFunction, Parameter, Target
from mcu_deploy.backends.isa import Assembly, kernel
from mcu_deploy.backends.isa.workloads import ALIKE, CHANNELS_LAST, Kernels
from mcu_deploy.backends.kit.kit import Kit
from mcu_deploy.ir import TensorType

__all__ = ["ALIKE", "CHANNELS_LAST", "ID", "KIT", "chain", "function_of", "proposal"]

ID = "ArmDsp"
# For the C of drivers.
KIT = Kit(ID, Path(__file__).parent)
KERNELS = Kernels(ID)
proposal, chain = KERNELS.proposal, KERNELS.chain


def function_of(
    stem: str,
    x: TensorType,
    y: TensorType,
    code: Assembly,
    target: Target,
    constants: str = "weights",
    calls: int = 1,
) -> CFunction:
    """A kernel from an image to another one. constants: what it calls these. calls: as `kernel`
    has it."""
    parameters = (
        Parameter(f"const {x.dtype.c_type} *", "x"),
        Parameter(f"{y.dtype.c_type} *", "y"),
        Parameter("const uint32_t *", constants), Parameter("uint8_t *", "scratch"),
    )  # fmt: skip
    return kernel(stem, parameters, code, target, calls)

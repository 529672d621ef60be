"""The instructions of kernels in assembler: their text, and what they cost."""

from mcu_deploy.backends.isa.assembly import Assembly
from mcu_deploy.backends.isa.function import kernel

__all__ = ["Assembly", "kernel"]

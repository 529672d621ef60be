"""The instructions of kernels in assembler as values, what they mean, and what they cost."""

from mcu_deploy.backends.isa.assembly import Assembly
from mcu_deploy.backends.isa.function import kernel
from mcu_deploy.backends.isa.operands import Kind, Label, Memory, Register, physical

__all__ = ["Assembly", "Kind", "Label", "Memory", "Register", "kernel", "physical"]

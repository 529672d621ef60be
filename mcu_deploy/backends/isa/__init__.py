"""The instructions of kernels in assembler: their text, and what they cost."""

from mcu_deploy.backends.isa.assembly import Assembly, Statements, placed, statement
from mcu_deploy.backends.isa.soft import soft

__all__ = ["Assembly", "Statements", "placed", "soft", "statement"]

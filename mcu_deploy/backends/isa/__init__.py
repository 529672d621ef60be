"""The instructions of kernels in assembler: their text, and what they cost."""

from mcu_deploy.backends.isa.assembly import Assembly, Statements, placed, statement

__all__ = ["Assembly", "Statements", "placed", "statement"]

"""Functions of one byte for ArmMve: those of ArmDsp's tests, with every rest of sixteen."""

from __future__ import annotations

from arm_dsp_table_cases import LARGE, TAKEN, Function, model

# The one whose cycles are asserted.
ALONE = LARGE
GOLDEN = TAKEN[1]

__all__ = ["ALONE", "GOLDEN", "TAKEN", "Function", "model"]

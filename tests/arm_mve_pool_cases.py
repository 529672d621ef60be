"""Pools for ArmMve: those of ArmDsp's tests, and others of any number of channels."""

from __future__ import annotations

from arm_dsp_pool_cases import EVEN, LARGEST, ODD, PADDED_AVERAGES, Pool, model
from arm_dsp_pool_cases import TAKEN as _TAKEN

# Whose cycles are asserted: of the keyword spotting and image classification models, and a maximum.
ALONE = (ODD, EVEN, LARGEST)
_ONE = (1, 1, 1, 1)
TAKEN = (
    Pool("MaxPool", 70, (4, 5), (3, 3), zeros=(0, 0), pads=_ONE),
    *(case for case in _TAKEN if case not in (*ALONE, *PADDED_AVERAGES)),
    *PADDED_AVERAGES,
    Pool("AveragePool", 6, (4, 4), (2, 2)),
    Pool("AveragePool", 1, (9, 9), (3, 3), (3, 3), zeros=(3, -5)),
    Pool("AveragePool", 19, (8, 8), (8, 8), zeros=(0, 0)),
    Pool("AveragePool", 33, (5, 4), (3, 3), pads=_ONE, zeros=(9, 9), scale=0.5),
    Pool("AveragePool", 5, (20, 20), (18, 18), zeros=(1, 1), dtype="uint8"),
    Pool("MaxPool", 1, (8, 6), (2, 2), (2, 2), zeros=(0, 0)),
    Pool("MaxPool", 17, (4, 4), (4, 4), zeros=(9, 9), dtype="uint8", batch=2),
    Pool("MaxPool", 4, (2, 19), (2, 17), zeros=(0, 0)),
)
GOLDEN = Pool("AveragePool", 6, (4, 4), (2, 2), (2, 2))

__all__ = ["ALONE", "GOLDEN", "TAKEN", "Pool", "model"]

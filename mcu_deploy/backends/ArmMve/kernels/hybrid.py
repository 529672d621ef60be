"""TFLite's convolution of float32 by int8 weights ("dynamic range", isa/hybrid.py): a row of bytes
times four filters (isa/mve/float_rows.py)."""

from __future__ import annotations

from collections.abc import Sequence

from mcu_deploy.backends.ArmMve.dynamic_range import extent, integers
from mcu_deploy.backends.ArmMve.workloads import driver
from mcu_deploy.backends.interface import Layer, Proposal, SubgraphView
from mcu_deploy.backends.isa import hybrid
from mcu_deploy.backends.isa.hybrid import HybridKernels
from mcu_deploy.backends.isa.mve.float_rows import VectorRow

OPERATORS = ("tflite::HybridConv",)
_KERNELS = HybridKernels("_mve", 1, VectorRow, extent, integers, together=1)


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A convolution by itself."""
    return hybrid.propose(view, node, _KERNELS, driver)

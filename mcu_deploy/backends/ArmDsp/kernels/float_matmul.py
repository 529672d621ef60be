"""Products of float32 matrices that are both computed, by the kernels of fully connected layers
(`isa/float_matmul.py`)."""

from __future__ import annotations

from collections.abc import Sequence

from mcu_deploy.backends.ArmDsp.kernels.float_recurrent import DENSE
from mcu_deploy.backends.ArmDsp.workloads import driver
from mcu_deploy.backends.interface import Layer, Proposal, SubgraphView
from mcu_deploy.backends.isa import float_matmul

OPERATORS = ("MatMul",)


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A product by itself."""
    if node.target.mve or not node.target.fpu:  # ArmMve has vectors of floats
        return ""
    return float_matmul.propose(view, node, DENSE, driver)

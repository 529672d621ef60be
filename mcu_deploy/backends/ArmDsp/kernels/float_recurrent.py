"""LSTM, GRU and RNN of float32, with weights of float32 or of int8: their products are those of
fully connected layers (`isa/float_recurrent.py`)."""

from __future__ import annotations

from collections.abc import Sequence

from mcu_deploy.backends.ArmDsp.kernels import float_convolution
from mcu_deploy.backends.ArmDsp.workloads import ID
from mcu_deploy.backends.interface import Layer, Proposal, SubgraphView
from mcu_deploy.backends.isa import float_recurrent
from mcu_deploy.operators.recurrent import GATES

OPERATORS = tuple(GATES)
DENSE = float_recurrent.DenseKernels(ID, "_dsp", 1, float_convolution.quickest)


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A recurrent layer by itself."""
    if node.target.mve:  # which has vectors of floats
        return ""
    if not node.target.fpu:
        return f"it computes in float32, which this {node.target.core} has no FPU for"
    return float_recurrent.propose(view, node, DENSE)

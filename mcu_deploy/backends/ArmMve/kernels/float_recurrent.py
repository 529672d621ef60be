"""LSTM, GRU and RNN of float32, with weights of float32 or of int8: their products are those of
fully connected layers (`isa/float_recurrent.py`)."""

from __future__ import annotations

from collections.abc import Sequence

from mcu_deploy.backends.ArmMve.kernels import float_convolution
from mcu_deploy.backends.ArmMve.workloads import ID
from mcu_deploy.backends.floats.layers import Product
from mcu_deploy.backends.interface import Layer, Proposal, SubgraphView, Target
from mcu_deploy.backends.isa import Assembly, float_recurrent
from mcu_deploy.backends.isa.mve.float_tiles import plan_of
from mcu_deploy.backends.isa.mve.float_weights import LANES
from mcu_deploy.backends.isa.window_tiles import TilePlan
from mcu_deploy.operators.recurrent import GATES

OPERATORS = tuple(GATES)


def _assemble(product: Product, _: Target) -> tuple[Assembly, TilePlan]:
    plan = plan_of(product)
    return float_convolution.assemble(plan), plan


DENSE = float_recurrent.DenseKernels(ID, "_mve", LANES, _assemble)


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A recurrent layer by itself."""
    return float_recurrent.propose(view, node, DENSE)

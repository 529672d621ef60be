"""Fully connected layers of one row and one or two outputs: what a network ends with, say.

Those of fully_connected.py are four outputs at a time, in code for layers of all sizes; here is
what the layer has and nothing else, written out.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mcu_deploy.backends.ArmDsp.workloads import CHANNELS_LAST, proposal
from mcu_deploy.backends.interface import Constant, InPlace, Layer, Proposal, SubgraphView
from mcu_deploy.backends.isa.dsp.few_outputs import OUTPUTS, FewOutputs
from mcu_deploy.backends.isa.workloads import NATURAL
from mcu_deploy.backends.quantized.dense import Dense, read, refusal, twice_rounded
from mcu_deploy.backends.quantized.requantization import accumulate, shift_of

OPERATORS = ("Gemm", "MatMul", "tflite::FullyConnected", "Conv", "tflite::Conv")

_MOST_TAPS = 64


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A layer by itself; others are left to fully_connected.py, which says why."""
    layer = read(node)
    if isinstance(layer, str) or refusal(layer):
        return ""
    outputs, taps = layer.weights.shape
    if layer.rows > 1 or outputs > OUTPUTS or taps % 4 or taps > _MOST_TAPS:
        return ""
    product = rounded(layer)
    if product is None:
        return ""
    return [proposal(
        view.part([node.node.id]), node.target, f"dense_{taps}x{outputs}_dsp", product.assemble(),
        [Constant("weights", product.pack())], "dense of few outputs", macs=outputs * taps,
        in_place=[InPlace(0, 0, -layer.x.bytes)],
        layouts=CHANNELS_LAST if node.op == "Conv" else NATURAL,
    )]  # fmt: skip


def rounded(layer: Dense) -> FewOutputs | None:
    """By integers that round all outputs at once, as TFLite rounds twice, or in float32; None where
    that is TFLite's and shifts too far."""
    outputs, shift = range(len(layer.weights)), shift_of(layer.factors)
    nothing, found = [0] * len(outputs), [accumulate(layer.channel(n), 1, shift) for n in outputs]
    once = [one for one in found if one is not None]
    if len(once) == len(outputs):
        ends = [(one.scale, one.addend) for one in once]
        return FewOutputs(layer, [one.move for one in once], ends, shift)
    if layer.fixed is None:
        return FewOutputs(layer, nothing, [(int(f.view(np.int32)),) for f in layer.factors])
    twice = [one for n in outputs if (one := twice_rounded(layer, n)) is not None]
    return FewOutputs(layer, nothing, twice) if len(twice) == len(outputs) else None

"""A convolution and the function of a byte behind it (tables.py), which elements meet on their way
to the output: that takes an instruction and a cycle each, where a layer takes three.
"""

from __future__ import annotations

from collections.abc import Sequence

from mcu_deploy.backends.ArmDsp.kernels import convolution, pointwise, tables
from mcu_deploy.backends.interface import Layer, Proposal, SubgraphView
from mcu_deploy.backends.quantized.layers import read

OPERATORS = ("Conv", "tflite::Conv")


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A convolution with the function that alone reads it."""
    layer, between = read(node), tables.middle(view, node)
    if isinstance(layer, str) or layer.is_depthwise or not between.constants:
        return ""
    (table,), part = (c.value for c in between.constants), view.part(between.nodes)
    if layer.is_pixelwise and not pointwise.refusal(layer):
        return pointwise.proposals(part, layer, table)
    return "" if convolution.refusal(layer) else convolution.proposals(part, layer, True, table)

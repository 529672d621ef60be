"""Fully connected layers of several rows: a 1x1 convolution, whose pixels are the rows.

Each word of weights meets three rows there. The kernel of fully connected layers is for one row,
and reads all weights anew for the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace

from mcu_deploy.backends.ArmDsp.kernels import pointwise, pointwise_shared
from mcu_deploy.backends.interface import Layer, Proposal, SubgraphView
from mcu_deploy.backends.isa.workloads import NATURAL
from mcu_deploy.backends.quantized import dense
from mcu_deploy.backends.quantized.dense import Dense
from mcu_deploy.backends.quantized.layers import Convolution, Linear, bytes_refusal
from mcu_deploy.operators.windows import Window

OPERATORS = ("Gemm", "MatMul", "tflite::FullyConnected")


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A layer of three rows or more; others are left to fully_connected.py, which says why."""
    found = dense.read(node)
    if isinstance(found, str):
        return ""
    layer = of_pixels(found)
    if pointwise.refusal(layer):
        return ""
    part = view.part([node.node.id])
    proposals = [*pointwise.proposals(part, layer)]
    if not bytes_refusal(layer):
        proposals += pointwise_shared.proposals(part, layer)
    return [replace(proposal, layouts=NATURAL) for proposal in proposals]


def of_pixels(layer: Dense) -> Convolution:
    """The layer as a convolution of an image of one row."""
    outputs, taps = layer.weights.shape
    ones, size = (1, 1), (1, layer.rows)
    x, y = (
        replace(type_, shape=(1, channels, *size))
        for type_, channels in ((layer.x, taps), (layer.y, outputs))
    )
    given = {field.name: getattr(layer, field.name) for field in fields(Linear)}
    return Convolution(
        **{**given, "weights": layer.weights.reshape(outputs, taps, 1, 1), "x": x, "y": y},
        window=Window(ones, ones, ones, (0, 0), (0, 0), size, size),
        is_depthwise=False, is_pixelwise=True, groups=1,
    )  # fmt: skip

"""Sums, differences and products of float32 with a number for each channel: depthwise convolutions
of a pixel. What is added to a product of one, or a product that is added to nothing, is rounded as
alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.ArmMve.kernels import float_depthwise
from mcu_deploy.backends.ArmMve.workloads import CHANNELS_LAST, NATURAL
from mcu_deploy.backends.floats.layers import Product, is_of_floats, row_of, types_refusal
from mcu_deploy.backends.interface import Layer, Proposal, SubgraphView

OPERATORS = ("Add", "Sub", "Mul")


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A layer by itself, one operand of which is constant."""
    if not is_of_floats(node):
        return ""
    which = 1 if node.input(0).constant is None else 0
    x, constant, y = node.input(1 - which), node.input(which), node.output.type
    if constant.constant is None or constant.type.elements == 1 or x.constant is not None:
        return ""
    if reason := types_refusal(x.type, constant.type, y):
        return reason
    if x.type.shape != y.shape or not y.elements or (node.op == "Sub" and not which):
        return ""
    found = []
    for axis in dict.fromkeys((1 if y.rank > 2 else y.rank - 1, y.rank - 1)):
        numbers = _of_channels(constant.constant, y.shape, axis)
        if numbers is None:
            continue
        product = _product(node, numbers, y.shape[axis], y.elements)
        # Channels lie last as they are, or are made to.
        layouts = NATURAL if axis == y.rank - 1 else CHANNELS_LAST
        stem = f"{node.op.lower()}_channels_{product.channels}_f32_mve"
        title = f"{node.op.lower()}, by channels"
        found.append(
            float_depthwise.proposal_of(view, node, product, stem, title, 1 - which, layouts)
        )
    return found or "its constant has no number for each channel"


def _of_channels(constant: Array, shape: Sequence[int], axis: int) -> Array | None:
    """The numbers of an axis, where a constant has some for it alone."""
    sizes = (*(1,) * (len(shape) - constant.ndim), *constant.shape)
    if any(size > 1 for n, size in enumerate(sizes) if n != axis) or sizes[axis] != shape[axis]:
        return None
    return constant.reshape(-1)


def _product(node: Layer, numbers: Array, channels: int, elements: int) -> Product:
    factors, bias = np.ones(channels, np.float32), np.zeros(channels, np.float32)
    if node.op == "Mul":
        factors = numbers
    else:
        bias = numbers if node.op == "Add" else -numbers
    window = row_of(elements // channels)
    weights = factors.reshape(channels, 1, 1, 1)
    return Product(weights, bias, channels, channels, window, node.call.activation)

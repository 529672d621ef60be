"""Attention and MultiHeadAttention of com.microsoft, by onnxruntime's docs/ContribOperators.md, as
its optimizer leaves them in a model: products and a softmax. Without what ran before."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate, pairwise

import numpy as np

from mcu_deploy.formats.onnx_body import Body, Shape, require


def attention(b: Body) -> str:
    """Of one tensor, whose queries, keys and values are one product."""
    x, weights, bias, mask, past, added = [*b.inputs, "", "", "", ""][:6]
    require(not (past or any(b.outputs[1:]) or b.attributes.get("do_rotary")))
    columns = (b.shapes[1] or (0,))[-1]
    require(len(b.shape) == 3 and columns)
    sizes = list(b.attributes.get("qkv_hidden_sizes", [columns // 3] * 3))
    projected = b("MatMul", x, weights)
    if bias:
        projected = b("Add", projected, bias)
    parts = _parts(b, projected, sizes, 2)
    masked = _masked(b, mask, b.shapes[3] or (), b.shape[:2]) if mask else ""
    return _heads(b, parts, [(*b.shape[:2], size) for size in sizes], (masked, added))


def multi_head_attention(b: Body) -> str:
    """Of queries, keys and values, three axes each; a bias is that of all three in a row."""
    *parts, bias, mask, added = [*b.inputs, "", "", "", "", ""][:6]
    shapes = [shape for shape in b.shapes[:3] if shape is not None and len(shape) == 3]
    require(all(parts) and len(shapes) == 3)
    require(not (any(b.inputs[6:]) or any(b.outputs[1:])))
    if bias:
        biases = _parts(b, bias, [shape[2] for shape in shapes], 0)
        parts = [b("Add", *pair) for pair in zip(parts, biases, strict=True)]
    masked = _masked(b, mask, b.shapes[4] or (), shapes[1][:2]) if mask else ""
    return _heads(b, parts, shapes, (masked, added))


def _masked(b: Body, mask: str, shape: Shape, keys: Shape) -> str:
    """What is added to scores so that some keys do not count. keys: the batch, and how many.

    The mask is int32. Of one axis it has where the keys of each batch end, and may have where they
    begin behind that; of two or three it is 0 where a key does not count.
    """
    require(0 < len(shape) < 4)
    batch, count = keys
    if len(shape) == 1:
        require(shape[0] in (batch, 2 * batch))
        places, bounds = b.constant(range(count), np.int32), b.reshape(mask, (-1, batch, 1))
        end = b("Slice", bounds, b.ints(0), b.ints(1), b.ints(0))
        counts = b("Less", places, end)
        if shape[0] > batch:
            begin = b("Slice", bounds, b.ints(1), b.ints(2), b.ints(0))
            counts = b("And", counts, b("GreaterOrEqual", places, begin))
    else:
        counts = b("Greater", mask, b.constant(0, np.int32))
    low = float(b.attributes.get("mask_filter_value", -10000))
    values = b("Where", counts, b.constant(0), b.constant(low))
    return b.reshape(values, (batch, 1, shape[1] if len(shape) == 3 else 1, count))


def _parts(b: Body, x: str, sizes: Sequence[int], axis: int) -> list[str]:
    """A tensor in parts of these sizes."""
    ends = accumulate(sizes, initial=0)
    return [b("Slice", x, b.ints(k), b.ints(end), b.ints(axis)) for k, end in pairwise(ends)]


def _heads(b: Body, parts: Sequence[str], shapes: Sequence[Shape], added: Sequence[str]) -> str:
    """softmax(scale q k^T + added) v of each head. shapes: (batch, steps, width) of q, k and v."""
    heads, (batch, steps, width) = int(b.attributes["num_heads"]), shapes[0]
    require(b.opset >= 13 and all(shape[2] % heads == 0 for shape in shapes))
    orders = ((0, 2, 1, 3), (0, 2, 3, 1), (0, 2, 1, 3))
    query, key, value = (
        b.transpose(b.reshape(x, (*shape[:2], heads, shape[2] // heads)), order)
        for x, shape, order in zip(parts, shapes, orders, strict=True)
    )
    scale = float(b.attributes.get("scale", 0)) or 1 / math.sqrt(width // heads)
    scores = b("Mul", b("MatMul", query, key), b.constant(scale))
    if b.attributes.get("unidirectional"):
        later = np.triu(np.full((steps, shapes[1][1]), np.finfo(b.element).min), 1)
        later[-1] = 0  # of more keys than queries the last query sees all, as in onnxruntime
        scores = b("Add", scores, b.constant(later))
    for what in filter(None, added):
        scores = b("Add", scores, what)
    found = b("MatMul", b("Softmax", scores, axis=-1), value)
    return b.reshape(b.transpose(found, (0, 2, 1, 3)), (batch, steps, shapes[2][2]))

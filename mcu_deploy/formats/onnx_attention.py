"""Attention and MultiHeadAttention of com.microsoft, by onnxruntime's docs/ContribOperators.md, as
its optimizer leaves them in a model: products and a softmax. Without masks of keys, and without
what ran before."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate, pairwise

import numpy as np

from mcu_deploy.formats.onnx_body import Body, Shape, require


def attention(b: Body) -> str:
    """Of one tensor, whose queries, keys and values are one product."""
    x, weights, bias, mask, past, added = [*b.inputs, "", "", "", ""][:6]
    require(not (mask or past or any(b.outputs[1:]) or b.attributes.get("do_rotary")))
    columns = (b.shapes[1] or (0,))[-1]
    require(len(b.shape) == 3 and columns)
    sizes = list(b.attributes.get("qkv_hidden_sizes", [columns // 3] * 3))
    projected = b("MatMul", x, weights)
    if bias:
        projected = b("Add", projected, bias)
    parts = _parts(b, projected, sizes, 2)
    return _heads(b, parts, [(*b.shape[:2], size) for size in sizes], added)


def multi_head_attention(b: Body) -> str:
    """Of queries, keys and values, three axes each; a bias is that of all three in a row."""
    *parts, bias, mask, added = [*b.inputs, "", "", "", "", ""][:6]
    shapes = [shape for shape in b.shapes[:3] if shape is not None and len(shape) == 3]
    require(all(parts) and len(shapes) == 3)
    require(not (mask or any(b.inputs[6:]) or any(b.outputs[1:])))
    if bias:
        biases = _parts(b, bias, [shape[2] for shape in shapes], 0)
        parts = [b("Add", *pair) for pair in zip(parts, biases, strict=True)]
    return _heads(b, parts, shapes, added)


def _parts(b: Body, x: str, sizes: Sequence[int], axis: int) -> list[str]:
    """A tensor in parts of these sizes."""
    ends = accumulate(sizes, initial=0)
    return [b("Slice", x, b.ints(k), b.ints(end), b.ints(axis)) for k, end in pairwise(ends)]


def _heads(b: Body, parts: Sequence[str], shapes: Sequence[Shape], added: str) -> str:
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
        scores = b("Add", scores, b.constant(later))
    if added:
        scores = b("Add", scores, added)
    found = b("MatMul", b("Softmax", scores, axis=-1), value)
    return b.reshape(b.transpose(found, (0, 2, 1, 3)), (batch, steps, shapes[2][2]))

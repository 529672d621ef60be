"""Random models for every family of kernels, small, with the geometries that come apart easily."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from hypothesis import strategies as st
from onnx import helper
from operators.lab import Array, make_model
from operators.sandwich import Q, Sandwich, quantized_conv, quantized_gemm, random_integers

MOVES = ("Transpose", "Concat", "Pad", "Slice", "Split", "Gather", "Resize")
Draw = st.DrawFn
sizes = st.integers(1, 5)
seeds = st.integers(0, 2**31)


def _reals(draw: Draw, *shape: int) -> Array:
    return np.random.default_rng(draw(seeds)).standard_normal(shape).astype(np.float32)


def _ints(*values: int) -> Array:
    return np.array(values, np.int64)


def _float_model(
    op: str,
    inputs: Sequence[Sequence[int]],
    attributes: Mapping[str, Any] | None = None,
    constants: Mapping[str, Array] | None = None,
    outputs: int = 1,
    behind_conv: bool = False,
) -> onnx.ModelProto:
    """An operator alone, or behind a 1x1 convolution, where its first input lies channel-last."""
    names = [f"x{i}" for i in range(len(inputs))]
    targets = [f"y{i}" for i in range(outputs)]
    known, nodes, read = dict(constants or {}), [], list(names)
    if behind_conv:
        count = inputs[0][1]
        known["mix"] = np.ones((count, count, *[1] * (len(inputs[0]) - 2)), np.float32)
        nodes.append(helper.make_node("Conv", ["x0", "mix"], ["mixed"], "mix"))
        read[0] = "mixed"
    nodes.append(helper.make_node(op, [*read, *(constants or {})], targets, op, **attributes or {}))
    return make_model(
        nodes,
        {n: ("float32", shape) for n, shape in zip(names, inputs, strict=True)},
        dict.fromkeys(targets, ("float32", None)),
        known,
    )


def _quantized_model(
    draw: Draw,
    op: str,
    inputs: Sequence[Sequence[int]],
    attributes: Mapping[str, Any] | None = None,
    keeps_scale: bool = False,
    constants: Mapping[str, Array] | None = None,
) -> onnx.ModelProto:
    dtype = draw(st.sampled_from(["int8", "uint8"]))
    rng = np.random.default_rng(draw(seeds))
    sandwich = Sandwich()
    types = [Q(tuple(shape), dtype) for shape in inputs]
    names = [sandwich.input(q, random_integers(rng, q.shape or (), dtype)) for q in types]
    sandwich.constants |= constants or {}
    names += constants or {}
    output = Q(None, dtype) if keeps_scale else Q(None, dtype, 0.1, 1)
    return sandwich.finish(op, op, names, output, attributes, opset=19).model


def _window(draw: Draw, rank: int, *, dilated: bool = True) -> tuple[dict[str, Any], list[int]]:
    """Attributes of a sliding window, and an input that it fits into."""
    kernel = [draw(st.integers(1, 3)) for _ in range(rank)]
    dilations = [draw(st.integers(1, 3)) if dilated else 1 for _ in range(rank)]
    extents = [
        (k - 1) * d + 1 + draw(st.integers(0, 5)) for k, d in zip(kernel, dilations, strict=True)
    ]
    attributes = {
        "kernel_shape": kernel,
        "strides": [draw(st.integers(1, 3)) for _ in range(rank)],
        "pads": [draw(st.integers(0, k - 1)) for k in (*kernel, *kernel)],
    }
    if dilated:
        attributes["dilations"] = dilations
    return attributes, extents


@st.composite
def convolutions(draw: Draw) -> onnx.ModelProto:
    """General, pointwise, grouped, depthwise with a multiplier; pads wider than the kernel too."""
    rank = draw(st.integers(1, 2))
    attributes, extents = _window(draw, rank)
    if draw(st.booleans()):
        attributes["pads"] = [draw(st.integers(0, 4)) for _ in range(2 * rank)]
    group = draw(st.sampled_from([1, 2, 3]))
    depth = draw(st.sampled_from([1, 1, 2, 5]))
    attributes["group"] = group
    filters = group * draw(st.integers(1, 4))
    shape = (draw(st.integers(1, 2)), group * depth, *extents)
    weights = (filters, depth, *attributes["kernel_shape"])
    if draw(st.booleans()):
        dtype = draw(st.sampled_from(["int8", "uint8"]))
        return quantized_conv("conv", Q(shape, dtype), weights, attributes).model
    return _float_model("Conv", [shape], attributes, {"w": _reals(draw, *weights)})


@st.composite
def transposed_convolutions(draw: Draw) -> onnx.ModelProto:
    rank = draw(st.integers(1, 2))
    attributes, extents = _window(draw, rank)
    group, depth, each = (draw(st.integers(1, 3)) for _ in range(3))
    attributes["group"] = group
    shape = (draw(st.integers(1, 2)), group * depth, *extents)
    weights = (group * depth, each, *attributes["kernel_shape"])
    # Pads crop here: no more than there is.
    attributes["pads"] = [0] * (2 * rank) if draw(st.booleans()) else attributes["pads"]
    return _float_model("ConvTranspose", [shape], attributes, {"w": _reals(draw, *weights)})


@st.composite
def pools(draw: Draw) -> onnx.ModelProto:
    rank = draw(st.integers(1, 2))
    op = draw(st.sampled_from(["MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool"]))
    attributes, extents = _window(draw, rank, dilated=op == "MaxPool")
    attributes["ceil_mode"] = draw(st.integers(0, 1))
    shape = (draw(st.integers(1, 2)), draw(sizes), *extents)
    given = {} if op.startswith("Global") else attributes
    if draw(st.booleans()):
        return _quantized_model(draw, op, [shape], given, keeps_scale="Max" in op)
    return _float_model(op, [shape], given)


@st.composite
def products(draw: Draw) -> onnx.ModelProto:
    rows, depth, columns = draw(sizes), draw(st.integers(1, 9)), draw(st.integers(1, 9))
    kind = draw(st.sampled_from(["gemm", "quantized gemm", "matmul", "batches", "one matrix"]))
    if kind == "quantized gemm":
        op = draw(st.sampled_from(["Gemm", "MatMul"]))
        return quantized_gemm("gemm", rows, depth, columns, op=op).model
    if kind == "gemm":
        return _float_model("Gemm", [(rows, depth)], {}, {"w": _reals(draw, depth, columns)})
    outer = () if kind == "matmul" else (draw(sizes),)
    second = (depth, columns) if kind == "one matrix" else (*outer, depth, columns)
    if draw(st.booleans()):
        return _quantized_model(draw, "MatMul", [(*outer, rows, depth), second])
    return _float_model("MatMul", [(*outer, rows, depth), second])


@st.composite
def sums(draw: Draw) -> onnx.ModelProto:
    """Binary operators, broadcast on either side, of a tensor with itself, or with a constant."""
    op = draw(st.sampled_from(["Add", "Mul", "Sub"]))
    shape = [draw(sizes) for _ in range(draw(st.integers(1, 4)))]
    other = [1 if draw(st.booleans()) else size for size in shape]
    other = other[draw(st.integers(0, len(other) - 1)) :]
    kind = draw(st.sampled_from(["float", "quantized", "constant", "itself", "channel-last"]))
    if kind == "itself":
        node = helper.make_node(op, ["x", "x"], ["y"])
        return make_model([node], {"x": ("float32", shape)}, {"y": ("float32", None)})
    if kind == "constant":
        return _float_model(op, [shape], {}, {"b": _reals(draw, *other)})
    if kind == "channel-last":
        full = [draw(sizes) for _ in range(4)]
        part = [1 if draw(st.booleans()) else size for size in full]
        return _float_model(op, [full, part], behind_conv=True)
    inputs = [shape, other] if draw(st.booleans()) else [other, shape]
    if kind == "quantized":
        return _quantized_model(draw, op, inputs)
    return _float_model(op, inputs)


@st.composite
def maps(draw: Draw) -> onnx.ModelProto:
    """Element by element, and the borders between types."""
    shape = [draw(sizes), draw(sizes)]
    op = draw(st.sampled_from(["Tanh", "LeakyRelu", "QuantizeLinear", "DequantizeLinear"]))
    if op in ("Tanh", "LeakyRelu"):
        if draw(st.booleans()):
            return _quantized_model(draw, op, [shape])
        return _float_model(op, [shape])
    dtype = draw(st.sampled_from(["int8", "uint8", "int16", "uint16"]))
    ends = ("float32", dtype) if op == "QuantizeLinear" else (dtype, "float32")
    constants = {"scale": np.float32(0.03), "zero": np.array(1, dtype)}
    node = helper.make_node(op, ["x", *constants], ["y"])
    return make_model([node], {"x": (ends[0], shape)}, {"y": (ends[1], None)}, constants, 21)


@st.composite
def normalizations(draw: Draw) -> onnx.ModelProto:
    shape = [draw(sizes) for _ in range(draw(st.integers(2, 4)))]
    op = draw(st.sampled_from(["Softmax", "Softmax", "LayerNormalization", "BatchNormalization"]))
    axis = {"axis": draw(st.integers(0, len(shape) - 1))}
    if op == "BatchNormalization":
        parts = ("scale", "shift", "mean", "variance")
        constants = {name: np.abs(_reals(draw, shape[1])) for name in parts}
        return _float_model(op, [shape], {}, constants)
    if op == "LayerNormalization":
        gain = {"gain": _reals(draw, *shape[axis["axis"] :])}
        if draw(st.booleans()):
            return _quantized_model(draw, op, [shape], axis, constants=gain)
        return _float_model(op, [shape], axis, gain)
    if draw(st.booleans()):
        return _quantized_model(draw, op, [shape], axis)
    return _float_model(op, [shape], axis)


@st.composite
def reductions(draw: Draw) -> onnx.ModelProto:
    shape = [draw(sizes) for _ in range(4)]
    op = draw(st.sampled_from(["ReduceMean", "ReduceMax", "ReduceMin"]))
    axes = sorted(draw(st.sets(st.integers(0, 3), min_size=1)))
    attributes = {"axes": axes, "keepdims": draw(st.integers(0, 1))}
    return _float_model(op, [shape], attributes, behind_conv=draw(st.booleans()))


@st.composite
def moves(draw: Draw, op: str) -> onnx.ModelProto:
    """Copies: other orders of axes, joined, cut, padded, picked."""
    shape = [draw(sizes) for _ in range(4)]
    axis = draw(st.integers(0, 3))
    behind = draw(st.booleans())
    if op == "Transpose":
        return _float_model(op, [shape], {"perm": draw(st.permutations(range(4)))})
    if op == "Concat":
        parts = [[*shape[:axis], draw(sizes), *shape[axis + 1 :]] for _ in range(draw(sizes))]
        return _float_model(op, parts, {"axis": axis}, behind_conv=behind)
    constants: dict[str, Array] = {}
    attributes: dict[str, Any] = {}
    outputs = 1
    if op == "Pad":
        constants["pads"] = _ints(*(draw(st.integers(0, 2)) for _ in range(8)))
    elif op == "Slice":
        step = draw(st.sampled_from([-2, -1, 1, 2]))
        ends = (0, 99) if step > 0 else (-1, -99)
        numbers = (ends[0], ends[1], axis, step)
        constants = dict(zip("abcd", (_ints(n) for n in numbers), strict=True))
    elif op == "Split":
        outputs = draw(st.integers(1, shape[axis]))
        constants["split"] = _ints(*[1] * (outputs - 1), shape[axis] - outputs + 1)
        attributes["axis"] = axis
    elif op == "Gather":
        picked = draw(st.lists(st.integers(0, shape[axis] - 1), min_size=1, max_size=4))
        constants["indices"], attributes["axis"] = _ints(*picked), axis
    else:
        sizes_ = [*shape[:2], *(draw(st.integers(1, 7)) for _ in range(2))]
        constants = {"roi": np.zeros(0, np.float32), "scales": np.zeros(0, np.float32)}
        constants["sizes"] = _ints(*sizes_)
        attributes["mode"] = "nearest"
    return _float_model(op, [shape], attributes, constants, outputs, behind_conv=behind)


FAMILIES: Mapping[str, Sequence[st.SearchStrategy[onnx.ModelProto]]] = {
    "convolutions": [convolutions(), convolutions(), transposed_convolutions()],
    "pools": [pools(), pools()],
    "products": [products(), products()],
    "sums": [sums(), sums()],
    "maps and normalizations": [maps(), maps(), normalizations(), normalizations()],
    "reductions": [reductions()],
    "moves": [moves(op) for op in MOVES],
}

"""What is drawn of layers: convolutions, pools, normalisations, Resize, recurrent ones, QDQ."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from drawn.graph import Drawing, NoFit
from drawn.numbers import F32, I8, I32, I64, U8


def _padding(g: Drawing, most: list[int]) -> dict[str, Any]:
    """How a window is padded, by at most so much before and behind each axis."""
    how = g.one("pads", "none", "SAME_UPPER", "SAME_LOWER", "VALID")
    if how == "pads":
        return {"pads": [g.int(0, n) for n in most * 2]}
    return {} if how == "none" else {"auto_pad": how}


def convolution(g: Drawing) -> None:
    rank, groups = g.int(1, 3), g.one(1, 1, 1, 2, 3)
    inputs, filters = g.int(1, 3) * groups, g.int(1, 3) * groups
    image = [g.int(3, (14, 8, 5)[rank - 1]) for _ in range(rank)]
    x = g.tensor(F32, shape=(g.int(1, 2), inputs, *image))
    kernel, strides = ([g.int(1, most) for _ in image] for most in (3, 2))
    attributes = {"strides": strides, "dilations": [g.int(1, 2) for _ in image], "group": groups}
    attributes |= _padding(g, [2] * rank)
    if g.maybe():
        attributes["kernel_shape"] = kernel
    op, shape = "Conv", (filters, inputs // groups, *kernel)
    if g.maybe(0.35):
        op, shape = "ConvTranspose", (inputs, filters // groups, *kernel)
        if "pads" in attributes and g.maybe():
            attributes["output_padding"] = [g.int(0, min(1, s - 1)) for s in strides]
    operands = [x, g.new(g.filled(shape, F32), is_constant=g.maybe(0.8))]
    if g.maybe():
        operands.append(g.new(g.filled((filters,), F32), is_constant=g.maybe(0.8)))
    g.add(op, operands, **attributes)


def pool(g: Drawing) -> None:
    op = g.one("MaxPool", "MaxPool", "AveragePool", "LpPool", "GlobalAveragePool", "GlobalMaxPool")
    dtype = g.one(F32, F32, I8, U8) if op == "MaxPool" and g.opset >= 12 else F32
    rank = g.int(1, 3)
    image = [g.int(3, 7 if rank < 3 else 4) for _ in range(rank)]
    x = g.tensor(dtype, shape=(g.int(1, 2), g.int(1, 4), *image))
    if op.startswith("Global"):
        g.add(op, [x])
        return
    kernel = [g.int(1, 3) for _ in image]
    attributes: dict[str, Any] = {"kernel_shape": kernel}
    if g.maybe(0.8):
        attributes["strides"] = [g.int(1, 3) for _ in image]
    attributes |= _padding(g, [k - 1 for k in kernel])
    if op == "LpPool":
        attributes["p"] = g.int(1, 3)
    if op != "LpPool" or g.opset >= 18:
        attributes["ceil_mode"] = g.int(0, 1)
    if "strides" in attributes and ("auto_pad" in attributes or attributes.get("ceil_mode")):
        # Of longer steps than the kernel ONNX's words make a negative padding, which onnxruntime
        # refuses of one pool and cuts off in another.
        strides = zip(kernel, attributes["strides"], strict=True)
        attributes["strides"] = [min(pair) for pair in strides]
    if op == "AveragePool":
        attributes["count_include_pad"] = g.int(0, 1)
    since = {"MaxPool": 10, "LpPool": 18, "AveragePool": 19}[op]
    if g.opset >= since and "auto_pad" not in attributes and g.maybe(0.4):
        attributes["dilations"] = [g.int(1, 2) for _ in image]
        pads = attributes.get("pads", [0] * 2 * rank)
        for at, (size, step) in enumerate(zip(kernel, attributes["dilations"], strict=True)):
            if step * (size - 1) >= image[at] + pads[at] + pads[rank + at]:
                raise NoFit  # no window; onnxruntime's division towards zero makes one of that
    if op == "MaxPool" and g.maybe(0.3):
        g.add(op, [x], 2, storage_order=g.int(0, 1), **attributes)
    else:
        g.add(op, [x], **attributes)


def normalization(g: Drawing) -> None:
    op = g.one(
        "BatchNormalization", "InstanceNormalization", "GroupNormalization", "LRN",
        "MeanVarianceNormalization",
    )  # fmt: skip
    if op == "LRN":
        x, size = g.tensor(F32, axes=4), g.one(1, 2, 3, 5)
        g.add(op, [x], size=size, alpha=0.01, bias=g.one(1.0, 2.0))
        return
    if op == "MeanVarianceNormalization":
        x, axes = g.tensor(F32, axes=4), g.one((0, 2, 3), (1,))
        mean, square = (np.mean(g.values[x].astype("f8") ** n, axes) for n in (1, 2))
        if (square < 1.1 * mean**2).any():
            raise NoFit  # ONNX subtracts these in float32, whose digits cancel
        g.add(op, [x], axes=list(axes))
        return
    image = [g.int(2, 5) for _ in range(g.int(1, 3))]
    channels = g.one(2, 3, 4)
    x = g.tensor(F32, shape=(g.int(1, 2), channels, *image))

    def each() -> np.ndarray:
        return g.filled((channels,), F32)

    if op == "GroupNormalization":
        if g.opset < 21:
            raise NoFit  # its earlier version is withdrawn
        groups = g.one(1, channels)
        g.add(op, [x, g.new(each()), g.new(each())], num_groups=groups)
    elif op == "InstanceNormalization":
        g.add(op, [x, g.new(each()), g.new(each())])
    else:
        positive = np.abs(each()) + np.float32(0.1)
        operands = [x, g.new(each()), g.new(each()), g.new(each()), g.new(positive)]
        g.add(op, operands, epsilon=g.one(1e-5, 1e-2))


def layer_normalization(g: Drawing) -> None:
    """At any opset: onnxruntime has it longer than ONNX, and exporters write it."""
    x = g.tensor(F32, axes=g.int(1, 4))
    axis = g.axis(x)
    shape = g.extents(x)[axis:]
    operands = [x, g.new(g.filled(shape, F32))]
    if g.maybe(0.6):
        operands.append(g.new(g.filled(shape, F32)))
    g.add("LayerNormalization", operands, g.one(1, 1, 2, 3), axis=axis, epsilon=g.one(1e-5, 1e-2))


def blocks(g: Drawing) -> None:
    rows, columns = g.int(1, 3), g.int(1, 3)
    if g.maybe():
        x = g.tensor(F32, shape=(1, 4 * g.int(1, 2), rows, columns))
        g.add("DepthToSpace", [x], blocksize=2, mode=g.one("DCR", "CRD"))
    else:
        x = g.tensor(F32, shape=(1, g.int(1, 3), 2 * rows, 2 * columns))
        g.add("SpaceToDepth", [x], blocksize=2)


def resize(g: Drawing) -> None:
    rank, dtype = g.int(1, 2), g.one(F32, F32, F32, U8, I8)
    front = (1, g.int(1, 2))
    x = g.tensor(dtype, shape=(*front, *(g.int(2, 5) for _ in range(rank))))
    mode = g.one("nearest", "linear", "cubic" if rank == 2 else "linear")
    mode = mode if dtype == F32 else "nearest"
    more = ("half_pixel_symmetric",) if g.opset >= 19 else ()
    place = g.one("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel", *more)
    attributes: dict[str, Any] = {"mode": mode, "coordinate_transformation_mode": place}
    if mode == "nearest":
        roundings = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
        attributes["nearest_mode"] = g.one(*roundings)
    elif g.opset >= 18 and g.maybe(0.3):
        attributes["antialias"] = 1
    if mode == "cubic" and g.maybe():
        attributes["cubic_coeff_a"] = -0.5
    if mode == "cubic" and g.maybe(0.3):
        attributes["exclude_outside"] = 1
    operands = [x, "" if g.opset >= 13 else g.constant([], F32)]
    if place != "align_corners" and g.maybe():
        scales = [g.one(0.5, 0.7, 1.5, 2, 3) for _ in range(rank)]
        operands.append(g.constant([1, 1, *scales], F32))
    else:
        sizes = [*front, *(g.int(1, 8) for _ in range(rank))]
        operands += ["" if g.opset >= 13 else g.constant([], F32), g.constant(sizes, I64)]
    g.add("Resize", operands, **attributes)


def recurrent(g: Drawing) -> None:
    op = g.one("LSTM", "GRU", "RNN")
    gates = {"LSTM": 4, "GRU": 3, "RNN": 1}[op]
    steps, batch, inputs, hidden = g.int(1, 4), g.int(1, 2), g.int(1, 4), g.int(1, 4)
    direction = g.one("forward", "reverse", "bidirectional")
    ways = 2 if direction == "bidirectional" else 1

    def weights(*shape: int) -> str:
        return g.constant(g.filled((ways, *shape), F32), F32)

    x = g.tensor(F32, shape=(steps, batch, inputs))
    operands = [x, weights(gates * hidden, inputs), weights(gates * hidden, hidden)]
    operands.append(weights(2 * gates * hidden) if g.maybe(0.6) else "")
    lengths = g.random.integers(1, steps + 1, batch)
    operands.append(g.new(lengths, I32) if g.maybe(0.2) else "")
    for _ in range(2 if op == "LSTM" else 1):
        operands.append(g.new(g.filled((ways, batch, hidden), F32)) if g.maybe(0.4) else "")
    attributes: dict[str, Any] = {"hidden_size": hidden, "direction": direction}
    if op == "GRU":
        attributes["linear_before_reset"] = g.int(0, 1)
    if g.maybe(0.2):
        attributes["clip"] = 1.0
    if op != "GRU" and g.maybe(0.3):
        others = ["Sigmoid", "Relu", "Tanh"] if op == "LSTM" else [g.one("Relu", "Sigmoid")]
        attributes["activations"] = others * ways
    g.add(op, operands, g.int(1, 3 if op == "LSTM" else 2), **attributes)


def quantized(g: Drawing) -> None:
    """An operator between DequantizeLinear and QuantizeLinear."""
    dtype = g.one(I8, U8)
    zero = g.int(-20, 20) if dtype == I8 else g.int(100, 150)

    def through(name: str, scale: float) -> str:
        how = [g.constant(scale, F32), g.constant(zero, dtype)]
        return g.add("DequantizeLinear", [g.add("QuantizeLinear", [name, *how]), *how])

    def weights(shape: tuple[int, ...], is_per_filter: bool = False) -> str:
        integers = g.constant(g.random.integers(-127, 128, shape), I8)
        units = (shape[0],) if is_per_filter else ()
        scale = g.constant(g.random.uniform(0.001, 0.011, units), F32)
        axis = {"axis": 0} if is_per_filter else {}
        return g.add("DequantizeLinear", [integers, scale, g.constant(np.zeros(units), I8)], **axis)

    x = g.tensor(F32, axes=g.int(2, 4))
    shape = g.extents(x)
    y = through(x, g.one(0.02, 0.031, 0.05))
    op = g.one(
        "Conv", "Add", "Mul", "Relu", "LeakyRelu", "Sigmoid", "Tanh", "HardSigmoid", "MatMul",
        "Concat", "ReduceMean", "Softmax", "Transpose",
    )  # fmt: skip
    if op == "Conv":
        kernel = tuple(g.int(1, 2) for _ in shape[2:])
        if not kernel:
            raise NoFit
        taps = weights((g.int(1, 4), shape[1], *kernel), g.opset >= 13 and g.maybe())
        y = g.add(op, [y, taps], pads=[g.int(0, 1) for _ in kernel * 2])
    elif op in ("Add", "Mul"):
        y = g.add(op, [y, through(g.new(g.filled(g.broadcast(shape), F32)), 0.04)])
    elif op == "MatMul":
        y = g.add(op, [y, weights((shape[-1], g.int(1, 5)))])
    elif op == "Concat":
        other = through(g.new(g.filled(shape, F32)), 0.03)
        y = g.add(op, [y, other], axis=g.int(0, len(shape) - 1))
    elif op == "ReduceMean":
        is_new = g.opset >= 18
        y = g.add(op, [y, g.constant([-1], I64)]) if is_new else g.add(op, [y], axes=[-1])
    else:
        y = g.add(op, [y])
    if g.maybe(0.8):
        through(y, g.one(0.02, 0.05))


RULES: tuple[Callable[[Drawing], None], ...] = (
    *[convolution] * 2, *[pool] * 2, normalization, layer_normalization, blocks, resize, recurrent,
    *[quantized] * 2,
)  # fmt: skip

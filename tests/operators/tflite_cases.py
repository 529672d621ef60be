"""One operator a file: the cases of test_tflite.py."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import tflite
from operators.litert_cases import litert, sparse, unsigned
from operators.tflite_one import Case, given, one
from tflite_models import Array, Operator, Tensor, constant, int8

RELU, RELU6 = tflite.ActivationFunctionType.RELU, tflite.ActivationFunctionType.RELU6
SAME, VALID = tflite.Padding.SAME, tflite.Padding.VALID


def _random(rng: np.random.Generator, *shape: int) -> Array:
    return rng.integers(-128, 128, shape, dtype=np.int8)


def _wide(name: str, shape: Sequence[int], scale: float) -> Tensor:
    """A computed tensor of int16, which lies around 0."""
    return Tensor(name, tuple(shape), "INT16", (scale,), (0,))


def convolutions(rng: np.random.Generator) -> Iterator[Case]:
    """Strides, dilations, padding, groups, scales per filter, left shifts, no bias."""
    for number in range(24):
        depthwise, per_axis = number % 3 == 0, number % 2 == 0
        height, width, channels = (int(n) for n in rng.integers(4, 9, 3))
        kernel = tuple(int(n) for n in rng.integers(1, 4, 2))
        stride, dilation = int(rng.integers(1, 3)), 1 + number % 5 // 4
        padding = SAME if number % 4 < 2 else VALID
        filters = channels * (1 + number % 2) if depthwise else int(rng.integers(1, 7))
        shape = (1, *kernel, filters) if depthwise else (filters, *kernel, channels)
        axis = 3 if depthwise else 0
        scales = rng.uniform(0.002, 0.02, filters if per_axis else 1).astype(np.float32)
        if number == 5:
            scales = scales * np.float32(300)  # a factor above one
        extent = [dilation * (k - 1) + 1 for k in kernel]
        out = [
            -(-n // stride) if padding == SAME else (n - e) // stride + 1
            for n, e in zip((height, width), extent, strict=True)
        ]
        if min(out) < 1:
            continue
        table = "DepthwiseConv2DOptions" if depthwise else "Conv2DOptions"
        options = {
            "Padding": padding, "StrideH": stride, "StrideW": stride, "DilationHFactor": dilation,
            "DilationWFactor": dilation, "FusedActivationFunction": (0, RELU, RELU6)[number % 3],
        }  # fmt: skip
        if depthwise:
            options["DepthMultiplier"] = filters // channels
        bias = rng.integers(-2000, 2000, filters, dtype=np.int32)
        tensors = [
            int8("x", (1, height, width, channels), 0.05, int(rng.integers(-128, 128))),
            constant("w", _random(rng, *shape), scales.tolist(), axis),
            constant("b", bias),
            int8("y", (1, *out, filters), 0.07, int(rng.integers(-128, 128))),
        ]
        kind = "DEPTHWISE_CONV_2D" if depthwise else "CONV_2D"
        inputs = ("x", "w") if number % 7 == 0 else ("x", "w", "b")
        operator = Operator(kind, inputs, ("y",), table, options)
        yield one(f"{kind} {number}", operator, tensors, rng)


def fully_connected(rng: np.random.Generator) -> Iterator[Case]:
    """One row and several, a scale per column."""
    for number, (rows, depth, columns) in enumerate([(1, 7, 5), (3, 16, 1), (2, 33, 9)]):
        per_axis = number == 1
        scales = rng.uniform(0.002, 0.02, columns if per_axis else 1)
        tensors = [
            int8("x", (rows, depth), 0.04, -3),
            constant("w", _random(rng, columns, depth), scales.tolist()),
            constant("b", rng.integers(-900, 900, columns, dtype=np.int32)),
            int8("y", (rows, columns), 0.05, 11),
        ]
        options = {"FusedActivationFunction": RELU if number else 0}
        operator = Operator(
            "FULLY_CONNECTED", ("x", "w", "b"), ("y",), "FullyConnectedOptions", options
        )
        yield one(f"FULLY_CONNECTED {number}", operator, tensors, rng)


def arithmetic(rng: np.random.Generator) -> Iterator[Case]:
    """Broadcasting in each way, a constant operand."""
    shapes = [
        ((1, 4, 5, 3), (1, 4, 5, 3)),
        ((1, 4, 5, 3), (3,)),
        ((2, 1, 4), (2, 3, 1)),
        ((6,), ()),
    ]
    for kind in ("ADD", "SUB", "MUL"):
        for number, (a, b) in enumerate(shapes):
            fixed = number == 1
            right = int8("b", b, 0.11, -20)
            if fixed:
                right = Tensor("b", b, "INT8", (0.11,), (-20,), 0, _random(rng, *b))
            y = np.broadcast_shapes(a, b)
            tensors = [int8("a", a, 0.03, 7), right, int8("y", y, 0.09, -5)]
            table = f"{kind.capitalize()}Options"
            options = {"FusedActivationFunction": RELU6 if number == 2 else 0}
            operator = Operator(kind, ("a", "b"), ("y",), table, options)
            yield one(f"{kind} {a} {b}", operator, tensors, rng)


def pools(rng: np.random.Generator) -> Iterator[Case]:
    """With padding, which does not count, and a clamp."""
    for kind in ("AVERAGE_POOL_2D", "MAX_POOL_2D"):
        for number, (kernel, stride, padding) in enumerate(
            [((2, 2), 2, VALID), ((3, 3), 2, SAME), ((1, 4), 1, SAME)]
        ):
            out = [
                -(-n // stride) if padding == SAME else (n - k) // stride + 1
                for n, k in zip((7, 6), kernel, strict=True)
            ]
            tensors = [int8("x", (1, 7, 6, 5), 0.05, 4), int8("y", (1, *out, 5), 0.05, 4)]
            options = {
                "Padding": padding, "FilterHeight": kernel[0], "FilterWidth": kernel[1],
                "StrideH": stride, "StrideW": stride,
                "FusedActivationFunction": RELU if number == 1 else 0,
            }  # fmt: skip
            operator = Operator(kind, ("x",), ("y",), "Pool2DOptions", options)
            yield one(f"{kind} {number}", operator, tensors, rng)


def reductions(rng: np.random.Generator) -> Iterator[Case]:
    """Over two axes and one, with the axes kept and dropped."""
    for kind in ("MEAN", "SUM", "REDUCE_MAX"):
        for axes, keep, shape in [((1, 2), False, (1, 5)), ((1, 2), True, (1, 1, 1, 5)),
                                  ((-1,), False, (1, 4, 6))]:  # fmt: skip
            like = kind == "REDUCE_MAX"
            tensors = [
                int8("x", (1, 4, 6, 5), 0.05, 9),
                constant("axes", np.array(axes, np.int32)),
                int8("y", shape, 0.05 if like else 0.3, 9 if like else -4),
            ]
            operator = Operator(kind, ("x", "axes"), ("y",), "ReducerOptions", {"KeepDims": keep})
            yield one(f"{kind} {axes} {keep}", operator, tensors, rng)


def softmax(rng: np.random.Generator) -> Iterator[Case]:
    """Steep and flat ones, a factor, and a sum of over 511 terms."""
    for shape, scale, beta in [((1, 10), 0.1, 1.0), ((3, 4), 0.7, 1.0), ((2, 3, 5), 0.02, 0.5),
                               ((1, 600), 0.05, 1.0)]:  # fmt: skip
        tensors = [int8("x", shape, scale, 3), int8("y", shape, 1 / 256, -128)]
        operator = Operator("SOFTMAX", ("x",), ("y",), "SoftmaxOptions", {"Beta": beta})
        yield one(f"SOFTMAX {shape}", operator, tensors, rng)
    for shape, scale, beta in [((2, 10), 0.0003, 1.0), ((1, 3), 0.002, 0.5), ((1, 700), 0.0001, 1)]:
        tensors = [_wide("x", shape, scale), _wide("y", shape, 1 / 32768)]
        operator = Operator("SOFTMAX", ("x",), ("y",), "SoftmaxOptions", {"Beta": beta})
        yield one(f"SOFTMAX of int16 {shape}", operator, tensors, rng)


def functions(rng: np.random.Generator) -> Iterator[Case]:
    """The functions that are tables."""
    fixed = {"LOGISTIC": (1 / 256, -128), "TANH": (1 / 128, 0)}
    for kind in ("RELU", "RELU6", "LOGISTIC", "TANH", "HARD_SWISH", "LEAKY_RELU"):
        scale, zero = fixed.get(kind, (0.05, 5) if kind == "RELU6" else (0.06, -12))
        tensors = [int8("x", (1, 300), 0.05, 5), int8("y", (1, 300), scale, zero)]
        leaky = kind == "LEAKY_RELU"
        table, options = ("LeakyReluOptions", {"Alpha": 0.2}) if leaky else ("", {})
        yield one(kind, Operator(kind, ("x",), ("y",), table, options), tensors, rng)


def borders(rng: np.random.Generator) -> Iterator[Case]:
    """Between float32 and int8, and between two scales."""
    real = Tensor("x", (2, 40))
    yield one(
        "QUANTIZE", Operator("QUANTIZE", ("x",), ("y",)), [real, int8("y", (2, 40), 0.03, 7)], rng
    )
    for scale in (0.03, 0.011):
        tensors = [int8("x", (2, 40), scale, -7), int8("y", (2, 40), 0.02, 7)]
        yield one(f"requantize {scale}", Operator("QUANTIZE", ("x",), ("y",)), tensors, rng)
    tensors = [int8("x", (2, 40), 0.03, -7), Tensor("y", (2, 40))]
    yield one("DEQUANTIZE", Operator("DEQUANTIZE", ("x",), ("y",)), tensors, rng)


def hybrid(rng: np.random.Generator) -> Iterator[Case]:
    """float32 with int8 weights."""
    tensors = [
        Tensor("x", (1, 6, 5, 3)),
        constant("w", _random(rng, 4, 3, 3, 3), [0.01]),
        constant("b", rng.normal(size=4).astype(np.float32)),
        Tensor("y", (1, 3, 3, 4)),
    ]
    options = {"Padding": SAME, "StrideH": 2, "StrideW": 2, "FusedActivationFunction": RELU}
    operator = Operator("CONV_2D", ("x", "w", "b"), ("y",), "Conv2DOptions", options)
    yield one("hybrid CONV_2D", operator, tensors, rng)
    tensors = [
        Tensor("x", (1, 20)), constant("w", _random(rng, 6, 20), [0.01]), Tensor("y", (1, 6)),
    ]  # fmt: skip
    operator = Operator("FULLY_CONNECTED", ("x", "w", ""), ("y",), "FullyConnectedOptions")
    yield one("hybrid FULLY_CONNECTED", operator, tensors, rng)
    yield from _with_a_zero_point(rng)


def _with_a_zero_point(rng: np.random.Generator) -> Iterator[Case]:
    """What today's converter writes: a scale for each filter, and of dense layers an option."""
    options = {"Padding": SAME, "StrideH": 2, "StrideW": 1, "FusedActivationFunction": RELU6}
    for kind, shape, axis in (
        ("CONV_2D", (4, 3, 3, 2), 0), ("DEPTHWISE_CONV_2D", (1, 3, 3, 4), 3)
    ):  # fmt: skip
        weights = constant("w", _random(rng, *shape), rng.uniform(0.002, 0.02, 4).tolist(), axis)
        tensors = [
            Tensor("x", (2, 5, 4, 2)), weights,
            constant("b", rng.normal(size=4).astype(np.float32)), Tensor("y", (2, 3, 4, 4)),
        ]  # fmt: skip
        table = "Conv2DOptions" if axis == 0 else "DepthwiseConv2DOptions"
        operator = Operator(kind, ("x", "w", "b"), ("y",), table, options)
        yield one(f"hybrid {kind} with a zero point", operator, tensors, rng)
    # No weight is -128, which converters do not write: on some machines LiteRT sums it otherwise.
    weights = np.maximum(_random(rng, 6, 20), -127)
    scales = rng.uniform(0.002, 0.02, 6).tolist()
    tensors = [Tensor("x", (4, 20)), constant("w", weights, scales), Tensor("y", (4, 6))]
    options = {"AsymmetricQuantizeInputs": True}
    operator = Operator("FULLY_CONNECTED", ("x", "w", ""), ("y",), "FullyConnectedOptions", options)
    # Both signs, one, the other, and none.
    x = rng.normal(size=(4, 20)).astype(np.float32) * np.float32([[1], [0], [0], [0]])
    x[1:3] = np.abs(rng.normal(3, 1, (2, 20))) * [[1], [-1]]
    yield replace(
        one("hybrid FULLY_CONNECTED with a zero point", operator, tensors, rng), inputs=(x,)
    )


def movement(rng: np.random.Generator) -> Iterator[Case]:
    """Padding with the zero point, and the nearest element in three ways of counting."""
    x = int8("x", (1, 4, 5, 3), 0.1, 6)
    pads = constant("pads", np.array([[0, 0], [1, 2], [0, 1], [0, 0]], np.int32))
    tensors = [x, pads, int8("y", (1, 7, 6, 3), 0.1, 6)]
    yield one("PAD", Operator("PAD", ("x", "pads"), ("y",)), tensors, rng)
    kind, table = "RESIZE_NEAREST_NEIGHBOR", "ResizeNearestNeighborOptions"
    ways = [(False, False, (8, 10)), (False, True, (7, 3)), (True, False, (9, 9))]
    for corners, centers, shape in ways:
        options = {"AlignCorners": corners, "HalfPixelCenters": centers}
        size = constant("size", np.array(shape, np.int32))
        operator = Operator(kind, ("x", "size"), ("y",), table, options)
        tensors = [x, size, int8("y", (1, *shape, 3), 0.1, 6)]
        yield one(f"{kind} {shape}", operator, tensors, rng)


def slopes(rng: np.random.Generator) -> Iterator[Case]:
    """PRELU: a slope for each channel, and for each element; of int8 and int16."""
    for wide, shape in ((False, (1, 1, 3)), (False, (4, 5, 3)), (True, (1, 1, 3))):
        x, y = (
            (_wide("x", (1, 4, 5, 3), 0.0013), _wide("y", (1, 4, 5, 3), 0.0011))
            if wide
            else (int8("x", (1, 4, 5, 3), 0.05, 9), int8("y", (1, 4, 5, 3), 0.04, -20))
        )
        slope = Tensor("slope", shape, "INT8", (0.01,), (-3,), value=_random(rng, *shape))
        operator = Operator("PRELU", ("x", "slope"), ("y",))
        yield one(f"PRELU {wide} {shape}", operator, [x, slope, y], rng)


def resizing(rng: np.random.Generator) -> Iterator[Case]:
    """RESIZE_BILINEAR to more and fewer rows and columns, in three ways of counting."""
    x, kind = int8("x", (2, 5, 7, 3), 0.1, 6), "RESIZE_BILINEAR"
    for corners, centers in ((False, False), (True, False), (False, True)):
        for shape in ((9, 16), (3, 2), (1, 7)):
            options = {"AlignCorners": corners, "HalfPixelCenters": centers}
            size = constant("size", np.array(shape, np.int32))
            operator = Operator(kind, ("x", "size"), ("y",), "ResizeBilinearOptions", options)
            tensors = [x, size, int8("y", (2, *shape, 3), 0.1, 6)]
            yield one(f"{kind} {shape} {corners} {centers}", operator, tensors, rng)


def selection(rng: np.random.Generator) -> Iterator[Case]:
    """Masks, negative strides and dropped axes; parts of equal size; a new axis."""
    x = int8("x", (3, 4, 5), 0.1, 6)

    def numbers(name: str, *values: int) -> Tensor:
        return constant(name, np.array(values, np.int32))

    lists = [numbers("begin", 0, 1, 2), numbers("size", 2, -1, 1)]
    operator = Operator("SLICE", ("x", "begin", "size"), ("y",), "SliceOptions")
    yield one("SLICE", operator, [x, *lists, int8("y", (2, 3, 1), 0.1, 6)], rng)
    for number, (masks, steps, shape) in enumerate(
        [((0b011, 0b101, 0b010), (1, 1, 2), (3, 3)), ((0b100, 0b100, 0), (2, 1, -2), (1, 1, 3))]
    ):
        lists = [numbers("begin", 0, 1, 0), numbers("end", 2, 2, 4), numbers("strides", *steps)]
        keys = ("BeginMask", "EndMask", "ShrinkAxisMask")
        operator = Operator(
            "STRIDED_SLICE", ("x", "begin", "end", "strides"), ("y",), "StridedSliceOptions",
            dict(zip(keys, masks, strict=True)),
        )  # fmt: skip
        yield one(f"STRIDED_SLICE {number}", operator, [x, *lists, int8("y", shape, 0.1, 6)], rng)
    operator = Operator("GATHER", ("x", "i"), ("y",), "GatherOptions", {"Axis": 1})
    tensors = [x, numbers("i", 3, 0), int8("y", (3, 2, 5), 0.1, 6)]
    yield one("GATHER", operator, tensors, rng)
    operator = Operator("PACK", ("x", "z"), ("y",), "PackOptions", {"Axis": 1, "ValuesCount": 2})
    tensors = [x, int8("z", (3, 4, 5), 0.1, 6), int8("y", (3, 2, 4, 5), 0.1, 6)]
    yield one("PACK", operator, tensors, rng)


def wide_products(rng: np.random.Generator) -> Iterator[Case]:
    """int16 activations with int8 weights: sums of 64 bits, and of 32 with a bias of int32."""
    scales = rng.uniform(0.002, 0.02, 6).tolist()
    options = {"Padding": SAME, "StrideH": 2, "StrideW": 1, "FusedActivationFunction": RELU}
    window = {**options, "DilationHFactor": 1, "DilationWFactor": 1}
    for bias in ("int64", "int32", ""):
        depthwise = bias == ""
        shape = (1, 3, 2, 6) if depthwise else (6, 3, 2, 6)
        tensors = [
            _wide("x", (1, 7, 5, 6), 0.0013),
            constant("w", _random(rng, *shape), scales, 3 if depthwise else 0),
            constant("b", rng.integers(-90000, 90000, 6).astype(bias or "int64")),
            _wide("y", (1, 4, 5, 6), 0.0031),
        ]
        inputs = ("x", "w", "b") if bias else ("x", "w")
        kind, table = ("CONV_2D", "Conv2DOptions")
        if depthwise:
            kind, table = ("DEPTHWISE_CONV_2D", "DepthwiseConv2DOptions")
        more = {"DepthMultiplier": 1} if depthwise else {}
        operator = Operator(kind, inputs, ("y",), table, window | more)
        yield one(f"wide {kind} {bias}", operator, tensors, rng)
    for bias, columns in (("int64", 6), ("int32", 1)):
        tensors = [
            _wide("x", (3, 40), 0.0013),
            constant("w", _random(rng, columns, 40), scales[:columns]),
            constant("b", rng.integers(-90000, 90000, columns).astype(bias)),
            _wide("y", (3, columns), 0.0031),
        ]
        operator = Operator("FULLY_CONNECTED", ("x", "w", "b"), ("y",), "FullyConnectedOptions")
        yield one(f"wide FULLY_CONNECTED {bias}", operator, tensors, rng)


def transposed(rng: np.random.Generator) -> Iterator[Case]:
    """TRANSPOSE_CONV with cropped and with added borders, on int8 and on int16."""
    for wide in (False, True):
        for number, (padding, stride, out) in enumerate(
            [(SAME, 2, (8, 10)), (VALID, 2, (9, 11)), (VALID, 1, (6, 7))]
        ):
            x = _wide("x", (1, 4, 5, 3), 0.002) if wide else int8("x", (1, 4, 5, 3), 0.05, -7)
            y = _wide("y", (1, *out, 4), 0.003) if wide else int8("y", (1, *out, 4), 0.09, 5)
            bias = rng.integers(-900, 900, 4).astype(np.int64 if wide else np.int32)
            tensors = [
                constant("shape", np.array([1, *out, 4], np.int32)),
                constant("w", _random(rng, 4, 3, 3, 3), rng.uniform(0.002, 0.02, 4).tolist()),
                x, constant("b", bias), y,
            ]  # fmt: skip
            inputs = ("shape", "w", "x", "b") if number else ("shape", "w", "x")
            options = {"Padding": padding, "StrideH": stride, "StrideW": stride}
            operator = Operator(
                "TRANSPOSE_CONV", inputs, ("y",), "TransposeConvOptions",
                options | ({"FusedActivationFunction": RELU} if number == 1 else {}),
            )  # fmt: skip
            yield one(f"TRANSPOSE_CONV {x.type} {number}", operator, tensors, rng)


def wide_elements(rng: np.random.Generator) -> Iterator[Case]:
    """int16, element by element, and between 8, 16 and 32 bits."""
    for kind, right in (("ADD", (1, 4, 5)), ("SUB", (5,)), ("MUL", (1, 4, 5))):
        tensors = [
            _wide("a", (1, 4, 5), 0.0013), _wide("b", right, 0.0004), _wide("y", (1, 4, 5), 0.0017)
        ]  # fmt: skip
        options = {"FusedActivationFunction": RELU} if kind == "MUL" else {}
        operator = Operator(kind, ("a", "b"), ("y",), f"{kind.capitalize()}Options", options)
        yield one(f"wide {kind}", operator, tensors, rng)
    for alpha in (0.2, -0.3):
        tensors = [_wide("x", (1, 300), 0.0013), _wide("y", (1, 300), 0.0011)]
        operator = Operator("LEAKY_RELU", ("x",), ("y",), "LeakyReluOptions", {"Alpha": alpha})
        yield one(f"wide LEAKY_RELU {alpha}", operator, tensors, rng)
    for kind in ("LOGISTIC", "TANH"):
        for scale in (2.0**-12, 2.0**-11, 0.0013, 2.0):
            tensors = [_wide("x", (1, 400), scale), _wide("y", (1, 400), 2.0**-15)]
            yield one(f"wide {kind} {scale}", Operator(kind, ("x",), ("y",)), tensors, rng)
    window = {
        "Padding": SAME, "FilterHeight": 3, "FilterWidth": 2, "StrideH": 2, "StrideW": 1,
        "FusedActivationFunction": RELU,
    }  # fmt: skip
    for kind in ("AVERAGE_POOL_2D", "MAX_POOL_2D"):
        for changed in ({}, {"FusedActivationFunction": 0}):
            tensors = [_wide("x", (1, 7, 6, 5), 0.0013), _wide("y", (1, 4, 6, 5), 0.0013)]
            operator = Operator(kind, ("x",), ("y",), "Pool2DOptions", window | changed)
            yield one(f"wide {kind} {len(changed)}", operator, tensors, rng)
    for kind, scale in (("MEAN", 0.0004), ("SUM", 0.02)):
        tensors = [
            _wide("x", (1, 4, 6, 5), 0.0013), constant("axes", np.array((1, 2), np.int32)),
            _wide("y", (1, 5), scale),
        ]  # fmt: skip
        operator = Operator(kind, ("x", "axes"), ("y",), "ReducerOptions", {"KeepDims": False})
        yield one(f"wide {kind}", operator, tensors, rng)
    long = Tensor("x", (2, 40), "INT32", (1e-8,), (0,))
    borders = {
        "8 of 16": (_wide("x", (2, 40), 0.0013), int8("y", (2, 40), 0.03, 7)),
        "16 of 8": (int8("x", (2, 40), 0.03, 7), _wide("y", (2, 40), 0.0013)),
        "16 of 16": (_wide("x", (2, 40), 0.0013), _wide("y", (2, 40), 0.001)),
        "32 of 16": (_wide("x", (2, 40), 0.0013), Tensor("y", (2, 40), "INT32", (2e-4,), (0,))),
        "16 of 32": (long, _wide("y", (2, 40), 4e-4)),
        "16 of float": (Tensor("x", (2, 40)), _wide("y", (2, 40), 0.0001)),
    }
    for name, tensors in borders.items():
        yield one(f"QUANTIZE {name}", Operator("QUANTIZE", ("x",), ("y",)), tensors, rng)
    tensors = [_wide("x", (2, 40), 0.0013), Tensor("y", (2, 40))]
    yield one("wide DEQUANTIZE", Operator("DEQUANTIZE", ("x",), ("y",)), tensors, rng)
    for size in (10, 600):
        y = Tensor("y", (2, size), "INT16", (1 / 65536,), (-32768,))
        tensors = [int8("x", (2, size), 0.1, 3), y]
        operator = Operator("SOFTMAX", ("x",), ("y",), "SoftmaxOptions", {"Beta": 1.0})
        yield one(f"SOFTMAX to int16 {size}", operator, tensors, rng)


def matrices(rng: np.random.Generator) -> Iterator[Case]:
    """Products of int8 and of int16, with leading axes that are broadcast, turned, and constant."""
    shapes: dict[str, tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = {
        "plain": ((2, 3, 4, 5), (2, 3, 5, 6), {}),
        "broadcast": ((3, 4, 5), (2, 1, 5, 6), {}),
        "AdjX": ((2, 5, 4), (2, 5, 6), {"AdjX": True}),
        "AdjY": ((2, 4, 5), (2, 6, 5), {"AdjY": True}),
        "constant": ((2, 4, 5), (5, 6), {}),
    }
    for name, (left, right, options) in shapes.items():
        whole = (*np.broadcast_shapes(left[:-2], right[:-2]), 4, 6)
        for tensors in (
            [int8("a", left, 0.04, 5), int8("b", right, 0.03, -7), int8("y", whole, 0.3, 9)],
            [_wide("a", left, 0.0013), _wide("b", right, 0.0004), _wide("y", whole, 0.02)],
        ):
            if name == "constant":
                values = given(rng, tensors[1])
                tensors[1] = replace(tensors[1], value=values)
            operator = Operator("BATCH_MATMUL", ("a", "b"), ("y",), "BatchMatMulOptions", options)
            yield one(f"BATCH_MATMUL {name} {tensors[0].type}", operator, tensors, rng)


def roots(rng: np.random.Generator) -> Iterator[Case]:
    """Of all that is not negative."""
    every = np.arange(-128, 128, dtype=np.int8).reshape(1, 256)
    for scale, y_scale, zero in ((0.0078, 0.0039, -128), (0.05, 0.02, -100), (2.0, 0.003, 7)):
        tensors = [int8("x", (1, 256), scale, -128), int8("y", (1, 256), y_scale, zero)]
        made = one(f"RSQRT {scale}", Operator("RSQRT", ("x",), ("y",)), tensors, rng)
        yield replace(made, inputs=(every,))


FAMILIES = (
    wide_products, transposed, wide_elements, convolutions, fully_connected, arithmetic, pools,
    reductions, softmax, functions, borders, hybrid, movement, resizing, slopes, selection,
    matrices, roots, litert, unsigned, sparse,
)  # fmt: skip

# What TFLite-Micro computes for them (record_tflite.py).
RECORDED = Path(__file__).with_name("tflite_recorded.npz")


def all_cases() -> Iterator[Case]:
    """The cases of all families, in the order in which they are compiled and recorded."""
    for family in FAMILIES:
        yield from family(np.random.default_rng(8))

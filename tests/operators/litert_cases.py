"""What LiteRT has and TFLite-Micro has not, one operator a file: cases of test_tflite.py."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from operators.tflite_one import Case, one
from tflite_models import Operator, Sparsity, Tensor, constant, write


def _unsigned(name: str, shape: Sequence[int], scale: float, zero_point: int) -> Tensor:
    return Tensor(name, tuple(shape), "UINT8", (scale,), (zero_point,))


def litert(rng: np.random.Generator) -> Iterator[Case]:
    """What LiteRT has and TFLite-Micro has not: uint8, and integers without a scale."""
    for shape, scale, beta in [((1, 10), 0.1, 1.0), ((3, 4), 0.7, 1.0), ((2, 3, 5), 0.02, 0.5)]:
        tensors = [
            Tensor("x", shape, "UINT8", (scale,), (90,)),
            Tensor("y", shape, "UINT8", (1 / 256,), (0,)),
        ]
        operator = Operator("SOFTMAX", ("x",), ("y",), "SoftmaxOptions", {"Beta": beta})
        yield one(f"LiteRT's SOFTMAX {shape}", operator, tensors, rng)
    divisors = np.array([1, -1, 7, -7, 3, 2**31 - 1, -(2**31), 100], np.int32)
    tensors = [
        Tensor("x", (9, 8), "INT32"), constant("d", divisors), Tensor("y", (9, 8), "INT32"),
    ]  # fmt: skip
    operator = Operator("FLOOR_DIV", ("x", "d"), ("y",), "FloorDivOptions")
    case = one("LiteRT's FLOOR_DIV", operator, tensors, rng)
    small = rng.integers(-30, 30, (9, 8)).astype(np.int32)
    small[0] = [-(2**31), 2**31 - 1, -(2**31), -(2**31), -(2**31), -(2**31), 2**31 - 1, -(2**31)]
    yield replace(case, inputs=(small,))
    yield from _quotients(rng)
    tensors = [Tensor(name, (3, 8), "INT16", (0.001,), (0,)) for name in "xy"]
    tensors.append(Tensor("b", (8,), "INT16", (0.001,), (0,)))
    operator = Operator("MAXIMUM", ("x", "b"), ("y",))
    yield one("LiteRT's MAXIMUM of int16", operator, tensors, rng)
    ways = ((False, False, (9, 16)), (True, False, (3, 2)), (False, True, (1, 7)))
    for corners, centers, shape in ways:
        options = {"AlignCorners": corners, "HalfPixelCenters": centers}
        tensors = [
            Tensor("x", (2, 5, 7, 3), "INT16", (0.001,), (0,)),
            constant("size", np.array(shape, np.int32)),
            Tensor("y", (2, *shape, 3), "INT16", (0.001,), (0,)),
        ]
        operator = Operator(
            "RESIZE_BILINEAR", ("x", "size"), ("y",), "ResizeBilinearOptions", options
        )
        yield one(f"LiteRT's RESIZE_BILINEAR of int16 {shape}", operator, tensors, rng)
    for kind, zero, shape, scale in (("INT8", 127, (5, 9), 0.07), ("UINT8", 255, (1, 300), 0.02)):
        tensors = [
            Tensor("x", shape, kind, (scale,), (3,)), Tensor("y", shape, kind, (1 / 16,), (zero,))
        ]  # fmt: skip
        operator = Operator("LOG_SOFTMAX", ("x",), ("y",), "LogSoftmaxOptions")
        yield one(f"LiteRT's LOG_SOFTMAX of {kind.lower()}", operator, tensors, rng)


def _quotients(rng: np.random.Generator) -> Iterator[Case]:
    """Of int8 with divisors of one sign, and of uint8 with both, and a clamp; never by 0. LiteRT
    shifts an int32 by more than 31 where the quotients of larger steps are near 0."""
    for kind, zeros, scale in (("INT8", (-20, -128, 5), 0.01), ("UINT8", (130, 100, 120), 0.02)):
        tensors = [
            Tensor(name, shape, kind, (step,), (zero,))
            for name, shape, step, zero in zip(
                "aby", ((4, 64), (64,), (4, 64)), (0.05, 0.02, scale), zeros, strict=True
            )
        ]
        options = {"FusedActivationFunction": 0 if kind == "INT8" else 3}
        operator = Operator("DIV", ("a", "b"), ("y",), "DivOptions", options)
        case = one(f"LiteRT's DIV of {kind.lower()}", operator, tensors, rng)
        divisors = np.where(case.inputs[1] == zeros[1], 7, case.inputs[1])
        yield replace(case, inputs=(case.inputs[0], divisors.astype(kind.lower())))


def unsigned(rng: np.random.Generator) -> Iterator[Case]:
    """uint8 of LiteRT: functions of all 256 bytes, parts of other scales, PRELU, and
    RESIZE_BILINEAR, by steps that integers hold and by others."""
    every = np.arange(256, dtype=np.uint8).reshape(1, 256)
    ends = {"LOGISTIC": (1 / 256, 0), "TANH": (0.0093, 100), "RELU6": (0.03, 9)}
    for kind in ("RELU", "RELU6", "LOGISTIC", "TANH", "HARD_SWISH", "LEAKY_RELU"):
        scale, zero = ends.get(kind, (0.06, 40))
        tensors = [_unsigned("x", (1, 256), 0.05, 130), _unsigned("y", (1, 256), scale, zero)]
        leaky = ("LeakyReluOptions", {"Alpha": 0.2}) if kind == "LEAKY_RELU" else ()
        case = one(f"LiteRT's {kind}", Operator(kind, ("x",), ("y",), *leaky), tensors, rng)
        yield replace(case, inputs=(every,))
    kept = rng.integers(0, 256, (1, 9), np.uint8)
    tensors = [
        _unsigned("x", (1, 256), 0.05, 130), _unsigned("z", (1, 256), 0.031, 7),
        Tensor("kept", kept.shape, "UINT8", (0.05,), (121,), value=kept),
        _unsigned("y", (1, 521), 0.05, 130),
    ]  # fmt: skip
    operator = Operator(
        "CONCATENATION", ("x", "z", "kept"), ("y",), "ConcatenationOptions", {"Axis": 1}
    )
    yield replace(one("LiteRT's CONCATENATION", operator, tensors, rng), inputs=(every, every))
    slopes = rng.integers(0, 256, (1, 1, 3), np.uint8)
    tensors = [
        _unsigned("x", (1, 4, 5, 3), 0.05, 137), _unsigned("y", (1, 4, 5, 3), 0.04, 108),
        Tensor("slope", slopes.shape, "UINT8", (0.01,), (125,), value=slopes),
    ]  # fmt: skip
    yield one("LiteRT's PRELU", Operator("PRELU", ("x", "slope"), ("y",)), tensors, rng)
    ways = [(False, False, (9, 16)), (True, False, (9, 13))]
    for corners, centers, shape in (*ways, (False, True, (10, 14)), (False, True, (3, 9))):
        size = constant("size", np.array(shape, np.int32))
        tensors = [
            _unsigned("x", (2, 5, 7, 3), 0.1, 6),
            size,
            _unsigned("y", (2, *shape, 3), 0.1, 6),
        ]
        operator = Operator(
            "RESIZE_BILINEAR", ("x", "size"), ("y",), "ResizeBilinearOptions",
            {"AlignCorners": corners, "HalfPixelCenters": centers},
        )  # fmt: skip
        yield one(f"LiteRT's RESIZE_BILINEAR {shape}", operator, tensors, rng)


def sparse(rng: np.random.Generator) -> Iterator[Case]:
    """DENSIFY: rows of what is not 0, axes the other way round, and blocks of 2 by 3."""
    rows = (np.array([0, 2, 2, 3, 4], np.uint8), np.array([1, 5, 0, 3], np.uint8))
    columns = (np.array([0, 1, 1, 1, 3, 3, 3], np.uint16), np.array([2, 0, 3], np.uint16))
    blocks = (np.array([0, 1, 2], np.int32), np.array([1, 0], np.int32))
    ways = {
        "a": Sparsity((0, 1), (4, rows)),
        "b": Sparsity((1, 0), (6, columns)),
        "c": Sparsity((0, 1, 3, 2), (2, blocks, 3, 2), (0, 1)),
    }
    tensors = [Tensor("x", (4, 6)), Tensor("y", (4, 6))]
    operators, terms = [], ["x"]
    for name, way in ways.items():
        stored = np.arange(1, {"a": 5, "b": 4, "c": 13}[name], dtype=np.float32)
        tensors += [
            Tensor(f"{name} sparse", (4, 6), value=stored * len(terms), sparsity=way),
            Tensor(name, (4, 6)),
        ]
        operators.append(Operator("DENSIFY", (f"{name} sparse",), (name,), "DensifyOptions"))
        terms.append(name)
    operators.append(Operator("ADD_N", tuple(terms), ("y",), "AddNOptions"))
    x = rng.integers(-100, 100, (4, 6)).astype(np.float32)
    yield Case("LiteRT's DENSIFY", write(tensors, operators, ["x"], ["y"]), (x,))

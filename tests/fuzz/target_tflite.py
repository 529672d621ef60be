"""TFLite models: numbers, offsets and bytes of the file, and fields of its tables."""

from __future__ import annotations

import functools
import random
import struct
from pathlib import Path
from typing import Any

import numpy as np
import tflite
from fuzz.harness import change_bytes
from pmx_cases import session
from tflite_models import Operator, Tensor, constant, int8, write

from mcu_deploy import interpreter
from mcu_deploy.boards import load_board
from mcu_deploy.compiler import compile_model

SUFFIX = ".tflite"
# Of models that are run as well.
_MOST_ELEMENTS = 1 << 16
_EDGES = (0, 1, 2, 3, 4, 8, 255, 65536, 1 << 20, (1 << 31) - 1, -1, -2, -(1 << 31))


@functools.cache
def SEEDS() -> list[bytes]:
    return [_quantized(), _floats()]


def _quantized() -> bytes:
    choose = np.random.default_rng(0)
    window = {"Padding": tflite.Padding.SAME, "StrideH": 2, "StrideW": 2}
    return write(
        [
            int8("x", (1, 8, 8, 3), 0.05, 3),
            constant("w", choose.integers(-9, 9, (4, 3, 3, 3), np.int8), [0.1, 0.2, 0.1, 0.2]),
            constant("b", choose.integers(-90, 90, 4, np.int32)),
            int8("c", (1, 4, 4, 4), 0.1, -5),
            int8("p", (1, 2, 2, 4), 0.1, -5),
            constant("shape", np.array([1, 16], np.int32)),
            int8("r", (1, 16), 0.1, -5),
            constant("v", choose.integers(-9, 9, (5, 16), np.int8), [0.1]),
            int8("f", (1, 5), 0.2, 1),
            int8("y", (1, 5), 1 / 256, -128),
        ],
        [
            Operator("CONV_2D", ("x", "w", "b"), ("c",), "Conv2DOptions",
                     {**window, "DilationHFactor": 1, "DilationWFactor": 1}),
            Operator("AVERAGE_POOL_2D", ("c",), ("p",), "Pool2DOptions",
                     {**window, "FilterHeight": 2, "FilterWidth": 2}),
            Operator("RESHAPE", ("p", "shape"), ("r",), "ReshapeOptions"),
            Operator("FULLY_CONNECTED", ("r", "v", ""), ("f",), "FullyConnectedOptions"),
            Operator("SOFTMAX", ("f",), ("y",), "SoftmaxOptions", {"Beta": 1.0}),
        ],
        ["x"],
        ["y"],
    )  # fmt: skip


def _floats() -> bytes:
    """Operators whose sizes are constants: padding, slices, concatenation, reduction."""
    return write(
        [
            Tensor("x", (1, 4, 4, 2)),
            constant("pads", np.array([[0, 0], [1, 1], [1, 1], [0, 0]], np.int32)),
            Tensor("padded", (1, 6, 6, 2)),
            constant("begin", np.array([0, 1, 1, 0], np.int32)),
            constant("end", np.array([1, 5, 5, 2], np.int32)),
            constant("strides", np.array([1, 1, 1, 1], np.int32)),
            Tensor("cut", (1, 4, 4, 2)),
            Tensor("joined", (1, 4, 4, 4)),
            constant("axes", np.array([1, 2], np.int32)),
            Tensor("mean", (1, 4)),
            Tensor("sum", (1, 4)),
            Tensor("y", (1, 4)),
        ],
        [
            Operator("PAD", ("x", "pads"), ("padded",), "PadOptions"),
            Operator("STRIDED_SLICE", ("padded", "begin", "end", "strides"), ("cut",),
                     "StridedSliceOptions"),
            Operator("CONCATENATION", ("x", "cut"), ("joined",), "ConcatenationOptions",
                     {"Axis": 3}),
            Operator("MEAN", ("joined", "axes"), ("mean",), "ReducerOptions"),
            Operator("ADD", ("mean", "mean"), ("sum",), "AddOptions"),
            Operator("LOGISTIC", ("sum",), ("y",)),
        ],
        ["x"],
        ["y"],
    )  # fmt: skip


def mutate(choose: random.Random, seed: bytes, seeds: list[bytes]) -> bytes:
    if choose.random() < 0.5:
        return change_bytes(choose, seed, seeds)
    changed = bytearray(seed)
    for _ in range(choose.choice((1, 1, 2, 3))):
        _change_number(choose, changed)
    return bytes(changed)


def _change_number(choose: random.Random, data: bytearray) -> None:
    """Most numbers in a file are 32 bits at a multiple of 4, and most are small."""
    places = [p for p in range(8, len(data) - 4, 4) if data[p + 2] in (0, 255)]
    place = choose.choice(places)
    own = struct.unpack_from("<i", data, place)[0]
    value = choose.choice((*_EDGES, own + choose.randint(-8, 8), own * 2, -own))
    struct.pack_into("<I", data, place, value % (1 << 32))


@functools.cache
def _host() -> Any:
    return load_board("host")


def read(path: Path) -> None:
    with session() as own:
        graph = compile_model(path, _host(), session=own).graph
    sizes = sum(graph.type(o).elements for n in graph.nodes for o in n.outputs if o is not None)
    if sizes < _MOST_ELEMENTS and not any(n.op == "Loop" for n in graph.nodes):
        types = [graph.type(edge) for edge in graph.inputs]
        interpreter.run(graph, [np.zeros(t.shape, t.dtype.numpy) for t in types])

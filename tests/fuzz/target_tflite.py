"""TFLite models: numbers, offsets and bytes of the file, and fields of its tables."""

from __future__ import annotations

import functools
import random
import struct

import numpy as np
from fuzz.compiling import read as read  # the target's own
from fuzz.harness import change_bytes
from tflite_control_files import branches, loop, quantized
from tflite_models import Operator, Subgraph, Tensor, constant, small_model, write

SUFFIX = ".tflite"
_EDGES = (0, 1, 2, 3, 4, 8, 255, 65536, 1 << 20, (1 << 31) - 1, -1, -2, -(1 << 31))


@functools.cache
def SEEDS() -> list[bytes]:
    return [small_model(), _floats(), _variables(), branches(), loop(), quantized()]


def _variables() -> bytes:
    """A variable, and the subgraph with its first value."""
    handle = Tensor("handle", (), "RESOURCE")
    named = Operator("VAR_HANDLE", (), ("handle",), "VarHandleOptions", {"SharedName": "v"})

    def assign(value: str) -> Operator:
        return Operator("ASSIGN_VARIABLE", ("handle", value), (), "AssignVariableOptions")

    return write(
        [Tensor("x", (1, 2)), handle, Tensor("old", (1, 2)), Tensor("new", (1, 2))],
        [
            Operator("CALL_ONCE", (), (), "CallOnceOptions", {"InitSubgraphIndex": 1}), named,
            Operator("READ_VARIABLE", ("handle",), ("old",), "ReadVariableOptions"),
            Operator("ADD", ("old", "x"), ("new",), "AddOptions"), assign("new"),
        ],
        ["x"], ["new"],
        others=[
            Subgraph(
                [handle, constant("first", np.ones((1, 2), np.float32))], [named, assign("first")]
            )
        ],
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

"""What the codec's tests share: values to encode, a wire, and how to spoil what is on it."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

import numpy as np

from mcu_deploy.backends.cost import Costs
from mcu_deploy.backends.layer import Layer, layer_of
from mcu_deploy.backends.workload import (
    Argument,
    CFunction,
    Constant,
    InPlace,
    Parameter,
    Region,
    RegionKind,
    Role,
    Workload,
)
from mcu_deploy.ir import DType, Graph, GraphEditor, Quantization, TensorType

Json = dict[str, Any]
Blobs = list[bytearray]

JUNK = (
    None, True, -1, 0, 1, 2**31, 2**32, 2**63, 2**64, 1.5, float("nan"), float("inf"), "", "x",
    "int", "a b", "*/", "\0", "ü" * 5000, [], [[]], [None], [0, 0], {}, {"a": 1},
)  # fmt: skip


def sent(message: Json, blobs: list[memoryview] | tuple[()] = ()) -> tuple[Json, Blobs]:
    """What arrives at the other end."""
    return json.loads(json.dumps(message)), [bytearray(blob) for blob in blobs]


def spoilt(message: Json, source: random.Random) -> Json:
    """A copy with one value, anywhere in it, replaced by junk or taken away."""
    message = copy.deepcopy(message)
    places = list(_places(message))
    container, key = places[source.randrange(len(places))]
    if source.random() < 0.1:
        del container[key]
    else:
        container[key] = source.choice(JUNK)
    return message


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from _places(value[key])


def quantized_conv() -> Graph:
    """One Conv, quantized per channel, with an activation, a channel-last input, no bias."""
    editor = GraphEditor.empty("net")
    channels = Quantization((0.5, 0.25, 0.125), (0, 0, 0), 0)
    tensor = Quantization((float(np.float32(0.1)),), (-128,))
    x = editor.add_edge("x", TensorType(DType.INT8, (1, 2, 4, 4), tensor, (0, 2, 3, 1)))
    y = editor.add_edge("y", TensorType(DType.INT8, (1, 3, 4, 4), tensor))
    values = np.arange(3 * 2 * 9, dtype=np.int8).reshape(3, 2, 3, 3)
    w = editor.add_constant("w", values, TensorType(DType.INT8, values.shape, channels))
    attributes = {
        "kernel_shape": (3, 3), "group": 1, "auto_pad": "SAME_UPPER", "alpha": 0.5,
        "activation": (0.0, float("inf")), "value": np.array([True, False]), "empty": (),
        "words": ("a", "ü"), "flag": np.int64(3),
    }  # fmt: skip
    editor.inputs, editor.outputs = [x], [y]
    editor.add_node("Conv", [x, w, None], [y], "conv", attributes)
    return editor.finish(opset=17)


def quantized_layer() -> Layer:
    graph = quantized_conv()
    return layer_of(graph, next(graph.nodes))


def rich_workload() -> Workload:
    """A workload that has something of everything."""
    types = (
        "const int8_t *", "int8_t *", "const int32_t *", "uint8_t *", "int16_t *", "float", "void *"
    )  # fmt: skip
    roles = (*(role for role in Role if role is not Role.SIZE), Role.REGION)
    private = Region("Rich", 0, RegionKind.PRIVATE, "state", 8)
    scratch = Region("Rich", 1, RegionKind.SCRATCH, "more scratch", 64)
    return Workload(
        "Rich",
        CFunction(
            "rich", tuple(Parameter(t, f"p{i}") for i, t in enumerate(types)), "{\n}",
            attributes=("aligned(8)",),
        ),
        tuple(
            Argument(role, int(number == 6), 0.1 if role is Role.SCALAR else 0)
            for number, role in enumerate(roles)
        ),
        (Constant("table", np.arange(6, dtype=np.int32).reshape(2, 3), 16),),
        (CFunction("helper", (Parameter("float", "x"),), "{ return x; }", "float", inline=True),),
        ("string.h", "math.h"),
        128,
        (InPlace(0, 0, -4), InPlace(0, None, 20)),
        Costs(macs=10, instructions=200, cycles=None, flash=300),
        (private, scratch),
    )  # fmt: skip

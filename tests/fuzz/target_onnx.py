"""ONNX models: any field of any message changed to what its type allows, or bytes of the file."""

from __future__ import annotations

import functools
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from control_cases import graph_of, node
from fuzz.compiling import read as read  # the target's own
from fuzz.harness import change_bytes
from google.protobuf.descriptor import FieldDescriptor as Kind
from onnx import TensorProto, helper, numpy_helper

SUFFIX = ".onnx"
_DATA = Path(onnx.__file__).parent / "backend" / "test" / "data"
_LARGEST_SEED = 4096
_INTEGERS = (0, 1, 2, 3, 4, 5, 7, 8, 16, 100, 255, 65536, 1 << 20, (1 << 31) - 1, 1 << 31,
             1 << 40, 1 << 62, (1 << 63) - 1, -1, -2, -3, -100, -(1 << 31), -(1 << 63))  # fmt: skip
_FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, 1e30, -1e30, 1e-40, float("inf"), float("nan"))
_TEXTS = ("", "x", "y", "\n", "é" * 40, "a" * 3000, "NOTSET", "SAME_UPPER", "VALID", "*/", "../x",
          "ai.onnx", "com.microsoft", "ai.onnx.ml")  # fmt: skip
_OPERATORS = (
    "Add", "Cast", "Clip", "Concat", "ConstantOfShape", "Conv", "ConvTranspose", "DequantizeLinear",
    "Einsum", "Expand", "Gather", "Gemm", "If", "LayerNormalization", "Loop", "LSTM", "MatMul",
    "MaxPool", "NonMaxSuppression", "OneHot", "Pad", "QuantizeLinear", "Range", "ReduceMean",
    "Reshape", "Resize", "Scan", "Shape", "Slice", "Softmax", "Split", "Squeeze", "Tile", "TopK",
    "Transpose", "Unsqueeze", "Where", "CumSum", "DFT", "MelWeightMatrix", "SequenceConstruct",
    "Optional", "StringNormalizer", "QLinearConv", "GroupNormalization", "Attention", "Foo",
    "NonZero", "Compress", "Unique",
)  # fmt: skip


@functools.cache
def SEEDS() -> list[bytes]:
    found = [_quantized(), _shapes(), _control(), _function(), _counted()]
    for path in sorted(_DATA.glob("pytorch-*/*/model.onnx")):
        if path.stat().st_size <= _LARGEST_SEED:
            model = onnx.load_model(path)
            if model.opset_import[0].version >= 7:
                found.append(path.read_bytes())
    return found


def _model(
    nodes: list[onnx.NodeProto],
    shape: tuple[int, ...],
    constants: dict[str, Any],
    functions: list[onnx.FunctionProto] | None = None,
    outputs: Sequence[str] = ("y",),
) -> bytes:
    types = {
        name: (TensorProto.FLOAT if name in ("y", "values") else TensorProto.INT64, None)
        for name in outputs
    }
    graph = graph_of(nodes, {"x": (TensorProto.FLOAT, shape)}, types, constants)
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    model = helper.make_model(graph, opset_imports=imports, ir_version=8, functions=functions or [])
    content: bytes = model.SerializeToString()
    return content


def _quantized() -> bytes:
    random_ = np.random.default_rng(0)
    constants = {
        "s": np.float32(0.05), "z": np.int8(3), "w": random_.integers(-9, 9, (2, 1, 3, 3), np.int8),
        "ws": np.array([0.1, 0.2], np.float32), "wz": np.zeros(2, np.int8),
        "shape": np.array([1, -1], np.int64),
    }  # fmt: skip
    return _model(
        [
            node("QuantizeLinear", "x s z", "q"),
            node("DequantizeLinear", "q s z", "d"),
            node("DequantizeLinear", "w ws wz", "wd", axis=0),
            node("Conv", "d wd", "c", pads=[1, 1, 1, 1], strides=[2, 2]),
            node("Relu", "c", "r"),
            node("QuantizeLinear", "r s z", "rq"),
            node("DequantizeLinear", "rq s z", "rd"),
            node("MaxPool", "rd", "m", kernel_shape=[2, 2]),
            node("Reshape", "m shape", "y"),
        ],
        (1, 1, 6, 6),
        constants,
    )


def _shapes() -> bytes:
    """Sizes that are computed: Shape, Gather, Slice, Concat, ConstantOfShape, Expand, Resize."""
    constants = {
        "zero": np.array([0], np.int64), "one": np.array([1], np.int64),
        "two": np.array([2], np.int64),
        "most": np.array([1 << 31], np.int64), "pads": np.array([0, 0, 1, 1, 0, 0, 1, 1], np.int64),
    }  # fmt: skip
    return _model(
        [
            node("Shape", "x", "shape"),
            node("Slice", "shape zero two", "head"),
            node("Gather", "shape two", "rows", axis=0),
            node("Mul", "rows two", "twice"),
            node("Concat", "head twice twice", "wanted", axis=0),
            node("Pad", "x pads", "large"),
            node("Slice", "large zero most", "same"),
            node("ConstantOfShape", "wanted", "zeros",
                 value=numpy_helper.from_array(np.ones(1, np.float32))),
            node("Slice", "same one most two", "cut"),
            node("Expand", "x shape", "expanded"),
            node("ReduceMean", "cut", "mean", axes=[2, 3]),
            node("Split", "zeros", "upper lower", axis=2),
            node("Concat", "upper lower", "joined", axis=1),
            node("Tile", "mean wanted", "tiled"),
            node("Flatten", "joined", "flat"),
            node("Add", "expanded mean", "sum"),
            node("Transpose", "sum", "turned", perm=[0, 2, 3, 1]),
            node("Softmax", "turned", "y", axis=-1),
        ],
        (1, 2, 4, 4),
        constants,
    )  # fmt: skip


def _control() -> bytes:
    body = graph_of(
        [node("Identity", "again", "go"), node("Add", "state x", "next"),
         node("Relu", "next", "element")],
        {"trip": (TensorProto.INT64, []), "again": (TensorProto.BOOL, []),
         "state": (TensorProto.FLOAT, [1, 3])},
        {"go": (TensorProto.BOOL, []), "next": (TensorProto.FLOAT, [1, 3]),
         "element": (TensorProto.FLOAT, [1, 3])},
        name="body",
    )  # fmt: skip
    branches = [
        graph_of([node(op, "x", "b")], {}, {"b": (TensorProto.FLOAT, [1, 3])}, name=op)
        for op in ("Neg", "Abs")
    ]
    return _model(
        [
            helper.make_node("Loop", ["count", "", "x"], ["last", "all"], body=body),
            node("ReduceSum", "last", "total", keepdims=0),
            node("Greater", "total limit", "is_large"),
            node("If", "is_large", "chosen", then_branch=branches[0], else_branch=branches[1]),
            node("Add", "chosen all", "y"),
        ],
        (1, 3),
        {"count": np.array(3, np.int64), "limit": np.array(1, np.float32)},
    )


def _function() -> bytes:
    inner = helper.make_function(
        "own", "Twice", ["a"], ["b"], [node("Add", "a a", "b")], [helper.make_opsetid("", 17)]
    )
    return _model([helper.make_node("Twice", ["x"], ["y"], domain="own")], (1, 3), {}, [inner])


# ---- Changes ----


def mutate(choose: random.Random, seed: bytes, seeds: list[bytes]) -> bytes:
    if choose.random() < 0.15:
        return change_bytes(choose, seed, seeds)
    model = onnx.ModelProto.FromString(seed)
    for _ in range(choose.choice((1, 1, 1, 2, 2, 3))):
        _change(choose, model)
    content: bytes = model.SerializeToString()
    return content


def _messages(message: Any, found: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """All messages below one, by their types: rare types count like others."""
    found.setdefault(message.DESCRIPTOR.name, []).append(message)
    for field, value in message.ListFields():
        if field.type == Kind.TYPE_MESSAGE:
            for inner in value if field.is_repeated else [value]:
                _messages(inner, found)
    return found


def _change(choose: random.Random, model: onnx.ModelProto) -> None:
    way = choose.random()
    nodes = list(model.graph.node)
    if way < 0.1 and nodes:
        choose.choice(nodes).op_type = choose.choice(_OPERATORS)
    elif way < 0.25 and nodes:
        _rewire(choose, model, choose.choice(nodes))
    elif way < 0.35:
        name = choose.choice([o for n in nodes for o in n.output] or ["y"])
        shape = [choose.choice((*_INTEGERS[:8], -1, None)) for _ in range(choose.randrange(6))]
        model.graph.value_info.append(
            helper.make_tensor_value_info(name, choose.randrange(25), shape)
        )
    elif way < 0.45 and model.graph.initializer:
        tensor = choose.choice(list(model.graph.initializer))
        if tensor.dims:
            tensor.dims[choose.randrange(len(tensor.dims))] = choose.choice(_INTEGERS)
    else:
        kinds = _messages(model, {})
        _change_field(choose, choose.choice(kinds[choose.choice(list(kinds))]))


def _rewire(choose: random.Random, model: onnx.ModelProto, changed: onnx.NodeProto) -> None:
    names = ["", "x", *(o for n in model.graph.node for o in n.output)]
    names += [t.name for t in model.graph.initializer]
    ends = changed.input if choose.random() < 0.8 else changed.output
    if ends and choose.random() < 0.8:
        ends[choose.randrange(len(ends))] = choose.choice(names)
    elif choose.random() < 0.5:
        ends.append(choose.choice(names))
    elif ends:
        del ends[choose.randrange(len(ends))]


def _change_field(choose: random.Random, message: Any) -> None:
    present = [field for field, _ in message.ListFields()]
    known = message.DESCRIPTOR.fields
    field = choose.choice(present if present and choose.random() < 0.8 else list(known))
    if field.is_repeated:
        _change_list(choose, field, getattr(message, field.name))
    elif field.type == Kind.TYPE_MESSAGE:
        if choose.random() < 0.5:
            message.ClearField(field.name)
        else:
            _change_field(choose, getattr(message, field.name))
    elif choose.random() < 0.15:
        message.ClearField(field.name)
    else:
        setattr(message, field.name, _value(choose, field, getattr(message, field.name)))


def _change_list(choose: random.Random, field: Any, values: Any) -> None:
    way = choose.randrange(4)
    if values and way == 0:
        del values[choose.randrange(len(values))]
    elif values and way == 1:
        values.append(values[choose.randrange(len(values))])
    elif field.type == Kind.TYPE_MESSAGE:
        _change_field(choose, choose.choice(list(values)) if values else values.add())
    elif values and way == 2:
        place = choose.randrange(len(values))
        values[place] = _value(choose, field, values[place])
    else:
        values.append(_value(choose, field, None))


def _value(choose: random.Random, field: Any, own: Any) -> Any:
    if field.type == Kind.TYPE_ENUM:
        return choose.choice([v.number for v in field.enum_type.values])
    if field.type in (Kind.TYPE_FLOAT, Kind.TYPE_DOUBLE):
        return choose.choice(_FLOATS)
    if field.type == Kind.TYPE_BYTES:
        data = own or bytes(8)
        return choose.choice((data[:-1], data + data, b"", change_bytes(choose, data, [data])))
    if field.type == Kind.TYPE_STRING:
        return choose.choice((*_TEXTS, choose.choice(_OPERATORS)))
    number = choose.choice((*_INTEGERS, (own or 0) + choose.randint(-3, 3)))
    bits = 32 if field.type == Kind.TYPE_INT32 else 64
    if field.type == Kind.TYPE_UINT64:
        return number % (1 << 64)
    return (number + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)


def _counted() -> bytes:
    """As many elements as the values say, and what goes on with them."""
    constants = {
        "most": np.array([2], np.int64), "overlap": np.array([0.5], np.float32),
        "two": np.array([2], np.int64), "zero": np.array([0], np.int64),
        "some": np.array([True, False, True]),
    }  # fmt: skip
    return _model(
        [
            node("Transpose", "x", "s", perm=[0, 2, 1]),
            node("NonMaxSuppression", "x s most overlap", "kept"),
            node("Gather", "kept two", "column", axis=1),
            node("Cast", "column", "y", to=TensorProto.FLOAT),
            node("Squeeze", "x zero", "flat"),
            node("Compress", "flat some", "rows", axis=0),
            node("Unique", "rows", "values first of often"),
            node("NonZero", "flat", "places"),
        ],
        (1, 4, 4),
        constants,
        outputs=("y", "values", "often", "places"),
    )  # fmt: skip

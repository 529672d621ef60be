"""The model in the form that has an integer form, before anything is quantized.

Batch normalizations, scales and biases are folded into the Conv or Gemm before them, in float64 and
rounded once; what only hands on is removed; operators without an integer form become others that
have one (`decomposing.py`). Tensors keep the model's names where they keep their values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx

from mcu_deploy.errors import RequestError
from mcu_deploy.files.arrays import Array
from mcu_deploy.formats import onnx as onnx_format
from mcu_deploy.formats import require_format
from mcu_deploy.formats.imported import AssumedShape
from mcu_deploy.quantizing import affine, decomposing
from mcu_deploy.quantizing.net import Net, attributes_of
from mcu_deploy.quantizing.opset import converted

# onnxruntime's quantizer writes scales along an axis, which ONNX has from opset 13 on.
_LEAST_OPSET = 13
_OPSET = 17

Rewrite = Callable[[Net, onnx.NodeProto], bool]


def prepare(
    path: Path, shapes: Mapping[str, Sequence[int]] | None = None, *, decompose: bool = True
) -> tuple[Net, Net, tuple[AssumedShape, ...]]:
    """A model file as it is (shapes bound, constants evaluated), prepared, and what was assumed.

    decompose: whether operators without an integer form become others. Raises ModelError for
    damage, RequestError for what cannot be quantized.
    """
    for name, shape in (shapes or {}).items():
        if any(size < 0 for size in shape):  # -N: a run has N of them at most
            raise RequestError(
                f"--shape leaves a size of the input {name!r} to each run, and ranges are found in "
                "a model of one size. Give a number."
            )
    source, assumed = read_float(path, shapes)
    net = source.copy()
    _rewrite(net, decompose)
    return source, net.copy(), assumed


def read_float(
    path: Path, shapes: Mapping[str, Sequence[int]] | None = None
) -> tuple[Net, tuple[AssumedShape, ...]]:
    """A model file as it is, shapes bound and constants evaluated, and what was assumed. Raises as
    `prepare` does."""
    require_format(path)
    if path.suffix.lower() != ".onnx":
        raise RequestError(
            f"{path} is no ONNX file, and only these are quantized here. Convert the float model "
            "to ONNX (tf2onnx does it), or let its own framework quantize it (docs/quantizing.md)."
        )
    plain, assumed = onnx_format.plain_form(path, dict(shapes or {}))
    source = Net(_of_opset(onnx.load_model_from_string(plain), path))
    _require_float(source, path)
    return source, assumed


def _of_opset(model: onnx.ModelProto, path: Path) -> onnx.ModelProto:
    opset = next((o.version for o in model.opset_import if o.domain in ("", "ai.onnx")), 0)
    if opset >= _LEAST_OPSET:
        return model
    why = f"{path} is of ONNX opset {opset}, scales for each channel exist from {_LEAST_OPSET} on"
    return converted(model, _OPSET, why)


def _require_float(net: Net, path: Path) -> None:
    quantized = [n for n in net.nodes if n.op_type in ("QuantizeLinear", "DequantizeLinear")]
    if quantized:
        raise RequestError(
            f"{path} is quantized already: it has {len(quantized)} QuantizeLinear or "
            "DequantizeLinear nodes. Give the float model that it was made of."
        )
    if not any(net.is_float(name) for name in (*net.inputs, *net.outputs)):
        raise RequestError(
            f"None of the inputs and outputs of {path} is float32, so there is nothing to "
            "quantize. Build it as it is."
        )


def _rewrite(net: Net, decompose: bool) -> None:
    """Applies the rewrites until none finds anything; those of other operators see what the first
    have made."""
    folding = (_hand_on, _batch_norm, _scale_or_shift, _gemm, _matmul, affine.into_gemms)
    _until_stable(net, folding)
    if decompose:
        _until_stable(net, (*folding, decomposing.square, decomposing.slopes))


def _until_stable(net: Net, steps: Sequence[Rewrite]) -> None:
    changed = True
    while changed:
        changed = False
        for step in steps:
            for node in list(net.nodes):
                if any(node is other for other in net.nodes) and step(net, node):
                    changed = True
        fresh = net.copy()
        net.nodes, net.types, net.constants = fresh.nodes, fresh.types, fresh.constants


def _hand_on(net: Net, node: onnx.NodeProto) -> bool:
    """Removes what hands its input on: Identity, Dropout."""
    if node.op_type not in ("Identity", "Dropout") or len([o for o in node.output if o]) != 1:
        return False
    x, y = node.input[0], node.output[0]
    if y in net.inner:
        return False
    if y not in net.outputs:
        net.nodes = [other for other in net.nodes if other is not node]
        net.rename_reads({y: x})
        return True
    producer = net.producers().get(x)
    if producer is None or net.sole_consumer(x) is None:
        return False
    net.nodes = [other for other in net.nodes if other is not node]
    producer.output[list(producer.output).index(x)] = y
    return True


def _batch_norm(net: Net, node: onnx.NodeProto) -> bool:
    """A batch normalization is a factor and a shift a channel."""
    if node.op_type != "BatchNormalization" or any(node.output[1:]):
        return False
    parameters = [net.constant(name) for name in node.input[1:5]]
    if any(p is None for p in parameters):
        return False
    scale, shift, mean, variance = (np.asarray(p, np.float64) for p in parameters)
    epsilon = float(np.float32(attributes_of(node).get("epsilon", 1e-5)))
    factor = scale / np.sqrt(variance + epsilon)
    offset = shift - mean * factor
    layer = _layer_before(net, node.input[0])
    if layer is not None:
        _take_in(net, layer, node, factor, offset)
        return True
    rank = len(net.shape(node.input[0]) or (1, 1))
    column = (-1,) + (1,) * (rank - 2)
    x, y = node.input[0], node.output[0]
    middle = net.fresh(y)
    new = [
        net.node("Mul", [x, net.add_floats(y, factor.reshape(column))], [middle], net.fresh(y)),
        net.node("Add", [middle, net.add_floats(y, offset.reshape(column))], [y], node.name),
    ]
    net.replace([node], new)
    return True


def _scale_or_shift(net: Net, node: onnx.NodeProto) -> bool:
    """A Mul, Div, Add or Sub by a constant a channel behind a Conv or Gemm is part of it."""
    if node.op_type not in ("Mul", "Div", "Add", "Sub"):
        return False
    sides = [net.constant(name) for name in node.input]
    if (sides[0] is None) == (sides[1] is None):
        return False
    if sides[1] is None and node.op_type in ("Sub", "Div"):
        return False
    value = np.asarray(sides[0] if sides[1] is None else sides[1], np.float64)
    x = node.input[1] if sides[1] is None else node.input[0]
    layer = _layer_before(net, x)
    if layer is None:
        return False
    channels = _channels(net, layer)
    flat = _by_channel(value, len(net.shape(x) or ()), channels, layer.op_type != "Gemm")
    if flat is None or net.shape(node.output[0]) != net.shape(x):
        return False
    one, zero = np.ones(channels), np.zeros(channels)
    factor, offset = {
        "Mul": (flat, zero), "Div": (one / flat, zero), "Add": (one, flat), "Sub": (one, -flat)
    }[node.op_type]  # fmt: skip
    if not np.isfinite(factor).all():
        return False
    _take_in(net, layer, node, factor, offset)
    return True


def _by_channel(value: Array, rank: int, channels: int, is_conv: bool) -> Array | None:
    """A constant that is broadcast to a layer's result as one number a channel."""
    if value.size == 1:
        return np.full(channels, value.reshape(-1)[0])
    axis = 1 if is_conv else rank - 1
    shape = (1,) * (rank - value.ndim) + value.shape
    if len(shape) != rank or shape[axis] != channels or value.size != channels:
        return None
    return value.reshape(-1)


def _layer_before(net: Net, name: str) -> onnx.NodeProto | None:
    """The Conv, ConvTranspose or Gemm with constant weights and bias whose result only one node
    reads."""
    layer = net.producers().get(name)
    kinds = ("Conv", "ConvTranspose", "Gemm")
    if layer is None or layer.op_type not in kinds or net.sole_consumer(name) is None:
        return None
    if layer.op_type == "ConvTranspose" and attributes_of(layer).get("group", 1) != 1:
        return None
    parameters = [net.constant(name) for name in layer.input[1:]]
    return None if any(p is None for p in parameters) else layer


def output_axis(layer: onnx.NodeProto) -> int:
    """The axis of a layer's weights that is its output channels."""
    return 0 if layer.op_type == "Conv" or attributes_of(layer).get("transB", 0) else 1


def _channels(net: Net, layer: onnx.NodeProto) -> int:
    return int(net.constants[layer.input[1]].shape[output_axis(layer)])


def _take_in(
    net: Net, layer: onnx.NodeProto, node: onnx.NodeProto, factor: Array, offset: Array
) -> None:
    """Lets a layer compute what the node behind it makes of its result: times, plus."""
    weights = net.constants[layer.input[1]].astype(np.float64)
    column = [-1 if axis == output_axis(layer) else 1 for axis in range(weights.ndim)]
    bias = net.constants[layer.input[2]] if len(layer.input) > 2 else np.zeros(len(factor))
    names = [
        layer.input[0],
        net.add_floats(layer.input[1], weights * factor.reshape(column)),
        net.add_floats(f"{layer.name}.bias", bias.astype(np.float64) * factor + offset),
    ]
    new = net.node(layer.op_type, names, [node.output[0]], layer.name)
    new.attribute.extend(layer.attribute)
    net.replace([layer, node], [new])


def _gemm(net: Net, node: onnx.NodeProto) -> bool:
    """A Gemm has alpha and beta of 1, its weights as they are, and a bias of one axis."""
    if node.op_type != "Gemm":
        return False
    given = attributes_of(node)
    weights = net.constant(node.input[1])
    bias = net.constant(node.input[2]) if len(node.input) > 2 and node.input[2] else None
    if weights is None or given.get("transA", 0) or (len(node.input) > 2 and bias is None):
        return False
    alpha, beta = given.get("alpha", 1.0), given.get("beta", 1.0)
    columns = _channels(net, node)
    plain = bias is None or bias.shape == (columns,)
    if alpha == 1.0 and beta == 1.0 and plain:
        return False
    if bias is not None and bias.size not in (1, columns):
        return False
    inputs = [node.input[0], net.add_floats(node.input[1], weights.astype(np.float64) * alpha)]
    if bias is not None:
        whole = np.broadcast_to(bias.reshape(-1), (columns,)).astype(np.float64) * beta
        inputs.append(net.add_floats(node.input[2], whole))
    extra = {"transB": 1} if given.get("transB", 0) else {}
    net.replace([node], [net.node("Gemm", inputs, node.output, node.name, **extra)])
    return True


def _matmul(net: Net, node: onnx.NodeProto) -> bool:
    """A MatMul by a constant matrix with the Add of a bias behind it is a Gemm; of more than two
    axes between two Reshapes, which cost nothing."""
    if node.op_type != "MatMul":
        return False
    weights, shape = net.constant(node.input[1]), net.shape(node.input[0])
    add = net.sole_consumer(node.output[0])
    if weights is None or weights.ndim != 2 or shape is None or len(shape) < 2:
        return False
    bias = None
    if add is not None and add.op_type == "Add":
        other = next((name for name in add.input if name != node.output[0]), "")
        bias = net.constant(other)
        if bias is not None and (
            bias.size != weights.shape[1] or (bias.ndim and bias.shape[-1] != bias.size)
        ):
            bias = None
    if bias is None and len(shape) == 2:
        return False
    last = node if bias is None or add is None else add
    x, y = node.input[0], last.output[0]
    names = [x, node.input[1]]
    if bias is not None:
        names.append(net.add_floats(f"{node.name}.bias", bias.reshape(-1)))
    if len(shape) == 2:
        new = [net.node("Gemm", names, [y], node.name)]
    else:
        rows = int(np.prod(shape[:-1]))
        flat, product = net.fresh(x), net.fresh(y)
        into = net.add_constant(f"{x}.shape", np.array([rows, shape[-1]], np.int64))
        back = net.add_constant(f"{y}.shape", np.array([*shape[:-1], weights.shape[1]], np.int64))
        new = [
            net.node("Reshape", [x, into], [flat], net.fresh(node.name)),
            net.node("Gemm", [flat, *names[1:]], [product], node.name),
            net.node("Reshape", [product, back], [y], net.fresh(node.name)),
        ]
    net.replace([node] if last is node else [node, last], new)
    return True

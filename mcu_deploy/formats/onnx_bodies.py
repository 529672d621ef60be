"""Bodies of operators that ONNX gives none, or none at the model's opset.

Each is written in operators of every opset that has it, for the static shape of its first input.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import onnx
from onnx import helper

from mcu_deploy.arithmetic import Array
from mcu_deploy.formats.onnx_body import Body, NoBody, Shape, require
from mcu_deploy.formats.onnx_contrib import CONTRIB
from mcu_deploy.formats.onnx_einsum import einsum
from mcu_deploy.formats.onnx_ml import ML
from mcu_deploy.formats.onnx_operators import domain_of, text_of
from mcu_deploy.formats.onnx_qonnx import QONNX
from mcu_deploy.formats.onnx_svm import SVM
from mcu_deploy.formats.onnx_training import TRAINING
from mcu_deploy.formats.onnx_tree_bodies import TREES
from mcu_deploy.operators import label


def body(
    node: onnx.NodeProto,
    shapes: Sequence[Shape | None],
    values: Sequence[Array | None],
    dtype: int,
    opset: int,
) -> onnx.FunctionProto | None:
    """The body of a node; None where it has none here. The arguments are those of `Body`."""
    build = _BODIES.get(label(domain_of(node.domain), text_of(node.op_type)))
    if build is None or not shapes or shapes[0] is None:
        return None
    made = Body(node, shapes, values, dtype, opset)
    try:
        built = build(made)
    except NoBody:
        return None
    outputs = [built] if isinstance(built, str) else built
    outputs = [made("Identity", name) if name in node.input else name for name in outputs]
    imports = [helper.make_opsetid("", opset)]
    inputs = list(node.input)
    return helper.make_function("", node.op_type, inputs, outputs, made.nodes, imports)


def _depth_to_space(b: Body) -> str:
    """DepthToSpace-1 and -11: blocks of channels to blocks of the plane."""
    size = int(b.attributes["blocksize"])
    batch, channels, height, width = b.shape
    depth = channels // size**2
    if b.attributes.get("mode", b"DCR") == b"CRD":
        split = b.reshape(b.inputs[0], (batch, depth, size, size, height, width))
        moved = b.transpose(split, (0, 1, 4, 2, 5, 3))
    else:
        split = b.reshape(b.inputs[0], (batch, size, size, depth, height, width))
        moved = b.transpose(split, (0, 3, 4, 1, 5, 2))
    return b.reshape(moved, (batch, depth, height * size, width * size))


def _space_to_depth(b: Body) -> str:
    """SpaceToDepth-1 and -13: blocks of the plane to channels, the block's place outermost."""
    size = int(b.attributes["blocksize"])
    batch, channels, height, width = b.shape
    rows, columns = height // size, width // size
    split = b.reshape(b.inputs[0], (batch, channels, rows, size, columns, size))
    moved = b.transpose(split, (0, 3, 5, 1, 2, 4))
    return b.reshape(moved, (batch, channels * size**2, rows, columns))


def _hardmax(b: Body) -> str:
    """Hardmax-1 and -11 over all axes from `axis` on, Hardmax-13 over one."""
    x, shape, axis = b.inputs[0], b.shape, b.axis(-1 if b.opset >= 13 else 1)
    flat = b.opset < 13 or len(shape) == 1  # ONNX's inference wants two axes of a OneHot
    if flat:
        shape = (math.prod(shape[:axis]), math.prod(shape[axis:]))
        x, axis = b.reshape(x, shape), 1
    first = b("ArgMax", x, axis=axis, keepdims=0)
    depth = b.constant(shape[axis], np.int64)
    hot = b("OneHot", first, depth, b.constant([0, 1]), axis=axis)
    return b.reshape(hot, b.shape) if flat else hot


def _lp_normalization(b: Body) -> str:
    """LpNormalization-1 and -22: what is zero everywhere stays zero."""
    op = f"ReduceL{int(b.attributes.get('p', 2))}"
    norm = b.reduced(op, b.inputs[0], [b.axis(-1)])
    tiny = np.finfo(b.element).tiny
    return b("Div", b.inputs[0], b("Max", norm, b.constant(tiny)))


def _global_lp_pool(b: Body) -> str:
    """GlobalLpPool-2: the norm over all spatial axes."""
    p, axes = int(b.attributes.get("p", 2)), range(2, len(b.shape))
    if p in (1, 2):
        return b.reduced(f"ReduceL{p}", b.inputs[0], axes)
    powers = b("Pow", b("Abs", b.inputs[0]), b.constant(p))
    return b("Pow", b.reduced("ReduceSum", powers, axes), b.constant(1 / p))


def _stft(b: Body) -> str:
    """STFT-17: frames of the signal, each times the window, each transformed."""
    step, given = b.number(1), b.number(3)
    window = b.inputs[2] if len(b.inputs) > 2 else ""
    length = b.shape[1] if given is None else given
    if window:
        shape = b.shapes[2]
        length = shape[0] if shape else 0
    require(step and length and (given is not None or not any(b.inputs[3:])))
    first = np.arange(0, b.shape[1] - length + 1, step)
    places = first[:, None] + np.arange(length)
    parts = b.shape[2] if len(b.shape) > 2 else 1
    signal = b.reshape(b.inputs[0], (*b.shape[:2], parts))
    frames = b("Gather", signal, b.constant(places, np.int64), axis=1)
    if window:
        frames = b("Mul", frames, b.reshape(window, (length, 1)))
    onesided = int(b.attributes.get("onesided", 1))
    if b.opset < 20:
        return b("DFT", frames, axis=2, onesided=onesided)
    return b("DFT", frames, "", b.constant(2, np.int64), onesided=onesided)


def _tensor_scatter(b: Body) -> str:
    """TensorScatter-24: rows of a cache, of each batch from its place on, circular or not."""
    axis, update = b.axis(-2), b.shapes[1]
    if update is None or len(b.shape) < 2 or not axis:
        raise NoBody
    before, rows = b.shape[:axis], update[axis]
    places = b.constant(np.arange(rows), np.int64)
    if len(b.inputs) > 2 and b.inputs[2]:
        first = b.reshape(b.inputs[2], (before[0], *(1,) * axis))
        places = b("Add", first, places)
    if b.attributes.get("mode", b"linear") == b"circular":
        places = b("Mod", places, b.constant(b.shape[axis], np.int64))
    places = b.reshape(b("Expand", places, b.ints(*before, rows)), (*before, rows, 1))
    others = np.moveaxis(np.indices((*before, rows))[:-1], 0, -1)
    where = b("Concat", b.constant(others, np.int64), places, axis=axis + 1)
    return b("ScatterND", b.inputs[0], where, b.inputs[1])


_BODIES: Mapping[str, Callable[[Body], str | list[str]]] = {
    "DepthToSpace": _depth_to_space,
    "Einsum": einsum,
    "GlobalLpPool": _global_lp_pool,
    "Hardmax": _hardmax,
    "LpNormalization": _lp_normalization,
    "STFT": _stft,
    "SpaceToDepth": _space_to_depth,
    "TensorScatter": _tensor_scatter,
    **CONTRIB,
    **ML,
    **QONNX,
    **SVM,
    **TRAINING,
    **TREES,
}

NAMES = tuple(_BODIES)
"""The operators that have a body here."""

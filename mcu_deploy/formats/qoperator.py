"""QOperator form to QDQ form: QLinearConv and its kin become DQ, float operator, Q.

Both forms mean the same arithmetic; the rest of the compiler then knows one of them. Input lists
follow ONNX's QLinearConv-10, QLinearMatMul-10 and onnxruntime's contrib operators (com.microsoft:
QLinearAdd, QLinearMul, QLinearAveragePool, QLinearGlobalAveragePool, QLinearSigmoid,
QLinearLeakyRelu, QLinearSoftmax, QLinearConcat, QGemm). MatMulNBits, whose weights alone are
quantized, becomes a DequantizeLinear of these and a MatMul.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from mcu_deploy.errors import UnsupportedError
from mcu_deploy.errors.obstacles import NO_BACKEND
from mcu_deploy.formats.onnx_subgraphs import put, subgraphs_of

_MICROSOFT = "com.microsoft"


class _Rewriter:
    """Collects the nodes that replace one quantized operator."""

    def __init__(
        self,
        graph: onnx.GraphProto,
        constants: Mapping[str, onnx.TensorProto],
        node: onnx.NodeProto,
        prefix: str,
    ) -> None:
        self.graph = graph
        self.constants = constants
        self.node = node
        self.prefix = prefix
        self.nodes: list[onnx.NodeProto] = []

    def value(self, name: str) -> np.ndarray | None:
        tensor = self.constants.get(name)
        return None if tensor is None else numpy_helper.to_array(tensor)

    def dequantize(self, x: str, scale: str, zero_point: str, axis: int | None = None) -> str:
        output = f"{self.prefix}_dq{len(self.nodes)}"
        inputs = [x, scale, zero_point] if zero_point else [x, scale]
        node = helper.make_node("DequantizeLinear", inputs, [output], name=output)
        if axis is not None:
            node.attribute.append(helper.make_attribute("axis", axis))
        self.nodes.append(node)
        return output

    def per_axis(self, scale: str, axis: int | None) -> int | None:
        """The axis, where there are several scales."""
        value = self.value(scale)
        return axis if value is not None and value.size > 1 else None

    def constant(self, array: np.ndarray) -> str:
        name = f"{self.prefix}_c{len(self.nodes)}_{len(self.graph.initializer)}"
        self.graph.initializer.append(numpy_helper.from_array(array, name))
        return name

    def attribute(self, name: str, default: float) -> Any:
        """A number that the node states."""
        found = [helper.get_attribute_value(a) for a in self.node.attribute if a.name == name]
        return found[0] if found else default

    def apply(self, op: str, inputs: list[str], scale: str, zero_point: str) -> None:
        """The operator on real numbers, and the quantization of its result."""
        real = f"{self.prefix}_real"
        inner = helper.make_node(op, inputs, [real], name=self.node.name)
        inner.attribute.extend(a for a in self.node.attribute if a.name != "channels_last")
        self.nodes.append(inner)
        quantize = [real, scale, zero_point] if zero_point else [real, scale]
        self.nodes.append(
            helper.make_node("QuantizeLinear", quantize, list(self.node.output), name=f"{real}_q")
        )

    def bias(self, name: str, x_scale: str, w_scale: str, alpha: float = 1.0) -> str | None:
        """An int32 bias as DQ with the scale alpha * x_scale * w_scale, all of them constants.

        None where they are computed, or alpha leaves no scale, which is positive.
        """
        x, w = self.value(x_scale), self.value(w_scale)
        if x is None or w is None or not alpha > 0:
            return None
        scale = (np.float32(x.reshape(-1)[0]) * w.astype(np.float32)).astype(np.float32)
        scale = (np.float32(alpha) * scale).astype(np.float32)
        zero = self.constant(np.zeros(scale.shape, dtype=np.int32))
        return self.dequantize(name, self.constant(scale), zero, 0 if scale.ndim else None)


@dataclass(frozen=True)
class _Form:
    """A quantized operator: what it is of real numbers, and its inputs.

    axes: for each factor, each of which has a scale and a zero point behind it, the axis of
    several scales. result: the place of the output's scale, behind the factors by default. bias:
    the place of a bias.
    """

    op: str
    axes: tuple[int | None, ...]
    result: int | None = None
    bias: int | None = None

    @property
    def result_place(self) -> int:
        return self.result or 3 * len(self.axes)

    def __call__(self, r: _Rewriter) -> bool:
        i = [*r.node.input, *[""] * 9]
        y = self.result_place
        if r.attribute("channels_last", 0) or not i[y]:
            return False  # without its scale, the output is float
        axes = (self.axes[0], 0) if r.attribute("transB", 0) else self.axes
        inputs = []
        for k, axis in enumerate(axes):
            x, scale, zero_point = i[3 * k : 3 * k + 3]
            inputs.append(r.dequantize(x, scale, zero_point, r.per_axis(scale, axis)))
        if self.bias is not None and i[self.bias]:
            bias = r.bias(i[self.bias], i[1], i[4], r.attribute("alpha", 1.0))
            if bias is None:
                return False
            inputs.append(bias)
        r.apply(self.op, inputs, i[y], i[y + 1])
        return True


def _softmax(r: _Rewriter) -> bool:
    """The node states the opset whose Softmax it is, which need not be the model's."""
    if not any(a.name == "opset" for a in r.node.attribute):
        return False
    if not any(a.name == "axis" for a in r.node.attribute):
        r.node.attribute.append(helper.make_attribute("axis", -1))
    return _Form("Softmax", (None,))(r)


def _concat(r: _Rewriter) -> bool:
    i = r.node.input
    parts = [r.dequantize(*i[k : k + 3]) for k in range(2, len(i), 3)]
    r.apply("Concat", parts, i[0], i[1])
    return True


def _matmul_nbits(r: _Rewriter) -> bool:
    """Weights of 2, 4 or 8 bits with a scale for each block of a column: integers and a
    DequantizeLinear of blocks, before a MatMul."""
    i = [*r.node.input, *[""] * 6]
    k, n, block, bits = (int(r.attribute(a, d)) for a, d in _NBITS.items())
    if min(k, n, block) < 1 or bits not in (2, 4, 8):
        return False
    blocks = -(-k // block)
    packed, scales, zeros, order = (r.value(name) if name else None for name in i[1:5])
    if packed is None or scales is None:
        return False
    # With both, onnxruntime 1.32 computes other numbers than its documentation has.
    if i[4] and (i[3] or order is None or not np.array_equal(order, np.arange(k) // block)):
        return False
    if packed.size * 8 != n * blocks * block * bits or scales.size != n * blocks:
        return False
    whole = _unpacked(packed.reshape(n, blocks, -1), bits).reshape(n, -1)[:, :k]
    points = np.full((n, blocks), 1 << bits - 1, np.int32)
    if i[3]:
        if zeros is None:
            return False
        if zeros.dtype == np.uint8:
            zeros = _unpacked(zeros.reshape(n, -1), bits)[:, :blocks]
        if zeros.size != points.size or not np.array_equal(zeros, np.rint(zeros)):
            return False
        points = zeros.reshape(n, blocks).astype(np.int32)
    integers = whole - np.repeat(points, block, 1)[:, :k]
    low, high = np.iinfo(np.int8).min, np.iinfo(np.int8).max
    if integers.min() < low or integers.max() > high:  # of 8 bits, around another than the middle
        return False
    weights = r.constant(np.ascontiguousarray(integers.T.astype(np.int8)))
    factors = r.constant(np.ascontiguousarray(scales.reshape(n, blocks).T))
    real = r.dequantize(weights, factors, "", axis=0)
    r.nodes[-1].attribute.append(helper.make_attribute("block_size", block))
    product = r.node.output[0] if not i[5] else f"{r.prefix}_product"
    r.nodes.append(helper.make_node("MatMul", [i[0], real], [product], name=r.node.name))
    if i[5]:
        name = f"{r.prefix}_bias"
        r.nodes.append(helper.make_node("Add", [product, i[5]], [r.node.output[0]], name=name))
    return True


def _unpacked(packed: np.ndarray, bits: int) -> np.ndarray:
    """The numbers in bytes along the last axis, the lowest bits first."""
    shifts = np.arange(0, 8, bits)
    apart = packed.astype(np.int32)[..., None] >> shifts & (1 << bits) - 1
    return np.asarray(apart.reshape(*packed.shape[:-1], -1))


# The attributes of MatMulNBits that are read, with their defaults.
_NBITS = {"K": 0, "N": 0, "block_size": 0, "bits": 4}

_REWRITES: dict[tuple[str, str], Callable[[_Rewriter], bool]] = {
    ("", "QLinearConv"): _Form("Conv", (None, 0), bias=8),
    ("", "QLinearMatMul"): _Form("MatMul", (-2, -1)),
    (_MICROSOFT, "QGemm"): _Form("Gemm", (None, 1), result=7, bias=6),
    (_MICROSOFT, "QLinearAdd"): _Form("Add", (None, None)),
    (_MICROSOFT, "QLinearMul"): _Form("Mul", (None, None)),
    (_MICROSOFT, "QLinearAveragePool"): _Form("AveragePool", (None,)),
    (_MICROSOFT, "QLinearGlobalAveragePool"): _Form("GlobalAveragePool", (None,)),
    (_MICROSOFT, "QLinearSigmoid"): _Form("Sigmoid", (None,)),
    (_MICROSOFT, "QLinearLeakyRelu"): _Form("LeakyRelu", (None,)),
    (_MICROSOFT, "QLinearSoftmax"): _softmax,
    (_MICROSOFT, "QLinearConcat"): _concat,
    (_MICROSOFT, "MatMulNBits"): _matmul_nbits,
}

READ = tuple(_REWRITES)
"""The operators that are read as others: domain and name."""


# The attributes that the rewritten nodes of com.microsoft may have, as onnxruntime 1.31 knows them;
# for ONNX's own operators its checker sees to that.
_WINDOW = ("auto_pad", "ceil_mode", "count_include_pad", "kernel_shape", "pads", "strides")
_ATTRIBUTES: Mapping[str, tuple[str, ...]] = {
    # How exactly it is to be computed at least: in float32 it is as exactly as can be.
    "MatMulNBits": (*_NBITS, "accuracy_level"),
    "QGemm": ("alpha", "transA", "transB"),
    "QLinearAveragePool": (*_WINDOW, "channels_last"),
    "QLinearConcat": ("axis",),
    "QLinearGlobalAveragePool": ("channels_last",),
    "QLinearLeakyRelu": ("alpha",),
    "QLinearSoftmax": ("axis", "opset"),
}

# What the rewritten nodes are of where a model imports com.microsoft alone.
_OPSET = 17


def to_qdq(model: onnx.ModelProto) -> None:
    """Rewrites every quantized operator of the model in place; unknown ones stay as they are."""
    if all(o.domain not in ("", "ai.onnx") for o in model.opset_import):
        model.opset_import.append(helper.make_opsetid("", _OPSET))
    _rewrite(model.graph, {}, "")


def why_it_stays(domain: str, op: str, given: Sequence[bool], attributes: Mapping[str, Any]) -> str:
    """Why a node that `to_qdq` left as it is is not computed, where no backend has its operator.

    given: which of its inputs are there.
    """
    form = _REWRITES.get((domain, op))
    if form is None:
        return NO_BACKEND
    if attributes.get("channels_last"):
        return "its channels stand last; export the model with channels_last=0"
    if isinstance(form, _Form) and not [*given, *[False] * 9][form.result_place]:
        return (
            "it has no scale for its output, which is float32 then; give it one, with a zero "
            "point, or export the model in the QDQ format"
        )
    if op == "QLinearSoftmax" and "opset" not in attributes:
        return "it does not state the opset of its Softmax; export the model again"
    if op == "MatMulNBits":
        return (
            "its weights, scales or zero points are computed at run time or of other sizes than it "
            "states, or g_idx changes their order or stands beside zero points; export it without "
            "g_idx, and with constants"
        )
    return "its scales are computed at run time, or its alpha is not positive"


def _refuse_unknown_attributes(node: onnx.NodeProto) -> None:
    known = _ATTRIBUTES.get(node.op_type, ())
    unknown = [a.name for a in node.attribute if a.name not in known]
    if node.domain == _MICROSOFT and unknown:
        raise UnsupportedError(
            f"{node.op_type} {node.name[:60]!r} of com.microsoft has the attribute {unknown[0]!r}, "
            "whose meaning is not known. Export the model with an onnxruntime that does without it."
        )


def _rewrite(
    graph: onnx.GraphProto, outer: Mapping[str, onnx.TensorProto], outer_prefix: str
) -> None:
    """Rewrites a graph and those inside of it, which read the constants of the outer ones."""
    constants = {**outer, **{t.name: t for t in graph.initializer}}
    nodes: list[onnx.NodeProto] = []
    for index, node in enumerate(graph.node):
        prefix = f"{outer_prefix}{node.name or node.op_type}_{index}_qdq"
        for name, inner in subgraphs_of(node).items():
            _rewrite(inner, constants, f"{prefix}/{name}/")
        domain = "" if node.domain == "ai.onnx" else node.domain
        rewrite = _REWRITES.get((domain, node.op_type))
        if rewrite is None:
            nodes.append(node)
            continue
        _refuse_unknown_attributes(node)
        rewriter = _Rewriter(graph, constants, node, prefix)
        nodes.extend(rewriter.nodes if rewrite(rewriter) else [node])
    if len(nodes) > len(graph.node):
        put(graph.node, nodes)

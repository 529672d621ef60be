"""What computes one byte of one byte becomes a table, which has the bits of the oracle."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from quantized_nets import QuantizedNet, quantized
from sampling import examples

from mcu_deploy import interpreter, passes
from mcu_deploy.agreement.rules import EQUAL, ONE_STEP, rules
from mcu_deploy.ir import DType, EdgeId, Graph, TensorType, verify
from mcu_deploy.passes import tables

_SHAPE = (16, 16)
_REALS = TensorType(DType.FLOAT32, _SHAPE)
_UNARY = ("Relu", "Sigmoid", "Tanh", "Erf", "Exp", "Sqrt", "Neg", "Abs", "HardSwish", "Log", "Sin")
_BINARY = ("Add", "Sub", "Mul", "Div", "Max", "Pow")


class _Net(QuantizedNet):
    """Operators on all bytes at once, in float32 and on integers."""

    def __init__(self, dtype: str = "int8", zero: int = 3) -> None:
        super().__init__(_SHAPE, zero, dtype)

    def number(self, value: float) -> EdgeId:
        return self.constant(np.array(value, np.float32))

    def real(self, op: str, *inputs: EdgeId, **attributes: Any) -> EdgeId:
        return self.op(op, inputs, _REALS, **attributes)

    def _scale(self, type_: TensorType) -> tuple[EdgeId, EdgeId]:
        zero = np.array(type_.scaling.zero_point[0], type_.dtype.numpy)
        return self.number(type_.scaling.scale[0]), self.constant(zero)

    def dequantize(self, x: EdgeId) -> EdgeId:
        return self.real("DequantizeLinear", x, *self._scale(self.editor.types[x]))

    def quantize(
        self, x: EdgeId, scale: float = 0.05, zero: int = 3, dtype: str = "int8"
    ) -> EdgeId:
        type_ = quantized(_SHAPE, scale, zero, dtype)
        return self.op("QuantizeLinear", [x, *self._scale(type_)], type_)

    def gelu(self, x: EdgeId) -> EdgeId:
        """As exporters write it: x * (erf(x / sqrt(2)) + 1) * 0.5."""
        part = self.real("Erf", self.real("Div", x, self.number(math.sqrt(2))))
        half = self.real("Mul", self.real("Add", part, self.number(1.0)), self.number(0.5))
        return self.real("Mul", x, half)


def every_byte(graph: Graph) -> list[np.ndarray[Any, Any]]:
    dtype = graph.type(graph.inputs[0]).dtype.numpy
    return [np.arange(256, dtype=np.uint8).view(dtype).reshape(_SHAPE)]


def fused(graph: Graph) -> Graph:
    """The graph after the pass, of which every tensor that is left has the bits that it had."""
    after = tables.fuse(graph)
    verify(after)
    old, new = (interpreter.run_all(g, every_byte(graph)) for g in (graph, after))
    for edge in (e for node in after.nodes for e in node.writes):
        np.testing.assert_array_equal(new[edge], old[edge], after.edge_name(edge))
    assert [after.type(e) for e in after.outputs] == [graph.type(e) for e in graph.outputs]
    return after


def ops(graph: Graph) -> list[str]:
    return [node.op for node in graph.nodes]


def test_a_gelu_of_floats_is_a_table() -> None:
    net = _Net()
    after = fused(net.finish(net.quantize(net.gelu(net.dequantize(net.x)))))
    assert ops(after) == ["Table"]
    body = after.body(next(iter(after.nodes)).id)
    assert body is not None and len(list(body.nodes)) == 7


def test_integer_nodes_beside_one_another_are_a_table() -> None:
    net = _Net()
    y = net.op("Sigmoid", [net.x], quantized(_SHAPE, 1 / 256, -128))
    y = net.op("Mul", [net.x, y], quantized(_SHAPE, 0.05, 9))
    assert ops(fused(net.finish(y))) == ["Table"]


def test_a_node_alone_stays_as_it_is() -> None:
    net = _Net()
    graph = net.finish(net.op("Sigmoid", [net.x], quantized(_SHAPE, 1 / 256, -128)))
    assert ops(fused(graph)) == ["Sigmoid"]


def test_bytes_that_stay_as_they_are_are_a_view() -> None:
    net = _Net("uint8", 0)
    positive = net.real("Relu", net.dequantize(net.x))
    assert ops(fused(net.finish(net.quantize(positive, 0.05, 0, "uint8")))) == ["BitCast"]


@pytest.mark.parametrize("seen", ["read", "output"])
def test_tables_end_where_others_see_a_tensor(seen: str) -> None:
    net = _Net()
    first = net.quantize(net.real("Sin", net.dequantize(net.x)))
    last = net.quantize(net.gelu(net.dequantize(first)))
    if seen == "read":
        other = net.op("Softmax", [first], quantized(_SHAPE, 1 / 256, -128), axis=1)
        assert ops(fused(net.finish(last, other))) == ["Table", "Table", "Softmax"]
    else:
        assert ops(fused(net.finish(last, first))) == ["Table", "Table"]
    assert ops(fused(net.finish(last))) == ["Table"]


def test_real_numbers_that_others_see_stay() -> None:
    net = _Net()
    inner = net.real("Erf", net.dequantize(net.x))
    last = net.quantize(net.real("Tanh", inner))
    kept = fused(net.finish(last, inner))
    assert ops(kept) == ["DequantizeLinear", "Erf", "Tanh", "QuantizeLinear"]


def test_real_numbers_of_the_input_may_have_other_readers() -> None:
    net = _Net()
    real = net.dequantize(net.x)
    last = net.quantize(net.gelu(real))
    rest = net.real("Softmax", real, axis=1)
    assert sorted(ops(fused(net.finish(last, rest)))) == ["DequantizeLinear", "Softmax", "Table"]


def test_what_mixes_elements_or_tensors_is_no_function_of_a_byte() -> None:
    net = _Net()
    real = net.dequantize(net.x)
    mixed = (
        net.real("Softmax", real, axis=1),
        net.real("Add", real, net.constant(np.ones((1, 16), np.float32))),
        net.real("Add", real, net.real("Transpose", real, perm=(1, 0))),
    )
    assert "Table" not in ops(fused(net.finish(*map(net.quantize, mixed))))


def test_what_onnxruntime_rounds_otherwise_may_be_one_step_off() -> None:
    net = _Net()
    loose = fused(net.finish(net.quantize(net.real("Erf", net.dequantize(net.x)))))
    assert rules(loose)[loose.outputs[0]] == ONE_STEP
    net = _Net()
    y = net.op("Sigmoid", [net.x], quantized(_SHAPE, 1 / 256, -128))
    exact = fused(net.finish(net.op("Mul", [net.x, y], quantized(_SHAPE, 0.05, 9))))
    assert ops(exact) == ["Table"] and rules(exact)[exact.outputs[0]] == EQUAL


@st.composite
def nets(draw: st.DrawFn) -> Graph:
    """Operators in float32 and conversions in any order, each of one or two tensors before it."""
    net = _Net(draw(st.sampled_from(["int8", "uint8"])))
    integers, reals = [net.x], [net.dequantize(net.x)]
    for _ in range(draw(st.integers(1, 10))):
        kind = draw(st.sampled_from(["unary", "number", "two", "integers", "convert", "seen"]))
        x = draw(st.sampled_from(reals[-3:]))
        number = draw(st.floats(-3, 3, width=32))
        if kind == "unary":
            reals.append(net.real(draw(st.sampled_from(_UNARY)), x))
        elif kind == "number":
            operands = draw(st.permutations([x, net.number(number)]))
            reals.append(net.real(draw(st.sampled_from(_BINARY)), *operands))
        elif kind == "two":
            other = draw(st.sampled_from(reals[-3:]))
            reals.append(net.real(draw(st.sampled_from(_BINARY)), x, other))
        elif kind == "integers":
            op = draw(st.sampled_from(["Sigmoid", "HardSwish", "Identity"]))
            integers.append(net.op(op, [integers[-1]], quantized(_SHAPE, 0.02, -5)))
        elif kind == "convert":
            dtype = draw(st.sampled_from(["int8", "uint8"]))
            scale = draw(st.floats(2.0**-9, 1.0, width=32))
            integers.append(net.quantize(x, scale, draw(st.integers(0, 127)), dtype))
            reals.append(net.dequantize(integers[-1]))
        else:
            reals.append(net.real("Softmax", x, axis=1))
    outputs: Sequence[EdgeId] = [net.quantize(reals[-1])]
    if draw(st.booleans()):
        outputs = [*outputs, draw(st.sampled_from([*integers[1:], *reals]))]
    return net.finish(*dict.fromkeys(outputs))


@settings(max_examples=examples(400, 20), deadline=None)
@given(nets())
def test_random_networks_keep_their_bits(graph: Graph) -> None:
    with np.errstate(all="ignore"):
        after = fused(graph)
        assert tables.fuse(after).topology == after.topology
        whole = passes.run(graph)
        verify(whole)
        for old, new in zip(
            interpreter.run(graph, every_byte(graph)),
            interpreter.run(whole, every_byte(graph)),
            strict=True,
        ):
            if old.dtype.kind != "f":
                np.testing.assert_array_equal(new, old)

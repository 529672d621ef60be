"""A backend as a package would bring it that proposes: a convolution with the pool behind it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mcu_deploy.arithmetic import multiplier
from mcu_deploy.backends.interface import (
    Argument,
    BackendBase,
    CFunction,
    Constant,
    Costs,
    Layer,
    LayoutRule,
    Parameter,
    Price,
    Proposal,
    Proposals,
    Role,
    SubgraphView,
    Target,
    Workload,
    layer_of,
)
from mcu_deploy.ir import DType, Graph, GraphEditor, Node

BODY = (Path(__file__).parents[2] / "chains" / "kernel.txt").read_text().strip()
SCALARS = ("height", "width", "channels", "filters", "x_zero", "y_zero")
FUNCTION = CFunction(
    "chain",
    (
        Parameter("const int8_t *", "x"),
        Parameter("int8_t *", "y"),
        Parameter("const int8_t *", "weights"),
        Parameter("const int32_t *", "bias"),
        Parameter("const float *", "factor"),
        *(Parameter("int32_t", name) for name in SCALARS),
    ),
    BODY,
)


def fits(conv: Node, pool: Node | None, view: SubgraphView) -> bool:
    if conv.op != "Conv" or pool is None or pool.op != "MaxPool" or len(conv.inputs) != 3:
        return False
    x, w = (layer_of(view, conv).input(index).type for index in (0, 1))
    padded = {"strides": (1, 1), "pads": (1, 1, 1, 1), "kernel_shape": (3, 3)}
    halved = {"strides": (2, 2), "pads": (0, 0, 0, 0), "kernel_shape": (2, 2)}
    return (
        (x.dtype, x.shape[:2], w.shape[2:]) == (DType.INT8, (1, w.shape[1]), (3, 3))
        and is_of(view, conv, padded)
        and is_of(view, pool, halved)
    )


def is_of(view: SubgraphView, node: Node, expected: dict[str, tuple[int, ...]]) -> bool:
    given = view.attributes(node.id)
    return all(tuple(given.get(name, value)) == value for name, value in expected.items())


def as_one_node(part: SubgraphView) -> Graph:
    editor = GraphEditor.empty("chain")
    editor.inputs = [editor.add_edge("x", part.type(edge)) for edge in part.inputs]
    editor.outputs = [editor.add_edge("y", part.type(edge)) for edge in part.outputs]
    editor.add_node("ConvPool", editor.inputs, editor.outputs, "chain", {}, domain="chain")
    return editor.finish(opset=part.opset)


def make(layers: Sequence[Layer], memory_manager: Any) -> list[Workload]:
    (layer,) = layers
    assert layer.op == "ConvPool"
    x = layer.input(0).type
    assert x.layout == (0, 2, 3, 1) or x.shape[1] == 1
    assert layer.body is not None
    conv = layer_of(layer.body, next(n for n in layer.body.nodes if n.op == "Conv"))
    x, w, bias, y = conv.input(0).type, conv.input(1), conv.input(2).constant, conv.output.type
    assert w.constant is not None and w.type.quantization is not None and bias is not None
    factor = multiplier(x.scaling, w.type.quantization, y.scaling)
    constants = (
        Constant("weights", np.ascontiguousarray(w.constant.transpose(0, 2, 3, 1))),
        Constant("bias", np.ascontiguousarray(bias)),
        Constant("factor", np.broadcast_to(factor, len(bias)).astype(np.float32)),
    )
    _, channels, height, width = x.shape
    zeros = x.scaling.zero_point[0], y.scaling.zero_point[0]
    numbers = height, width, channels, len(bias), *zeros
    arguments = (
        Argument(Role.INPUT), Argument(Role.OUTPUT),
        *(Argument(Role.CONSTANT, index) for index in range(3)),
        *(Argument(Role.SCALAR, value=number) for number in numbers),
    )  # fmt: skip
    return [Workload(Chain.id, FUNCTION, arguments, constants, headers=("stdint.h",))]


class Chain(BackendBase):
    id = "PyChain"
    version = (1, 2)
    rank = 900
    operators = ("chain::ConvPool",)

    def propose(self, view: SubgraphView, target: Target) -> Proposals:
        found = []
        for conv in view.nodes:
            pool = view.sole_consumer(conv.writes[0])
            if pool is None or not fits(conv, pool, view):
                continue
            part = view.part([conv.id, pool.id])
            price = Price(Costs(cycles=layer_of(view, conv, target).macs // 12, flash=1000))
            found.append(
                Proposal(
                    part, price, make, as_one_node(part), (LayoutRule.CHANNELS_LAST,), "conv + pool"
                )
            )
        refused = {node.id: "it computes convolutions with a pool" for node in view.nodes}
        return Proposals(tuple(found), refused)

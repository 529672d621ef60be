"""A model whose every name is an attack, and builds of it to report on."""

from __future__ import annotations

from pathlib import Path

import onnx
from branchy import residual
from onnx import TensorProto, helper

import mcu_deploy
from mcu_deploy.options import Options

BOARD = "mps2-an386"
# What a page would do with one of these if it took it for anything but text.
ATTACKS = (
    "</title></script><script>window.attacked = 1</script>",
    '" onfocus="window.attacked = 1" autofocus tabindex="1',
    "<img src=x onerror='window.attacked = 1'>",
    "</svg><svg onload=window.attacked=1>",
    "{{ 7 * 7 }}{% for x in y %}<style>* { display: none }</style>",
    "&lt;b&gt;\u202e\u0000<!--",
)
FILE = 'a<script>window.attacked=1<!script>&".onnx'


def hostile() -> onnx.ModelProto:
    """A quantized network with a fork and, at its end, a layer in float."""
    model = residual()
    graph = model.graph
    (output,) = graph.output
    graph.node.append(
        helper.make_node("DequantizeLinear", [output.name, "scale", "zero"], ["real"])
    )
    graph.node.append(helper.make_node("Sin", ["real"], ["wave"]))
    shape = [d.dim_value for d in output.type.tensor_type.shape.dim]
    graph.output.append(helper.make_tensor_value_info("wave", TensorProto.FLOAT, shape))
    graph.output.remove(output)
    called: dict[str, str] = {}

    def attack(name: str) -> str:
        if name:
            called.setdefault(name, f"{ATTACKS[len(called) % len(ATTACKS)]} {len(called)}")
        return called.get(name, name)

    for node in graph.node:
        node.input[:] = map(attack, node.input)
        node.output[:] = map(attack, node.output)
        node.name = attack(node.name or node.output[0] + " node")
    for value in (*graph.input, *graph.output, *graph.initializer, *graph.value_info):
        value.name = attack(value.name)
    return model


def build(folder: Path, goal: str, board: str = BOARD) -> mcu_deploy.Build:
    """A build of it, in a folder called by its goal."""
    path = folder / FILE
    path.write_bytes(hostile().SerializeToString())
    options = Options(optimize_for=goal)
    return mcu_deploy.build(path, board, folder / goal, name="net", options=options)

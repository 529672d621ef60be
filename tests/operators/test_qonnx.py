"""QONNX's operators: the oracle against qonnx's own definition of them, written down here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper
from operators.lab import Array, make_model

from mcu_deploy import formats, interpreter, passes

_ROUNDINGS: dict[str, Any] = {"ROUND": np.round, "CEIL": np.ceil, "floor": np.floor}


def _quant(
    x: Array, scale: Array, zero: float, bits: int, signed: int, narrow: int, mode: str
) -> Array:
    steps = x / scale + np.float32(zero)
    if bits == 1 and signed:
        return (np.where(steps >= 0, np.float32(1), -1) - np.float32(zero)) * scale
    low = -(2 ** (bits - 1)) + narrow if signed else 0
    high = 2 ** (bits - 1) - 1 if signed else 2**bits - 1 - narrow
    return (_ROUNDINGS[mode](np.clip(steps, low, high)) - np.float32(zero)) * scale


def _run(
    domain: str, op: str, x: Array, constants: dict[str, Array], path: Path, **more: object
) -> Array:
    node = helper.make_node(op, ["x", *constants], ["y"], op, "", domain, **more)
    model = make_model([node], {"x": ("float32", x.shape)}, {"y": ("float32", x.shape)}, constants)
    model.opset_import.append(helper.make_opsetid(domain, 1))
    path.write_bytes(model.SerializeToString())
    (y,) = interpreter.run(passes.run(formats.load(path)), [x])
    return y


@pytest.mark.parametrize(
    ("bits", "signed", "narrow", "zero", "mode"),
    [
        (8, 1, 0, 0, "ROUND"), (8, 1, 1, 0, "ROUND"), (8, 0, 0, 0, "ROUND"), (4, 1, 0, 0, "ROUND"),
        (4, 0, 1, 0, "ROUND"), (2, 1, 1, 0, "CEIL"), (5, 0, 0, 3, "ROUND"), (4, 1, 0, 0.5, "floor"),
        (12, 1, 0, 0, "ROUND"), (1, 1, 0, 0, "ROUND"), (1, 1, 0, 2, "ROUND"), (1, 0, 0, 0, "ROUND"),
    ],
)  # fmt: skip
def test_quant(bits: int, signed: int, narrow: int, zero: float, mode: str, tmp_path: Path) -> None:
    """Halves, and numbers beyond both ends; of one scale, and of one a channel."""
    x = np.arange(-400, 400, dtype=np.float32).reshape(1, 2, 400) / 4
    for scale in (np.array(0.5, np.float32), np.array([[0.5], [0.25]], np.float32)):
        constants = {"s": scale, "z": np.float32(zero), "b": np.float32(bits)}
        found = _run(
            "onnx.brevitas", "Quant", x, constants, tmp_path / "m.onnx", signed=signed,
            narrow=narrow, rounding_mode=mode,
        )  # fmt: skip
        assert np.array_equal(found, _quant(x, scale, zero, bits, signed, narrow, mode))


def test_bipolar_quant(tmp_path: Path) -> None:
    x = np.array([[-2, -0.0, 0, 3]], np.float32)
    scale = {"s": np.float32(0.5)}
    found = _run("qonnx.custom_op.general", "BipolarQuant", x, scale, tmp_path / "m.onnx")
    assert np.array_equal(found, [[-0.5, 0.5, 0.5, 0.5]])


def test_layers_between_quants_of_one_scale_are_integers(tmp_path: Path) -> None:
    constants = {"s": np.float32(0.5), "z": np.float32(0), "b": np.float32(4)}
    nodes = [
        helper.make_node("Quant", ["x", *constants], ["a"], domain="onnx.brevitas"),
        helper.make_node("MaxPool", ["a"], ["p"], kernel_shape=[2, 2]),
        helper.make_node("Quant", ["p", *constants], ["y"], domain="onnx.brevitas"),
    ]
    types = {"x": ("float32", [1, 2, 4, 4])}, {"y": ("float32", [1, 2, 3, 3])}
    model = make_model(nodes, *types, constants)
    model.opset_import.append(helper.make_opsetid("onnx.brevitas", 1))
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    graph = passes.run(formats.load(tmp_path / "m.onnx"))
    (pool,) = (node for node in graph.nodes if node.op == "MaxPool")
    assert graph.type(pool.reads[0]).dtype.name == "INT8"

"""ONNX graphs with control flow, for the tests of their import."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from mcu_deploy import formats
from mcu_deploy.ir import Graph

FLOAT, BOOL, INT = TensorProto.FLOAT, TensorProto.BOOL, TensorProto.INT64
MICROSOFT = helper.make_opsetid("com.microsoft", 1)
Types = Mapping[str, tuple[int, Sequence[int | str] | None]]


def graph_of(
    nodes: Sequence[onnx.NodeProto],
    inputs: Types,
    outputs: Types,
    constants: Mapping[str, Any] | None = None,
    name: str = "g",
) -> onnx.GraphProto:
    return helper.make_graph(
        nodes, name,
        [helper.make_tensor_value_info(n, *t) for n, t in inputs.items()],
        [helper.make_tensor_value_info(n, *t) for n, t in outputs.items()],
        [numpy_helper.from_array(np.asarray(v), n) for n, v in (constants or {}).items()],
    )  # fmt: skip


def node(op: str, inputs: str, outputs: str, **attributes: Any) -> onnx.NodeProto:
    return helper.make_node(op, inputs.split(), outputs.split(), **attributes)


def load(
    graph: onnx.GraphProto, path: Path, shapes: Mapping[str, Sequence[int]] | None = None
) -> Graph:
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 17), MICROSOFT], ir_version=8
    )
    file = path / "model.onnx"
    file.write_bytes(model.SerializeToString())
    return formats.load(file, shapes)


X = np.array([[-2, -1, 0.5], [1, 2, 3]], np.float32)

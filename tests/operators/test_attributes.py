"""Every attribute that ONNX defines for an operator that is computed is read, or said why not."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import onnx
import pytest
from operators.node_tests import NodeTest, node_tests

from mcu_deploy import formats, interpreter
from mcu_deploy.backends.CpuRef.kernels import find, names
from mcu_deploy.backends.interface import layer_of
from mcu_deploy.errors import McuDeployError
from mcu_deploy.ir import Graph

# The tests of an operator that are looked at: enough to pass through its branches.
_MOST = 40
# By attribute, or by operator and attribute, where nobody needs to read it.
_ELSEWHERE = {
    "keepdims": "in the shape",
    "saturate": "of float8 only, which is refused",
    "round_mode": "of float8 only, which is refused",
    "output_dtype": "in the type",
    "num_outputs": "in the shapes",
    "momentum": "of training, which is refused",
    "hidden_size": "in the shape of the weights",
    "ceil_mode": "in the shape, and by formats/onnx_forms.py",
    "kernel_shape": "in the shape of the weights; formats/consistency.py compares them",
    "axes": "an input of the newest opsets, which the node tests are of",
    "noop_with_empty_axes": "read by all reductions in one place, where no axis is named",
    "pads": "an input of the newest Pad",
    "value": "an input of the newest Pad",
    "starts": "an input of the newest Slice",
    "ends": "an input of the newest Slice",
    ("ConvTranspose", "output_shape"): "in the shape",
    ("Cast", "to"): "in the type",
    ("BitCast", "to"): "in the type",
    ("EyeLike", "dtype"): "in the type",
    ("Split", "split"): "in the shapes",
    ("MaxRoiPool", "pooled_shape"): "no node test has one; test_max_roi_pool.py reads it",
    ("MaxRoiPool", "spatial_scale"): "no node test has one; test_max_roi_pool.py reads it",
    ("Range", "stash_type"): "refused by formats/onnx_inference.py",
    ("BatchNormalization", "spatial"): "refused by formats/onnx_inference.py",
    ("BatchNormalization", "training_mode"): "a body of formats/onnx_training.py, or refused",
    ("LayerNormalization", "stash_type"): "refused by formats/onnx_inference.py",
    ("QuantizeLinear", "precision"): "refused by formats/onnx_inference.py",
    ("RoiAlign", "output_height"): "in the shape",
    ("RoiAlign", "output_width"): "in the shape",
    ("TfIdfVectorizer", "pool_strings"): "its input is of strings, which no tensor is",
    ("TopK", "k"): "in the shape; an input of the newest opsets",
    ("TopK", "sorted"): "what need not be sorted is sorted too",
}


class _Recorded(dict[str, Any]):
    """The attributes of a node, which note what is read of them."""

    def __init__(self, values: Any, read: set[str]) -> None:
        super().__init__(values)
        self.read = read

    def get(self, key: str, default: Any = None) -> Any:
        self.read.add(key)
        return super().get(key, default)

    def __getitem__(self, key: str) -> Any:
        self.read.add(key)
        return super().__getitem__(key)


def _recorded(graph: Graph, read: dict[str, set[str]]) -> Graph:
    attributes = {n.id: _Recorded(graph.attributes(n.id), read[n.op]) for n in graph.nodes}
    return replace(graph, data=replace(graph.data, attributes=attributes))


def _sample() -> Iterator[NodeTest]:
    """Of each operator some tests."""
    seen: dict[str, int] = defaultdict(int)
    for test in node_tests():
        op = test.model.graph.node[0].op_type
        if len(test.model.graph.node) == 1 and find("", op) is not None and seen[op] < _MOST:
            seen[op] += 1
            yield test


def _defined() -> set[tuple[str, str]]:
    """What ONNX defines for these operators, since the opset that is read."""
    newest: dict[str, list[onnx.defs.OpSchema]] = defaultdict(list)
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain == "" and schema.name in names():
            newest[schema.name].append(schema)
    found = set()
    for op, schemas in newest.items():
        oldest = max((s.since_version for s in schemas if s.since_version <= 7), default=0)
        for schema in schemas:
            if schema.since_version >= oldest:
                found |= {(op, attribute) for attribute in schema.attributes}
    return found


@pytest.mark.matrix
def test_every_attribute_is_read(tmp_path: Path) -> None:
    read: dict[str, set[str]] = defaultdict(set)
    path = tmp_path / "model.onnx"
    for test in _sample():
        path.write_bytes(test.model.SerializeToString())
        try:
            graph = _recorded(formats.load(path), read)
            for node in graph.nodes:
                layer, kernel = layer_of(graph, node), find(node.domain, node.op)
                if kernel is not None and kernel.supports(layer).supported:
                    kernel.create(layer)
            interpreter.run_all(graph, list(test.inputs))
        except McuDeployError:
            continue
    missing = sorted(
        f"{op}.{attribute}"
        for op, attribute in _defined()
        if attribute not in read[op]
        and attribute not in _ELSEWHERE
        and (op, attribute) not in _ELSEWHERE
    )
    assert not missing, f"nobody reads {', '.join(missing)}"

"""If, Loop and Scan: their graphs, the programs that are made of them, and fuzzed ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from control_cases import BOOL, FLOAT, INT, graph_of, node
from onnx import helper
from pmx_cases import compiled, content_of, packed

from mcu_deploy.pmx import content

SHAPE = (2, 3)


def _if() -> onnx.GraphProto:
    then = graph_of([node("Relu", "x", "t")], {}, {"t": (FLOAT, SHAPE)}, name="then")
    other = graph_of([node("Neg", "x", "e")], {}, {"e": (FLOAT, SHAPE)}, name="other")
    return graph_of(
        [node("If", "c", "y", then_branch=then, else_branch=other)],
        {"x": (FLOAT, SHAPE), "c": (BOOL, ())},
        {"y": (FLOAT, SHAPE)},
    )


def _loop() -> onnx.GraphProto:
    body = graph_of(
        [node("Add", "s x", "s2"), node("Identity", "go", "go2")],
        {"i": (INT, ()), "go": (BOOL, ()), "s": (FLOAT, SHAPE)},
        {"go2": (BOOL, ()), "s2": (FLOAT, SHAPE)},
        name="body",
    )
    return graph_of(
        [node("Loop", "m c s0", "y", body=body)],
        {"x": (FLOAT, SHAPE), "s0": (FLOAT, SHAPE)},
        {"y": (FLOAT, SHAPE)},
        {"m": np.int64(5), "c": np.bool_(True)},
    )


def _scan() -> onnx.GraphProto:
    body = graph_of(
        [node("Add", "s e", "s2"), node("Relu", "s2", "r")],
        {"s": (FLOAT, (3,)), "e": (FLOAT, (3,))},
        {"s2": (FLOAT, (3,)), "r": (FLOAT, (3,))},
        name="body",
    )
    return graph_of(
        [node("Scan", "s0 x", "last y", body=body, num_scan_inputs=1)],
        {"s0": (FLOAT, (3,)), "x": (FLOAT, SHAPE)},
        {"last": (FLOAT, (3,)), "y": (FLOAT, SHAPE)},
    )


CASES = {"if": _if, "loop": _loop, "scan": _scan}


@pytest.mark.parametrize("case", CASES)
def test_the_same_source(tmp_path: Path, case: str) -> None:
    model = helper.make_model(
        CASES[case](), opset_imports=[helper.make_opsetid("", 17)], ir_version=8
    )
    path = tmp_path / "model.onnx"
    onnx.save(model, str(path))
    network = compiled(path)
    assert any(type(item).__name__ in ("Branch", "Repeat") for item in network.plan.program)
    raw = packed(network)
    saved = tmp_path / "m.pmx"
    saved.write_bytes(raw)
    loaded = compiled(saved)
    assert loaded.sources.files == network.sources.files
    assert packed(loaded) == raw
    graph = content.decode(*content_of(raw), saved).model.graph
    held = [inner for n in graph.nodes for inner in graph.subgraphs(n.id).values()]
    assert len(held) == (2 if case == "if" else 1)

"""Made-up samples: integers that are positions along an axis, or lengths, stay inside of it."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest

from mcu_deploy.agreement.made_up import random_samples
from mcu_deploy.boards import load_board
from mcu_deploy.compiler import compile_model

_NET = """<ir_version: 8, opset_import: ["" : 18]> net ({inputs}) => ({outputs})
    <float[7, 5] w = {{{weights}}}> {{ {nodes} }}"""


@pytest.mark.parametrize(
    ("inputs", "outputs", "nodes", "below"),
    [
        ("int64[40] ids", "float[40, 5] y", "y = Gather(w, ids)", (7,)),
        ("int32[40] ids", "float[7, 40] y", "y = Gather<axis = 1>(w, ids)", (5,)),
        (
            "int8[20] a, int8[20] b", "float[40, 5] y",
            "c = Concat<axis = 0>(a, b) i = Cast<to = 7>(c) y = Gather(w, i)", (7, 7),
        ),
        ("float[40] x", "float[40, 5] y", "i = Cast<to = 6>(x) y = Gather(w, i)", (7,)),
        # The shortest axis of those that it counts along, at every place where it is read.
        ("int64[40, 2] at", "float[40] y", "y = GatherND(w, at)", (5,)),
        (
            "int64[40, 1] at", "float[40, 5] y, float[7, 40] z",
           "y = GatherND(w, at) s = Squeeze(at) z = Gather<axis = 1>(w, s)", (5,),
        ),
        (
            "int64[3, 5] at, float[3, 5] u", "float[7, 5] y",
            "y = ScatterElements<axis = 0>(w, at, u)", (7, None),
        ),
        ("int64[3, 1] at, float[3, 5] u", "float[7, 5] y", "y = ScatterND(w, at, u)", (7, None)),
        # Lengths of sequences, of which no one is longer than the steps.
        (
            "float[5, 3, 1] x, int32[3] lengths", "float[5, 1, 3, 1] y",
            "p = Constant<value = float[1, 3, 1] {1, 1, 1}>() y = GRU(x, p, p, , lengths)",
            (None, 6),
        ),
        # What is no position has its whole range.
        ("uint8[99] x", "int32[99] y", "y = Cast<to = 6>(x)", (256,)),
    ],
)  # fmt: skip
def test_positions_are_inside(
    inputs: str, outputs: str, nodes: str, below: tuple[int | None, ...], tmp_path: Path
) -> None:
    weights = ", ".join(["1"] * 35)
    text = _NET.format(inputs=inputs, outputs=outputs, weights=weights, nodes=nodes)
    onnx.save_model(onnx.parser.parse_model(text), tmp_path / "net.onnx")
    graph = compile_model(tmp_path / "net.onnx", load_board("host")).graph
    for values, most in zip(
        zip(*random_samples(graph, 60).inputs, strict=True), below, strict=True
    ):
        if most is not None:
            assert (min(v.min() for v in values), max(v.max() for v in values)) == (0, most - 1)

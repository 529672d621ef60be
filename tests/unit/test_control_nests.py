"""Random nests of If, Loop and Scan: planned, proven, and run in a memory of bytes."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
from control_nests import inputs_of, nest_of
from hypothesis import given, settings
from hypothesis import strategies as st
from plan_runs import PlanRun
from sampling import examples

from mcu_deploy import interpreter
from mcu_deploy.boards import load_board
from mcu_deploy.compiler import compile_model
from mcu_deploy.options import Options


@st.composite
def nests(draw: Callable[[st.SearchStrategy[int]], int]) -> onnx.ModelProto:
    return nest_of(lambda low, high: draw(st.integers(low, high)))


@settings(max_examples=examples(40, 6), deadline=None)
@given(nests(), st.booleans())
def test_nests_compile_and_their_plans_compute_what_the_oracle_does(
    model: onnx.ModelProto, layers_all: bool
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        path.write_bytes(model.SerializeToString())
        made = compile_model(
            path, load_board("host"), name="n", options=Options(layers_all=layers_all)
        )
    inputs = inputs_of([made.graph.edge_name(edge) for edge in made.graph.inputs])
    with np.errstate(all="ignore"):
        wanted = interpreter.run(made.graph, inputs)
        found = PlanRun(made.graph, made.plan).run(inputs)
    for ours, theirs in zip(found, wanted, strict=True):
        assert np.array_equal(ours, theirs, equal_nan=True)

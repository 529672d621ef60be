"""The sample that an export is checked with: its answers, and how far others may be from them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
from onnx import helper
from operators.lab import make_model
from state_programs import quantized_streaming_convolution

from mcu_deploy import interpreter
from mcu_deploy.boards import load_board
from mcu_deploy.compiled import Network
from mcu_deploy.compiler import compile_model
from mcu_deploy.exports.values import sample_of, sample_values
from mcu_deploy.options import Options, Requests, StateRequest


def compiled(model: onnx.ModelProto, folder: Path, options: Options | None = None) -> Network:
    onnx.save(model, folder / "model.onnx")
    return compile_model(folder / "model.onnx", load_board("mps2-an386"), options=options)


def test_floats_may_be_off_by_a_share_of_the_largest_that_is_finite(tmp_path: Path) -> None:
    kind = ("float32", (3,))
    nodes = [
        helper.make_node("Exp", ["x"], ["e"]),
        helper.make_node("Neg", ["e"], ["y"]),
        helper.make_node("Cast", ["x"], ["n"], to=onnx.TensorProto.INT32),
    ]
    network = compiled(make_model(nodes, {"x": kind}, {"y": kind, "n": ("int32", (3,))}), tmp_path)
    samples = sample_of(network, None)
    for given, tolerance in (([0, np.log(4), 200], 4e-5), ([-200, -200, -200], 1e-5)):
        sample = replace(samples, inputs=((np.array(given, np.float32),),))
        _, (y, n) = sample_values(network, sample)
        assert np.allclose(y.tolerance, tolerance, rtol=1e-6) and n.tolerance == 0
    assert (n.limit, replace(n, tolerance=1.0).limit) == ("0", "1")


def test_states_are_what_they_are_at_first(tmp_path: Path) -> None:
    options = Options(requests=Requests(states=(StateRequest("ring", "next"),)))
    network = compiled(quantized_streaming_convolution(), tmp_path, options)
    (x,), (y,) = sample_values(network, sample_of(network, None))
    ring = np.full((1, 2, 1, 2), -3, np.int8)  # its zero point
    wanted, _ = interpreter.run(network.graph, [x.array, ring])
    assert np.array_equal(y.array, wanted)
    assert not np.array_equal(wanted, interpreter.run(network.graph, [x.array, ring * 0])[0])

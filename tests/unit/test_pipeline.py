"""The stages one after the other, as docs/pipeline.md shows them and as the compiler calls them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from graph_cases import planned
from onnx import TensorProto, helper, numpy_helper

from mcu_deploy import compiler, formats, interpreter, passes, plan
from mcu_deploy.boards import load_board


def test_the_compiler_calls_the_stages(kws_dir: Path) -> None:
    """Graph, plan and choices of compile_model are those of the stages, called one by one."""
    model = kws_dir / "model.onnx"
    network = compiler.compile_model(model, load_board("host"), name="kws")
    graph, choices, made = planned(passes.run(formats.load(model)))
    assert list(network.graph.nodes) == list(graph.nodes)
    assert network.plan.places == made.places
    assert [c.layer.node for c in choices] == list(graph.nodes)
    plan.check(graph, choices, network.plan)


def test_all_layers_are_kept_on_request(kws_dir: Path) -> None:
    model = kws_dir / "model.onnx"
    options = compiler.Options(layers_all=True)
    kept = compiler.compile_model(model, load_board("host"), name="kws", options=options)
    fused = compiler.compile_model(model, load_board("host"), name="kws")
    assert kept.plan.bytes > fused.plan.bytes
    samples = np.load(kws_dir / "samples.npz")
    value = [samples["in0"][0].reshape(kept.graph.type(kept.graph.inputs[0]).shape)]
    for one, two in zip(
        interpreter.run(kept.graph, value), interpreter.run(fused.graph, value), strict=True
    ):
        assert np.array_equal(one, two)


def test_outputs_that_nothing_computes(tmp_path: Path) -> None:
    """An initializer, the input itself, and one output listed twice, beside a computed one."""
    floats = TensorProto.FLOAT
    outputs = [helper.make_tensor_value_info(name, floats, [4]) for name in ("y", "c", "x", "y")]
    graph = helper.make_graph(
        [helper.make_node("Relu", ["x"], ["y"])], "g",
        [helper.make_tensor_value_info("x", floats, [4])], outputs,
        [numpy_helper.from_array(np.arange(4, dtype=np.float32), "c")],
    )  # fmt: skip
    path = tmp_path / "odd.onnx"
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    path.write_bytes(model.SerializeToString())
    assert onnx.load(path).graph.output[1].name == "c"
    network = compiler.compile_model(path, load_board("host"), name="odd")
    names = [network.graph.edge_name(e) for e in network.graph.outputs]
    assert names == ["y", "c", "x", "y"]
    value = np.array([-1, 2, -3, 4], np.float32)
    results = interpreter.run(network.graph, [value])
    assert [r.tolist() for r in results] == [
        [0, 2, 0, 4], [0, 1, 2, 3], [-1, 2, -3, 4], [0, 2, 0, 4]
    ]  # fmt: skip

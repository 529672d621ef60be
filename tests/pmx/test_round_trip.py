"""What is saved and loaded again gives the same C, header and weights, byte for byte."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pmx_cases import compiled, content_of, packed, small_model, small_network
from sampling import first
from state_programs import streaming_rows

from mcu_deploy import pmx
from mcu_deploy.errors import UnsupportedError
from mcu_deploy.options import Options, Requests, StateRequest
from mcu_deploy.pmx import content

# One of each kind: integer and float, ONNX and TFLite, recurrent, branched, with all operators.
SAMPLE = (
    "mlperf_kws_int8/model.tflite", "torch_digits_cnn/model.onnx",
    "digits_res_qdq_s8s8_pt/model.onnx", "torch_lstm_ts/model.onnx", "torch_opsoup_a/model.onnx",
    "tflm_mnist_lstm_int8/model.tflite", "mlperf_kws_int8/model.onnx",
)  # fmt: skip
MEMORIES = ("offline", "plain", "mru", "bestfit", "compact")


def _same_source(path: Path, folder: Path, options: Options | None = None) -> None:
    network = compiled(path, options)
    for compress in (False, True):
        raw = packed(network, compress=compress)
        saved = folder / f"{compress}.pmx"
        saved.write_bytes(raw)
        loaded = compiled(saved)
        assert loaded.name == network.name
        assert loaded.sources.files == network.sources.files
        assert packed(loaded, compress=compress) == raw, "saving is deterministic"


@pytest.mark.parametrize("model", first([*SAMPLE], 3))
def test_a_model_of_the_sample(models_dir: Path, tmp_path: Path, model: str) -> None:
    _same_source(models_dir / model, tmp_path)


@pytest.mark.matrix
def test_every_model_of_the_pack(models_dir: Path, tmp_path: Path) -> None:
    compared = 0
    for path in sorted([*models_dir.glob("*/model.onnx"), *models_dir.glob("*/model.tflite")]):
        try:
            _same_source(path, tmp_path)
        except UnsupportedError:
            continue
        compared += 1
    assert compared > 50


@pytest.mark.parametrize("memory", MEMORIES)
def test_every_memory_strategy(tmp_path: Path, memory: str) -> None:
    network = small_network(tmp_path, memory)
    saved = tmp_path / "m.pmx"
    saved.write_bytes(packed(network))
    loaded = compiled(saved)
    assert loaded.sources.files == network.sources.files
    assert loaded.options == network.options
    assert [part.name for part in loaded.plan.parts] == ["head", "tail"]
    assert [kept.name for kept in loaded.plan.exposure.kept] == ["gate"]


def test_inputs_and_outputs_at_the_caller(tmp_path: Path) -> None:
    _same_source(small_model(tmp_path), tmp_path, Options(io="caller"))


def test_states(models_dir: Path, tmp_path: Path) -> None:
    step = models_dir / "torch_gru_step" / "model.onnx"
    plain = compiled(step)
    hidden = [plain.graph.edge_name(edge) for edge in plain.graph.inputs][1]
    following = [plain.graph.edge_name(edge) for edge in plain.graph.outputs][-1]
    states = Requests(states=(StateRequest(hidden, following),))
    _same_source(step, tmp_path, Options(requests=states, arena="shared"))


def test_windows_that_lie_around_states(tmp_path: Path) -> None:
    path = tmp_path / "rows.onnx"
    path.write_bytes(streaming_rows().SerializeToString())
    states = Requests(states=tuple(StateRequest(f"ring{k}", f"next{k}") for k in range(2)))
    options = Options(requests=states, optimize_for="speed")
    assert any(tensor.offset for tensor in compiled(path, options).plan.tensors.values())
    _same_source(path, tmp_path, options)


def test_all_layers_unfused(tmp_path: Path) -> None:
    _same_source(small_model(tmp_path), tmp_path, Options(layers_all=True))


def test_ids_are_dense_and_bodies_share_them(kws_dir: Path) -> None:
    network = compiled(kws_dir / "model.onnx")
    used = set(network.graph.topology.edges)
    assert max(used) >= len(used), "passes left gaps: else this tests nothing"
    model = content.decode(*content_of(packed(network)), Path("m.pmx")).model
    edges, nodes = set(model.source_tensors), set()
    pending = [model.graph]
    while pending:
        graph = pending.pop()
        edges |= set(graph.topology.edges)
        nodes |= set(graph.topology.nodes)
        pending += graph.data.bodies.values()
    assert edges == set(range(model.graph.topology.next_edge))
    assert nodes == set(range(model.graph.topology.next_node))
    assert len(nodes) > len(model.graph.topology.nodes), "there are bodies"


def test_equal_constants_are_stored_once(kws_dir: Path) -> None:
    network = compiled(kws_dir / "model.onnx", Options(backends=("CpuRef",)))
    tree, data = content_of(packed(network))
    every = tree["constants"]
    places = [constant["Stored"] for constant in every if "Stored" in constant]
    stored = [data[place["at"] : place["at"] + place["bytes"]] for place in places]
    assert len(stored) == len(set(stored))
    assert len(stored) < len(every), "some are others in another order"
    graph = network.graph
    used = [value.tobytes() for value in graph.data.constants.values()]
    for body in graph.data.bodies.values():
        used += [value.tobytes() for value in body.data.constants.values()]
    for step in network.plan.steps:
        used += [constant.value.tobytes() for constant in step.choice.workload.constants]
    assert len(set(used)) <= len(every)
    assert len(used) > 1.5 * len(stored), "graph, bodies and workloads share much"
    weights = [c for s in network.plan.steps for c in s.choice.workload.constants]
    assert {c.value.tobytes() for c in weights} <= set(stored), "what a build reads is as it is"


def test_what_a_build_reads_is_no_copy_and_lies_at_16_bytes(kws_dir: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.pmx"
    path.write_bytes(packed(compiled(kws_dir / "model.onnx")))
    model = pmx.load(path).model
    weights = [c.value for s in model.plan.steps for c in s.choice.workload.constants]
    assert weights
    for value in weights:
        assert not value.flags.owndata
        assert value.__array_interface__["data"][0] % 16 == 0
    bases = set()
    for value in weights:
        base: object = value
        while isinstance(base, np.ndarray):
            base = base.base
        bases.add(id(base.obj) if isinstance(base, memoryview) else id(base))
    assert len(bases) == 1, "all are views of the file's bytes"


@pytest.mark.matrix
def test_compression_leaves_what_does_not_shrink(models_dir: Path, tmp_path: Path) -> None:
    network = compiled(models_dir / "mlperf_vww_int8" / "model.onnx")
    assert len(packed(network, compress=True)) < 0.8 * len(packed(network))

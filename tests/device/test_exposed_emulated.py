"""Two models that take turns in one arena, one of them cut in two, on a Cortex-M4 in QEMU."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from network_programs import Array
from partition_programs import cuts
from state_programs import accumulator

from mcu_deploy import interpreter
from mcu_deploy.api.building import build
from mcu_deploy.api.folder import BuildFolder, open_folder
from mcu_deploy.boards import load_board
from mcu_deploy.compiled import Network
from mcu_deploy.compiler import compile_model
from mcu_deploy.device import Device, connect
from mcu_deploy.device.emulators import open_emulator
from mcu_deploy.options import Options, PartitionRequest, Requests, StateRequest

pytestmark = [pytest.mark.needs_arm_gcc, pytest.mark.needs_qemu]

BOARD = "mps2-an386"


@pytest.fixture(scope="module")
def middle(kws_dir: Path) -> str:
    """A tensor in the middle of the keyword spotter."""
    graph = compile_model(kws_dir / "model.onnx", load_board(BOARD), name="kws").graph
    edges = cuts(graph)
    return graph.edge_name(edges[len(edges) // 2])


@pytest.fixture(scope="module")
def cut(kws_dir: Path, middle: str, tmp_path_factory: pytest.TempPathFactory) -> BuildFolder:
    graph = compile_model(kws_dir / "model.onnx", load_board(BOARD), name="kws").graph
    (first,) = (graph.edge_name(e) for e in graph.inputs)
    (last,) = (graph.edge_name(e) for e in graph.outputs)
    parts = (
        PartitionRequest("head", (first,), (middle,)),
        PartitionRequest("tail", (middle,), (last,)),
    )
    folder = tmp_path_factory.mktemp("cut") / "kws"
    options = Options(requests=Requests(keep=(middle,), partitions=parts))
    build(kws_dir / "model.onnx", BOARD, folder, name="kws", options=options)
    return open_folder(folder)


def opened(folder: BuildFolder) -> Iterator[Device]:
    with (
        open_emulator(folder.board, folder.firmware) as emulator,
        connect(emulator.url, expect=folder.expected(), latency=3.0) as device,
    ):
        yield device


def kws_samples(kws_dir: Path, count: int) -> list[Array]:
    values: Array = np.load(kws_dir / "samples.npz")["in0"]
    return [values[i].reshape(1, 49, 10, 1) for i in range(count)]


def test_the_parts_and_a_kept_tensor_of_a_network_on_a_board(
    cut: BuildFolder, kws_dir: Path, middle: str
) -> None:
    network = cut.compile_again("kws")
    graph, (kept,) = network.graph, network.plan.exposure.kept
    for device in opened(cut):
        for sample in kws_samples(kws_dir, 2):
            values = interpreter.run_all(graph, [sample])
            wanted = values[graph.outputs[0]]
            (whole,) = device.infer("kws", [sample])
            assert np.array_equal(whole, wanted)
            assert np.array_equal(device.kept("kws", middle), values[kept.edge])
            (between,) = device.infer("kws", [sample], partition="head")
            assert np.array_equal(between, values[kept.edge])
            (after,) = device.infer("kws", [between], partition="tail")
            assert np.array_equal(after, wanted)


@pytest.mark.matrix
def test_models_that_take_turns_in_one_arena(
    kws_dir: Path, models_dir: Path, tmp_path: Path
) -> None:
    """What each gives is what it gives alone; the arena is that of the larger one."""
    models = [kws_dir / "model.onnx", models_dir / "mlperf_ad_int8" / "model.onnx"]
    board = load_board(BOARD)
    names = ["kws", "ad"]
    alone = [compile_model(m, board, name=n) for m, n in zip(models, names, strict=True)]
    build(models, BOARD, tmp_path / "b", name=names, options=Options(arena="shared"))
    folder = open_folder(tmp_path / "b")
    source = (tmp_path / "b" / "firmware_models.c").read_text()
    (size,) = re.findall(r"static uint8_t workspace\[(\d+)\];", source)
    assert int(size) == max(n.plan.bytes for n in alone)
    report = json.loads((tmp_path / "b" / "report.json").read_text())
    assert report["arena_bytes"] == int(size)
    samples = {
        "kws": kws_samples(kws_dir, 2),
        "ad": list(np.load(models_dir / "mlperf_ad_int8" / "io.npz")["in0"][:2]),
    }
    for device in opened(folder):
        for turn in range(2):
            for network in alone:
                type_ = network.graph.type(network.graph.inputs[0])
                value = samples[network.name][turn].reshape(type_.shape)
                (found,) = device.infer(network.name, [value])
                assert np.array_equal(found, interpreter.run(network.graph, [value])[0])


def _alone(model: Path, options: Options) -> list[Network]:
    return [compile_model(model, load_board(BOARD), name="one", options=options)]


def test_states_outlive_the_turns_of_another_model(kws_dir: Path, tmp_path: Path) -> None:
    stream = tmp_path / "stream.onnx"
    stream.write_bytes(accumulator().SerializeToString())
    states = (StateRequest("state", "next"),)
    options = Options(arena="shared", requests=Requests(states=states))
    other = tmp_path / "other.onnx"
    other.write_bytes(accumulator().SerializeToString())
    build([stream, other], BOARD, tmp_path / "b", name=["one", "two"], options=options)
    report = json.loads((tmp_path / "b" / "report.json").read_text())
    workspace = max(n.plan.bytes for n in _alone(stream, options))
    assert report["arena_bytes"] == workspace + 2 * 32  # 20 bytes of state each, aligned
    x = np.array([[1, -2, 3, -4, 5]], np.int32)
    for device in opened(open_folder(tmp_path / "b")):
        for turn in range(1, 4):
            assert np.array_equal(device.infer("one", [x])[0], (turn + 1) * x)
            assert np.array_equal(device.infer("two", [-x])[0], -(turn + 1) * x)
            assert np.array_equal(device.state("one", "state"), turn * x)

"""Real models, cut in two at their edges: the parts give what the whole gives, bit for bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from network_programs import Array, assert_equal
from partition_programs import cut_in_two, cuts, run_parts
from sampling import first

from mcu_deploy import interpreter
from mcu_deploy.boards import load_board
from mcu_deploy.compiled import Network
from mcu_deploy.compiler import compile_model
from mcu_deploy.options import Options, PartitionRequest, Requests

INTEGER = ("mlperf_kws_int8", "mlperf_ic_int8", "digits_res_qdq_s8s8_pt")
MODELS = (*INTEGER, "torch_digits_cnn")


def some(names: list[str], count: int) -> list[str]:
    """The first, the last, and as many between."""
    numbers = np.linspace(0, len(names) - 1, min(count, len(names))).round().astype(int)
    return [names[number] for number in dict.fromkeys(numbers)]


def random_inputs(network: Network) -> list[Array]:
    generator = np.random.default_rng(5)
    found: list[Array] = []
    for edge in network.graph.inputs:
        type_ = network.graph.type(edge)
        if type_.dtype.is_float:
            found.append(generator.normal(size=type_.shape).astype(type_.dtype.numpy))
        else:
            limits = np.iinfo(type_.dtype.numpy)
            found.append(
                generator.integers(limits.min, limits.max + 1, type_.shape, type_.dtype.numpy)
            )
    return found


@pytest.mark.needs_host_gcc
@pytest.mark.parametrize("model", first(MODELS))
@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.matrix)])
def test_the_parts_give_what_the_whole_gives(
    model: str, every: bool, models_dir: Path, tmp_path: Path
) -> None:
    path = models_dir / model / "model.onnx"
    plain = compile_model(path, load_board("host"), name="plain")
    names = [plain.graph.edge_name(edge) for edge in cuts(plain.graph)]
    assert len(names) >= 4
    chosen = names if every else some(names, 3)
    networks = [cut_in_two(path, f"cut{i}", [name]) for i, name in enumerate(chosen)]
    inputs = random_inputs(plain)
    uncut = interpreter.run(plain.graph, inputs)
    found = run_parts(networks, [inputs] * len(networks), tmp_path)
    for network, (whole, kept, copied, in_place) in zip(networks, found, strict=True):
        values = interpreter.run_all(network.graph, inputs)
        assert_equal(whole, [values[e] for e in network.outputs])
        assert_equal(kept, [values[k.edge] for k in network.plan.exposure.kept])
        for one, two, three in zip(whole, copied, in_place, strict=True):
            assert one.tobytes() == two.tobytes() == three.tobytes()
        if model in INTEGER:
            assert_equal(whole, uncut)


@pytest.mark.needs_host_gcc
def test_a_tail_that_reads_an_input_of_the_model_too(models_dir: Path, tmp_path: Path) -> None:
    """A step of a GRU: x goes into the head, h into both parts."""
    path = models_dir / "torch_gru_step" / "model.onnx"
    plain = compile_model(path, load_board("host"), name="plain")
    x, h = (plain.graph.edge_name(e) for e in plain.graph.inputs)
    first = next(n for n in plain.graph.nodes if plain.graph.inputs[0] in n.reads)
    tensor = plain.graph.edge_name(first.writes[0])
    outputs = tuple(plain.graph.edge_name(e) for e in plain.graph.outputs)
    requests = Requests(
        partitions=(
            PartitionRequest("head", (x, h) if _needs(plain, tensor, h) else (x,), (tensor,)),
            PartitionRequest("tail", (tensor, h, x), outputs),
        )
    )
    network = compile_model(
        path, load_board("host"), name="gru", options=Options(requests=requests)
    )
    inputs = random_inputs(plain)
    ((whole, _, copied, in_place),) = run_parts([network], [inputs], tmp_path)
    assert_equal(whole, interpreter.run(network.graph, inputs))
    for one, two, three in zip(whole, copied, in_place, strict=True):
        assert one.tobytes() == two.tobytes() == three.tobytes()


def _needs(network: Network, tensor: str, name: str) -> bool:
    """Whether a tensor is computed from the input of this name."""
    graph = network.graph
    pending = [graph.find_edge(tensor)]
    while pending:
        edge = pending.pop()
        assert edge is not None
        if graph.edge_name(edge) == name:
            return True
        producer = graph.producer(edge)
        pending += [] if producer is None else list(producer.reads)
    return False

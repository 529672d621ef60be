"""Networks with states: 1,000 steps, against onnxruntime that is fed its own outputs again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from network_programs import Array
from onnx import helper
from operators.lab import make_model, relative_error
from state_programs import (
    STEPS,
    Reference,
    accumulator,
    quantized_streaming_convolution,
    run_steps,
    shift_register,
    streaming_convolution,
    streaming_rows,
)

from mcu_deploy.api.building import build
from mcu_deploy.api.folder import open_folder
from mcu_deploy.api.validating import validate
from mcu_deploy.boards import load_board
from mcu_deploy.compiled import Network
from mcu_deploy.compiler import compile_model
from mcu_deploy.device import connect
from mcu_deploy.device.emulators import open_emulator
from mcu_deploy.options import Options, PartitionRequest, Requests, StateRequest
from mcu_deploy.plan import Copy


def compiled(path: Path, states: dict[str, str], **options: object) -> Network:
    requests = Requests(states=tuple(StateRequest(a, b) for a, b in states.items()))
    chosen = Options(requests=requests, **options)  # type: ignore[arg-type]
    return compile_model(path, load_board("host"), name="stream", options=chosen)


def random_steps(network: Network, count: int) -> list[list[Array]]:
    generator = np.random.default_rng(11)
    steps: list[list[Array]] = []
    for _ in range(count):
        values: list[Array] = []
        for edge in network.inputs:
            type_ = network.graph.type(edge)
            if type_.dtype.is_float:
                values.append(generator.normal(size=type_.shape).astype(np.float32))
            else:
                values.append(generator.integers(-9, 10, type_.shape, type_.dtype.numpy))
        steps.append(values)
    return steps


def check_against_onnxruntime(
    path: Path, states: dict[str, str], network: Network, folder: Path
) -> None:
    inputs = random_steps(network, STEPS + 2)
    found, kept = run_steps(network, inputs, folder)
    first = {s.name: s.first(network.graph) for s in network.plan.exposure.states}
    reference = Reference(path.read_bytes(), states, first)
    for step in range(STEPS):
        assert_alike(found[step], reference.step(inputs[step]))
    assert_alike(kept, list(reference.values.values()))
    assert_alike(found[STEPS + 1], reference.step(inputs[STEPS + 1]))
    fresh = Reference(path.read_bytes(), states, first)
    assert_alike(found[STEPS], fresh.step(inputs[STEPS]))


def assert_alike(found: list[Array], wanted: list[Array]) -> None:
    for one, two in zip(found, wanted, strict=True):
        assert one.dtype == two.dtype and one.shape == two.shape
        if one.dtype.kind == "f":
            assert relative_error(one, two) <= 1e-5
        else:
            assert np.array_equal(one, two)


def write(model: onnx.ModelProto, folder: Path) -> Path:
    path = folder / "stream.onnx"
    path.write_bytes(model.SerializeToString())
    return path


@pytest.mark.needs_host_gcc
def test_an_accumulator(tmp_path: Path) -> None:
    path = write(accumulator(), tmp_path)
    network = compiled(path, {"state": "next"})
    check_against_onnxruntime(path, {"state": "next"}, network, tmp_path)
    state = network.plan.exposure.states[0]
    assert network.plan.place(state.input) == network.plan.place(state.output)  # no copy


@pytest.mark.needs_host_gcc
def test_a_streaming_convolution_with_a_ring_buffer(tmp_path: Path) -> None:
    path = write(streaming_convolution(), tmp_path)
    network = compiled(path, {"ring": "next"})
    check_against_onnxruntime(path, {"ring": "next"}, network, tmp_path)


@pytest.mark.needs_host_gcc
def test_a_streaming_convolution_of_integers(tmp_path: Path) -> None:
    path = write(quantized_streaming_convolution(), tmp_path)
    network = compiled(path, {"ring": "next"})
    assert network.graph.type(network.outputs[0]).is_quantized
    assert network.plan.exposure.states[0].initial is not None  # zero is -3
    check_against_onnxruntime(path, {"ring": "next"}, network, tmp_path)


@pytest.mark.needs_host_gcc
def test_a_window_of_rows_lies_around_its_state(tmp_path: Path) -> None:
    """Its new row is written behind the state, and what is next moves over it: nothing else is
    copied."""
    path = write(streaming_rows(), tmp_path)
    states = {f"ring{k}": f"next{k}" for k in range(2)}
    network = compiled(path, states, optimize_for="speed")
    assert [step.choice.layer.op for step in network.plan.steps] == ["Conv", "Conv"]
    moves = [item for item in network.plan.program if isinstance(item, Copy)]
    assert len(moves) == 2 and all(map(network.plan.is_within, moves))
    check_against_onnxruntime(path, states, network, tmp_path)


@pytest.mark.needs_host_gcc
def test_states_that_are_each_other_s_next_values_and_outputs(tmp_path: Path) -> None:
    """At the end of a run all of them change at once."""
    path = write(shift_register(), tmp_path)
    states = {"first": "first_next", "second": "second_next"}
    check_against_onnxruntime(path, states, compiled(path, states), tmp_path)


@pytest.mark.needs_host_gcc
def test_an_output_that_is_a_state_s_bits_is_read_before_the_next_value(tmp_path: Path) -> None:
    """A BitCast is a view: without a copy the state's next value would lie in its place."""
    nodes = [
        helper.make_node("BitCast", ["state"], ["seen"], to=onnx.TensorProto.FLOAT),
        helper.make_node("Add", ["state", "x"], ["next"]),
    ]
    kind = ("int32", (1, 5))
    outputs = {"seen": ("float32", (1, 5)), "next": kind}
    path = write(make_model(nodes, {"x": kind, "state": kind}, outputs, opset=26), tmp_path)
    network = compiled(path, {"state": "next"})
    inputs = random_steps(network, STEPS + 2)
    found, _ = run_steps(network, inputs, tmp_path)
    total = np.zeros((1, 5), np.int32)
    for step in range(STEPS):
        assert np.array_equal(found[step][0].view(np.int32), total)
        total += inputs[step][0]


def test_a_partition_behind_a_state_s_next_value_leaves_the_state_alone(tmp_path: Path) -> None:
    path = write(accumulator(), tmp_path)
    requests = Requests(
        states=(StateRequest("state", "next"),),
        partitions=(
            PartitionRequest("front", ("x",), ("next",)),
            PartitionRequest("back", ("x", "next"), ("y",)),
        ),
    )
    options = Options(requests=requests)
    plan = compile_model(path, load_board("host"), name="stream", options=options).plan
    front, back = plan.parts
    copies = [p for p, item in enumerate(plan.program) if isinstance(item, Copy)]
    assert set(copies) <= front.items
    assert not set(copies) & back.items


@pytest.mark.needs_host_gcc
def test_a_state_of_a_real_model(models_dir: Path, tmp_path: Path) -> None:
    """The hidden state of a GRU."""
    path = models_dir / "torch_gru_step" / "model.onnx"
    model = onnx.load(path)
    outputs = [o.name for o in model.graph.output]
    shapes = {
        v.name: [d.dim_value for d in v.type.tensor_type.shape.dim]
        for v in (*model.graph.input, *model.graph.output)
    }
    (after,) = [name for name in outputs if shapes[name] == shapes["h"]][-1:]
    network = compiled(path, {"h": after})
    check_against_onnxruntime(path, {"h": after}, network, tmp_path)


@pytest.mark.needs_host_gcc
def test_the_layers_of_a_network_with_a_state_are_compared_from_its_state(
    models_dir: Path, tmp_path: Path
) -> None:
    """From the second sample on the state is no longer the initial one."""
    path = models_dir / "torch_gru_step" / "model.onnx"
    requests = Requests(states=(StateRequest("h", "add_3"),))
    built = build(path, "host", tmp_path / "b", name="gru", options=Options(requests=requests))
    result = validate(built, layers=True)
    assert result.layers is not None and result.layers.differences == ()
    assert (result.problems, result.samples) == ((), 4)


@pytest.mark.needs_arm_gcc
@pytest.mark.needs_qemu
def test_a_state_over_the_serial_line(tmp_path: Path) -> None:
    path = write(accumulator(), tmp_path)
    requests = Requests(states=(StateRequest("state", "next"),))
    build(path, "mps2-an386", tmp_path / "b", name="stream", options=Options(requests=requests))
    folder = open_folder(tmp_path / "b")
    x = np.array([[1, 2, 3, 4, 5]], np.int32)
    with (
        open_emulator(folder.board, folder.firmware) as emulator,
        connect(emulator.url, expect=folder.expected(), latency=3.0) as device,
    ):
        for turn in range(1, 4):
            (y,) = device.infer("stream", [x])
            assert np.array_equal(y, (turn + 1) * x)
            assert np.array_equal(device.state("stream", "state"), turn * x)
        device.set_state("stream", "state", 10 * x)
        assert np.array_equal(device.infer("stream", [x])[0], 12 * x)
        device.reset_states("stream")
        assert not device.state("stream", "state").any()
        assert np.array_equal(device.infer("stream", [x])[0], 2 * x)

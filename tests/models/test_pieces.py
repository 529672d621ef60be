"""Networks of Concat, Slice and Split at random, with branches: nothing is copied that lies in
place, and what comes out is the oracle's, on the host and on an emulated Cortex-M4.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import network_programs as programs
import numpy as np
import onnx
import pytest
from memory_cases import move_all_the_time
from network_programs import Array, c_array, expected
from onnx import helper
from operators.lab import make_model
from sampling import examples
from state_programs import streaming_rows

from mcu_deploy.boards import load_board
from mcu_deploy.compiled import Network
from mcu_deploy.compiler import compile_model
from mcu_deploy.options import Options, Requests, StateRequest
from mcu_deploy.report.explain import explain

# Runs all models in turn, each several times; 0: all is as the oracle says.
MAIN = """\
#include <string.h>
#include "mcu/runtime.h"
@INCLUDES@
static const mcu_model_t *const models[] = {@MODELS@};
%s
static const int8_t given[] = {%s};
static const int8_t wanted[] = {%s};
MCU_ALIGNED(16) static uint8_t workspace[%d];
static mcu_instance_t instance;
int main(void) {
    const int8_t *in = given, *out = wanted;
    for (size_t m = 0; m < sizeof models / sizeof models[0]; ++m) {
        const mcu_model_t *const model = models[m];
        DLTensor inputs[MCU_MAX_TENSORS], outputs[MCU_MAX_TENSORS];
        memset(workspace, 0xA5, sizeof workspace);
        if (mcu_instance_init(&instance, model, workspace, sizeof workspace) != MCU_OK) {
            return 1;
        }
        for (int run = 0; run < RUNS; ++run) {
            for (uint32_t i = 0; i < model->num_input_tensors; ++i) {
                (void)mcu_instance_input(&instance, i, &inputs[i]);
                memcpy(inputs[i].data, in, mcu_tensor_bytes(&inputs[i]));
                in += mcu_tensor_bytes(&inputs[i]);
            }
            for (uint32_t i = 0; i < model->num_output_tensors; ++i) {
                (void)mcu_instance_output(&instance, i, &outputs[i]);
            }
            if (mcu_instance_run(&instance, inputs, model->num_input_tensors, outputs,
                                 model->num_output_tensors) != MCU_OK) {
                return 2;
            }
            for (uint32_t i = 0; i < model->num_output_tensors; ++i) {
                if (memcmp(outputs[i].data, out, mcu_tensor_bytes(&outputs[i])) != 0) {
                    return 3 + (int)m;
                }
                out += mcu_tensor_bytes(&outputs[i]);
            }
        }
    }
    return 0;
}
"""
RUNS = 3


def random_model(seed: int) -> onnx.ModelProto:
    """int32 tensors of rows of four, which are 16 bytes each."""
    pick = random.Random(seed)
    shapes = {"x": (pick.randint(1, 4), 4)}
    nodes: list[onnx.NodeProto] = []
    constants: dict[str, Array] = {"zero": np.array([0], np.int64)}

    def node(op: str, inputs: Sequence[str], *rows: int, width: int = 4, **more: object) -> None:
        names = [f"{op.lower()}{len(nodes)}_{k}" for k in range(len(rows))]
        nodes.append(helper.make_node(op, inputs, names, **more))
        shapes.update({name: (count, width) for name, count in zip(names, rows, strict=True)})

    def row(at: int) -> str:
        constants[f"row{at}"] = np.array([at], np.int64)
        return f"row{at}"

    while len(nodes) < 12:
        op = pick.choice(["Concat", "Concat", "Slice", "Split", "Neg", "Abs", "Add", "Add"])
        x = pick.choice([*shapes][-5:])
        rows, width = shapes[x]
        alike = [name for name, shape in shapes.items() if shape == (rows, width)]
        if op == "Concat" and pick.random() < 0.2 and width < 8:
            node(op, [x, pick.choice(alike)], rows, width=2 * width, axis=1)
        elif op == "Concat" and rows < 8:
            parts = [x, *pick.choices([n for n, s in shapes.items() if s[1] == width], k=2)]
            parts = pick.sample(parts, 3)
            node(op, parts, sum(shapes[p][0] for p in parts), width=width, axis=0)
        elif op == "Slice" and rows > 1:
            begin = pick.randrange(rows)
            end = pick.randint(begin + 1, rows)
            node(op, [x, row(begin), row(end), "zero"], end - begin, width=width)
        elif op == "Split" and rows > 1:
            at = pick.randrange(1, rows)
            constants[f"at{len(nodes)}"] = np.array([at, rows - at], np.int64)
            node(op, [x, f"at{len(nodes)}"], at, rows - at, width=width, axis=0)
        elif op in ("Neg", "Abs"):
            node(op, [x], rows, width=width)
        elif op == "Add":
            node(op, [x, pick.choice(alike)], rows, width=width)
    names = [*shapes][1:]
    shown = dict.fromkeys([names[-1], *pick.sample(names, 2)])
    results = {name: ("int32", shapes[name]) for name in shown}
    return make_model(nodes, {"x": ("int32", shapes["x"])}, results, constants)


def networks(board: str, count: int, folder: Path, memory: str = "offline") -> list[Network]:
    found = []
    for seed in range(count):
        path = folder / f"net{seed}.onnx"
        path.write_bytes(random_model(seed).SerializeToString())
        options = Options(optimize_for=("ram", "speed")[seed % 2], memory=memory)
        found.append(compile_model(path, load_board(board), name=f"net{seed}", options=options))
    choices = [choice for network in found for choice in network.selection.choices]
    for op in ("Concat", "Slice", "Split"):
        assert any(choice.workload.is_view for choice in choices if choice.layer.op == op)
    return found


def test_a_build_explains_and_reports_them_as_views(tmp_path: Path) -> None:
    for network in networks("host", 6, tmp_path):
        called = {step.choice.layer.node.id: step.index for step in network.plan.steps}
        for row, node in zip(explain(network), network.graph.nodes, strict=True):
            assert row.step == called.get(node.id)
            assert row.cost is None or row.step is not None
        views = {c.layer.short for c in network.selection.choices if c.workload.is_view}
        assert views == {row.short for row in explain(network) if row.step is None}


def values(network: Network, runs: int) -> list[list[Array]]:
    generator = np.random.default_rng(9)
    types = [network.graph.type(edge) for edge in network.inputs]
    return [
        [generator.integers(-99, 99, t.shape, t.dtype.numpy) for t in types] for _ in range(runs)
    ]


def answers(network: Network, given: Sequence[Sequence[Array]]) -> list[list[Array]]:
    """Of the oracle, run by run, which carries the states."""
    exposure, graph = network.plan.exposure, network.graph
    states = {state.input: state.first(graph) for state in exposure.states}
    found = []
    for inputs in given:
        known = {**states, **dict(zip(network.inputs, inputs, strict=True))}
        results = dict(
            zip(graph.outputs, expected(network, [known[e] for e in graph.inputs]), strict=True)
        )
        states = {state.input: results[state.output] for state in exposure.states}
        found.append([results[edge] for edge in network.outputs])
    return found


@pytest.mark.needs_host_gcc
@pytest.mark.parametrize("memory", ["offline", "compact"])
def test_on_the_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, memory: str) -> None:
    if memory == "compact":
        move_all_the_time(monkeypatch)
    made = networks("host", examples(60, 8), tmp_path, memory)
    assert any(network.plan.moves for network in made) is (memory == "compact")
    program = programs.host_program(made, tmp_path, flags=programs.SANITIZERS)
    given = [values(network, 1) for network in made]
    raw = b"".join(value.tobytes() for runs in given for value in runs[0])
    found = programs.split(programs.run([program], given=raw), made)
    for network, runs, actual in zip(made, given, found, strict=True):
        programs.assert_equal(actual, answers(network, runs)[0])


@pytest.mark.needs_arm_gcc
@pytest.mark.needs_qemu
def test_on_a_cortex_m4(tmp_path: Path) -> None:
    """A network with states, too: windows of rows that lie around them."""
    board = "mps2-an386"
    made = networks(board, examples(12, 4), tmp_path)
    path = tmp_path / "rows.onnx"
    path.write_bytes(streaming_rows().SerializeToString())
    states = Requests(states=tuple(StateRequest(f"ring{k}", f"next{k}") for k in range(2)))
    options = Options(requests=states, optimize_for="speed")
    made.append(compile_model(path, load_board(board), name="rows", options=options))
    given = [values(network, RUNS) for network in made]
    wanted = [answers(network, runs) for network, runs in zip(made, given, strict=True)]
    arrays = (
        ", ".join(c_array(value) for runs in of for values in runs for value in values)
        for of in (given, wanted)
    )
    main = MAIN % (f"enum {{ RUNS = {RUNS} }};", *arrays, max(n.plan.bytes for n in made))
    names = programs.write(made, tmp_path)
    elf = programs.link_for_cortex_m4(names, tmp_path, programs.main_for(main, names))
    code, text = programs.run_on_cortex_m4(elf)
    assert code == 0, f"{code}: {text}"

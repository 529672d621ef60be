"""Streaming networks, a program that feeds them step by step, and onnxruntime fed alike."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
from network_programs import Array, host_program, run
from onnx import helper
from operators.lab import make_model
from sanitizers import SANITIZED

from mcu_deploy.compiled import Network

STEPS = 1000

# Runs model 0 STEPS times, with inputs from standard input and outputs to standard output; then
# the states, as mcu_instance_get_state says; then a step from a reset, and one from the states
# that were set again.
RUN_STEPS = """
#define _POSIX_C_SOURCE 200112L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "mcu/runtime.h"
@INCLUDES@
static const mcu_model_t *const models[] = {@MODELS@};
static DLTensor inputs[MCU_MAX_TENSORS], outputs[MCU_MAX_TENSORS];
static void demand(int32_t status) {
    if (status != MCU_OK) {
        fprintf(stderr, "%s\\n", mcu_error_string(status));
        exit(5);
    }
}
static void step(mcu_instance_t *instance) {
    const mcu_model_t *model = instance->model;
    for (uint32_t i = 0; i < model->num_input_tensors; i++) {
        demand(mcu_instance_input(instance, i, &inputs[i]));
        if (fread(inputs[i].data, 1, model->inputs[i].place.bytes, stdin) !=
            model->inputs[i].place.bytes) {
            exit(3);
        }
    }
    for (uint32_t i = 0; i < model->num_output_tensors; i++) {
        demand(mcu_instance_output(instance, i, &outputs[i]));
    }
    demand(mcu_instance_run(instance, inputs, model->num_input_tensors, outputs,
                            model->num_output_tensors));
    for (uint32_t i = 0; i < model->num_output_tensors; i++) {
        fwrite(outputs[i].data, 1, model->outputs[i].place.bytes, stdout);
    }
}
int main(void) {
    const mcu_model_t *model = models[0];
    mcu_instance_t instance;
    void *workspace = NULL;
    uint8_t *saved[4] = {NULL, NULL, NULL, NULL};
    if (posix_memalign(&workspace, model->workspace_alignment, model->workspace_size) != 0) {
        return 2;
    }
    memset(workspace, 0xA5, model->workspace_size);
    demand(mcu_instance_init(&instance, model, workspace, model->workspace_size));
    for (int i = 0; i < @STEPS@; i++) {
        step(&instance);
    }
    for (uint32_t i = 0; i < model->num_states; i++) {
        const uint32_t bytes = model->states[i].tensor.place.bytes;
        saved[i] = malloc(bytes);
        demand(mcu_instance_get_state(&instance, i, saved[i], bytes));
        fwrite(saved[i], 1, bytes, stdout);
    }
    demand(mcu_instance_reset(&instance));
    step(&instance);
    for (uint32_t i = 0; i < model->num_states; i++) {
        demand(mcu_instance_set_state(&instance, i, saved[i], model->states[i].tensor.place.bytes));
        free(saved[i]);
    }
    step(&instance);
    free(workspace);
    return 0;
}
"""


def accumulator() -> onnx.ModelProto:
    """next = state + x; y = next + x; all int32."""
    nodes = [
        helper.make_node("Add", ["state", "x"], ["next"]),
        helper.make_node("Add", ["next", "x"], ["y"]),
    ]
    shape = ("int32", (1, 5))
    return make_model(nodes, {"x": shape, "state": shape}, {"y": shape, "next": shape})


def streaming_convolution() -> onnx.ModelProto:
    """A convolution over the last three columns: two wait in a ring buffer."""
    weights = np.random.default_rng(3).normal(size=(3, 4, 1, 3)).astype(np.float32)
    nodes = [
        helper.make_node("Concat", ["ring", "x"], ["columns"], axis=3),
        helper.make_node("Conv", ["columns", "w"], ["y"]),
        helper.make_node("Slice", ["columns", "one", "end", "axis"], ["next"]),
    ]
    constants = {
        "w": weights,
        "one": np.array([1]),
        "end": np.array([3]),
        "axis": np.array([3]),
    }
    return make_model(
        nodes,
        {"x": ("float32", (1, 4, 1, 1)), "ring": ("float32", (1, 4, 1, 2))},
        {"y": ("float32", (1, 3, 1, 1)), "next": ("float32", (1, 4, 1, 2))},
        constants,
    )


def streaming_rows(layers: int = 2, channels: int = 32) -> onnx.ModelProto:
    """Convolutions of int8 over the last five rows, channels last, each behind the other.

    The rows of a window lie one behind the other, so that none needs a copy. Scales are powers of
    two, with which onnxruntime's sums are exact.
    """
    generator = np.random.default_rng(4)
    constants: dict[str, Array] = {
        "s": np.float32(0.0625), "z": np.int8(-3), "ws": np.float32(0.0078125), "wz": np.int8(0),
        "one": np.array([1], np.int64), "end": np.array([5], np.int64),
    }  # fmt: skip
    nodes: list[onnx.NodeProto] = []

    def node(op: str, inputs: Sequence[str], output: str, **attributes: object) -> str:
        nodes.append(helper.make_node(op, inputs, [output], **attributes))
        return output

    def real(name: str, scale: str = "s", zero: str = "z") -> str:
        return node("DequantizeLinear", [name, scale, zero], f"{name}_real")

    def integer(name: str, output: str) -> str:
        return node("QuantizeLinear", [name, "s", "z"], output)

    kinds = {"x": ("int8", (1, 1, 1, channels))}
    results: dict[str, tuple[str, Sequence[int]]] = {}
    x = "x"
    for k in range(layers):
        weights = generator.integers(-90, 91, (channels, channels, 5, 1))
        constants[f"w{k}"] = weights.astype(np.int8)
        kinds[f"ring{k}"] = results[f"next{k}"] = ("int8", (1, 4, 1, channels))
        rows = node("Concat", [real(f"ring{k}"), real(x)], f"rows{k}_sum", axis=1)
        rows = real(integer(rows, f"rows{k}"))
        first = node("Transpose", [rows], f"first{k}", perm=[0, 3, 1, 2])
        made = integer(node("Conv", [first, real(f"w{k}", "ws", "wz")], f"conv{k}_sum"), f"conv{k}")
        last = node("Transpose", [real(made)], f"last{k}", perm=[0, 2, 3, 1])
        integer(node("Slice", [rows, "one", "end", "one"], f"next{k}_sum"), f"next{k}")
        x = integer(last, f"y{k}")
    return make_model(nodes, kinds, {x: kinds["x"], **results}, constants)


class Reference:
    """onnxruntime, with the output of each step given back as the next step's state."""

    def __init__(
        self, model: bytes, states: dict[str, str], first: dict[str, Array] | None = None
    ) -> None:
        """first: the states' values before the first step, zeros by default."""
        options = ort.SessionOptions()
        options.log_severity_level = 4
        options.intra_op_num_threads = 1
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        self._session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        self._states = states
        self._outputs = [o.name for o in self._session.get_outputs()]
        kinds = {"tensor(float)": np.float32, "tensor(int32)": np.int32, "tensor(int8)": np.int8}
        self.values = {
            i.name: np.zeros(i.shape, kinds[i.type])
            for i in self._session.get_inputs()
            if i.name in states
        } | (first or {})
        self.input_names = [i.name for i in self._session.get_inputs() if i.name not in states]

    def step(self, inputs: Sequence[Array]) -> list[Array]:
        """The outputs that are no states."""
        given = {**self.values, **dict(zip(self.input_names, inputs, strict=True))}
        found = dict(zip(self._outputs, self._session.run(None, given), strict=True))
        self.values = {name: found[output] for name, output in self._states.items()}
        return [found[n] for n in self._outputs if n not in self._states.values()]


def run_steps(
    network: Network, inputs: Sequence[Sequence[Array]], folder: Path
) -> tuple[list[list[Array]], list[Array]]:
    """The outputs of all steps and of the two at the end; the states after the steps."""
    assert len(inputs) == STEPS + 2
    text = RUN_STEPS.replace("@STEPS@", str(STEPS))
    program = host_program([network], folder, text, ("-O0", *SANITIZED))
    raw = run([program], given=b"".join(v.tobytes() for values in inputs for v in values))
    at = 0

    def take(edges: Sequence[int]) -> list[Array]:
        nonlocal at
        found = []
        for edge in edges:
            type_ = network.graph.type(edge)
            flat = np.frombuffer(raw[at : at + type_.bytes], type_.dtype.numpy)
            found.append(type_.from_memory(flat))
            at += type_.bytes
        return found

    steps = [take(network.outputs) for _ in range(STEPS)]
    states = take([state.input for state in network.plan.exposure.states])
    steps += [take(network.outputs) for _ in range(2)]
    assert at == len(raw)
    return steps, states


def shift_register() -> onnx.ModelProto:
    """x -> first -> second: each state becomes the next one, and the last is an output."""
    nodes = [
        helper.make_node("Identity", ["x"], ["first_next"]),
        helper.make_node("Reshape", ["first", "shape"], ["second_next"]),
        helper.make_node("Identity", ["second"], ["y"]),
        helper.make_node("Add", ["first", "second"], ["sum"]),
    ]
    kind = ("int32", (1, 5))
    return make_model(
        nodes,
        {"x": kind, "first": kind, "second": kind},
        {"y": kind, "sum": kind, "first_next": kind, "second_next": kind},
        {"shape": np.array([1, 5], np.int64)},
    )


def quantized_streaming_convolution() -> onnx.ModelProto:
    """A convolution of int8 over the last columns: a ring buffer with a zero point of -3."""
    constants: dict[str, Array] = {
        "s": np.float32(0.05), "z": np.int8(-3), "ws": np.float32(0.0173), "wz": np.int8(0),
        "w": (np.arange(4 * 2 * 3).reshape(4, 2, 1, 3) * 37 % 91 - 45).astype(np.int8),
        "one": np.array([1], np.int64), "end": np.array([9], np.int64),
        "axis": np.array([3], np.int64),
    }  # fmt: skip

    def real(name: str, scale: str = "s", zero: str = "z") -> onnx.NodeProto:
        return helper.make_node("DequantizeLinear", [name, scale, zero], [f"{name}_real"])

    def integer(name: str) -> onnx.NodeProto:
        return helper.make_node("QuantizeLinear", [f"{name}_sum", "s", "z"], [name])

    nodes = [
        real("ring"), real("x"), real("w", "ws", "wz"),
        helper.make_node("Concat", ["ring_real", "x_real"], ["columns_sum"], axis=3),
        integer("columns"), real("columns"),
        helper.make_node("Conv", ["columns_real", "w_real"], ["y_sum"]), integer("y"),
        helper.make_node("Slice", ["columns_real", "one", "end", "axis"], ["next_sum"]),
        integer("next"),
    ]  # fmt: skip
    return make_model(
        nodes,
        {"x": ("int8", (1, 2, 1, 1)), "ring": ("int8", (1, 2, 1, 2))},
        {"y": ("int8", (1, 4, 1, 1)), "next": ("int8", (1, 2, 1, 2))},
        constants,
    )

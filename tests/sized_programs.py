"""Programs that run networks at several sizes, and the models that they run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
from network_programs import (
    SANITIZERS,
    Array,
    c_array,
    host_program,
    link_for_cortex_m4,
    main_for,
    run,
    run_on_cortex_m4,
    write,
)
from onnx import TensorProto, helper, numpy_helper

from mcu_deploy.compiled import Network

# At each size: the inputs of `given` to the outputs, which are printed in hexadecimal, a line each;
# in place, and in buffers of exactly their bytes. Before that, what a run must refuse, untouched.
RUN_SIZES = """
#include <stdlib.h>
#include <string.h>
#include "check.h"
#include "mcu/runtime.h"
@INCLUDES@
static const mcu_model_t *const models[] = {@MODELS@};
static const int32_t sizes[] = {@SIZES@};
static const int8_t MCU_ALIGNED(8) given[] = {@GIVEN@};
static MCU_ALIGNED(16) uint8_t workspace[@WORKSPACE@];
static mcu_tensor_info_t infos[MCU_MAX_TENSORS];
static int64_t extents[64];
static DLTensor tensors[MCU_MAX_TENSORS];

#ifdef __arm__ /* where there is no heap */
static MCU_ALIGNED(16) uint8_t buffers[1 << 16];
static uint32_t taken;
static void *take(uint32_t bytes) {
    void *const data = buffers + taken;
    taken += (bytes + 15U) & ~15U;
    return data;
}
static void give(void *data) {
    (void)data;
    taken = 0;
}
#else
#define take(bytes) malloc(bytes)
#define give(data)  free(data)
#endif

static int32_t run(mcu_instance_t *instance) {
    const mcu_model_t *model = instance->model;
    return mcu_instance_run(instance, tensors, model->num_input_tensors,
                            tensors + model->num_input_tensors, model->num_output_tensors);
}

static void show(const uint8_t *bytes, uint32_t count) {
    static char line[1 << 16];
    for (uint32_t i = 0; i < count; i++) {
        line[2 * i] = "0123456789abcdef"[bytes[i] >> 4];
        line[2 * i + 1] = "0123456789abcdef"[bytes[i] & 15];
    }
    line[2 * count] = 10;
    line[2 * count + 1] = 0;
    test_print(line);
}

int main(void) {
    const mcu_model_t *model = models[0];
    const uint32_t count = model->num_input_tensors + model->num_output_tensors;
    const int8_t *at = given;
    mcu_instance_t instance;
    if (mcu_instance_init(&instance, model, workspace, sizeof workspace) != MCU_OK) {
        return 2;
    }
    /* Above the bound, and below the least size, there are no shapes, and no run. */
    const int64_t wrong[] = {-1, 0, model->size->least - 1, model->size->most + 1, 1LL << 33};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        if (mcu_model_resize(model, wrong[i], infos, extents) != MCU_ERROR_SHAPE) {
            return 3;
        }
        for (uint32_t t = 0; t < count; t++) {
            if (t < model->num_input_tensors) {
                mcu_instance_input(&instance, t, &tensors[t]);
            } else {
                mcu_instance_output(&instance, t - model->num_input_tensors, &tensors[t]);
            }
        }
        int64_t shape[8];
        memcpy(shape, tensors[model->size->tensor].shape,
               sizeof(int64_t) * (size_t)tensors[model->size->tensor].ndim);
        shape[model->size->axis] = wrong[i];
        tensors[model->size->tensor].shape = shape;
        if (run(&instance) != MCU_ERROR_SHAPE) {
            return 4;
        }
    }
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        if (mcu_model_resize(model, sizes[i], infos, extents) != MCU_OK) {
            return 5;
        }
        const int8_t *const begin = at;
        for (int in_place = 0; in_place < 2; in_place++) {
            at = begin;
            for (uint32_t t = 0; t < count; t++) {
                const uint32_t bytes = infos[t].place.bytes;
                void *data = workspace + infos[t].place.offset;
                if (!in_place) {
                    data = take(bytes);
                }
                tensors[t] = mcu_tensor(data, infos[t].dtype, infos[t].shape, infos[t].ndim);
                if (t < model->num_input_tensors) {
                    memcpy(data, at, bytes);
                    at += bytes;
                }
            }
            if (run(&instance) != MCU_OK) {
                return 6;
            }
            for (uint32_t t = 0; t < count; t++) {
                if (t >= model->num_input_tensors) {
                    show(tensors[t].data, infos[t].place.bytes);
                }
                if (!in_place) {
                    give(tensors[t].data);
                }
            }
        }
        /* An output of another size's shape is refused. */
        const uint32_t last = model->size->extents[model->size->num_extents - 1].tensor;
        if (last >= model->num_input_tensors) {
            int64_t shape[8];
            memcpy(shape, infos[last].shape, sizeof(int64_t) * (size_t)infos[last].ndim);
            shape[model->size->extents[model->size->num_extents - 1].axis]++;
            tensors[last].shape = shape;
            if (run(&instance) != MCU_ERROR_SHAPE) {
                return 7;
            }
        }
    }
    return 0;
}
"""
PRINT = "#include <stdio.h>\nvoid test_print(const char *text) { fputs(text, stdout); }\n"


def run_sizes(
    network: Network, folder: Path, samples: Sequence[tuple[int, Sequence[Array]]], device: bool
) -> list[list[Array]]:
    """The outputs at each size, as flat arrays of bytes: on an emulated Cortex-M4, or here under
    sanitizers."""
    given = [array for _, inputs in samples for array in inputs]
    text = (
        RUN_SIZES.replace("@SIZES@", ", ".join(str(size) for size, _ in samples))
        .replace("@GIVEN@", ", ".join(map(c_array, given)))
        .replace("@WORKSPACE@", str(network.plan.bytes))
    )
    checks = f"-I{Path(__file__).parent / 'crt'}"
    if device:
        main = main_for(text, [network.name])
        elf = link_for_cortex_m4(write([network], folder), folder, main, [checks])
        code, printed = run_on_cortex_m4(elf)
        assert code == 0, printed[-200:]
    else:
        program = host_program([network], folder, text + PRINT, (*SANITIZERS, checks))
        printed = run([program]).decode()
    lines = [np.frombuffer(bytes.fromhex(line), np.uint8) for line in printed.split()]
    count = len(network.outputs)
    assert len(lines) == 2 * count * len(samples)
    for at in range(0, len(lines), 2 * count):
        for first, second in zip(
            lines[at : at + count], lines[at + count : at + 2 * count], strict=True
        ):
            np.testing.assert_array_equal(first, second)
    return [lines[at : at + count] for at in range(0, len(lines), 2 * count)]


def onnxruntime(path: Path, inputs: Sequence[Array]) -> list[Array]:
    """The model's outputs."""
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(str(path), options)
    names = [i.name for i in session.get_inputs()]
    return [np.asarray(y) for y in session.run(None, dict(zip(names, inputs, strict=True)))]


# ---- Models ----


class _Model:
    """Nodes and weights of a model, as they are added."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self.random = np.random.default_rng(7)

    def weight(self, name: str, *shape: int) -> str:
        values = self.random.normal(0, 0.3, shape).astype(np.float32)
        self.weights.append(numpy_helper.from_array(values, name))
        return name

    def integers(self, name: str, *values: int) -> str:
        self.weights.append(numpy_helper.from_array(np.array(values, np.int64), name))
        return name

    def add(self, op: str, inputs: str, outputs: str, **attributes: Any) -> None:
        self.nodes.append(
            helper.make_node(op, inputs.split(), outputs.split(), name=outputs, **attributes)
        )

    def dense(self, source: str, target: str, inputs: int, outputs: int) -> None:
        weights = self.weight(f"{target}_w", inputs, outputs)
        self.add("MatMul", f"{source} {weights}", f"{target}_m")
        self.add("Add", f"{target}_m {self.weight(f'{target}_b', outputs)}", target)

    def save(
        self, folder: Path, shape: Sequence[int | str], outputs: Sequence[str],
        kind: int = TensorProto.FLOAT,
    ) -> Path:  # fmt: skip
        made = helper.make_graph(
            self.nodes, self.name,
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
            [helper.make_tensor_value_info(name, kind, None) for name in outputs],
            self.weights,
        )  # fmt: skip
        opsets = [helper.make_opsetid("", 17)]
        path = folder / f"{self.name}.onnx"
        onnx.save(helper.make_model(made, opset_imports=opsets, ir_version=8), path)
        return path


def convolution(folder: Path) -> Path:
    """Conv1D with a stride and padding, its mean, and a classifier; x [1, 4, N]."""
    m = _Model("convolution")
    m.add("Conv", f"x {m.weight('w1', 8, 4, 3)} {m.weight('b1', 8)}", "a", pads=[1, 1], strides=[2])
    m.add("Relu", "a", "r")
    m.add("Conv", f"r {m.weight('w2', 6, 8, 5)}", "c", pads=[2, 2])
    m.add("GlobalAveragePool", "c", "p")
    m.add("Flatten", "p", "f")
    m.add("Gemm", f"f {m.weight('w3', 3, 6)} {m.weight('b3', 3)}", "y", transB=1)
    return m.save(folder, [1, 4, "N"], ["y", "c"])


def quantized(folder: Path) -> Path:
    """Conv1D and a maximum of int8 tensors, in QDQ form; x [1, 4, N]."""
    m = _Model("quantized")
    weights = m.random.integers(-127, 128, (8, 4, 3)).astype(np.int8)
    constants = {
        "w8": weights, "sx": np.array(0.03, np.float32), "sw": np.array(0.01, np.float32),
        "sy": np.array(0.05, np.float32), "zx": np.array(3, np.int8), "zw": np.array(0, np.int8),
        "zy": np.array(-100, np.int8),
    }  # fmt: skip
    m.weights += [numpy_helper.from_array(value, name) for name, value in constants.items()]
    m.add("QuantizeLinear", "x sx zx", "xq")
    m.add("DequantizeLinear", "xq sx zx", "xd")
    m.add("DequantizeLinear", "w8 sw zw", "w")
    m.add("Conv", "xd w", "c", pads=[1, 1], strides=[2])
    m.add("Relu", "c", "r")
    m.add("QuantizeLinear", "r sy zy", "rq")
    m.add("DequantizeLinear", "rq sy zy", "rd")
    m.add("MaxPool", "rd", "p", kernel_shape=[3], strides=[1], pads=[1, 1])
    m.add("QuantizeLinear", "p sy zy", "y")
    return m.save(folder, [1, 4, "N"], ["y"], TensorProto.INT8)


def lstm(folder: Path) -> Path:
    """A bidirectional LSTM over N steps, and what it says of each; x [N, 1, 5]."""
    m = _Model("lstm")
    m.add("LSTM", f"x {m.weight('w', 2, 24, 5)} {m.weight('r', 2, 24, 6)} {m.weight('b', 2, 48)}",
          "o h", hidden_size=6, direction="bidirectional")  # fmt: skip
    m.integers("shape", 0, 12)
    m.add("Transpose", "o", "t", perm=[0, 2, 1, 3])
    m.add("Reshape", "t shape", "s")
    m.dense("s", "y", 12, 4)
    return m.save(folder, ["N", 1, 5], ["y", "h"])


def transformer(folder: Path) -> Path:
    """Self-attention of two heads over N tokens, with positions and the shape arithmetic that
    exporters write; x [1, N, 16]."""
    m = _Model("transformer")
    for name, values in {"zero": [0], "one": [1], "two": [2], "heads": [2], "eight": [8]}.items():
        m.integers(name, *values)
    m.integers("width", 16)
    m.weights.append(numpy_helper.from_array(np.array(0.35, np.float32), "scale"))
    m.weight("positions", 1, 64, 16)
    m.add("Shape", "x", "xs")
    m.add("Slice", "xs one two zero", "n")
    m.add("Slice", "positions zero n one", "here")
    m.add("Add", "x here", "x0")
    m.add("Concat", "one n heads eight", "split", axis=0)
    m.add("Concat", "one n width", "whole", axis=0)
    for part, order in {"q": [0, 2, 1, 3], "k": [0, 2, 3, 1], "v": [0, 2, 1, 3]}.items():
        m.dense("x0", part, 16, 16)
        m.add("Reshape", f"{part} split", f"{part}s")
        m.add("Transpose", f"{part}s", f"{part}t", perm=order)
    m.add("MatMul", "qt kt", "scores")
    m.add("Mul", "scores scale", "scaled")
    m.add("Softmax", "scaled", "weights", axis=-1)
    m.add("MatMul", "weights vt", "heads_out")
    m.add("Transpose", "heads_out", "joined", perm=[0, 2, 1, 3])
    m.add("Reshape", "joined whole", "context")
    m.dense("context", "o", 16, 16)
    m.add("Add", "x0 o", "r1")
    m.add("LayerNormalization", f"r1 {m.weight('g', 16)} {m.weight('c', 16)}", "n1", axis=-1)
    m.dense("n1", "f1", 16, 32)
    m.add("Relu", "f1", "f1r")
    m.dense("f1r", "f2", 32, 16)
    m.add("Add", "n1 f2", "tokens")
    m.add("ReduceMean", "tokens", "mean", axes=[1], keepdims=0)
    return m.save(folder, [1, "N", 16], ["mean", "tokens"])


def detector(folder: Path) -> Path:
    """Convolutions over an image of N rows, and a box and scores of each cell; x [1, 3, N, 16]."""
    m = _Model("detector")
    m.add("Conv", f"x {m.weight('w1', 8, 3, 3, 3)} {m.weight('b1', 8)}", "c1",
          pads=[1, 1, 1, 1], strides=[2, 2])  # fmt: skip
    m.add("Relu", "c1", "r1")
    m.add("Conv", f"r1 {m.weight('w2', 8, 1, 3, 3)}", "c2", pads=[1, 1, 1, 1], group=8)
    m.add("Relu", "c2", "r2")
    m.add("Conv", f"r2 {m.weight('w3', 12, 8, 1, 1)} {m.weight('b3', 12)}", "c3")
    m.add("MaxPool", "r1", "p1", kernel_shape=[3, 3], strides=[1, 1], pads=[1, 1, 1, 1])
    m.add("Concat", "c3 p1", "both", axis=1)
    m.add("Conv", f"both {m.weight('wb', 8, 20, 1, 1)}", "boxes")
    m.add("Conv", f"both {m.weight('ws', 6, 20, 1, 1)}", "scores")
    m.integers("cells4", 1, -1, 4)
    m.integers("cells3", 1, -1, 3)
    for name, cells in {"boxes": "cells4", "scores": "cells3"}.items():
        m.add("Transpose", name, f"{name}_t", perm=[0, 2, 3, 1])
        m.add("Reshape", f"{name}_t {cells}", f"{name}_r")
    m.add("Sigmoid", "scores_r", "s")
    return m.save(folder, [1, 3, "N", 16], ["boxes_r", "s"])

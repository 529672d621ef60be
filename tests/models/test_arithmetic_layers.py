"""The oracle against onnxruntime on real models, layer by layer and from end to end.

`layers.npz` holds what onnxruntime computed for every quantized tensor of sample 0. Each layer is
computed from onnxruntime's own input of that layer, so that no difference hides behind another.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from mcu_deploy import formats, interpreter, passes
from mcu_deploy.arithmetic import Array
from mcu_deploy.ir import EdgeId, Graph
from mcu_deploy.passes.thinning import removed

INT8 = ("mlperf_kws_int8", "mlperf_ic_int8", "mlperf_vww_int8", "mlperf_ad_int8")
EXACT = {"Conv", "Gemm", "MatMul"}


@dataclass(frozen=True)
class Compared:
    """One layer: its operator, how many values differ, by how many steps at most, of how many."""

    op: str
    name: str
    differ: int
    steps: int
    values: int


def graph_of(folder: Path) -> Graph:
    return passes.run(formats.load(folder / "model.onnx"))


def compare_layers(folder: Path) -> list[Compared]:
    """Every layer whose output onnxruntime's file holds, computed from onnxruntime's inputs."""
    graph = graph_of(folder)
    layers = np.load(folder / "layers.npz")
    known = {name[4:]: layers[name] for name in layers.files if name.startswith("ort:")}
    samples = np.load(folder / "io.npz")
    values: dict[EdgeId, Array] = dict(graph.data.constants)
    values.update({e: samples[f"in{i}"][0] for i, e in enumerate(graph.inputs)})
    found = []
    for node in graph.nodes:
        results = interpreter.run_node(graph, node, values)
        for edge, result in zip(node.outputs, results, strict=True):
            assert edge is not None
            reference = known.get(graph.edge_name(edge))
            if reference is None:
                values[edge] = result
                continue
            gone = removed(graph, edge)
            reference = reference if gone is None else gone.taken(reference)
            assert reference.dtype == result.dtype
            assert reference.shape == result.shape
            difference = np.abs(result.astype(np.int64) - reference.astype(np.int64))
            found.append(
                Compared(
                    node.op,
                    node.name,
                    int(np.count_nonzero(difference)),
                    int(difference.max()),
                    int(difference.size),
                )
            )
            values[edge] = reference
    return found


@pytest.mark.parametrize("name", INT8)
def test_each_layer_is_onnxruntimes(models_dir: Path, name: str) -> None:
    layers = compare_layers(models_dir / name)
    matrices = [layer for layer in layers if layer.op in EXACT]
    assert matrices, "no convolution or fully-connected layer was compared"
    assert [layer for layer in matrices if layer.differ] == []
    for layer in layers:
        assert layer.steps <= 1, layer
        # One value of a layer of a few dozen is over 1 %: it is the step that counts there.
        assert layer.differ <= max(0.01 * layer.values, 1), layer


def test_every_matrix_layer_was_compared(models_dir: Path) -> None:
    """68 of them, as the models have: none is skipped for a name that does not match."""
    compared = planned = 0
    for name in INT8:
        compared += sum(x.op in EXACT for x in compare_layers(models_dir / name))
        planned += sum(n.op in EXACT for n in graph_of(models_dir / name).nodes)
    assert compared == planned


@pytest.mark.parametrize("name", INT8)
def test_end_to_end_top_1(models_dir: Path, name: str) -> None:
    folder = models_dir / name
    graph = graph_of(folder)
    samples = np.load(folder / "io.npz")
    for index in range(len(samples["in0"])):
        (output,) = interpreter.run(graph, [samples["in0"][index]])
        for reference in ("ort0", "ortopt0"):
            wanted = samples[reference][index]
            assert np.argmax(output) == np.argmax(wanted), f"sample {index}, {reference}"


FLOAT = (
    "catdog_cnn_f32", "mlperf_ad_f32", "mlperf_ic_f32", "mlperf_kws_f32", "mlperf_vww_f32",
    "mnist8_zoo_f32", "onnx2c_atmega_mnist_f32", "st_yamnet256_cf_f32", "tflm_hello_world_f32",
    "torch_digits_cnn", "umatest_cnn_f32", "mlperf_kws_dynrange", "torch_dscnn_hswish_se",
    "torch_gru_step", "torch_transformer_enc", "torch_unet_convt", "torch_lstm_ts",
    "tflm_mnist_lstm_f32",
)  # fmt: skip


@pytest.mark.parametrize("name", FLOAT)
def test_float_models(models_dir: Path, name: str) -> None:
    folder = models_dir / name
    graph = graph_of(folder)
    samples = np.load(folder / "io.npz")
    count = len(samples["in0"])
    for index in range(count):
        inputs = [samples[f"in{i}"][index] for i in range(len(graph.inputs))]
        outputs = interpreter.run(graph, inputs)
        for number, output in enumerate(outputs):
            wanted = samples[f"ort{number}"][index]
            error = np.abs(output - wanted).max() / max(np.abs(wanted).max(), 1e-30)
            assert error <= 1e-5, f"sample {index}: {error:g}"

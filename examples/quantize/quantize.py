"""Quantizes an ONNX model of float32 to int8, by onnxruntime and from samples (docs/quantizing.md).

    python quantize.py FLOAT.onnx SAMPLES.npz INT8.onnx [--float-borders]

SAMPLES.npz holds an array for each input of the model, in0, in1, ..., the first axis being the
sample: what the model will see, some hundreds of them. Inputs and outputs become int8 too, but with
--float-borders; the samples as the new model takes them go to INT8.npz. Needs onnx and onnxruntime,
which mcu-deploy has installed.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnxruntime.quantization import (
    CalibrationDataReader,
    QuantFormat,
    QuantType,
    quantize_static,
    shape_inference,
)


class Samples(CalibrationDataReader):
    """Hands samples to onnxruntime, one at a time."""

    def __init__(self, model: onnx.ModelProto, arrays: dict[str, np.ndarray]) -> None:
        names = [i.name for i in model.graph.input]
        missing = [f"in{k}" for k in range(len(names)) if f"in{k}" not in arrays]
        if missing:
            raise SystemExit(f"The samples have no {missing[0]}, for the input {names[0]!r}.")
        count = min(len(arrays[f"in{k}"]) for k in range(len(names)))
        self._feeds = iter(
            [{n: arrays[f"in{k}"][i] for k, n in enumerate(names)} for i in range(count)]
        )

    def get_next(self) -> dict[str, np.ndarray] | None:
        return next(self._feeds, None)


def integer_borders(model: onnx.ModelProto, arrays: dict[str, np.ndarray]) -> None:
    """Takes the QuantizeLinear behind each input away, and the DequantizeLinear before each output:
    the program on the microcontroller quantizes, or has integers already. Quantizes the samples,
    too."""
    graph = model.graph
    constants = {t.name: onnx.numpy_helper.to_array(t) for t in graph.initializer}
    for k, value in enumerate(graph.input):
        (first,) = (n for n in graph.node if value.name in n.input)
        _take_away(model, first, "QuantizeLinear", value, first.output[0])
        scale, zero_point = (constants[name] for name in first.input[1:3])
        low, high = (np.iinfo(zero_point.dtype).min, np.iinfo(zero_point.dtype).max)
        steps = np.rint(arrays[f"in{k}"] / scale) + zero_point.astype(np.int32)
        arrays[f"in{k}"] = np.clip(steps, low, high).astype(zero_point.dtype)
    for value in graph.output:
        (last,) = (n for n in graph.node if value.name in n.output)
        _take_away(model, last, "DequantizeLinear", value, last.input[0])


def _take_away(
    model: onnx.ModelProto, node: onnx.NodeProto, kind: str, value: onnx.ValueInfoProto, inner: str
) -> None:
    graph = model.graph
    if node.op_type != kind:
        raise SystemExit(f"There is no {kind} beside {value.name!r}: give --float-borders.")
    zero_points = {t.name: t.data_type for t in graph.initializer}
    value.type.tensor_type.elem_type = zero_points[node.input[2]]
    graph.node.remove(node)
    for other in graph.node:
        for names in (other.input, other.output):
            for k, name in enumerate(names):
                names[k] = value.name if name == inner else name


def bias_of_one_axis(model: onnx.ModelProto) -> None:
    """Gives each Gemm a bias of one axis, where it was [1, n]: onnxruntime wants that here."""
    for tensor in model.graph.initializer:
        is_bias = any(
            node.op_type == "Gemm" and tensor.name in node.input[2:] for node in model.graph.node
        )
        if is_bias and len(tensor.dims) == 2 and tensor.dims[0] == 1:
            del tensor.dims[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("samples", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--float-borders", action="store_true")
    given = parser.parse_args()
    arrays = dict(np.load(given.samples))
    with tempfile.TemporaryDirectory() as folder:
        # Batch normalization is folded into convolutions here, before anything is quantized.
        ready = Path(folder) / "ready.onnx"
        shape_inference.quant_pre_process(str(given.model), str(ready), skip_symbolic_shape=True)
        model = onnx.load(ready)
        bias_of_one_axis(model)
        quantize_static(
            model, str(given.output), Samples(model, arrays),
            quant_format=QuantFormat.QDQ, per_channel=True,
            activation_type=QuantType.QInt8, weight_type=QuantType.QInt8,
        )  # fmt: skip
    model = onnx.load(given.output)
    if not given.float_borders:
        integer_borders(model, arrays)
        onnx.checker.check_model(model)
        onnx.save(model, given.output)
    np.savez(given.output.with_suffix(".npz"), **arrays)
    for value in (*model.graph.input, *model.graph.output):
        kind = onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
        print(f"{value.name}: {kind}")


if __name__ == "__main__":
    main()

"""UNIDIRECTIONAL_SEQUENCE_LSTM without peepholes, projection and layer normalization.

These are the bounds of TFLite-Micro's kernel as well. The states of the file are variable tensors;
every run sees a whole sequence and starts from 0, so they are no tensors of the graph.
"""

from __future__ import annotations

import numpy as np
import tflite

from mcu_deploy.arithmetic import Array
from mcu_deploy.formats.tflite_graph import GraphBuilder
from mcu_deploy.formats.tflite_operation import Operation, TfliteTensor
from mcu_deploy.formats.tflite_ops import DOMAIN
from mcu_deploy.formats.tflite_ops.windows import check_bias
from mcu_deploy.ir import DType, TensorType

_MATRICES, _BIASES = range(1, 9), range(12, 16)
_HIDDEN_STATE, _CELL_STATE = 18, 19
_VARIANTS = {
    **dict.fromkeys((9, 10, 11), "peepholes"),
    **dict.fromkeys((16, 17), "a projection"),
    **dict.fromkeys((20, 21, 22, 23), "layer normalization"),
}
# TFLite's gates are input, forget, cell, output; ONNX's input, output, forget, cell.
_ONNX_ORDER = (0, 3, 1, 2)


def _lstm(operation: Operation, graph: GraphBuilder) -> None:
    options = operation.options(tflite.UnidirectionalSequenceLSTMOptions)
    _refuse_variants(operation, options.FusedActivationFunction())
    _check_shapes(operation, options.TimeMajor())
    clip = float(options.CellClip())
    if not np.isfinite(clip) or clip < 0:
        raise operation.damaged(f"its cell clip is {clip}")
    constants = [operation.input(i) for i in (*_MATRICES, *_BIASES)]
    given = (operation.input(0), *constants, operation.output)
    if all(t.type.dtype is DType.FLOAT32 for t in given):
        _float(operation, graph, options.TimeMajor(), clip)
    else:
        _quantized(operation, graph, options.TimeMajor(), clip)


def _refuse_variants(operation: Operation, activation: int) -> None:
    for index, what in _VARIANTS.items():
        if operation.optional(index) is not None:
            raise operation.unsupported(
                f"has {what}", "Build the model from an LSTM layer of Keras, which has none."
            )
    if operation.optional(1) is None:
        raise operation.unsupported(
            "couples its input gate to its forget gate", "Build the model from an LSTM of Keras."
        )
    if activation != tflite.ActivationFunctionType.TANH:
        raise operation.unsupported(
            f"has the activation number {activation} instead of tanh", "Use tanh in the model."
        )
    for index in (*_MATRICES, *_BIASES):
        operation.constant(index)
    for index in (_HIDDEN_STATE, _CELL_STATE):
        # A converter to float16 makes constants of them.
        value = operation.input(index).value
        if value is None or value.any():
            operation.state(index)


def _check_shapes(operation: Operation, time_major: bool) -> None:
    x, y = operation.input(0), operation.output
    if x.type.rank != 3 or y.type.rank != 3 or not x.type.elements or not y.type.elements:
        raise operation.damaged(f"it makes {list(y.type.shape)} of {list(x.type.shape)}")
    hidden, batch = y.type.shape[2], x.type.shape[1 if time_major else 0]
    wanted = {
        **dict.fromkeys(_MATRICES[:4], (hidden, x.type.shape[2])),
        **dict.fromkeys(_MATRICES[4:], (hidden, hidden)),
        **dict.fromkeys(_BIASES, (hidden,)),
        _HIDDEN_STATE: (batch, hidden),
        _CELL_STATE: (batch, hidden),
    }
    for index, shape in wanted.items():
        found = operation.input(index).type.shape
        if found != shape:
            raise operation.damaged(f"its input {index} is {list(found)} and not {list(shape)}")
    if y.type.shape[:2] != x.type.shape[:2]:
        raise operation.damaged(f"it makes {list(y.type.shape)} of {list(x.type.shape)}")


def _float(operation: Operation, graph: GraphBuilder, time_major: bool, clip: float) -> None:
    """ONNX's LSTM with the layout 1, where the cell state cannot reach its clip.

    A step changes a cell state by less than 1, so it stays within the number of steps.
    """
    x, y = operation.input(0), operation.output
    first, second, hidden = y.type.shape
    inputs = [graph.read(x)]
    for name, parts in (("W", _MATRICES[:4]), ("R", _MATRICES[4:]), ("B", _BIASES)):
        values = [operation.constant(parts[gate]) for gate in _ONNX_ORDER]
        if name == "B":  # W's, and R's, which TFLite does not have
            values += [np.zeros_like(v) for v in values]
        inputs.append(graph.constant(f"{operation.name} {name}", _joined(values)))
    attributes: dict[str, object] = {"hidden_size": hidden, "layout": 0 if time_major else 1}
    reachable = 0 < clip < (first if time_major else second)
    if reachable:
        attributes["cell_clip"] = clip
    shape = (first, 1, second, hidden) if time_major else (first, second, 1, hidden)
    sequence = graph.edge(y.name, TensorType(DType.FLOAT32, shape))
    graph.add(operation, "LSTM", inputs, sequence, attributes, DOMAIN if reachable else "")
    graph.add_reshape(operation, sequence, y)


def _joined(values: list[Array]) -> Array:
    return np.concatenate(values)[np.newaxis]


def _quantized(operation: Operation, graph: GraphBuilder, time_major: bool, clip: float) -> None:
    x, y = operation.input(0), operation.output
    for tensor in (x, y):
        _want(operation, tensor, DType.INT8)
    for index in _MATRICES:
        _want(operation, operation.input(index), DType.INT8, symmetric=True)
    for index in _BIASES:
        check_bias(operation, operation.input(index))
    state = operation.input(_HIDDEN_STATE).type
    if state.dtype is not y.type.dtype or state.quantization != y.type.quantization:
        raise operation.damaged("its hidden state has another type or scale than its output")
    attributes = {
        "time_major": int(time_major),
        "cell_scale": _cell_scale(operation),
        "cell_clip": clip,
    }
    inputs = [graph.read(operation.input(i)) for i in (0, *_MATRICES, *_BIASES)]
    graph.add(operation, "UnidirectionalSequenceLstm", inputs, y, attributes, DOMAIN)


def _cell_scale(operation: Operation) -> float:
    cell = operation.input(_CELL_STATE)
    _want(operation, cell, DType.INT16, symmetric=True)
    scale = cell.type.scaling.scale[0]
    if not 2.0**-24 <= scale <= 1.0:
        raise operation.damaged(f"its cell state has the scale {scale:g}")
    return scale


def _want(
    operation: Operation, tensor: TfliteTensor, dtype: DType, symmetric: bool = False
) -> None:
    """The tensor is of a type and quantized per tensor, and around 0 where that is asked for."""
    quantization = tensor.type.quantization
    if tensor.type.dtype is not dtype or quantization is None or not quantization.per_tensor:
        raise operation.unsupported(
            f"has the tensor {tensor.name!r} of the type {tensor.type}",
            "mcu-deploy computes it on float32, and on int8 with int8 weights, int32 biases and "
            "an int16 cell state; convert the model so.",
        )
    if symmetric and quantization.zero_point != (0,):
        raise operation.damaged(
            f"its tensor {tensor.name!r} has the zero point {quantization.zero_point[0]}, not 0"
        )


CONVERTERS = {"UNIDIRECTIONAL_SEQUENCE_LSTM": _lstm}

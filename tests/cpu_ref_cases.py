"""The layers by which CpuRef's prices are compared with counts: two or three sizes a family."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from cpu_ref_layers import (
    Make,
    Q,
    concatenated,
    conversion,
    convolution,
    dense,
    float_by_bytes,
    float_by_halves,
    gathered,
    integers,
    moved,
    nearest,
    normalized,
    of_two,
    on_elements,
    pool,
    recurrent,
    rescaled,
    resized,
    scattered,
    softmax,
    split,
    transposed,
    where,
)

# By family: the layers that stand for it, of which the first two are in the sample.
CASES: Mapping[str, Sequence[Make]] = {
    "conv": [
        convolution(4, 8, 8, 3, pad=1),
        convolution(8, 8, 8, 1),
        convolution(3, 16, 9, 3, 2),
        convolution(16, 16, 12, 3, pad=1),
        convolution(32, 32, 8, 1),
        convolution(1, 8, 16, 5),
    ],
    "depthwise": [
        convolution(8, 8, 8, 3, pad=1, group=8),
        convolution(16, 16, 8, 3, 2, 1, 16),
        convolution(32, 32, 12, 3, group=32),
        convolution(8, 8, 12, 5, pad=2, group=8),
    ],
    "grouped": [convolution(8, 8, 8, 3, pad=1, group=2), convolution(16, 16, 8, 3, group=4)],
    "conv_float": [
        convolution(4, 8, 8, 3, pad=1, quantized=False),
        convolution(8, 8, 8, 1, quantized=False),
        convolution(16, 16, 12, 3, pad=1, quantized=False),
        convolution(3, 16, 9, 3, 2, quantized=False),
        convolution(32, 32, 8, 1, quantized=False),
    ],
    "depthwise_float": [
        convolution(8, 8, 8, 3, pad=1, group=8, quantized=False),
        convolution(16, 16, 8, 3, 2, 1, 16, quantized=False),
        convolution(32, 32, 12, 3, group=32, quantized=False),
    ],
    "conv_weights8": [
        float_by_bytes("Conv", 8, 4, 3, 3, plane=8),
        float_by_bytes("Conv", 16, 16, 1, 1, plane=8),
    ],
    "dense_weights8": [float_by_bytes("MatMul", 64, 10), float_by_bytes("MatMul", 200, 32)],
    "dense_weights4": [float_by_halves(1, 64, 10, 32), float_by_halves(4, 128, 16, 16)],
    "transposed": [
        transposed(4, 8, 6, 2, 2),
        transposed(8, 8, 8, 3, 2),
        transposed(8, 4, 6, 3, 1),
    ],
    "transposed_quantized": [
        transposed(4, 8, 6, 2, 2, True),
        transposed(8, 8, 8, 3, 2, True),
        transposed(8, 4, 6, 3, 1, True),
    ],
    "dense": [dense(1, 64, 10, True), dense(1, 256, 32, True), dense(8, 16, 16, True)],
    "dense_float": [dense(1, 64, 10, False), dense(1, 256, 32, False), dense(8, 16, 16, False)],
    "matmul": [
        dense(8, 16, 8, True, False),
        dense(16, 32, 16, True, False),
        dense(1, 64, 16, True, False),
    ],
    "matmul_float": [dense(8, 16, 8, False, False), dense(16, 32, 16, False, False)],
    "max_pool": [
        pool("MaxPool", 8, 8, 2, 2, 0, True),
        pool("MaxPool", 16, 12, 3, 2, 1, True),
        pool("MaxPool", 4, 24, 2, 2, 0, True),
        pool("MaxPool", 32, 8, 4, 4, 0, True),
        pool("GlobalMaxPool", 16, 8, 0, 0, 0, True),
        pool("MaxPool", 8, 12, 3, 1, 1, True),
    ],
    "max_pool_float": [
        pool("MaxPool", 8, 8, 2, 2, 0, False),
        pool("MaxPool", 16, 12, 3, 2, 1, False),
        pool("GlobalMaxPool", 16, 8, 0, 0, 0, False),
        pool("MaxPool", 32, 8, 4, 4, 0, False),
    ],
    "average_pool": [
        pool("AveragePool", 8, 8, 2, 2, 0, True),
        pool("AveragePool", 16, 12, 3, 2, 1, True),
        pool("GlobalAveragePool", 16, 8, 0, 0, 0, True),
        pool("AveragePool", 4, 24, 2, 2, 0, True),
    ],
    "average_pool_float": [
        pool("AveragePool", 8, 8, 2, 2, 0, False),
        pool("AveragePool", 16, 12, 3, 2, 1, False),
        pool("GlobalAveragePool", 16, 8, 0, 0, 0, False),
    ],
    "quantize": [
        conversion((300,), "int8", False),
        conversion((64,), "uint8", False),
        conversion((2, 900), "int8", False),
    ],
    "dequantize": [
        conversion((300,), "int8", True),
        conversion((64,), "uint8", True),
        conversion((1800,), "int8", True),
    ],
    "binary": [
        of_two("Add", (300,), (300,), "quantized"),
        of_two("Mul", (1, 8, 6, 6), (1, 8, 1, 1), "quantized"),
        of_two("Div", (64,), (64,), "quantized"),
        of_two("Sub", (4, 400), (400,), "quantized"),
        of_two("Mul", (40, 40), (40, 40), "quantized"),
    ],
    "binary_float": [
        of_two("Add", (300,), (300,)),
        of_two("Mul", (1, 8, 6, 6), (1, 8, 1, 1)),
        of_two("Div", (64,), (64,)),
        of_two("Sub", (4, 400), (400,)),
        of_two("Div", (40, 40), (40, 40)),
    ],
    "binary_integers": [
        of_two("Add", (300,), (300,), "int32"),
        of_two("Mul", (40, 40), (40, 40), "int32"),
        of_two("Add", (300,), (300,), "int64"),
        of_two("Mul", (300,), (300,), "int64"),
        of_two("Add", (300,), (300,), "int16"),
        of_two("Div", (300,), (300,), "int32"),
    ],
    "table": [
        on_elements("Sigmoid", (300,), True),
        on_elements("Tanh", (2000,), True),
        on_elements("HardSwish", (40, 7), True),
        on_elements("LeakyRelu", (900,), True),
    ],
    **{
        op.lower(): [on_elements(op, (300,)), on_elements(op, (40, 30))]
        for op in (
            "Relu",
            "Abs",
            "Neg",
            "Floor",
            "Ceil",
            "Sqrt",
            "Sign",
            "Reciprocal",
            "Softsign",
            "LeakyRelu",
            "HardSigmoid",
            "HardSwish",
            "Sigmoid",
            "Tanh",
            "Erf",
            "Exp",
            "Softplus",
            "Elu",
            "Celu",
            "Selu",
            "Mish",
            "Log",
            "Round",
            "Sin",
            "Cos",
            "Tan",
            "Asin",
            "Acos",
            "Atan",
            "Sinh",
            "Cosh",
            "Asinh",
            "Acosh",
            "Atanh",
            "ThresholdedRelu",
            "Shrink",
        )
    },
    "clip": [
        moved("Clip", "float32", (300,), np.float32(-1), np.float32(1)),
        moved("Clip", "float32", (40, 30), np.float32(-0.5), np.float32(2)),
    ],
    "prelu": [of_two("PRelu", (1, 8, 6, 6), (8, 1, 1)), of_two("PRelu", (300,), (300,))],
    "integers": [
        integers("Abs", "int32", (300,)),
        integers("Neg", "int32", (40, 30)),
        integers("Sign", "int32", (300,)),
    ],
    "cast": [
        integers("Cast", "int32", (300,), to=1),
        integers("Cast", "int32", (40, 30), to=7),
        integers("Cast", "int64", (300,), to=1),
        integers("Cast", "int64", (300,), to=6),
        integers("Cast", "int16", (300,), to=1),
        on_elements("Cast", (300,), to=6),
        on_elements("Cast", (300,), to=7),
        on_elements("Cast", (300,), to=9),
        on_elements("Cast", (300,), to=3),
    ],
    "compare": [
        of_two("Less", (300,), (300,)),
        of_two("Equal", (40, 30), (40, 30)),
        of_two("Greater", (300,), (300,), "int32"),
        of_two("Less", (300,), (300,), "int64"),
    ],
    "variadic": [
        of_two("Max", (300,), (300,)),
        of_two("Sum", (40, 30), (40, 30)),
        of_two("Mean", (300,), (300,)),
        of_two("Min", (300,), (300,), "int32"),
        of_two("Max", (300,), (300,), "quantized"),
    ],
    "where": [where((300,)), where((40, 30))],
    "power": [of_two("Pow", (300,), (300,)), of_two("Mod", (300,), (300,), "int32")],
    "softmax": [softmax((1, 10), True), softmax((4, 40), True), softmax((2, 12), True)],
    "softmax_float": [softmax((1, 10), False), softmax((4, 40), False), softmax((16, 8), False)],
    "log_softmax": [softmax((1, 10), False, "LogSoftmax"), softmax((4, 40), False, "LogSoftmax")],
    "layer_normalization": [
        normalized("LayerNormalization", (4, 16)),
        normalized("LayerNormalization", (8, 64)),
    ],
    "layer_normalization_integers": [
        normalized("LayerNormalization", (4, 16), quantized=True),
        normalized("LayerNormalization", (8, 64), quantized=True),
    ],
    "batch_normalization": [
        normalized("BatchNormalization", (1, 8, 6, 6)),
        normalized("BatchNormalization", (4, 64)),
    ],
    "lstm": [recurrent("LSTM", 4, 8, 8), recurrent("LSTM", 10, 16, 16)],
    "gru": [recurrent("GRU", 4, 8, 8), recurrent("GRU", 10, 16, 16)],
    "rnn": [recurrent("RNN", 4, 8, 8), recurrent("RNN", 10, 16, 16)],
    "recurrent_weights8": [
        recurrent(op, steps, size, size, by_bytes=True)
        for op in ("LSTM", "GRU", "RNN")
        for steps, size in ((4, 8), (10, 16))
    ],
    "reduce": [
        *(
            on_elements(
                op,
                shape,
                q,
                np.array([axis]),
                Q() if "M" in op[6:8] and op != "ReduceMean" else Q(0.04),
                keepdims=1,
            )
            for q in (False, True)
            for op in ("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin")
            for shape, axis in (((20, 30), 1), ((30, 20), 0), ((1, 8, 9, 9), 1))
        ),
        *(
            on_elements(op, shape, False, np.array([axis]), keepdims=1)
            for op in (
                "ReduceL1",
                "ReduceL2",
                "ReduceSumSquare",
                "ReduceProd",
                "ReduceLogSum",
                "ReduceLogSumExp",
            )
            for shape, axis in (((20, 30), 1), ((30, 20), 0))
        ),
    ],
    "arg_max": [
        on_elements("ArgMax", (20, 30), axis=1),
        on_elements("ArgMax", (8, 100), axis=0),
        integers("ArgMin", "int32", (20, 30), axis=1),
    ],
    "cumulative": [
        moved("CumSum", "float32", (20, 30), np.array(1)),
        moved("CumSum", "float32", (60, 10), np.array(0)),
    ],
    "transpose": [
        *(
            moved("Transpose", kind, shape, perm=perm)
            for kind in ("int8", "float32", "int64")
            for shape, perm in (
                ((20, 30), (1, 0)),
                ((1, 8, 9, 9), (0, 2, 3, 1)),
                ((6, 5, 40), (1, 0, 2)),
            )
        ),
    ],
    "concat": [
        concatenated("int8", 1, (1, 8, 9, 9), (1, 4, 9, 9)),
        concatenated("float32", 1, (20, 8), (20, 30)),
        concatenated("int8", 1, (20, 3), (20, 5)),
        concatenated("int8", 0, (900,), (1000,)),
    ],
    "pad": [
        moved("Pad", "int8", (1, 4, 9, 9), np.array([0, 0, 1, 1, 0, 0, 1, 1])),
        moved("Pad", "float32", (20, 30), np.array([0, 2, 0, 2])),
        moved("Pad", "float32", (1, 8, 9, 9), np.array([0, 0, 1, 1, 0, 0, 1, 1])),
    ],
    "slice": [
        moved("Slice", "int8", (20, 30), np.array([3]), np.array([17]), np.array([0])),
        moved("Slice", "float32", (20, 30), np.array([3]), np.array([17]), np.array([1])),
        moved(
            "Slice",
            "float32",
            (1, 8, 12, 12),
            np.array([0, 0]),
            np.array([12, 12]),
            np.array([2, 3]),
            np.array([2, 2]),
        ),
        moved("Slice", "int8", (20, 30), np.array([3]), np.array([17]), np.array([1])),
        moved("Slice", "int64", (300,), np.array([3]), np.array([170]), np.array([0])),
    ],
    "split": [
        split("float32", (20, 30), 1),
        split("int64", (20, 30), 1),
    ],
    "gather": [
        *(
            gathered("Gather", kind, index, shape, count, axis)
            for kind in ("int8", "float32")
            for index in ("int64", "int32")
            for shape, count, axis in (((20, 30), 7, 0), ((20, 30), 60, 1), ((600,), 300, 0))
        ),
        moved("Gather", "float32", (20, 30), np.array([3, 1, 2, 9]), axis=0),
        moved("Gather", "int8", (20, 30), np.array([3, 1, 2, 9, 8, 7]), axis=1),
        moved("Gather", "float32", (20, 30), np.array(3), axis=0),
    ],
    "gather_elements": [
        gathered("GatherElements", "float32", "int64", (20, 30), 10, 0),
        gathered("GatherElements", "int8", "int32", (20, 30), 10, 1),
    ],
    "scatter": [
        scattered("ScatterElements", (20, 30), 10, axis=0),
        scattered("ScatterND", (20, 30), 10),
        scattered("ScatterND", (200, 3), 50),
    ],
    "expand": [
        moved("Expand", "float32", (20, 1), np.array([20, 30])),
        moved("Expand", "float32", (1, 30), np.array([20, 30])),
        moved("Expand", "int8", (8, 1, 1), np.array([8, 9, 9])),
    ],
    "tile": [
        moved("Tile", "float32", (20, 6), np.array([1, 4])),
        moved("Tile", "int8", (4, 30), np.array([5, 1])),
    ],
    "interpolated": [
        resized("int8", (1, 6, 6, 8), (1, 2, 2, 1)),
        resized("int8", (1, 3, 8, 6), (1, 1, 2, 3)),
        resized("int8", (1, 6, 6, 16), (1, 2, 2, 1), scale=0.07),
        resized("int8", (1, 5, 5, 8), (1, 2, 2, 1), mode="cubic"),
        resized("float32", (1, 6, 6, 8), (1, 2, 2, 1)),
        resized("float32", (1, 5, 5, 8), (1, 2, 2, 1), mode="cubic"),
    ],
    "resize": [
        nearest("int8", (1, 6, 6, 8), 1, 2, 2, 1),
        nearest("int8", (1, 4, 4, 80), 1, 2, 2, 1),
        nearest("float32", (1, 9, 9, 24), 1, 0.5, 0.5, 1),
        nearest("int8", (1, 8, 6, 6), 1, 1, 2, 2),
        nearest("float32", (1, 8, 6, 6), 1, 1, 2, 2),
        nearest("float32", (1, 3, 10, 10), 1, 1, 2, 2),
    ],
    "trilu": [on_elements("Trilu", (20, 30)), on_elements("Trilu", (2, 30, 30))],
    "identity": [rescaled((8, 9, 9)), rescaled((40, 40))],
}


def named(families: Sequence[str] = tuple(CASES), most: int | None = None) -> dict[str, Make]:
    """The cases of some families, by name; most: of each family."""
    return {f"{f}_{k}": make for f in families for k, make in enumerate(CASES[f][:most])}

"""Small SVDF layers, and streams of inputs for them: the cases of test_tflite_svdf.py."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import tflite
from operators.recorded_streams import Stream
from tflite_models import Array, Operator, Tensor, constant, int8, write

# What TFLite-Micro computes for them (record_tflite.py).
RECORDED = Path(__file__).with_name("svdf_recorded.npz")
RUNS = 24
DEPTH, UNITS = 11, 5


def _weights(rng: np.random.Generator, dtype: str, *shape: int) -> Array:
    if dtype == "float32":
        return rng.normal(size=shape).astype(np.float32)
    most = np.iinfo(dtype).max
    return rng.integers(-most, most + 1, shape).astype(dtype)


def _floats(rng: np.random.Generator, filters: int, memory: int) -> list[Tensor]:
    return [
        Tensor("x", (1, DEPTH)),
        constant("features", _weights(rng, "float32", filters, DEPTH)),
        constant("times", _weights(rng, "float32", filters, memory)),
        constant("bias", _weights(rng, "float32", UNITS)),
        Tensor("state", (1, filters * memory), variable=True),
        Tensor("y", (1, UNITS)),
    ]


def _integers(
    rng: np.random.Generator, filters: int, memory: int, dtype: str, zero_point: int
) -> list[Tensor]:
    """The features spread over the state's type, and a few beyond; so do the results over int8."""
    state, times = (0.0006, 1.3e-5) if dtype == "int16" else (0.1237, 0.0123)
    product = float(np.float32(state) * np.float32(times))
    return [
        int8("x", (1, DEPTH), 0.0313, 7),
        constant("features", _weights(rng, "int8", filters, DEPTH), [0.0131]),
        constant("times", _weights(rng, dtype, filters, memory), [times]),
        Tensor(
            "bias", (UNITS,), "INT32", (product,), (0,),
            value=rng.integers(-9000, 9000, UNITS, dtype=np.int32),
        ),
        Tensor(
            "state", (1, filters * memory), dtype.upper(), (state,), (zero_point,), variable=True
        ),
        int8("y", (1, UNITS), 0.11, -11),
    ]  # fmt: skip


def streams() -> Iterator[Stream]:
    """float32, and int8 with a state of 8 bits around 0 and elsewhere, and of 16; with a memory of
    this run alone, of one before and of several; one and several filters a unit."""
    kinds = (("float32", 0), ("int8", 0), ("int8", -50), ("int16", 0))
    for number, (dtype, zero_point) in enumerate(kinds):
        for memory, rank in ((1, 2), (2, 1), (6, 2)):
            rng = np.random.default_rng(10 * number + memory)
            filters = UNITS * rank
            if dtype == "float32":
                tensors = _floats(rng, filters, memory)
                given = [rng.normal(size=(1, DEPTH)).astype(np.float32) for _ in range(RUNS)]
            else:
                tensors = _integers(rng, filters, memory, dtype, zero_point)
                given = [rng.integers(-128, 128, (1, DEPTH)).astype(np.int8) for _ in range(RUNS)]
            relu = tflite.ActivationFunctionType.RELU
            operator = Operator(
                "SVDF", tuple(t.name for t in tensors[:-1]), ("y",), "SVDFOptions",
                {"Rank": rank, "FusedActivationFunction": relu},
            )  # fmt: skip
            content = write(tensors, [operator], ["x"], ["y"])
            yield Stream(f"{dtype} {zero_point} {memory}", content, tuple(given))

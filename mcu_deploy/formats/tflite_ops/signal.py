"""TFLite-Micro's signal library: what its preprocessors of speech are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mcu_deploy.formats.tflite_graph import GraphBuilder
from mcu_deploy.formats.tflite_operation import Operation, TfliteTensor
from mcu_deploy.formats.tflite_ops import DOMAIN
from mcu_deploy.formats.tflite_options import CustomOptions
from mcu_deploy.ir import DType

I16, I32, U32, U64 = DType.INT16, DType.INT32, DType.UINT32, DType.UINT64
_SUBTRACTION = (
    "alternate_one_minus_smoothing", "alternate_smoothing", "clamping", "min_signal_remaining",
    "one_minus_smoothing", "smoothing", "smoothing_bits", "spectral_subtraction_bits",
)  # fmt: skip


def _signal(
    op: str, inputs: Sequence[DType], outputs: Sequence[DType], options: Sequence[str] = ()
) -> Any:
    """An operator whose tensors have these types, and whose options are its attributes."""

    def convert(operation: Operation, graph: GraphBuilder) -> None:
        attributes = _attributes(operation, inputs, outputs, options)
        graph.add(
            operation, op, [graph.read(t) for t in operation.given], operation.outputs, attributes,
            DOMAIN,
        )  # fmt: skip

    return convert


def _attributes(
    operation: Operation, inputs: Sequence[DType], outputs: Sequence[DType], options: Sequence[str]
) -> dict[str, int]:
    for tensors, types in ((operation.given, inputs), (operation.outputs, outputs)):
        if len(tensors) != len(types):
            raise operation.damaged(f"it has {len(tensors)} tensors for {len(types)}")
        for tensor, dtype in zip(tensors, types, strict=True):
            _require(operation, tensor, dtype)
    given = CustomOptions(operation)
    return {name: given.integer(name) for name in options}


def _require(operation: Operation, tensor: TfliteTensor, dtype: DType) -> None:
    if tensor.type.dtype is not dtype or tensor.type.is_quantized:
        raise operation.unsupported(
            f"has the tensor {tensor.name!r} of the type {tensor.type}, not {dtype.value}",
            "Make the model for int16 samples.",
        )


def _spectral_subtraction(operation: Operation, graph: GraphBuilder) -> None:
    """What it takes for noise is a state."""
    attributes = _attributes(operation, (U32,), (U32, U32), _SUBTRACTION)
    result, noise = operation.outputs
    variable = graph.variables.new(f"{noise.name} before")
    variable.first = np.zeros(noise.type.shape, np.uint32)
    before = graph.read_state(variable, noise.type)
    inputs = [graph.read(operation.input(0)), before]
    graph.add(
        operation, "SignalFilterBankSpectralSubtraction", inputs, (result, noise), attributes,
        DOMAIN,
    )  # fmt: skip
    variable.now = graph.read(noise)


CONVERTERS = {
    f"custom operator {name}": convert
    for name, convert in {
        "SignalWindow": _signal("SignalWindow", (I16, I16), (I16,), ("shift",)),
        "SignalFftAutoScale": _signal("SignalFftAutoScale", (I16,), (I16, I32)),
        "SignalRfft": _signal("SignalRfft", (I16,), (I16,), ("fft_length",)),
        "SignalIrfft": _signal("SignalIrfft", (I16,), (I16,), ("fft_length",)),
        "SignalEnergy": _signal("SignalEnergy", (I16,), (U32,), ("start_index", "end_index")),
        "SignalFilterBank": _signal("SignalFilterBank", (U32, *(I16,) * 5), (U64,)),
        "SignalFilterBankSquareRoot": _signal("SignalFilterBankSquareRoot", (U64, I32), (U32,)),
        "SignalFilterBankSpectralSubtraction": _spectral_subtraction,
        "SignalPCAN": _signal("SignalPcan", (U32, U32, I16), (U32,), ("snr_shift",)),
        "SignalFilterBankLog": _signal(
            "SignalFilterBankLog", (U32,), (I16,), ("input_correction_bits", "output_scale")
        ),
    }.items()
}

"""What onnxruntime's own tool makes of a model by default: the measure of what is gained here."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import onnx

from mcu_deploy.agreement.reference import onnxruntime_package
from mcu_deploy.quantizing.integers import silent
from mcu_deploy.quantizing.net import Net
from mcu_deploy.quantizing.statistics import SampleShare, apart


def onnxruntime_int8(source: Net, part: SampleShare) -> onnx.ModelProto:
    """Its preprocessing and its static quantizer: QDQ, int8, a scale a channel, ranges by min-max.

    source: the model as it is in its file. Raises RequestError where the tool fails.
    """
    model = source.model()
    return onnx.load_model_from_string(
        apart(_quantized, model.SerializeToString(), part, samples=2 * len(part))
    )


def _quantized(content: bytes, part: SampleShare) -> bytes:
    onnxruntime_package()
    from onnxruntime.quantization import (
        CalibrationDataReader,
        QuantFormat,
        QuantType,
        quantize_static,
    )
    from onnxruntime.quantization.shape_inference import quant_pre_process

    class SampleReader(CalibrationDataReader):  # type: ignore[misc]
        def __init__(self, names: list[str]) -> None:
            self._feeds: Iterator[dict[str, Any]] = (
                dict(zip(names, inputs, strict=True)) for inputs in part
            )

        def get_next(self) -> dict[str, Any] | None:
            return next(self._feeds, None)

    with silent(), tempfile.TemporaryDirectory(prefix="mcu-deploy-quantize-") as folder:
        given, ready, made = (Path(folder) / f"{n}.onnx" for n in ("given", "ready", "made"))
        given.write_bytes(content)
        # Symbolic shapes want sympy; ours are numbers.
        quant_pre_process(str(given), str(ready), skip_symbolic_shape=True)
        names = [v.name for v in onnx.load(ready).graph.input]
        quantize_static(
            str(ready), str(made), SampleReader(names), quant_format=QuantFormat.QDQ,
            per_channel=True, activation_type=QuantType.QInt8, weight_type=QuantType.QInt8,
        )  # fmt: skip
        return made.read_bytes()

"""Models with recurrent operators: on the host, and on emulated cores with and without an FPU."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mcu_deploy import formats, interpreter, passes
from mcu_deploy.api.building import build
from mcu_deploy.api.folder import BuildFolder, as_folder
from mcu_deploy.api.running import open_device
from mcu_deploy.api.validating import Validation, validate
from mcu_deploy.device import Device
from mcu_deploy.files.samples import load_samples

FLOAT = ("torch_lstm_ts", "tflm_mnist_lstm_f32")
BOARDS = [
    pytest.param("host", marks=pytest.mark.needs_host_gcc),
    *(
        pytest.param(
            board, marks=[pytest.mark.needs_arm_gcc, pytest.mark.needs_qemu, pytest.mark.matrix]
        )
        for board in ("mps2-an385", "mps2-an386")
    ),
]


QUANTIZED = "tflm_mnist_lstm_int8"
TFLITE = ("tflm_mnist_lstm_int8", "tflm_mnist_lstm_f32")


def test_the_oracle_of_the_quantized_model_is_onnxruntimes(models_dir: Path) -> None:
    folder = models_dir / "tflm_mnist_lstm_int8"
    graph = passes.run(formats.load(folder / "model.onnx"))
    samples = np.load(folder / "io.npz")
    assert "LSTM" in {node.op for node in graph.nodes}
    for given, wanted in zip(samples["in0"], samples["ort0"], strict=True):
        (found,) = interpreter.run(graph, [given])
        assert np.array_equal(found, wanted)


@pytest.mark.parametrize("board", BOARDS)
def test_models_on_boards(board: str, models_dir: Path, tmp_path: Path) -> None:
    """All in one firmware."""
    sources = [models_dir / m / "model.onnx" for m in (*FLOAT, QUANTIZED)]
    sources += [models_dir / m / "model.tflite" for m in TFLITE]
    names = [*FLOAT, QUANTIZED, *(f"{m}_tflite" for m in TFLITE)]
    built = as_folder(build(sources, board, tmp_path, name=names))
    for model in (*FLOAT, QUANTIZED):
        result = _validate(built, model, models_dir / model / "io.npz")
        if model in FLOAT:
            assert result.oracle[0].relative <= 1e-5, model
            assert result.onnxruntime[0].relative <= 1e-5, model
        else:
            # 8-bit integers, which a float32 on the edge of a step decides
            assert result.oracle[0].equal >= 0.95
            assert result.onnxruntime[0].equal >= 0.95
            assert result.onnxruntime[0].acc == 1.0
    with open_device(tmp_path) as device:
        _check_tflite(device, models_dir, 16 if board == "host" else 2)


def _validate(built: BuildFolder, model: str, io: Path) -> Validation:
    given = load_samples(io, built.compile_again(model).graph).first(2)
    result = validate(built, given, model=model)
    assert result.problems == (), model
    return result


def _check_tflite(device: Device, models_dir: Path, count: int) -> None:
    """TensorFlow Lite Micro's bits; of the float model, whose clip of the cell state, 10, is within
    reach of 28 steps, its values."""
    for model in TFLITE:
        samples = np.load(models_dir / model / "io.npz")
        for index in range(min(count, len(samples["in0"]))):
            (found,) = device.infer(f"{model}_tflite", [samples["in0"][index]])
            if model == QUANTIZED:
                assert np.array_equal(found, samples["tflm0"][index])
                continue
            for reference in ("tfl0", "tflm0"):
                assert np.abs(found - samples[reference][index]).max() <= 1e-5

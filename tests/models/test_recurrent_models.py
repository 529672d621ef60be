"""Models with recurrent operators: on the host, and on emulated cores with and without an FPU."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mcu_deploy import formats, interpreter, optimize
from mcu_deploy.building import build
from mcu_deploy.folder import open_folder
from mcu_deploy.running import open_device
from mcu_deploy.samples import load_samples
from mcu_deploy.validating import Validation, validate

FLOAT = ("torch_lstm_ts", "tflm_mnist_lstm_f32")
BOARDS = [
    pytest.param("host", marks=pytest.mark.needs_host_gcc),
    *(
        pytest.param(board, marks=[pytest.mark.needs_arm_gcc, pytest.mark.needs_qemu])
        for board in ("mps2-an385", "mps2-an386")
    ),
]


def _validate(model: Path, board: str, folder: Path) -> Validation:
    build(model / "model.onnx", board, folder, name="n")
    built = open_folder(folder)
    given = load_samples(model / "io.npz", built.compile_again("n").graph).first(2)
    result = validate(built, given)
    assert result.problems == ()
    return result


@pytest.mark.parametrize("board", BOARDS)
@pytest.mark.parametrize("model", FLOAT)
def test_float_models_on_boards(model: str, board: str, models_dir: Path, tmp_path: Path) -> None:
    result = _validate(models_dir / model, board, tmp_path)
    assert result.oracle[0].relative <= 1e-5
    assert result.onnxruntime[0].relative <= 1e-5


@pytest.mark.parametrize("board", BOARDS)
def test_a_float_lstm_between_quantized_tensors(
    board: str, models_dir: Path, tmp_path: Path
) -> None:
    """Its outputs are 8-bit integers, which a float32 on the edge of a step decides."""
    result = _validate(models_dir / "tflm_mnist_lstm_int8", board, tmp_path)
    assert result.oracle[0].equal >= 0.95
    assert result.onnxruntime[0].equal >= 0.95
    assert result.onnxruntime[0].acc == 1.0


def test_the_oracle_of_the_quantized_model_is_onnxruntimes(models_dir: Path) -> None:
    folder = models_dir / "tflm_mnist_lstm_int8"
    graph = optimize.run(formats.load(folder / "model.onnx"))
    samples = np.load(folder / "io.npz")
    assert "LSTM" in {node.op for node in graph.nodes}
    for given, wanted in zip(samples["in0"], samples["ort0"], strict=True):
        (found,) = interpreter.run(graph, [given])
        assert np.array_equal(found, wanted)


@pytest.mark.parametrize("board", BOARDS)
def test_the_quantized_tflite_model_is_tflite_micros(
    board: str, models_dir: Path, tmp_path: Path
) -> None:
    folder = models_dir / "tflm_mnist_lstm_int8"
    samples = np.load(folder / "io.npz")
    build(folder / "model.tflite", board, tmp_path, name="n")
    count = len(samples["in0"]) if board == "host" else 2
    with open_device(tmp_path) as device:
        for given, wanted in list(zip(samples["in0"], samples["tflm0"], strict=True))[:count]:
            assert np.array_equal(device.infer("n", [given])[0], wanted)


@pytest.mark.parametrize("board", BOARDS)
def test_the_float_tflite_model(board: str, models_dir: Path, tmp_path: Path) -> None:
    """Its clip of the cell state, 10, is within reach of 28 steps."""
    folder = models_dir / "tflm_mnist_lstm_f32"
    samples = np.load(folder / "io.npz")
    build(folder / "model.tflite", board, tmp_path, name="n")
    with open_device(tmp_path) as device:
        for index in range(2):
            (found,) = device.infer("n", [samples["in0"][index]])
            for reference in ("tfl0", "tflm0"):
                assert np.abs(found - samples[reference][index]).max() <= 1e-5

"""ArmMul's kernels on QEMU's Cortex-M3 and M0, in networks of int8 and uint8 that are drawn, for
every goal, in dense layers, in layers of TFLite, in averages of float32, and in conversions from
and to it: the oracle's bits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from arm_dsp_conversion_cases import Conversion, samples
from arm_dsp_conversion_cases import model as conversions
from arm_dsp_lstm_cases import TAKEN
from arm_dsp_lstm_cases import model as lstm_model
from arm_dsp_tflite_cases import RELU, Binary, Conv, Mean, Pool
from arm_dsp_tflite_cases import extremes as tflite_extremes
from arm_dsp_tflite_cases import model as tflite_model
from kernel_builds import GOALS, drawn, right
from quantized_layers import LayersModel, Quantized, extremes
from sampling import first

from mcu_deploy.api.building import build
from mcu_deploy.api.profiling import profile
from mcu_deploy.api.validating import validate
from mcu_deploy.options import Options

pytestmark = [pytest.mark.needs_arm_gcc, pytest.mark.needs_qemu]


@pytest.mark.parametrize("batch", first([*range(8)]))
def test_networks_give_the_bits_of_the_oracle(batch: int, tmp_path: Path) -> None:
    built = drawn(batch, 4, "mps2-an385", tmp_path)
    assert batch % len(GOALS) or any(
        layer.backend == "ArmMul" and layer.op == "Conv" for layer in built.report.layers
    )


@pytest.mark.parametrize("board", ["mps2-an385", "microbit"])
def test_dense_layers_give_the_bits_of_the_oracle(board: str, tmp_path: Path) -> None:
    path = _dense(tmp_path / "dense.onnx")
    built = build(path, board, tmp_path / "build", options=Options(optimize_for="speed"))
    layers = [layer for layer in built.report.layers if layer.op in ("Gemm", "MatMul", "Conv")]
    assert {layer.backend for layer in layers} == {"ArmMul"}
    found = validate(built, extremes(path), onnxruntime=False)
    assert found.passed, found


def test_layers_of_tflite_give_the_bits_of_the_oracle(tmp_path: Path) -> None:
    cases = (
        Binary("ADD", 45), Binary("SUB", 30, rows=4, activation=RELU), Binary("MUL", 45),
        Binary("MUL", 30, (0.0123, 0.0322, 0.0171), (12, -128, 5), rows=4, activation=RELU),
        Binary("MUL", 37, (0.0039, 0.0157, 0.0078), number=127),
        Binary("MUL", 1, (0.0931271, 0.0871547, 0.9113371), (127, -128, -128), rows=30),
        Pool("AVERAGE", 6, (6, 7), (2, 3), (2, 2)),
        Pool("MAX", 6, (6, 7), (3, 3), (2, 2), is_same=True, activation=RELU),
        Pool("AVERAGE", 5, (6, 7), (3, 3), (2, 2), is_same=True), Mean((1, 5, 9, 6)),
        Mean((2, 7, 7, 3), (-128, -128), 0.31),
    )  # fmt: skip
    path = tflite_model(cases, tmp_path / "layers.tflite")
    built = right(path, "mps2-an385", tmp_path, backend="ArmMul", samples=tflite_extremes(path))
    backends = {layer.op: layer.backend for layer in built.report.layers}
    assert {*backends.values()} == {"ArmMul"}, backends


def test_averages_between_two_outputs_are_those_of_float32(tmp_path: Path) -> None:
    """Of equal scales, a quarter of the sums of four are in the middle of two outputs."""
    made = LayersModel()
    for number, taps in enumerate((2, 4, 8)):
        how = Quantized(0.0437, 5 * number - 7, ("int8", "uint8")[number % 2])
        how = how._replace(zero=how.zero % 128)
        x = made.input((1, 3, 2, 4 * taps), how)
        y = made.node("AveragePool", [x], kernel_shape=[2, taps], strides=[1, taps])
        made.output(made.quantized(y, how), how)
    path = made.save(tmp_path / "averages.onnx")
    built = right(path, "mps2-an385", tmp_path, "speed", backend="ArmMul", onnxruntime=False)
    averages = [layer for layer in built.report.layers if layer.op == "AveragePool"]
    assert {layer.backend for layer in averages} == {"ArmMul"}


@pytest.mark.parametrize("board", ["mps2-an385", "nucleo_g0b1re"])
def test_conversions_take_what_they_are_priced_at(board: str, tmp_path: Path) -> None:
    """And give the oracle's bits where there is an emulator of the board."""
    cases = [Conversion(500, 0.037, 9, d, b) for d in ("int8", "uint8") for b in (False, True)]
    path = conversions(cases, tmp_path / "conversions.onnx")
    options = Options(backends=("ArmMul", "CpuRef"), optimize_for="speed")
    built = build(path, board, tmp_path / "build", options=options)
    assert {layer.backend for layer in built.report.layers} == {"ArmMul"}
    for layer, counted in zip(built.report.layers, profile(built.directory).layers, strict=True):
        assert layer.cost is not None and counted.time is not None
        assert abs(layer.cost.value / counted.time.cycles - 1) < 0.15, layer.name
    if board == "mps2-an385":
        assert validate(built, samples(cases, path)).passed


@pytest.mark.parametrize("board", ["mps2-an385", "nucleo_g0b1re"])
def test_what_tflite_rounds_twice_is_not_priced_as_floats(board: str, tmp_path: Path) -> None:
    """Of outputs of both signs no integers round nearly all filters."""
    path = tflite_model([Conv(16, 16, (8, 8))], tmp_path / "conv.tflite")
    built = build(path, board, tmp_path / "build")
    (layer,), (counted,) = built.report.layers, profile(built.directory).layers
    assert layer.backend == "ArmMul" and layer.cost is not None and counted.time is not None
    assert abs(layer.cost.value / counted.time.cycles - 1) < 0.1


@pytest.mark.parametrize("board", ["mps2-an385", "nucleo_g0b1re"])
def test_an_lstm_of_tflite_takes_what_it_is_priced_at(board: str, tmp_path: Path) -> None:
    """And gives the oracle's bits where there is an emulator of the board."""
    path = lstm_model(TAKEN[-1], tmp_path)
    built = build(path, board, tmp_path / "build", options=Options(optimize_for="speed"))
    (layer,), (counted,) = built.report.layers, profile(built.directory).layers
    assert layer.backend == "ArmMul" and layer.cost is not None and counted.time is not None
    assert abs(layer.cost.value / counted.time.cycles - 1) < 0.1
    if board == "mps2-an385":
        assert validate(built, path.with_suffix(".npz")).passed


@pytest.mark.parametrize("board", first(["nucleo_g0b1re", "mps2-an385"]))
def test_small_layers_and_large_windows_take_what_they_are_priced_at(
    board: str, tmp_path: Path
) -> None:
    made, how = LayersModel(), Quantized(0.05, 3)
    for channels, filters, group, size, kernel in (
        (4, 4, 2, 1, 1), (8, 8, 4, 4, 1), (64, 64, 32, 1, 1), (16, 16, 4, 6, 3), (8, 16, 8, 8, 3)
    ):  # fmt: skip
        weights = np.random.default_rng(0).integers(
            -90, 90, (filters, channels // group, kernel, kernel), np.int8
        )
        w = made.dequantized(made.constant(weights), 0.0137, 0, "int8")
        x = made.input((1, channels, size, size), how)
        y = made.node("Conv", [x, w], group=group, pads=[kernel // 2] * 4)
        made.output(made.quantized(y, how._replace(scale=0.9)), how._replace(scale=0.9))
    for op, channels, kernel in (("MaxPool", 2, 5), ("MaxPool", 8, 5), ("AveragePool", 8, 3)):
        x = made.input((1, channels, 9, 9), how)
        y = made.node(op, [x], kernel_shape=[kernel] * 2, pads=[kernel // 2] * 4)
        out = how if op == "MaxPool" else how._replace(scale=0.07)
        made.output(made.quantized(y, out), out)
    path, options = made.save(tmp_path / "layers.onnx"), Options(optimize_for="speed")
    built = build(path, board, tmp_path / "build", options=options)
    counts = profile(built.directory).layers
    layers = [
        (layer, counted)
        for layer, counted in zip(built.report.layers, counts, strict=True)
        if layer.op in ("Conv", "MaxPool", "AveragePool")
    ]
    assert {layer.backend for layer, _ in layers} == {"ArmMul"}
    for layer, counted in layers:
        assert layer.cost is not None and counted.time is not None
        assert abs(layer.cost.value / counted.time.cycles - 1) < 0.18, layer.name


def _dense(path: Path) -> Path:
    """Layers of rows, taps and filters that leave a rest, with large weights and small ones, of one
    scale and of one for each filter, as a product, a product with a bias and a convolution."""
    made, random = LayersModel(), np.random.default_rng(3)
    cases = [
        ("MatMul", 1, 8, 4, 128), ("Gemm", 3, 9, 5, 30), ("MatMul", 2, 6, 9, 128),
        ("Gemm", 1, 131, 7, 90), ("Conv", 1, 21, 6, 60), ("Gemm", 1, 64, 13, 20),
    ]  # fmt: skip
    for number, (op, rows, taps, filters, most) in enumerate(cases):
        dtype = "uint8" if number % 2 else "int8"
        how = Quantized(0.05, int(random.integers(100)), dtype)
        shape = (filters, taps) if op == "Gemm" else (taps, filters)
        if op == "Conv":
            shape = (filters, taps, 1, 1)
        x = made.input((1, taps, 1, 1) if op == "Conv" else (rows, taps), how)
        is_per_filter = op != "MatMul"
        scale = random.uniform(0.01, 0.02, filters if is_per_filter else None)
        zero = np.zeros(np.shape(scale), np.int8)
        weights = made.constant(random.integers(-most, most, shape).astype(np.int8))
        axis = {"axis": 0} if is_per_filter else {}
        operands = [x, made.dequantized(weights, scale, zero, "int8", **axis)]
        y = made.node(op, operands, **({"transB": 1} if op == "Gemm" else {}))
        out = Quantized(0.05 * 0.015 * most * np.sqrt(taps) / 2, 3, dtype)
        made.output(made.quantized(y, out), out)
    return made.save(path)

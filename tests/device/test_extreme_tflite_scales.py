"""TFLite models with scales that no sane one has: the oracle's bits, or a sentence that refuses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from arm_dsp_tflite_cases import LayersFile
from sampling import first, part

from mcu_deploy import formats
from mcu_deploy.api.building import build
from mcu_deploy.api.validating import validate
from mcu_deploy.errors import UnsupportedError
from mcu_deploy.options import Options

pytestmark = [pytest.mark.usefixtures("any_order")]

# Denormal, ordinary ones, the largest; and quotients on both sides of 2**30.
_SCALES = (1e-45, 1e-30, 3e-9, 0.02, 1.5, 1e30, 3e38)
_IMAGE = (1, 4, 4, 8)
_WINDOW = {"Padding": 0, "StrideH": 1, "StrideW": 1, "DilationHFactor": 1, "DilationWFactor": 1}
Scales = tuple[float, float, float]


def _conv(file: LayersFile, n: int, scales: Scales, size: int) -> float:
    x, w, y = scales
    weights = np.random.default_rng(n).integers(-127, 128, (6, size, size, 8)).astype(np.int8)
    file.layer(
        "CONV_2D",
        [file.tensor(f"x{n}", _IMAGE, x, -5), file.constant(f"w{n}", weights, [w])],
        file.tensor(f"y{n}", (1, 4, 4, 6), y, 3), "Conv2DOptions", _WINDOW,
    )  # fmt: skip
    return x * w / y


def _depthwise(file: LayersFile, n: int, scales: Scales) -> float:
    x, w, y = scales
    weights = np.random.default_rng(n).integers(-127, 128, (1, 3, 3, 8)).astype(np.int8)
    file.layer(
        "DEPTHWISE_CONV_2D",
        [file.tensor(f"x{n}", _IMAGE, x, -5), file.constant(f"w{n}", weights, [w])],
        file.tensor(f"y{n}", _IMAGE, y, 3), "DepthwiseConv2DOptions",
        {**_WINDOW, "DepthMultiplier": 1},
    )  # fmt: skip
    return x * w / y


def _dense(file: LayersFile, n: int, scales: Scales) -> float:
    x, w, y = scales
    weights = np.random.default_rng(n).integers(-127, 128, (6, 24)).astype(np.int8)
    file.layer(
        "FULLY_CONNECTED",
        [file.tensor(f"x{n}", (1, 24), x, -5), file.constant(f"w{n}", weights, [w])],
        file.tensor(f"y{n}", (1, 6), y, 3), "FullyConnectedOptions", {},
    )  # fmt: skip
    with np.errstate(over="ignore", under="ignore"):
        return float(np.float32(x) * np.float32(w)) / y


def _binary(kind: str) -> Callable[[LayersFile, int, Scales], float]:
    def add(file: LayersFile, n: int, scales: Scales) -> float:
        a, b, y = scales
        inputs = [file.tensor(f"a{n}", (1, 40), a, -5), file.tensor(f"b{n}", (1, 40), b, 2)]
        table = f"{kind.capitalize()}Options"
        file.layer(kind, inputs, file.tensor(f"y{n}", (1, 40), y, 3), table, {})
        return a * b / y if kind == "MUL" else 2 * max(a, b) / (2**20 * y)

    return add


def _reduced(kind: str) -> Callable[[LayersFile, int, Scales], float]:
    def add(file: LayersFile, n: int, scales: Scales) -> float:
        x, _, y = scales
        axes = file.constant(f"axes{n}", np.array([1, 2], np.int32))
        file.layer(
            kind, [file.tensor(f"x{n}", _IMAGE, x, -5), axes],
            file.tensor(f"y{n}", (1, 8), y, 3), "ReducerOptions", {},
        )  # fmt: skip
        return x / y

    return add


def _function(kind: str, table: str = "", **options: float) -> Callable[..., float]:
    def add(file: LayersFile, n: int, scales: Scales) -> float:
        x, _, y = scales
        given = file.tensor(f"x{n}", (1, 256), x, -5)
        file.layer(kind, [given], file.tensor(f"y{n}", (1, 256), y, 3), table, options)
        if kind == "QUANTIZE":
            return x / y
        with np.errstate(over="ignore", under="ignore"):
            largest = np.float32(x) * np.float32(max(options.get("Alpha", 1), 1))
            return float(largest / np.float32(y))

    return add


_LAYERS: dict[str, Callable[[LayersFile, int, Scales], float]] = {
    "1x1": lambda file, n, scales: _conv(file, n, scales, 1),
    "3x3": lambda file, n, scales: _conv(file, n, scales, 3),
    "depthwise": _depthwise,
    "dense": _dense,
    "mul": _binary("MUL"),
    "add": _binary("ADD"),
    "sub": _binary("SUB"),
    "mean": _reduced("MEAN"),
    "sum": _reduced("SUM"),
    "requantize": _function("QUANTIZE"),
    "relu": _function("RELU"),
    "leaky_relu": _function("LEAKY_RELU", "LeakyReluOptions", Alpha=20.0),
}
# Some ways to round, in one firmware.
_SAMPLE = ("3x3", "mul", "leaky_relu")
_DSP = ("ArmDsp", "CpuRef")
_CASES = [
    ("mps2-an386", _DSP, _SAMPLE),
    *((board, _DSP, (op,)) for board in ("mps2-an386", "mps2-an505") for op in _LAYERS),
    *(("host", ("CpuRef",), (op,)) for op in _LAYERS),
]


def _grid(op: str) -> list[Scales]:
    middle = _SCALES if op in ("1x1", "mul", "add", "dense") else (0.02,)
    return list(product(_SCALES, middle, _SCALES))


def _sentence(path: Path) -> str:
    try:
        formats.read(path)
    except UnsupportedError as refused:
        return str(refused)
    return ""


@pytest.mark.parametrize("op", _LAYERS)
def test_a_factor_that_32_bits_do_not_shift_by_is_refused(op: str, tmp_path: Path) -> None:
    told = 0
    grid = _grid(op)
    tried = part(grid, 12 if len(grid) > len(_SCALES) ** 2 else 4)
    for n, scales in enumerate(tried):
        file = LayersFile()
        factor = _LAYERS[op](file, n, tuple(float(np.float32(s)) for s in scales))  # type: ignore[arg-type]
        said = _sentence(file.save(tmp_path / "one.tflite"))
        assert bool(said) == (not factor < 2**30), (scales, factor, said)
        told += bool(said)
        assert not said or "which its scales make, and TensorFlow Lite's arithmetic" in said
        assert not said or "2**30 only; quantize the model anew" in said
    assert 3 <= told < len(tried)


@pytest.mark.needs_qemu
@pytest.mark.needs_arm_gcc
@pytest.mark.parametrize(("board", "backends", "ops"), first(_CASES))
def test_the_bits_are_the_oracle_s(
    board: str, backends: Sequence[str], ops: Sequence[str], tmp_path: Path
) -> None:
    """Of the factors that are taken: the smallest, the largest, and some between."""
    options = Options(backends=tuple(backends), optimize_for="speed")
    paths = [_model(tmp_path / f"{n}.tflite", op) for n, op in enumerate(ops)]
    names = [f"n{path.stem}" for path in paths]
    built = build(paths, board, tmp_path / "build", name=names, options=options)
    for name, path, op in zip(names, paths, ops, strict=True):
        given = path.with_suffix(".npz")
        result = validate(built, given, model=name, onnxruntime=False)
        assert [metrics.worst for metrics in result.oracle] == [0] * len(_taken(op)), op


def _model(path: Path, op: str) -> Path:
    """With samples beside it."""
    file = LayersFile()
    for n, scales in enumerate(_taken(op)):
        _LAYERS[op](file, n, scales)
    rng = np.random.default_rng(7)
    shapes = {t.name: t.shape for t in file.tensors}
    given = {}
    for n, name in enumerate(file.inputs):
        values = rng.integers(-128, 128, (4, *shapes[name])).astype(np.int8)
        values[1], values[2], values[3] = -128, 127, -5
        given[f"in{n}"] = values
    np.savez(path.with_suffix(".npz"), **given)
    return file.save(path)


def _taken(op: str) -> list[Scales]:
    by_factor: dict[float, Scales] = {}
    for scales in _grid(op):
        factor = _LAYERS[op](LayersFile(), 0, scales)
        if factor < 2**30 * 0.99:
            by_factor.setdefault(factor, scales)
    factors = sorted(by_factor)
    chosen = sorted({factors[0], factors[len(factors) // 2], *factors[-3:]})
    return [by_factor[factor] for factor in chosen]

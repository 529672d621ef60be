"""ArmMve's kernels that go element by element on QEMU's Cortex-M55: the oracle's bits, and the
cycles that they may take."""

from __future__ import annotations

import importlib
from pathlib import Path

import arm_dsp_clamp_cases
import arm_mve_broadcast_cases
import arm_mve_mean_cases
import arm_mve_normalization_cases
import arm_mve_pool_cases
import pytest
from arm_dsp_conversion_cases import MODELS, model, samples
from kernel_builds import MARKS, right
from quantized_layers import extremes
from sampling import first, part

from mcu_deploy.api.profiling import profile

pytestmark = MARKS
# Of an element of the largest layer.
_CYCLES = {
    "arm_mve_sum_cases": (1.75, 1.9),
    "arm_mve_table_cases": (1.25, 1.4),
    "quantize.onnx": (2.75, 3.4),
    "quantize.tflite": (2.75, 3.4),
    "dequantize.onnx": (1.25, 1.6),
}


@pytest.mark.parametrize("family", [name for name in _CYCLES if name.startswith("arm_mve")])
def test_every_layer_gives_the_bits_of_the_oracle(family: str, tmp_path: Path) -> None:
    module = importlib.import_module(family)
    cases = [module.ALONE, *part(module.TAKEN, 3)]
    path = module.model(cases, tmp_path / "cases.onnx")
    _check(family, path, extremes(path), len(cases), module.ALONE.elements, tmp_path)


@pytest.mark.matrix
def test_every_broadcast_gives_the_bits_of_the_oracle(tmp_path: Path) -> None:
    taken = arm_mve_broadcast_cases.TAKEN
    cases = part(taken, 6, taken[:2])
    path = arm_mve_broadcast_cases.model(cases, tmp_path / "cases.onnx")
    built = right(path, "mps3-an547", tmp_path, "speed", backend="ArmMve")
    backends = {layer.name: layer.backend for layer in built.report.layers}
    assert {backends[f"sum{n}"] for n in range(len(cases))} == {"ArmMve"}
    cycles = {layer.name: layer.cycles or 0 for layer in profile(built.directory).layers}
    for name, most in (("sum0", 2.5), ("sum1", 1.5)):  # as in squeeze-and-excite
        assert 64 * 256 < cycles[name] < most * 64 * 256


@pytest.mark.matrix
def test_every_mean_gives_the_bits_of_the_oracle(tmp_path: Path) -> None:
    cases = part(arm_mve_mean_cases.TAKEN, 2)
    path = arm_mve_mean_cases.model(cases, tmp_path / "cases.onnx")
    built = right(path, "mps3-an547", tmp_path, "speed", backend="ArmMve")
    backends = {layer.name: layer.backend for layer in built.report.layers}
    assert {backends[f"mean{n}"] for n in range(len(cases))} == {"ArmMve"}


def test_normalizations_give_the_bits_of_the_oracle(tmp_path: Path) -> None:
    cases = [arm_mve_normalization_cases.ALONE, *part(arm_mve_normalization_cases.TAKEN, 4)]
    path = arm_mve_normalization_cases.model(cases, tmp_path / "cases.onnx")
    built = right(path, "mps3-an547", tmp_path, "speed", backend="ArmMve")
    backends = {layer.name: layer.backend for layer in built.report.layers}
    assert {backends[f"normal{n}"] for n in range(len(cases))} == {"ArmMve"}
    cycles = {layer.name: layer.cycles or 0 for layer in profile(built.directory).layers}
    assert 3 * 64 * 64 < cycles["normal0"] < 5.2 * 64 * 64


@pytest.mark.matrix
def test_every_clamp_gives_the_bits_of_the_oracle(tmp_path: Path) -> None:
    cases = [*part(arm_dsp_clamp_cases.TAKEN, 3), arm_dsp_clamp_cases.LARGE]
    path = arm_dsp_clamp_cases.model(cases, tmp_path / "cases.onnx")
    built = right(path, "mps3-an547", tmp_path, "speed", backend="ArmMve")
    layers = {layer.name: layer for layer in built.report.layers}
    mine = [layers[f"clamped{n}"] for n in range(len(cases))]
    assert [layer.backend for layer in mine] == ["ArmMve"] * len(mine)
    large = next(layer for layer in profile(built.directory).layers if layer.name == mine[-1].name)
    assert large.cycles and mine[-1].cost
    # Less than half a cycle an element on top of the sum.
    assert large.cycles < 2.4 * 4096
    assert abs(large.cycles - mine[-1].cost.value) < 0.02 * large.cycles


def test_every_pool_gives_the_bits_of_the_oracle(tmp_path: Path) -> None:
    cases = [*arm_mve_pool_cases.ALONE, *part(arm_mve_pool_cases.TAKEN, 8)]
    path = arm_mve_pool_cases.model(cases, tmp_path / "cases.onnx")
    built = right(path, "mps3-an547", tmp_path, "speed", backend="ArmMve")
    layers = built.report.layers
    assert all(layer.backend == "ArmMve" for layer in layers if "Pool" in layer.op)
    cycles = {layer.name: layer.cycles or 0 for layer in profile(built.directory).layers}
    # Of each 16 channels of a pixel two loads, two additions, and one to its address.
    assert 5 * 125 * 4 < cycles["pool0"] < 5 * 125 * 4 + 500
    assert 5 * 64 * 4 < cycles["pool1"] < 5 * 64 * 4 + 900
    # Of 32 two loads and maxima, which are stored for every four pixels.
    assert 5 * 16 * 16 < cycles["pool2"] < 4200


@pytest.mark.parametrize("name", first([*MODELS]))
def test_every_conversion_gives_the_bits_of_the_oracle(name: str, tmp_path: Path) -> None:
    cases = part(MODELS[name], 3, MODELS[name][:1])
    path = model(cases, tmp_path / name)
    taken = sum(not case.is_refused for case in cases)
    _check(name, path, samples(cases, path), taken, cases[0].elements, tmp_path)


def _check(
    family: str, path: Path, data: Path, taken: int, elements: int, tmp_path: Path
) -> None:  # fmt: skip
    built = right(path, "mps3-an547", tmp_path, "speed", backend="ArmMve", samples=data)
    backends = [layer.backend for layer in built.report.layers]
    assert backends.count("ArmMve") == taken
    cycles = max(layer.cycles or 0 for layer in profile(built.directory).layers
                 if layer.op not in ("Slice", "Concat"))  # fmt: skip
    least, most = _CYCLES[family]
    assert least * elements < cycles < most * elements

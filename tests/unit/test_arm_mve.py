"""ArmMve's kernels, run by the interpreter of instructions: the oracle's bits, nothing touched
beside what is theirs, and the distances that let an output lie on an input."""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import arm_mve_broadcast_cases
import arm_mve_cases
import arm_mve_conv_cases
import arm_mve_dense_cases
import arm_mve_tflite
import numpy as np
import pytest
from kernel_runs import runs
from quantized_layers import extremes
from sampling import first

from mcu_deploy import formats, passes
from mcu_deploy.backends.ArmMve import ArmMve
from mcu_deploy.backends.ArmMve.kernels import (
    addition,
    convolution,
    float_pairs,
    fully_connected,
    pointwise,
)
from mcu_deploy.backends.interface import Layer, LayoutRule, Target
from mcu_deploy.backends.quantized.layers import Convolution
from mcu_deploy.backends.quantized.vector_windows import Windows, forms
from mcu_deploy.backends.quantized.walks import Walk, walks
from mcu_deploy.ir import view_of_all
from mcu_deploy.options import Options

_FAMILIES = sorted(path.stem for path in Path(__file__).parents[1].glob("arm_mve*_cases.py"))
_EVERY = 3  # of the cases in the sample, and of a long list
_OF_MANY = 6
_MANY = 12
_WHOLE = ("arm_mve_matmul_cases",)  # whose distance is that of whole matrices
_OPTIONS = Options(backends=("ArmMve", "CpuRef"), optimize_for="speed")


@pytest.mark.parametrize("family", _FAMILIES)
def test_kernels_give_the_oracles_bits(
    family: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    module = importlib.import_module(family)
    taken = list(module.TAKEN)
    if not request.config.getoption("--all"):
        taken = taken[:: _OF_MANY if len(taken) > _MANY else _EVERY]
    seen = _run(module, taken, tmp_path)
    assert seen["tight"] or family in _WHOLE, "no distance is as small as it may be"


@pytest.mark.parametrize("name", first([*arm_mve_tflite.MODELS]))
def test_kernels_of_tflite_give_them(name: str, tmp_path: Path) -> None:
    cases = arm_mve_tflite.MODELS[name]
    path = arm_mve_tflite.model(cases, tmp_path / "cases.tflite")
    assert _check(path, arm_mve_tflite.extremes(path))["layers"] == len(cases)


@pytest.mark.parametrize("form", first([0, 1, 2, 3], 2))
def test_every_form_of_windows_gives_them(
    form: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """Where they are or brought together, in bands of a row or of several; also the slower ones."""

    def one(layer: Convolution, most: int) -> list[Windows]:
        found = forms(layer, most)
        return [found[form % len(found)]]

    monkeypatch.setattr(convolution, "forms", one)
    every = 1 if request.config.getoption("--all") else 4 * _EVERY
    _run(arm_mve_conv_cases, list(arm_mve_conv_cases.TAKEN)[form::every], tmp_path)


def test_a_function_of_all_sizes_gives_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    for module in (pointwise, fully_connected, convolution):
        monkeypatch.setattr(module, "propose", lambda view, node: "")
    every = 1 if request.config.getoption("--all") else _OF_MANY
    for module in (arm_mve_cases, arm_mve_dense_cases):
        taken = [case for case in module.TAKEN if getattr(case, "dtype", "int8") == "int8"]
        assert _run(module, taken[::every], tmp_path)["tight"]
    rows = (*arm_mve_tflite.MODELS["many filters"], *arm_mve_tflite.MODELS["depthwise"])
    cases = [case for case in rows if getattr(case, "kernel", (1, 1)) == (1, 1)]
    path = arm_mve_tflite.model(cases, tmp_path / "cases.tflite")
    assert _check(path, arm_mve_tflite.extremes(path))["layers"] == len(cases)


@pytest.mark.matrix
@pytest.mark.parametrize("rule", first([LayoutRule.CHANNELS_LAST, LayoutRule.NATURAL]))
def test_every_order_of_broadcast_operands_gives_them(
    rule: LayoutRule, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:  # fmt: skip
    def of_one(layer: Layer) -> Sequence[Walk] | str:
        found = walks(layer)
        return [w for w in found if not isinstance(w, str) and w.rule is rule] or found

    for family in (addition, float_pairs):
        monkeypatch.setattr(family, "walks", of_one)
    every = 1 if request.config.getoption("--all") else 2 * _EVERY
    _run(arm_mve_broadcast_cases, list(arm_mve_broadcast_cases.TAKEN)[::every], tmp_path)


def _run(module: ModuleType, cases: list[Any], tmp_path: Path) -> Counter[str]:
    """How many layers there are, and distances that are as small as they may be."""
    path = module.model(cases, tmp_path / "cases.onnx")
    seen = _check(path, extremes(path))
    assert seen["layers"] == len(cases)
    return seen


def _check(path: Path, given: Path) -> Counter[str]:
    """As `_run`, of a model and samples."""
    samples, graph = np.load(given), formats.load(path)
    inputs = [samples[graph.edge_name(edge)][0] for edge in graph.inputs]
    seen: Counter[str] = Counter()
    for run in runs(path, inputs, board="mps3-an547", options=_OPTIONS):
        if run.choice.workload.backend != "ArmMve":
            continue
        assert run.result() == run.output, run.name
        is_asked = run.choice.layer.op != "Reorder"  # which stands around them
        seen["layers"] += is_asked
        for place in run.choice.workload.in_place:
            assert run.result(place) == run.output, f"{run.name}: {place}"
            seen["tight"] += is_asked and run.fails(place, run.output)
    return seen


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        (Target("cortex-m55", fpu=True, dsp=True, mve=False), "need Helium, which"),
        (Target("cortex-m55", fpu=False, dsp=True, mve=True), "round in floats of Helium"),
    ],
)
def test_it_says_what_a_core_lacks(target: Target, reason: str, tmp_path: Path) -> None:
    module = importlib.import_module("arm_mve_cases")
    path = module.model([module.ALONE], tmp_path / "one.onnx")
    view = view_of_all(passes.run(formats.load(path)))
    found = ArmMve().propose(view, target)
    assert not found.proposals
    assert all(reason in why for why in found.refused.values()) and found.refused

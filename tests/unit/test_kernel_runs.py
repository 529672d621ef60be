"""Kernels of assembly on the interpreter: the oracle's bits, nothing touched beside what is theirs,
and the distances that let an output lie on an input."""

from __future__ import annotations

import importlib
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import arm_dsp_dense_cases
import arm_dsp_late_cases
import pytest
from arm_dsp_cases import Case, model
from arm_dsp_dense_cases import Dense
from kernel_runs import first_sample, runs
from quantized_layers import extremes

from mcu_deploy.backends.ArmDsp.kernels import convolution, fully_connected, matmul

_FAMILIES = (
    "arm_dsp_cases", "arm_dsp_convolutions", "arm_dsp_conv_table_cases", "arm_dsp_dense_cases",
    "arm_dsp_depthwise_cases", "arm_dsp_matmul_cases", "arm_dsp_pool_cases",
    "arm_dsp_softmax_cases", "arm_dsp_sum_cases",
    "arm_dsp_table_cases", "arm_dsp_winograd_cases",
)  # fmt: skip
# Of these most layers are quicker in other kernels, which do not compete here.
_ALONE = {"arm_dsp_winograd_cases": convolution}
# Those that ask how long their loops may be.
_SHORTER = {"arm_dsp_dense_cases": fully_connected, "arm_dsp_matmul_cases": matmul}
_LOOP_BYTES = 500
_EVERY = 6  # of the cases in the sample
_MOST_MACS = 300_000


def _model(family: str, path: Path, every: int) -> tuple[Path, int]:
    """The model of a family's cases, and how many they are."""
    module = importlib.import_module(family)
    build = getattr(module, "model", None) or importlib.import_module("arm_dsp_convolutions").model
    cases = list(module.TAKEN)
    more = [case for case in getattr(module, "ENDS", ()) if case not in cases[::every]]
    taken = [*cases[::every], *more]
    found: Path = build(taken, path)
    return found, len(taken)


@pytest.mark.parametrize("family", _FAMILIES)
def test_kernels_give_the_oracles_bits(
    family: str, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    _run(family, tmp_path, request, monkeypatch)


@pytest.mark.parametrize(("family", "module"), _SHORTER.items())
def test_kernels_whose_loops_are_short_give_them_too(
    family: str,
    module: ModuleType,
    tmp_path: Path,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "loop_bytes", lambda target: _LOOP_BYTES)
    _run(family, tmp_path, request, monkeypatch)


def _run(
    family: str, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    if family in _ALONE:
        monkeypatch.setattr(_ALONE[family], "propose", lambda view, layer: "")
    every = 1 if request.config.getoption("--all") else _EVERY
    path, cases = _model(family, tmp_path / "cases.onnx", every)
    inputs = first_sample(path, extremes(path))
    seen: Counter[str] = Counter()
    for run in runs(path, inputs):
        seen["kernels"] += 1
        if run.choice.layer.macs > _MOST_MACS:
            continue
        assert run.result() == run.output, run.name
        for place in run.choice.workload.in_place:
            assert run.result(place) == run.output, f"{run.name}: {place}"
            seen["places"] += 1
            if place.exactly:
                continue
            seen["tight"] += run.fails(place, run.output)
    assert seen["kernels"] >= cases, "a case is not one kernel"


def test_late_sums_are_the_oracles(tmp_path: Path) -> None:
    path, samples = arm_dsp_late_cases.model(tmp_path / "late.onnx")
    inputs = first_sample(path, samples)
    seen: Counter[bool] = Counter()
    for run in runs(path, inputs):
        assert run.result() == run.output, run.name
        seen["depthwise" in run.name] += 1
    assert seen[True] == len(arm_dsp_late_cases.DEPTHWISE) and seen[False]


def test_a_distance_that_is_too_generous_fails(tmp_path: Path) -> None:
    """A 1x1 layer of as many filters as channels may lie exactly on its input, and no byte on."""
    path = model([Case(8, 8, 6, 6)], tmp_path / "cases.onnx")
    inputs = first_sample(path, extremes(path))
    (run,) = runs(path, inputs)
    (place,) = run.choice.workload.in_place
    assert run.result(place) == run.output
    assert run.result(place, 4) != run.output


def test_a_distance_that_is_one_byte_too_generous_fails(tmp_path: Path) -> None:
    """The second of two rows begins right behind what the first one, longer by an element, gives.
    Tensors lie at whole words: a byte less is a word less."""
    path = arm_dsp_dense_cases.model([Dense(2, 8, 9)], tmp_path / "rows.onnx")
    inputs = first_sample(path, extremes(path))
    (run,) = runs(path, inputs)
    place, _ = run.choice.workload.in_place
    assert place.distance == 1 and run.result(place) == run.output
    assert run.result(replace(place, distance=0)) != run.output

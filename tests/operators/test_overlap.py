"""Every kernel of CpuRef states how closely its output may follow its input: to the byte."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import onnx
import pytest
from hypothesis import given, seed, settings
from models.mlperf import INT8
from operators.overlap_cases import FAMILIES
from operators.overlap_checks import check_facts, check_runs, runs_alike
from operators.overlap_lab import Library, choices, choices_of
from sampling import chosen, examples

from mcu_deploy.errors import McuDeployError
from mcu_deploy.selection import Choice

pytestmark = pytest.mark.needs_host_gcc


def drawn(family: str, count: int) -> list[onnx.ModelProto]:
    """So many models of each strategy of a family, always the same ones."""
    found: list[onnx.ModelProto] = []

    for number, strategy in enumerate(FAMILIES[family]):

        @seed(number)
        @settings(max_examples=count, deadline=None, database=None)
        @given(strategy)
        def collect(model: onnx.ModelProto) -> None:
            found.append(model)

        collect()
    return found


def layers_of(models: Sequence[onnx.ModelProto], folder: Path) -> list[Choice]:
    """The layers of all models; those that the compiler refuses have none."""
    made: list[Choice] = []
    refused = 0
    for model in models:
        try:
            made += choices(model, folder)
        except McuDeployError:
            refused += 1
    assert refused <= len(models) // 4, f"{refused} of {len(models)} models are refused"
    return made


@pytest.fixture(scope="module")
def some_layers(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], list[Choice]]:
    """Layers of some models of a family, made once."""
    folder = tmp_path_factory.mktemp("models")
    count = examples(100, 8)
    return functools.cache(lambda family: layers_of(drawn(family, count), folder))


@pytest.mark.parametrize("family", FAMILIES)
def test_the_facts_are_those_of_the_accesses(
    family: str, some_layers: Callable[[str], list[Choice]], tmp_path: Path
) -> None:
    made = some_layers(family)
    check_facts(made, tmp_path)
    assert check_runs(made, tmp_path) > 10


@pytest.mark.parametrize("name", chosen(INT8, ("mlperf_ad_int8",)))
def test_the_facts_of_real_models(name: str, models_dir: Path, tmp_path: Path) -> None:
    check_facts(choices_of(models_dir / name / "model.onnx"), tmp_path)


@pytest.mark.matrix
def test_the_facts_of_all_models(models_dir: Path, tmp_path: Path) -> None:
    seen = 0
    for model in sorted(models_dir.glob("*/model.onnx")):
        folder = tmp_path / model.parent.name
        folder.mkdir()
        try:
            made = choices_of(model)
        except McuDeployError:
            continue  # other tests say which models nobody can compute
        check_facts(made, folder, exact=False)
        seen += 1
    assert seen > 30


def test_one_element_closer_is_too_close(
    some_layers: Callable[[str], list[Choice]], tmp_path: Path
) -> None:
    """Most runs then give other bits; a few overwrite what would have been multiplied by zero."""
    made = some_layers("convolutions")
    library = Library(made, tmp_path)
    right = []
    for index, choice in enumerate(made):
        size = choice.layer.input(0).type.dtype.bytes
        for fact in choice.workload.in_place:
            if fact.distance > -choice.layer.input(0).type.bytes:
                closer = replace(fact, distance=fact.distance - size)
                right.append(runs_alike(choice.layer, index, library, [closer]))
    assert sum(right) < len(right) / 10

"""What a build may ask of a saved model: the same core, the same options, or none."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pmx_cases import BOARD, compiled, packed

from mcu_deploy import formats
from mcu_deploy.errors import UsageError
from mcu_deploy.options import Options, Requests


@pytest.fixture(scope="module")
def saved(kws_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("fitting") / "saved.pmx"
    options = Options(strategy="cost", io="caller")
    path.write_bytes(packed(compiled(kws_dir / "model.onnx", options, name="words")))
    return path


def test_the_name_is_that_of_the_model(saved: Path) -> None:
    assert compiled(saved).name == "words"
    assert "_mcu_network_words" in compiled(saved).sources.source
    assert compiled(saved, name="other").name == "other"


def test_another_core_is_refused_with_both_names(saved: Path) -> None:
    with pytest.raises(UsageError, match=r"for a cortex-m4 with .* mps2-an500 has a cortex-m7"):
        compiled(saved, board="mps2-an500")


def test_another_board_of_the_core_is_not(saved: Path) -> None:
    ours, theirs = compiled(saved), compiled(saved, board="netduinoplus2")
    assert ours.plan.places == theirs.plan.places
    assert ours.sources.weights == theirs.sources.weights


def test_equal_and_absent_options_are_taken(saved: Path) -> None:
    assert compiled(saved).options.io == "caller"
    assert compiled(saved, Options(strategy="cost", io="caller")).options.strategy == "cost"


@pytest.mark.parametrize(
    ("asked", "flag"),
    [
        ({"memory": "mru"}, "--memory"),
        ({"backends": ("CpuRef",)}, "--backend"),
        ({"layers_all": True}, "--layers"),
        ({"arena": "shared"}, "--arena"),
        ({"shapes": {"input": (1, 490)}}, "--shape"),
        ({"requests": Requests(keep=("x",))}, "--keep, --partition or --state"),
    ],
)
def test_other_options_are_refused(saved: Path, asked: Mapping[str, Any], flag: str) -> None:
    with pytest.raises(UsageError) as caught:
        compiled(saved, Options(**asked))
    assert f"was not optimised with what {flag} asks for now" in str(caught.value)


def test_how_weights_are_written_is_for_the_build_to_say(saved: Path, kws_dir: Path) -> None:
    options = Options(weights="array", io="caller", strategy="cost")
    direct = compiled(kws_dir / "model.onnx", options, name="words")
    assert compiled(saved, Options(weights="array")).sources.files == direct.sources.files


def test_a_saved_file_is_no_model_to_begin_with(saved: Path) -> None:
    assert formats.is_compiled(saved)
    with pytest.raises(UsageError, match="has no model in it any more"):
        formats.load(saved)


def test_other_formats_are_not_compiled(kws_dir: Path) -> None:
    assert not formats.is_compiled(kws_dir / "model.onnx")
    assert not formats.is_compiled(Path("model.txt"))
    assert BOARD == "mps2-an386", "the tests above say cortex-m4"

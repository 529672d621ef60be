"""A core without a board: what it is, and what the command line says of what there is not."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from command_line import call
from sampling import every_board

from mcu_deploy.boards import Board, Processor, load_core
from mcu_deploy.errors import UsageError

BOARDS = [board for board in every_board() if not board.is_host]


@pytest.mark.parametrize("board", BOARDS, ids=lambda board: board.name)
def test_a_core_is_compiled_for_as_a_board_that_has_it(board: Board) -> None:
    name = board.core
    if board.core == "cortex-m33" and not board.dsp:
        name += "+nodsp"
    if board.core in ("cortex-m55", "cortex-m85") and not board.mve:
        name += "+nomve"
    core = load_core(name, board.fpu)
    own_flags = "cflags" in board.document.values  # where gcc does not know the core
    for field in dataclasses.fields(Processor):
        if field.name != "name" and not (own_flags and field.name == "cflags"):
            assert getattr(core, field.name) == getattr(board, field.name), field.name


def test_flags_of_ones_own_take_the_place_of_others() -> None:
    core = load_core("cortex-m85", "fp-armv8-d16", ["-mcpu=cortex-m55", "-fshort-enums"])
    assert core.cflags == (
        "-mthumb", "-mfpu=auto", "-mfloat-abi=hard", "-mcpu=cortex-m55", "-fshort-enums",
    )  # fmt: skip
    soft = load_core("cortex-m4", "fpv4-sp-d16", ["-mfloat-abi=softfp"])
    assert (core.float_abi, soft.float_abi) == ("hard", "soft")
    assert "-mfloat-abi=hard" not in soft.cflags and soft.fpu == "fpv4-sp-d16"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["cortex-m9"], "--core cortex-m9 is not known; did you mean 'cortex-m"),
        (["host"], "give --board host"),
        (["cortex-m4+nodsp"], "+nodsp is not known of a cortex-m4; it has no options"),
        (["cortex-m33+nomve"], "it can have +nodsp"),
        (["cortex-m3", "fpv4-sp-d16"], "--fpu fpv4-sp-d16 does not exist on a cortex-m3"),
        (["cortex-m3", "none", ["-O3"]], "--cflags -O3 is neither"),
        (["cortex-m3", "none", ["-ffast-math"]], "would change what a network computes"),
        (["cortex-m3", "none", ["-flto=auto"]], "no object with it that can be checked"),
        (["cortex-m3", "none", ["-fsyntax-only"]], "no object with it that can be checked"),
        (["cortex-m4", "none", ["-mfloat-abi=hard"]], "with it goes -mfloat-abi=soft."),
        (
            ["cortex-m4", "fpv4-sp-d16", ["-mfloat-abi=soft"]],
            "-mfloat-abi=hard or -mfloat-abi=soft",
        ),
        (
            ["cortex-m4", "none", ["-mfloat-abi"]],
            "--cflags -mfloat-abi does not go with --fpu none",
        ),
    ],
)
def test_what_there_is_not_is_a_sentence(arguments: list[str], said: str) -> None:
    with pytest.raises(UsageError) as caught:
        load_core(*arguments)
    assert said in str(caught.value) and str(caught.value).endswith((".", "?"))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--board host --core cortex-m4", "contradict each other"),
        ("--fpu fpv5-d16", "--fpu says more of a --core"),
        ("--board host --cflags -mlong-calls", "--cflags says more of a --core"),
        ("--core cortex-m4 --cflags '", "is no list of words"),
        ("--board mps2-an386 --clock fast", "--clock fast is not known; it is reset or rated."),
        ("", "Say for what to build: --board BOARD"),
    ],
)
def test_options_that_contradict_are_wrong_usage(words: str, said: str) -> None:
    done = call("build", "none.onnx", *words.split())
    assert (done.returncode, said in done.stderr) == (2, True), done.stderr


def test_flags_that_break_an_objects_rules_are_named(repository: Path, tmp_path: Path) -> None:
    words = ["--core", "cortex-m4", "--cflags", "-mlong-calls -fPIC"]
    done = call("build", repository / "examples/cmake/sine.tflite", *words, cwd=tmp_path)
    assert "Leave out -mlong-calls -fPIC; what is wrong without that is a fault" in done.stderr

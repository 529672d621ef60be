"""The work of compiling is of the order of the layers: for three times as many it is less than
three times as much.

What grows with their square would take 9 times as much.
"""

from __future__ import annotations

from pathlib import Path

from work import lines

from benchmarks.made import chain
from mcu_deploy.boards import load_board
from mcu_deploy.compiler import compile_model


def test_the_work_of_compiling_grows_with_the_layers_and_not_with_their_square(
    tmp_path: Path,
) -> None:
    board = load_board("mps2-an386")
    work: dict[int, int] = {}
    for count in (2, 3, 9):  # the first one imports and renders templates
        path = tmp_path / f"chain{count}.onnx"
        chain(count)(path)
        work[count] = lines(lambda path=path: compile_model(path, board))  # type: ignore[misc]
    assert work[9] < 3.3 * work[3]

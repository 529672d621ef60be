"""Time to compile is of the order of the layers: four times as many take four times as long.

What grows with their square would take 16 times as long. The test allows 8, since processor time
on a machine that does other work is one quarter longer now and then.
"""

from __future__ import annotations

import time
from pathlib import Path

from benchmarks.made import chain
from mcu_deploy.boards import load_board
from mcu_deploy.compiler import compile_model


def test_the_time_to_compile_grows_with_the_layers_and_not_with_their_square(
    tmp_path: Path,
) -> None:
    board = load_board("mps2-an386")
    seconds: dict[int, float] = {}
    for count in (5, 25, 100, 25, 100):  # the first one imports and renders templates
        path = tmp_path / f"chain{count}.onnx"
        chain(count)(path)
        start = time.process_time()
        network = compile_model(path, board)
        taken = time.process_time() - start
        seconds[count] = min(taken, seconds.get(count, taken))
        assert len(network.plan.steps) <= count + 4  # and two transposes
    assert seconds[100] <= 8 * seconds[25]

"""Loading is several times faster than reading, optimising and planning the model file."""

from __future__ import annotations

import resource
from collections.abc import Callable
from pathlib import Path

from pmx_cases import BOARD, packed, session

from mcu_deploy import codegen, pmx
from mcu_deploy.boards import load_board
from mcu_deploy.compiler import compile_model

# docs/pmx.md has what was measured: 18, of this model.
LEAST = 5


def _processor_time() -> float:
    """Seconds of this process and of its children that have ended: other work does not count."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(used.ru_utime + used.ru_stime for used in both)


def _best(action: Callable[[], object], times: int = 7) -> float:
    spent = []
    for _ in range(times):
        started = _processor_time()
        action()
        spent.append(_processor_time() - started)
    return min(spent)


def test_the_largest_model(models_dir: Path, tmp_path: Path) -> None:
    model = max(models_dir.glob("*/model.onnx"), key=lambda path: path.stat().st_size)
    board = load_board(BOARD)
    with session() as own:
        network = compile_model(model, board, session=own)
        saved = tmp_path / "m.pmx"
        saved.write_bytes(packed(network))

        def generate() -> object:
            return codegen.generate(
                network.graph, network.plan, network.name, "gcc", "incbin", network.selection
            )

        from_model = _best(lambda: compile_model(model, board, session=own)) - _best(generate)
        from_saved = _best(lambda: pmx.load(saved))
    assert from_model > LEAST * from_saved, (
        f"{model.parent.name}: {1e3 * from_model:.1f} ms, and loaded {1e3 * from_saved:.1f} ms"
    )

"""ArmMve's copies into another order of the axes, on the interpreter: every element in its place,
and nothing touched beside."""

from __future__ import annotations

import numpy as np
import pytest

from mcu_deploy.backends.ArmMve.reorder import Turned, assemble
from mcu_deploy.backends.isa.function import framed
from mcu_deploy.backends.isa.interpreter import Data, call

_X, _Y = 0x2000_0000, 0x2800_0000
# RGB images, channels of few pixels, ends of every length, words.
_CASES = (
    Turned(1, 3, 96, 1), Turned(1, 96, 3, 1), Turned(1, 64, 20, 1), Turned(1, 20, 64, 1),
    Turned(2, 5, 7, 1), Turned(3, 9, 2, 1), Turned(1, 1000, 5, 1), Turned(1, 5, 1001, 1),
    Turned(1, 700, 701, 1), Turned(1, 3, 50, 4), Turned(1, 33, 2, 4), Turned(2, 6, 6, 4),
    Turned(1, 1200, 13, 4),
)  # fmt: skip


@pytest.mark.parametrize("of", _CASES, ids=str)
def test_rows_become_columns(of: Turned) -> None:
    count = of.matrices * of.rows * of.columns * of.size
    given = np.random.default_rng(5).integers(0, 256, count, np.uint8)
    memory = Data()
    memory.lay(_X, given.tobytes(), is_constant=True)
    written = memory.lay(_Y, bytes([0xA5]) * count)
    call(framed(assemble(of).items), [_X, _Y], memory)
    assert bytes(written) == _turned(of, given)


@pytest.mark.parametrize("of", _CASES, ids=str)
def test_the_output_may_lie_on_the_input(of: Turned) -> None:
    count = of.matrices * of.rows * of.columns * of.size
    given = np.random.default_rng(5).integers(0, 256, count, np.uint8)

    def result(behind: int) -> bytes:
        memory = Data()
        held = memory.lay(_Y, bytes(behind) + given.tobytes())
        call(framed(assemble(of).items), [_Y + behind, _Y], memory)
        return bytes(held[:count])

    assert result(of.distance) == _turned(of, given)
    assert result(of.distance - of.size) != _turned(of, given)


def _turned(of: Turned, given: np.ndarray) -> bytes:
    shape = of.matrices, of.rows, of.columns, of.size
    return given.reshape(shape).swapaxes(1, 2).tobytes()

"""ArmMve's copies into another order of the axes, on the interpreter: every element in its place,
and nothing touched beside."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from sampling import chosen

from mcu_deploy.backends.ArmMve.reorder import Blocks, Turned, assemble, assemble_blocks
from mcu_deploy.backends.isa.function import framed
from mcu_deploy.backends.isa.interpreter import Data, call
from mcu_deploy.boards import load_core
from mcu_deploy.compiler import compile_model

_X, _Y = 0x2000_0000, 0x2800_0000
# RGB images, channels of few pixels, ends of every length, words.
_CASES = (
    Turned(1, 3, 96, 1), Turned(1, 96, 3, 1), Turned(1, 64, 20, 1), Turned(1, 20, 64, 1),
    Turned(2, 5, 7, 1), Turned(3, 9, 2, 1), Turned(1, 1000, 5, 1), Turned(1, 5, 1001, 1),
    Turned(1, 3, 50, 4), Turned(1, 33, 2, 4), Turned(2, 6, 6, 4), Turned(1, 1200, 13, 4),
)  # fmt: skip
_ALL = chosen([*_CASES, Turned(1, 700, 701, 1)], _CASES)


@pytest.mark.parametrize("of", _ALL, ids=str)
def test_rows_become_columns(of: Turned) -> None:
    count = of.matrices * of.rows * of.columns * of.size
    given = np.random.default_rng(5).integers(0, 256, count, np.uint8)
    memory = Data()
    memory.lay(_X, given.tobytes(), is_constant=True)
    written = memory.lay(_Y, bytes([0xA5]) * count)
    call(framed(assemble(of).items), [_X, _Y], memory)
    assert bytes(written) == _turned(of, given)


@pytest.mark.parametrize("of", _ALL, ids=str)
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


@pytest.mark.parametrize("block", [4, 8, 16, 36, 64])
def test_blocks_stay_together(block: int) -> None:
    """Also where the output lies on the input."""
    shape = 2, 5, 3, 4, block
    order = 0, 3, 2, 1, 4
    given = np.random.default_rng(5).integers(0, 256, shape, np.uint8)
    strides = [given.strides[axis] for axis in order]
    of = Blocks((2, 4, 3, 5, block), tuple(strides[:-1]))
    wanted = given.transpose(order).tobytes()

    def result(behind: int) -> bytes:
        memory = Data()
        held = memory.lay(_Y, bytes(behind) + given.tobytes())
        call(framed(assemble_blocks(of).items), [_Y + behind, _Y], memory)
        return bytes(held[: len(wanted)])

    assert result(of.distance) == wanted
    assert result(of.distance - 1) != wanted


def _turned(of: Turned, given: np.ndarray) -> bytes:
    shape = of.matrices, of.rows, of.columns, of.size
    return given.reshape(shape).swapaxes(1, 2).tobytes()


def test_a_core_without_helium_s_floats_gets_none(tmp_path: Path) -> None:
    x, y = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in (("x", (1, 3, 8, 8)), ("y", (1, 4, 6, 6)))
    )
    w = numpy_helper.from_array(np.ones((4, 3, 3, 3), np.float32), "w")
    node = helper.make_node("Conv", ["x", "w"], ["y"])
    onnx.save(helper.make_model(helper.make_graph([node], "g", [x], [y], [w])), tmp_path / "n.onnx")
    turns = {}
    for fpu in ("fp-armv8-d16", "none"):
        made = compile_model(tmp_path / "n.onnx", load_core("cortex-m55", fpu), name="n")
        turns[fpu] = "reorder_1x3x64x4_mve" in str(made.sources.files)
    assert turns == {"fp-armv8-d16": True, "none": False}

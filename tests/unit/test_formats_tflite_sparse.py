"""Constants of TFLite files that are stored sparsely. What LiteRT makes of others is recorded
(operators/tflite_cases.py)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tflite_models import Operator, Sparsity, Tensor, int8, write

from mcu_deploy import formats, interpreter, passes
from mcu_deploy.errors import McuDeployError

STORED = np.array([5, -7, 9], np.int8)
SEGMENTS, INDICES = np.array([0, 1, 1, 3], np.uint8), np.array([2, 0, 3], np.uint8)
SPARSE = Tensor(
    "s", (3, 4), "INT8", (0.5,), (0,), value=STORED,
    sparsity=Sparsity((0, 1), (3, (SEGMENTS, INDICES))),
)  # fmt: skip
DENSE = np.array([[0, 0, 5, 0], [0, 0, 0, 0], [-7, 0, 0, 9]])


def _run(path: Path, weights: Tensor, densify: bool) -> list[int]:
    """What a dense layer with these weights makes of 1, 2, 3 and 4."""
    ends = [int8("x", (1, 4), 1.0, 0), int8("y", (1, 3), 0.5, 0), replace(weights, name="s")]
    operators = [Operator("FULLY_CONNECTED", ("x", "s", ""), ("y",), "FullyConnectedOptions")]
    if densify:
        made = replace(weights, name="w", value=None, sparsity=None)
        operators = [
            Operator("DENSIFY", ("s",), ("w",), "DensifyOptions"),
            replace(operators[0], inputs=("x", "w", "")),
        ]
        ends.append(made)
    path.write_bytes(write(ends, operators, ["x"], ["y"]))
    (y,) = interpreter.run(passes.run(formats.load(path)), [np.int8([[1, 2, 3, 4]])])
    return [int(n) for n in y[0]]


@pytest.mark.parametrize("densify", [False, True])
def test_integer_weights_are_a_constant(densify: bool, tmp_path: Path) -> None:
    wanted = (DENSE @ [1, 2, 3, 4]).tolist()
    assert _run(tmp_path / "m.tflite", SPARSE, densify) == wanted


LEVEL = (SEGMENTS, INDICES)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"order": (0, 2)}, "levels that are not its axes and blocks"),
        ({"order": (2, 0, 1), "levels": (1, 3, LEVEL), "blocks": (0,)}, "blocks around its axes"),
        ({"levels": (2, LEVEL)}, "other places than elements"),
        ({"levels": (100, LEVEL)}, "other places than elements"),
        ({"levels": (4, LEVEL)}, "out of bounds"),
        ({"levels": (3, (SEGMENTS, INDICES + 1))}, "out of bounds"),
        ({"levels": (3, (SEGMENTS, np.int32([2, 0, -1])))}, "before its beginning"),
    ],
)  # fmt: skip
def test_levels_that_do_not_fit(change: dict[str, object], told: str, tmp_path: Path) -> None:
    assert SPARSE.sparsity is not None
    damaged = replace(SPARSE, sparsity=replace(SPARSE.sparsity, **change))
    with pytest.raises(McuDeployError, match=rf"no sound TFLite file \(.*{told}"):
        _run(tmp_path / "m.tflite", damaged, densify=True)


def test_a_tensor_that_is_computed_is_no_sparse_one(tmp_path: Path) -> None:
    ends = [Tensor("x", (1, 4)), Tensor("y", (1, 4))]
    path = tmp_path / "m.tflite"
    path.write_bytes(write(ends, [Operator("DENSIFY", ("x",), ("y",))], ["x"], ["y"]))
    with pytest.raises(McuDeployError, match="'x', which is computed at run time"):
        formats.load(path)


def test_too_many_elements_are_told_before_they_are_made(tmp_path: Path) -> None:
    with pytest.raises(McuDeployError, match="more than any microcontroller holds"):
        _run(tmp_path / "m.tflite", replace(SPARSE, shape=(1 << 20, 1 << 20)), densify=True)
    with pytest.raises(McuDeployError, match="stored sparsely in 4 bits"):
        _run(tmp_path / "m.tflite", replace(SPARSE, type="INT4"), densify=False)

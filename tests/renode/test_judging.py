"""What keywords judge by, without an emulator: names of faults, and values beside others."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper
from operators.lab import make_model

from mcu_deploy.boards import load_board
from mcu_deploy.compiler import compile_model
from mcu_deploy.device import FaultCause, FaultReport
from mcu_deploy.errors import RequestError
from mcu_deploy.robot.faults import matches
from mcu_deploy.robot.values import difference, samples_of


@pytest.mark.parametrize(
    ("name", "is_so"),
    [("bus fault", True), ("Bad-Read", True), ("hard fault", False), ("bad write", False)],
)
def test_a_fault_is_called_by_its_exception_or_its_cause(name: str, is_so: bool) -> None:
    assert matches(name, FaultReport(FaultCause.BAD_READ, 5, 0x2000_0000)) == is_so
    with pytest.raises(RequestError, match="There is no fault called 'bus'"):
        matches("bus", FaultReport(FaultCause.BAD_READ, 5, 0x2000_0000))


def test_one_value_of_many_is_a_difference(tmp_path: Path) -> None:
    kind = ("int32", (1, 5))
    model = make_model([helper.make_node("Neg", ["x"], ["y"])], {"x": kind}, {"y": kind})
    onnx.save(model, tmp_path / "neg.onnx")
    network = compile_model(tmp_path / "neg.onnx", load_board("host"))
    assert len(samples_of("random", network, None)) == 4
    ours, theirs = np.arange(5).reshape(1, 5), np.array([[0, 1, 2, 5, 4]])
    assert difference(network, "host", [[ours]], [[ours]], None) is None
    assert difference(network, "host", [[ours]], [[theirs]], 2) is None
    said = difference(network, "host", [[ours], [ours]], [[ours], [theirs]], 1.5)
    assert said == (
        "neg on host, sample 1, output 0 ('y'): value [0, 3] is 3, expected 5 (allowed: a "
        "difference of 1.5); 1 of 5 values differ, by up to 2"
    )

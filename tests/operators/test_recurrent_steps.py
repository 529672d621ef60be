"""Recurrent steps whose states the caller feeds back: 1,000 of them stay with onnxruntime."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime as ort
import pytest
from onnx import ModelProto, helper
from operators.lab import Array, make_model

from mcu_deploy.building import build
from mcu_deploy.running import open_device

STEPS, INPUTS, HIDDEN = 1000, 6, 16


def step_model(op: str, gates: int, states: tuple[str, ...]) -> ModelProto:
    """One step: X and the states before it, to the states behind it."""
    rng = np.random.default_rng(gates)
    rows = gates * HIDDEN
    shapes = {"W": (1, rows, INPUTS), "R": (1, rows, HIDDEN), "B": (1, 2 * rows)}
    constants = {n: rng.uniform(-0.4, 0.4, s).astype(np.float32) for n, s in shapes.items()}
    node = helper.make_node(
        op, ["X", *shapes, "", *states], ["", *(f"next {s}" for s in states)], "step",
        hidden_size=HIDDEN,
    )  # fmt: skip
    state = ("float32", (1, 1, HIDDEN))
    return make_model(
        [node],
        {"X": ("float32", (1, 1, INPUTS)), **dict.fromkeys(states, state)},
        {f"next {s}": state for s in states},
        constants,
    )


@pytest.mark.needs_host_gcc
@pytest.mark.parametrize(
    ("op", "gates", "states"),
    [("LSTM", 4, ("h", "c")), ("GRU", 3, ("h",)), ("RNN", 1, ("h",))],
)
def test_a_thousand_steps(op: str, gates: int, states: tuple[str, ...], tmp_path: Path) -> None:
    model = step_model(op, gates, states)
    (tmp_path / "step.onnx").write_bytes(model.SerializeToString())
    build(tmp_path / "step.onnx", "host", tmp_path / "built", name="step")
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    given = np.random.default_rng(1).standard_normal((STEPS, 1, 1, INPUTS)).astype(np.float32)
    ours: list[Array] = [np.zeros((1, 1, HIDDEN), np.float32) for _ in states]
    theirs = list(ours)
    with open_device(tmp_path / "built") as device:
        for x in given:
            ours = device.infer("step", [x, *ours])
            theirs = session.run(None, {"X": x, **dict(zip(states, theirs, strict=True))})
            for mine, wanted in zip(ours, theirs, strict=True):
                assert np.abs(mine - wanted).max() <= 1e-5
    assert np.abs(theirs[0]).max() > 0.1  # the states have not died away

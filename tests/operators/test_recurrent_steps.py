"""Recurrent steps whose states the caller feeds back: 1,000 of them stay with onnxruntime, of which
the sample takes 80."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime as ort
import pytest
from onnx import ModelProto, helper
from operators.lab import Array, make_model
from sampling import first

from mcu_deploy.api.building import build
from mcu_deploy.api.running import open_device

INPUTS, HIDDEN = 6, 16


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


STEPPERS = {"LSTM": (4, ("h", "c")), "GRU": (3, ("h",)), "RNN": (1, ("h",))}


@pytest.mark.needs_host_gcc
@pytest.mark.parametrize("steps", first([80, 1000]))
def test_many_steps(steps: int, tmp_path: Path) -> None:
    models = {op: step_model(op, *of) for op, of in STEPPERS.items()}
    for op, model in models.items():
        (tmp_path / f"{op}.onnx").write_bytes(model.SerializeToString())
    paths = [tmp_path / f"{op}.onnx" for op in models]
    build(paths, "host", tmp_path / "built", name=list(models))
    one_thread = ort.SessionOptions()
    one_thread.intra_op_num_threads = 1
    given = np.random.default_rng(1).standard_normal((steps, 1, 1, INPUTS)).astype(np.float32)
    with open_device(tmp_path / "built") as device:
        for op, model in models.items():
            session = ort.InferenceSession(
                model.SerializeToString(), one_thread, providers=["CPUExecutionProvider"]
            )
            states = STEPPERS[op][1]
            ours: list[Array] = [np.zeros((1, 1, HIDDEN), np.float32) for _ in states]
            theirs = list(ours)
            for x in given:
                ours = device.infer(op, [x, *ours])
                theirs = session.run(None, {"X": x, **dict(zip(states, theirs, strict=True))})
                for mine, wanted in zip(ours, theirs, strict=True):
                    assert np.abs(mine - wanted).max() <= 1e-5, op
            assert np.abs(theirs[0]).max() > 0.1, f"{op}: the states have died away"

"""LSTM, GRU and RNN: device, oracle and onnxruntime, with all that a node may say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper
from operators.lab import (
    Array,
    Case,
    check_cases,
    check_device,
    compile_case,
    make_model,
    relative_error,
    run_on_host,
    run_onnxruntime,
)
from operators.overlap_checks import check_facts, check_runs
from operators.overlap_lab import choices
from sanitizers import SANITIZED

from mcu_deploy.errors import McuDeployError
from mcu_deploy.operators.recurrent import GATES

NAMES = ("X", "W", "R", "B", "L", "H", "C", "P")
STEPS, BATCH, INPUTS, HIDDEN = 5, 3, 4, 6


def recurrent(
    name: str,
    op: str,
    *,
    given: str = "XWRB",
    computed: str = "X",
    outputs: Sequence[str] = ("Y", "Y_h", "Y_c"),
    lengths: Sequence[int] = (5, 2, 0),
    opset: int = 17,
    sizes: tuple[int, int, int, int] = (STEPS, BATCH, INPUTS, HIDDEN),
    zeros: str = "",
    **attributes: Any,
) -> Case:
    """A model of one node. given: the inputs that are there; computed: those known at run time."""
    rng = np.random.default_rng(len(name))
    steps, batch, inputs, hidden = sizes
    directions = 2 if attributes.get("direction") == "bidirectional" else 1
    rows = GATES[op] * hidden
    shapes = {
        "X": (steps, batch, inputs), "W": (directions, rows, inputs),
        "R": (directions, rows, hidden), "B": (directions, 2 * rows),
        "H": (directions, batch, hidden), "C": (directions, batch, hidden),
        "P": (directions, 3 * hidden),
    }  # fmt: skip
    values: dict[str, Array] = {
        n: rng.standard_normal(s).astype(np.float32) * (n not in zeros) for n, s in shapes.items()
    }
    values["L"] = np.array(lengths, np.int32)
    if attributes.get("layout"):
        for tensor in "XHC":
            values[tensor] = np.swapaxes(values[tensor], 0, 1)
    places = [n if n in given else "" for n in NAMES[: 8 if op == "LSTM" else 6]]
    while not places[-1]:
        places.pop()
    written = list(outputs if op == "LSTM" else [o for o in outputs if o != "Y_c"])
    node = helper.make_node(op, places, written, "node", hidden_size=hidden, **attributes)
    model = make_model(
        [node],
        {n: (values[n].dtype.name, values[n].shape) for n in computed},
        {n: ("float32", None) for n in written if n},
        {n: values[n] for n in given if n not in computed},
        opset,
    )
    return Case(name, model, tuple(values[n] for n in computed))


def _of_each() -> list[Case]:
    cases = []
    for op in GATES:
        cell = "C" if op == "LSTM" else ""
        cases += [
            recurrent(f"{op} alone", op, given="XWR"),
            recurrent(f"{op} of one", op, sizes=(1, 1, 1, 1)),
            recurrent(f"{op} opset 7", op, opset=7),
            recurrent(f"{op} opset 22", op, opset=22),
            recurrent(f"{op} states", op, given=f"XWRBH{cell}", computed=f"XH{cell}"),
            recurrent(f"{op} constant states", op, given=f"XWRBH{cell}"),
            recurrent(f"{op} zero states", op, given=f"XWRBH{cell}", zeros="HC"),
            recurrent(f"{op} one step", op, given=f"XWRBH{cell}", computed=f"XH{cell}",
                      sizes=(1, 1, 6, 16)),
            recurrent(f"{op} back", op, direction="reverse"),
            recurrent(f"{op} both ways", op, given=f"XWRBH{cell}", computed=f"XH{cell}",
                      direction="bidirectional"),
            recurrent(f"{op} lengths", op, given=f"XWRBLH{cell}", computed=f"XH{cell}"),
            recurrent(f"{op} lengths both ways", op, given=f"XWRBLH{cell}",
                      direction="bidirectional"),
            recurrent(f"{op} lengths back, one sequence", op, given="XWRBL", lengths=(3,),
                      direction="reverse", sizes=(STEPS, 1, INPUTS, HIDDEN)),
            recurrent(f"{op} lengths as an input", op, given=f"XWRBLH{cell}",
                      computed=f"XLH{cell}"),
            recurrent(f"{op} lengths as an input both ways", op, given="XWRBL", computed="XL",
                      direction="bidirectional"),
            recurrent(f"{op} of a constant", op, given="XWRBH", computed="H"),
            recurrent(f"{op} of a constant, so long", op, given="XWRL", computed="L"),
            recurrent(f"{op} clip", op, clip=0.3),
            recurrent(f"{op} sequence only", op, outputs=("Y",)),
            recurrent(f"{op} state only", op, outputs=("", "Y_h")),
        ]  # fmt: skip
    return cases


def _of_one() -> list[Case]:
    three = ["HardSigmoid", "Elu", "ScaledTanh"]
    two = ["softsign", "leakyrelu", "AFFINE", "Tanh"]
    return [
        recurrent("peepholes", "LSTM", given="XWRBP"),
        recurrent("peepholes both ways", "LSTM", given="XWRBP", direction="bidirectional"),
        recurrent("peepholes and clip", "LSTM", given="XWRBP", clip=0.4),
        recurrent("coupled", "LSTM", given="XWRBP", input_forget=1),
        recurrent("both states only", "LSTM", outputs=("", "Y_h", "Y_c")),
        recurrent("cell state without the other", "LSTM", outputs=("Y", "", "Y_c")),
        recurrent("functions", "LSTM", activations=three, activation_alpha=[0.3, 0.6, 1.2],
                  activation_beta=[0.4, 0.8]),
        recurrent("linear", "GRU", linear_before_reset=1),
        recurrent("linear both ways", "GRU", linear_before_reset=1, direction="bidirectional"),
        recurrent("linear with clip", "GRU", linear_before_reset=1, clip=0.3),
        recurrent("functions both ways", "GRU", activations=two, direction="bidirectional",
                  activation_alpha=[0.3, 0.2], activation_beta=[0.1]),
        *(
            recurrent(f"with {f}", "RNN", activations=[f])
            for f in ("Relu", "Sigmoid", "Softplus", "HardSigmoid", "Elu")
        ),
        recurrent("with threshold", "RNN", activations=["ThresholdedRelu"],
                  activation_alpha=[0.7]),
    ]  # fmt: skip


@pytest.mark.needs_host_gcc
def test_recurrent(tmp_path: Path) -> None:
    check_cases([*_of_each(), *_of_one()], tmp_path)


@pytest.mark.matrix
@pytest.mark.needs_host_gcc
def test_recurrent_reads_and_writes_only_its_tensors(tmp_path: Path) -> None:
    check_cases([*_of_each(), *_of_one()], tmp_path, SANITIZED)


@pytest.mark.needs_host_gcc
def test_outputs_follow_inputs_as_closely_as_the_accesses_allow(tmp_path: Path) -> None:
    cases = [*_of_each(), *_of_one(), *(_with_layout(op, 1) for op in GATES)]
    made = [choice for case in cases for choice in choices(case.model, tmp_path)]
    check_facts(made, tmp_path, exact=False)
    assert check_runs(made, tmp_path) > 50


def _with_layout(op: str, layout: int) -> Case:
    cell = "C" if op == "LSTM" else ""
    return recurrent(
        f"layout of {op}", op, given=f"XWRBLH{cell}", computed=f"XH{cell}",
        direction="bidirectional", **({"layout": 1} if layout else {}),
    )  # fmt: skip


@pytest.mark.needs_host_gcc
def test_layout_1_is_layout_0_with_the_batch_first(tmp_path: Path) -> None:
    """onnxruntime has no layout 1."""
    compiled, wanted = [], []
    for index, op in enumerate(GATES):
        usual = _with_layout(op, 0)
        wanted.append(run_onnxruntime(usual.model, usual.inputs, optimise=False))
        case = _with_layout(op, 1)
        compiled.append(compile_case(case, tmp_path, index))
    for item, device, (y, *states) in zip(
        compiled, run_on_host(compiled, tmp_path), wanted, strict=True
    ):
        check_device(item, device)
        expected = [y.transpose(2, 0, 1, 3), *(state.swapaxes(0, 1) for state in states)]
        for actual, value in zip(device, expected, strict=True):
            assert relative_error(actual, value) <= 1e-5


def computed_weights() -> list[Case]:
    """Weights that all are computed, or some, in each form of a bias."""
    return [
        recurrent("all", "LSTM", given="XWRBP", computed="XWRBP"),
        recurrent("two directions", "LSTM", given="XWRBHC", computed="WRX",
                  direction="bidirectional"),
        recurrent("no bias", "LSTM", given="XWR", computed="XR"),
        recurrent("before the reset", "GRU", computed="XWRB", linear_before_reset=1,
                  direction="bidirectional"),
        recurrent("behind the reset", "GRU", given="XWRBL", computed="XB"),
        recurrent("plain", "RNN", given="XWRBH", computed="XWH", direction="reverse"),
        recurrent("one of each", "RNN", computed="XWRB", sizes=(1, 1, 1, 1)),
    ]  # fmt: skip


@pytest.mark.needs_host_gcc
def test_weights_may_be_computed(tmp_path: Path) -> None:
    check_cases(computed_weights(), tmp_path)


@pytest.mark.needs_host_gcc
def test_a_length_beyond_the_ends_reads_no_further(tmp_path: Path) -> None:
    """No model can know what it is given; the device takes the nearest length that there is."""
    within = recurrent("n", "LSTM", given="XWRBL", computed="XL", lengths=(5, 0, 5))
    beyond = replace(within, inputs=(within.inputs[0], np.array([6, -1, 2**31 - 1], np.int32)))
    compiled = [compile_case(case, tmp_path, k) for k, case in enumerate((within, beyond))]
    wanted, found = run_on_host(compiled, tmp_path, SANITIZED)
    assert all(map(np.array_equal, wanted, found))


@pytest.mark.parametrize(
    ("case", "reason"),
    [
        (recurrent("a", "RNN", activations=["Gelu"]), "it has no activation 'Gelu'"),
        (recurrent("n", "RNN", activations=["Tanh", "Tanh"]),
         "it names 2 activations instead of 1"),
        (recurrent("p", "RNN", activations=["Affine"], activation_alpha=[1.0]),
         "its activation Affine lacks alpha or beta"),
        (recurrent("s", "RNN", given="XWRL", lengths=(5, 6, 1)), "a sequence is longer than 5"),
    ],
)  # fmt: skip
def test_what_is_refused(case: Case, reason: str, tmp_path: Path) -> None:
    with pytest.raises(McuDeployError) as caught:
        compile_case(case, tmp_path, 0)
    assert reason in str(caught.value)

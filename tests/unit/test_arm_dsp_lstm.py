"""ArmDsp's LSTM of TFLite: which it takes, and at what price."""

from __future__ import annotations

from pathlib import Path

import pytest
from arm_dsp_lstm_cases import LEFT, TAKEN, model
from operators.tflite_lstm_file import Lstm

from mcu_deploy import formats, passes
from mcu_deploy.backends.ArmDsp import ArmDsp
from mcu_deploy.backends.interface import Proposals, Target
from mcu_deploy.ir.view import view_of_all

M4 = Target("cortex-m4", fpu=True, dsp=True)


def proposed(case: Lstm, folder: Path) -> Proposals:
    graph = passes.run(formats.load(model(case, folder)))
    return ArmDsp().propose(view_of_all(graph), M4)


def test_sums_that_are_shifted_out_of_a_word_are_refused(tmp_path: Path) -> None:
    (reason,) = proposed(LEFT, tmp_path).refused.values()
    assert reason == "a sum of its weights could leave 31 bits as it is rounded"


def test_the_price_is_near_what_the_timings_of_counted_instructions_say(tmp_path: Path) -> None:
    """Of the kernel's addresses counted in QEMU, by Arm's timings for the Cortex-M4."""
    long, short = (p.price for p in proposed(TAKEN[1], tmp_path).proposals)
    assert long.costs.cycles == pytest.approx(255_436, rel=0.01)
    assert sum(short.code.values()) < 0.7 * sum(long.code.values())

"""ArmDsp's LSTM of TFLite: which it takes, and at what price."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from arm_dsp_lstm_cases import LEFT, TAKEN, WIDE, model
from arm_dsp_proposals import M4, proposals_for
from kernel_runs import runs
from operators.tflite_lstm_file import Lstm
from sampling import first

from mcu_deploy.backends.interface import Proposals, Target
from mcu_deploy.memory_timing import USUAL_FLASH


def proposed(case: Lstm, folder: Path, target: Target = M4) -> Proposals:
    return proposals_for(model(case, folder), target)


@pytest.mark.parametrize("case", first(TAKEN, 3))
def test_on_the_interpreter_it_gives_the_oracles_bits(case: Lstm, tmp_path: Path) -> None:
    path = model(case, tmp_path)
    for x in np.load(path.with_suffix(".npz"))["x"][:2]:
        (run,) = runs(path, [x])
        assert run.result() == run.output
        (place,) = run.choice.workload.in_place
        assert run.result(place) == run.output


def test_sums_that_two_gates_cannot_share_a_word_for_are_refused(tmp_path: Path) -> None:
    (reason,) = proposed(WIDE, tmp_path).refused.values()
    assert reason == "a sum of its weights could leave the 24 bits of two gates in one word"


def test_where_loops_must_be_short_that_over_the_units_is(tmp_path: Path) -> None:
    (short,) = proposed(TAKEN[1], tmp_path, replace(M4, memory=USUAL_FLASH)).proposals
    _, shortest = proposed(TAKEN[1], tmp_path).proposals
    assert short.price.code == shortest.price.code
    assert (
        short.price.costs.cycles > shortest.price.costs.cycles
    )  # which waits for its weights, too
    # What is around the loop is 250 bytes.
    assert sum(short.price.code.values()) < 896 + 250


def test_sums_that_are_shifted_out_of_a_word_are_refused(tmp_path: Path) -> None:
    (reason,) = proposed(LEFT, tmp_path).refused.values()
    assert reason == "a sum of its weights could leave 31 bits as it is rounded"


def test_the_price_is_near_what_the_timings_of_counted_instructions_say(tmp_path: Path) -> None:
    """Of the kernel's addresses counted in QEMU, by Arm's timings for the Cortex-M4."""
    long, short = (p.price for p in proposed(TAKEN[1], tmp_path).proposals)
    assert long.costs.cycles == pytest.approx(227_419, rel=0.01)
    assert sum(short.code.values()) < 0.75 * sum(long.code.values())

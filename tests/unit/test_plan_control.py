"""Plans with If, Loop and Scan: proven, attacked, and run in a memory of bytes."""

from __future__ import annotations

import functools
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from operators import control_models as models
from operators.lab import Case
from plan_runs import PlanRun
from sampling import examples

from mcu_deploy import interpreter, plan
from mcu_deploy.boards import load_board
from mcu_deploy.compiled import Network
from mcu_deploy.compiler import compile_model
from mcu_deploy.errors import ModelError, UnsupportedError, UsageError
from mcu_deploy.options import Options, Requests
from mcu_deploy.plan import InPool, PlanError

CASES = {
    case.name: case
    for case in (
        models.exchanged(), models.loop_in_loop(), models.if_in_loop(), models.scan_of_two(),
        models.if_of_twins(True), models.if_of_twins(False), models.counted(4),
        models.if_of_images(True),
    )
}  # fmt: skip


def compiled(case: Case, options: Options | None = None) -> Network:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        path.write_bytes(case.model.SerializeToString())
        return compile_model(path, load_board("host"), name="n", options=options)


@functools.cache
def network(name: str) -> Network:
    return compiled(CASES[name])


def check(network: Network, memory: plan.Plan) -> None:
    calls = [call for _, call in network.calls]
    plan.check(network.graph, network.selection.choices, memory, calls)


def assert_right(network: Network, memory: plan.Plan, case: Case) -> None:
    """The plan, run byte by byte, gives what the oracle gives."""
    wanted = interpreter.run(network.graph, list(case.inputs))
    found = PlanRun(network.graph, memory).run(case.inputs)
    for ours, theirs in zip(found, wanted, strict=True):
        assert np.array_equal(ours, theirs)


@pytest.mark.parametrize("name", CASES)
def test_a_plan_run_byte_by_byte_gives_the_oracle_s_values(name: str) -> None:
    assert_right(network(name), network(name).plan, CASES[name])


@pytest.mark.parametrize("name", CASES)
def test_without_any_item_a_plan_is_refused(name: str) -> None:
    made = network(name)
    for position in range(len(made.plan.program)):
        program = made.plan.program[:position] + made.plan.program[position + 1 :]
        with pytest.raises((PlanError, KeyError)):
            check(made, replace(made.plan, program=program))


@settings(max_examples=examples(150, 40), deadline=None)
@given(st.sampled_from(sorted(CASES)), st.data())
def test_other_places_are_refused_or_right(name: str, data: st.DataObject) -> None:
    """A buffer anywhere else: whatever the checker lets pass computes the same."""
    made = network(name)
    buffer = data.draw(st.sampled_from(made.plan.buffers))
    most = max(0, made.plan.bytes - buffer.bytes) // 16
    offset = 16 * data.draw(st.integers(0, most))
    moved = replace(made.plan, places={**made.plan.places, buffer.id: InPool(0, offset)})
    try:
        check(made, moved)
    except PlanError:
        return
    assert_right(made, moved, CASES[name])


@settings(max_examples=examples(150, 40), deadline=None)
@given(st.sampled_from(sorted(CASES)), st.data())
def test_another_order_is_refused_or_right(name: str, data: st.DataObject) -> None:
    made = network(name)
    program = list(made.plan.program)
    item = program.pop(data.draw(st.integers(0, len(program) - 1)))
    program.insert(data.draw(st.integers(0, len(program))), item)
    steps = iter(range(len(program)))
    numbered = [replace(i, index=next(steps)) if isinstance(i, plan.Step) else i for i in program]
    try:
        other = replace(made.plan, program=tuple(numbered))
        check(made, other)
    except (PlanError, KeyError):
        return
    assert_right(made, other, CASES[name])


def test_states_and_results_take_no_second_buffer() -> None:
    """The LSTM's body computes h and c where they are, and every row into its place."""
    made = compiled(models.lstm_by_scan(0)).plan
    copies = [i for i in made.program if isinstance(i, plan.Copy) and i.source in made.tensors]
    assert all(made.place(copy.source) == made.place(copy.target) for copy in copies)


def test_what_control_flow_does_not_go_with_is_said() -> None:
    case = CASES["if_in_loop"]
    for memory in ("mru", "compact"):
        with pytest.raises(UnsupportedError, match=f"--memory {memory} is for models whose"):
            compiled(case, Options(memory=memory))
    with pytest.raises(UsageError, match=r"--keep high names 'high', which is inside of the Loop"):
        compiled(case, Options(requests=Requests(keep=("high",))))


def test_a_loop_that_never_ends_ends_on_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcu_deploy.operators.control._MOST_ROUNDS", 50)
    made = compiled(models.counted(1000))
    inputs = list(models.counted(1000).inputs)
    inputs[3] = np.array(np.inf, np.float32)
    with pytest.raises(ModelError, match="has run 50 rounds and goes on"):
        interpreter.run(made.graph, inputs)

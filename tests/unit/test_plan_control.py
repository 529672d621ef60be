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
from mcu_deploy.plan import InPool, PlanError, control
from mcu_deploy.report.build import optimized_report

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


def test_a_layer_in_a_loop_counts_in_every_round() -> None:
    found = optimized_report(Path("m.pmx"), 0, compiled(models.lstm_by_loop()), ())
    inside = (models.WIDTH + models.HIDDEN) * 4 * models.HIDDEN
    products = [layer.macs for layer in found.layers if layer.op in ("MatMul", "Gemm")]
    assert sum(products) == models.STEPS * inside
    assert sum(layer.macs for layer in found.layers) == found.macs


def test_a_condition_that_always_holds_is_there_for_a_body_that_reads_it() -> None:
    body = models.graph_of(
        [models.node("Cast", "go", "one", to=models.FLOAT), models.node("Add", "s one", "s1"),
         models.node("Identity", "go", "more")],
        {**models.CONTROL, "s": (models.FLOAT, [2])},
        {"more": (models.BOOL, []), "s1": (models.FLOAT, [2])},
    )  # fmt: skip
    case = models.case(
        "read", [models.loop(body, "three", "", "x", "y")], {"x": (models.FLOAT, [2])},
        {"y": (models.FLOAT, [2])}, {"three": models.number(3)}, models.random(1, 2),
    )  # fmt: skip
    made = compiled(case)
    assert_right(made, made.plan, case)


def test_a_layer_of_a_branch_stands_nowhere_else() -> None:
    """In front of the If it would give the same values, and take its time whatever is chosen."""
    made = network("if_of_twins_1")
    branch, layer, *rest = made.plan.program
    assert isinstance(branch, control.Branch) and isinstance(layer, plan.Step)
    with pytest.raises(PlanError, match="the then_branch of node 0 does not run its layers"):
        check(made, replace(made.plan, program=(layer, branch, *rest)))


def test_what_a_branch_gives_of_outside_is_copied() -> None:
    """The other branch must not write over it: it is read again behind the If."""
    relu, neg = models.node("Relu", "x", "a"), models.node("Neg", "x", "e")
    row: models.Types = {"x": (models.FLOAT, [3]), "which": (models.BOOL, [])}
    then = models.graph_of(
        [models.node("Identity", "a", "t")], {}, {"t": (models.FLOAT, [3])}, name="then"
    )
    other = models.graph_of([neg], {}, {"e": (models.FLOAT, [3])}, name="other")
    chosen = models.helper.make_node("If", ["which"], ["h"], then_branch=then, else_branch=other)
    nodes, x = [relu, chosen, models.node("Sub", "h a", "y")], models.random(1, 3)
    for taken in (True, False):
        outputs: models.Types = {"y": (models.FLOAT, [3])}
        case = models.case("outside", nodes, row, outputs, {}, x, np.array(taken))
        made = compiled(case)
        assert_right(made, made.plan, case)


def test_a_program_may_begin_with_a_loop_and_that_with_an_element() -> None:
    row: models.Types = {"r": (models.FLOAT, [3])}
    body = models.graph_of([models.node("Neg", "r", "n")], row, {"n": (models.FLOAT, [3])})
    scan = models.helper.make_node("Scan", ["x"], ["y"], body=body, num_scan_inputs=1)
    rows = [{name: (models.FLOAT, [4, 3])} for name in "xy"]
    case = models.case("rows", [scan], *rows, {}, models.random(1, 4, 3))
    made = compiled(case)
    assert isinstance(made.plan.program[0], control.Repeat)
    assert isinstance(made.plan.program[1], control.Element)
    assert_right(made, made.plan, case)


def test_a_loop_of_fewer_than_no_rounds_has_none() -> None:
    row: models.Types = {"s": (models.FLOAT, [3])}
    nodes = [models.node("Neg", "s", "n"), models.node("Identity", "go", "more")]
    outputs: models.Types = {"more": (models.BOOL, []), "n": (models.FLOAT, [3])}
    body = models.graph_of(nodes, models.CONTROL | row, outputs)
    sides = [{name: (models.FLOAT, [3])} for name in "xy"]
    loop, trips = models.loop(body, "trips", "", "x", "y"), {"trips": models.number(-2)}
    case = models.case("none", [loop], *sides, trips, models.random(1, 3))
    made = compiled(case)
    (repeat,) = (i for i in made.plan.program if isinstance(i, control.Repeat))
    assert repeat.most == 0
    assert_right(made, made.plan, case)


def test_a_run_counts_the_rounds_where_nothing_else_does() -> None:
    for most, condition, is_checked in ((3, None, False), (4, None, True), (3, 5, True)):
        assert control.Repeat(0, None, most, condition, 3).is_checked == is_checked
        assert not control.Repeat(0, None, most, condition, None).is_checked


def test_each_layer_is_held_by_its_innermost_loop() -> None:
    assert network("loop_in_loop").plan.holders == (0, 3, 3, 3, 0)
    assert network("if_in_loop").plan.holders == (0, 0, 4, 4, 4, 0)


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

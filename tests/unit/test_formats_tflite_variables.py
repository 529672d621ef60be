"""Variables of TFLite files become states: which, with what first value, and what is refused."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from network_programs import Array
from tflite_models import Operator, Subgraph, Tensor, constant, write

from mcu_deploy import formats
from mcu_deploy.agreement.runs import run_oracle
from mcu_deploy.boards import load_board
from mcu_deploy.compiler import compile_model
from mcu_deploy.errors import ModelError
from mcu_deploy.files.samples import Samples

X = Tensor("x", (1, 2))
NAMED = {"SharedName": "sum"}
HANDLE = Tensor("handle", (), "RESOURCE")


def handle(tensor: str = "handle", name: str = "sum") -> Operator:
    return Operator("VAR_HANDLE", (), (tensor,), "VarHandleOptions", {"SharedName": name})


def read(output: str, tensor: str = "handle") -> Operator:
    return Operator("READ_VARIABLE", (tensor,), (output,), "ReadVariableOptions")


def assign(value: str, tensor: str = "handle") -> Operator:
    return Operator("ASSIGN_VARIABLE", (tensor, value), (), "AssignVariableOptions")


def add(one: str, two: str, output: str) -> Operator:
    return Operator("ADD", (one, two), (output,), "AddOptions")


ONCE = Operator("CALL_ONCE", (), (), "CallOnceOptions", {"InitSubgraphIndex": 1})


def tensors(*names: str) -> list[Tensor]:
    return [X, HANDLE, *(Tensor(name, (1, 2)) for name in names)]


def first(value: Array) -> Subgraph:
    """The subgraph that gives the variable its first value."""
    return Subgraph([HANDLE, constant("first", value)], [handle(), assign("first")])


def runs(content: bytes, path: Path, count: int = 3) -> list[list[Array]]:
    """The outputs of runs that are given 1 and 2, one after the other."""
    path.write_bytes(content)
    network = compile_model(path, load_board("host"), name="n")
    x = np.array([[1, 2]], np.float32)
    values = run_oracle(network, Samples(((x,),) * count, "made"))
    return [[v[edge] for edge in network.outputs] for v in values]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "m.tflite"


def test_a_sum_goes_from_run_to_run(path: Path) -> None:
    """What is assigned is the network's output as well."""
    content = write(
        tensors("old", "new"), [handle(), read("old"), add("old", "x", "new"), assign("new")],
        ["x"], ["new"],
    )  # fmt: skip
    found = runs(content, path)
    assert [outputs[0].tolist() for outputs in found] == [[[1, 2]], [[2, 4]], [[3, 6]]]


def test_a_first_value_comes_from_the_subgraph_that_is_called_once(path: Path) -> None:
    content = write(
        tensors("old", "new"),
        [ONCE, handle(), read("old"), add("old", "x", "new"), assign("new")],
        ["x"], ["new"], others=[first(np.array([[10, 20]], np.float32))],
    )  # fmt: skip
    found = runs(content, path)
    assert [outputs[0].tolist() for outputs in found] == [[[11, 22]], [[12, 24]], [[13, 26]]]


def test_what_is_read_behind_an_assignment_is_what_was_assigned(path: Path) -> None:
    """And the handle is another one with the same name."""
    content = write(
        [*tensors("old", "new", "seen", "y"), Tensor("again", (), "RESOURCE")],
        [
            handle(), read("old"), add("old", "x", "new"), assign("new"), handle("again"),
            read("seen", "again"), add("seen", "x", "y"),
        ],
        ["x"], ["y"],
    )  # fmt: skip
    found = runs(content, path)
    assert [outputs[0].tolist() for outputs in found] == [[[2, 4]], [[3, 6]], [[4, 8]]]


def test_a_delay_line_of_two_variables(path: Path) -> None:
    """One variable's old value is the next of another, and what was read is an output."""
    content = write(
        [*tensors("a", "b"), Tensor("other", (), "RESOURCE")],
        [
            handle(), handle("other", "before"), read("a"), read("b", "other"),
            assign("a", "other"), assign("x"),
        ],
        ["x"], ["a", "b"],
    )  # fmt: skip
    found = runs(content, path)
    assert [[o.tolist() for o in outputs] for outputs in found] == [
        [[[0, 0]], [[0, 0]]], [[[1, 2]], [[0, 0]]], [[[1, 2]], [[1, 2]]],
    ]  # fmt: skip


def test_a_variable_that_nobody_assigns_keeps_its_first_value(path: Path) -> None:
    content = write(
        tensors("old", "y"), [ONCE, handle(), read("old"), add("old", "x", "y")],
        ["x"], ["y"], others=[first(np.array([[5, 6]], np.float32))],
    )  # fmt: skip
    assert [outputs[0].tolist() for outputs in runs(content, path, 2)] == [[[6, 8]], [[6, 8]]]


def test_a_variable_that_nobody_reads_is_no_state(path: Path) -> None:
    content = write(tensors("y"), [handle(), add("x", "x", "y"), assign("y")], ["x"], ["y"])
    path.write_bytes(content)
    assert compile_model(path, load_board("host"), name="n").plan.exposure.states == ()


def test_a_variable_and_an_input_of_one_name_are_told_apart(path: Path) -> None:
    content = write(
        tensors("old", "new"),
        [handle("handle", "x"), read("old"), add("old", "x", "new"), assign("new")],
        ["x"], ["new"],
    )  # fmt: skip
    assert runs(content, path, 2)[1][0].tolist() == [[2, 4]]


OLD = [handle(), read("old"), assign("old")]


def refusals() -> Sequence[tuple[list[Tensor], list[Operator], list[Subgraph], str]]:
    ones = np.ones((1, 2), np.float32)
    wide = Tensor("wide", (1, 3))
    computed = Subgraph(
        [HANDLE, constant("one", ones), Tensor("two", (1, 2))],
        [handle(), add("one", "one", "two"), assign("two")],
    )
    return [
        (tensors("old"), [ONCE, *OLD], [], "number 1"),
        (tensors("old"), [ONCE, *OLD], [Subgraph([], [ONCE])], "runs the operator itself"),
        (tensors("old"), [ONCE, *OLD], [computed], "runs ADD before the first run"),
        (tensors("old"), [*OLD, ONCE], [first(ones)], "has used it already"),
        (tensors("old"), [read("old")], [], "stands for no variable"),
        ([*tensors("old"), wide], [*OLD, read("wide")], [], "keeps its type"),
        (tensors("old"), [ONCE, *OLD], [first(np.ones((1, 3), np.float32))], "keeps its type"),
        (tensors("old"), [handle(), add("handle", "x", "old")], [], "before any operator"),
    ]


@pytest.mark.parametrize(
    ("known", "operators", "others", "words"), refusals(), ids=[r[3] for r in refusals()]
)
def test_what_is_refused(
    path: Path, known: list[Tensor], operators: list[Operator], others: list[Subgraph], words: str
) -> None:
    path.write_bytes(write(known, operators, ["x"], ["old"], others=others))
    with pytest.raises(ModelError, match=words):
        formats.load(path)


def test_a_handle_is_no_input_of_a_network(path: Path) -> None:
    path.write_bytes(write(tensors("old"), [read("old")], ["handle"], ["old"]))
    with pytest.raises(ModelError, match="is a handle of a variable"):
        formats.load(path)

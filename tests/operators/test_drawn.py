"""Graphs of operators that are drawn by chance: some of them always, others by the campaign."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from drawn import judge
from onnx import helper
from operators.lab import Array, Case, check_cases, make_model

pytestmark = pytest.mark.needs_host_gcc


def drawn(monkeypatch: pytest.MonkeyPatch, case: Case) -> None:
    """This case is what is drawn."""
    monkeypatch.setattr(judge, "draw", lambda number: case)


def test_graphs_are_as_the_oracle_and_onnxruntime_say() -> None:
    assert [str(found) for found in judge.findings(range(12), ())] == []


def test_a_number_is_always_the_same_graph() -> None:
    for number in (3, 8):
        one, other = judge.draw(number), judge.draw(number)
        assert one.model == other.model
        for a, b in zip(one.inputs, other.inputs, strict=True):
            assert np.array_equal(a, b)
        onnx.checker.check_model(one.model, full_check=True)


def test_many_operators_are_drawn() -> None:
    models = [judge.draw(number).model for number in range(60)]
    ops = {node.op_type for model in models for node in model.graph.node}
    assert len(ops) > 60
    assert {model.opset_import[0].version for model in models} == {11, 13, 15, 17, 18, 19, 21}


@pytest.mark.matrix
def test_another_value_than_onnxruntimes_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    # the one known difference: this product of integers saturates there
    model = make_model(
        [helper.make_node("ReduceProd", ["x"], ["y"], keepdims=0)],
        {"x": ("int32", (2,))}, {"y": ("int32", ())},
    )  # fmt: skip
    drawn(monkeypatch, Case("5", model, (np.array([100_003, 100_003], np.int32),)))
    (found,) = judge.findings([5], ())
    assert (found.number, found.model) == (5, model)
    for words in ("graph 5 (ReduceProd): y is not onnxruntime's: 1 of 1 integers", "failed"):
        assert words in str(found)


def test_a_refusal_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    node = helper.make_node("RandomNormal", [], ["y"], shape=[2])
    drawn(monkeypatch, Case("6", make_model([node], {}, {"y": ("float32", (2,))}), ()))
    (found,) = judge.findings([6], ())
    assert "graph 6 (RandomNormal): refused: " in str(found)


def test_a_program_that_ends_early_is_of_one_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    run = judge.run_built

    def ended(
        program: Path, compiled: Sequence[Any], inputs: Sequence[Sequence[Array]]
    ) -> list[tuple[int, list[Array]]]:
        assert all(item.case.name != "2" for item in compiled), "out of bounds"
        return run(program, compiled, inputs)

    monkeypatch.setattr(judge, "run_built", ended)
    (found,) = judge.findings(range(1, 4), ())
    assert found.number == 2
    assert found.what.startswith("out of bounds")


@pytest.mark.parametrize(
    ("ours", "what"),
    [
        (np.float32([1, 2]), ""),
        (np.float32([1, 2.1]), "relative error 0.05"),
        (np.float32([1, np.nan]), "relative error nan"),
        (np.float64([1, 2]), "float64(2,) for float32(2,)"),
        (np.float32([[1, 2]]), "float32(1, 2) for float32(2,)"),
    ],
)
def test_what_differs_is_said(ours: Array, what: str) -> None:
    found = judge._differs(ours, np.float32([1, 2]))
    assert found.startswith(what) if what else not found


def _found_by_the_campaign() -> list[Case]:
    """Each once failed: refused, or with a shape that is not onnxruntime's."""
    x = np.arange(20, dtype=np.float32).reshape(4, 5)
    picked = [
        helper.make_node("GatherND", ["x", "at"], ["one"]), helper.make_node("Ceil", ["one"], ["y"])
    ]  # fmt: skip
    at, of = {"at": ("int64", (2,))}, {"x": ("float32", x.shape)}
    to = {"y": ("float32", None)}
    place = np.array([1, 2])
    early = [
        helper.make_node("LayerNormalization", ["c", "g"], ["n", "mean"]),
        helper.make_node("Add", ["mean", "x"], ["y"]),
    ]
    norm = {"c": x, "g": np.ones(5, np.float32)}
    pool = helper.make_node(
        "LpPool", ["x"], ["y"], kernel_shape=[2], strides=[3], pads=[1, 0], ceil_mode=1
    )
    line = x[:, None]
    squares = [
        helper.make_node("ReduceSumSquare", ["c"], ["s"], keepdims=0),
        helper.make_node("Mul", ["s", "x"], ["y"]),
    ]
    integers = np.array([3, -4], np.int32)
    soft = [
        helper.make_node("Softmax", ["c"], ["s"], axis=0),
        helper.make_node("Add", ["s", "x"], ["y"]),
    ]
    top = helper.make_node("TopK", ["x", "k"], ["y", "place"], axis=0)
    first = {"x": ("float32", (1, 5))}
    return [
        Case("GatherND of one element", make_model(picked, of | at, to, opset=18), (x, place)),
        Case("GatherND of a known one", make_model(picked, of, to, {"at": place}), (x,)),
        Case("early LayerNormalization", make_model(early, of, to, norm, opset=13), (x,)),
        Case("LpPool whose last window would start behind",
             make_model([pool], {"x": ("float32", line.shape)}, to, opset=18), (line,)),
        Case("ReduceSumSquare of a constant",
             make_model(squares, {"x": ("int32", (2,))}, {"y": ("int32", None)}, {"c": integers}),
             (integers,), exact=True),
        Case("early Softmax of a constant",
             make_model(soft, {"x": ("float32", (1, 5))}, to, {"c": x}, opset=11), (x[:1],)),
        Case("TopK of one",
             make_model([top], first, {"y": ("float32", (1, 5)), "place": ("int64", (1, 5))},
                        {"k": np.array([1])}), (x[:1],)),
    ]  # fmt: skip


def test_what_the_campaign_found_stays_mended(tmp_path: Path) -> None:
    check_cases(_found_by_the_campaign(), tmp_path)

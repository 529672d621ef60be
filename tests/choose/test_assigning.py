"""The partitioner's loop: optimised, failed and untouched parts, overrides, older interfaces."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from backend_cases import Only
from graph_cases import Net

from mcu_deploy import choose, formats, interpreter, passes
from mcu_deploy.backends.CpuRef import CpuRef
from mcu_deploy.backends.interface import (
    HOST,
    OptimizationViews,
    SubgraphView,
    Substitution,
    layer_of,
)
from mcu_deploy.choose import Choosing
from mcu_deploy.errors import BackendFault, UnsupportedError, UsageError
from mcu_deploy.ir import Graph, GraphEditor, verify

SHAPE = (1, 2, 3, 3)


def chain(*ops: str) -> Graph:
    built = Net()
    edge = built.input(*SHAPE)
    for op in ops:
        edge = built.op(op, [edge], SHAPE)
    return built.finish(edge)


def who(graph: Graph, assignment: choose.Assignment) -> list[str]:
    return [f"{n.op}:{assignment.backends[n.id].id}" for n in graph.nodes]


def pairs_of_relu(view: SubgraphView) -> OptimizationViews:
    """Fuses Relu, Neg into one node of a domain of its own."""
    found, rest = [], dict(view.topology.nodes)
    for node in view.nodes:
        if node.op != "Relu" or node.id not in rest:
            continue
        edge = node.outputs[0]
        assert edge is not None
        followers = view.consumers(edge)
        if len(followers) == 1 and followers[0].op == "Neg":
            part = view.part([node.id, followers[0].id])
            del rest[node.id], rest[followers[0].id]
            found.append(Substitution(part, fused(part)))
    untouched = (view.part(rest),) if rest else ()
    return OptimizationViews(tuple(found), untouched=untouched)


def fused(part: SubgraphView, op: str = "ReluNeg") -> Graph:
    editor = GraphEditor.empty("fused")
    inputs = [editor.add_edge("in", part.type(e)) for e in part.inputs]
    outputs = [editor.add_edge("out", part.type(e)) for e in part.outputs]
    editor.inputs, editor.outputs = list(inputs), list(outputs)
    editor.add_node(op, inputs, outputs, "fused", {}, "test")
    return editor.finish(opset=part.opset)


class Fuses(Only):
    """Computes what it fused itself: to the partitioner only its word matters."""

    def layer_support(self):  # type: ignore[no-untyped-def]
        outer = super().layer_support()

        class Support:
            def is_layer_supported(self, layer, *rest):  # type: ignore[no-untyped-def]
                from mcu_deploy.backends.interface import YES

                if layer.domain == "test":
                    return YES
                return outer.is_layer_supported(layer, *rest)

        return Support()


def test_what_a_backend_fuses_is_fused_in_the_whole() -> None:
    graph = chain("Neg", "Relu", "Neg", "Relu", "Abs")
    fuses = Fuses(ops=("Relu", "Neg"), optimizes=pairs_of_relu)
    after, assignment = choose.assign(graph, (fuses, CpuRef()))
    verify(after)
    assert who(after, assignment) == ["Neg:Only", "ReluNeg:Only", "Relu:Only", "Abs:CpuRef"]
    (node,) = [n for n in after.nodes if n.domain == "test"]
    assert after.leaf_nodes(node.id) == ("relu2", "neg3") or len(after.leaf_nodes(node.id)) == 2
    assert assignment.chosen_by[node.id] == "made by Only"
    value = np.linspace(-3, 3, 18, dtype=np.float32).reshape(SHAPE)
    before = interpreter.run(graph, [value])[0]
    assert np.array_equal(interpreter.run(after, [value])[0], before)
    # ids only grow
    assert node.id >= graph.topology.next_node


def test_what_a_backend_fails_goes_to_the_next() -> None:
    def fails_neg(view: SubgraphView) -> OptimizationViews:
        failed = [n.id for n in view.nodes if n.op == "Neg"]
        rest = [n.id for n in view.nodes if n.op != "Neg"]
        return OptimizationViews(
            failed=(view.part(failed),) if failed else (),
            untouched=(view.part(rest),) if rest else (),
        )

    graph = chain("Relu", "Neg", "Relu")
    one = Only("One", None, optimizes=fails_neg)
    two = Only("Two", None, rank=20, optimizes=fails_neg)
    after, assignment = choose.assign(graph, (one, two, CpuRef()))
    assert who(after, assignment) == ["Relu:One", "Neg:CpuRef", "Relu:One"]
    reasons = {(r.node.op, r.backend): r.reason for r in assignment.refusals}
    assert reasons["Neg", "One"] == "its optimisation gave the node back"
    assert reasons["Neg", "Two"] == "its optimisation gave the node back"
    with pytest.raises(UnsupportedError, match="One: its optimisation gave the node back"):
        choose.assign(graph, (one,))


def test_a_fused_node_that_nobody_takes_is_taken_apart() -> None:
    graph = chain("Relu", "Neg")
    fuses = Fuses(ops=("Relu", "Neg"), optimizes=pairs_of_relu)
    after, _ = choose.assign(graph, (fuses,))
    assert [n.op for n in after.nodes] == ["ReluNeg"]
    again, assignment = choose.assign(after, (CpuRef(),))
    verify(again)
    assert who(again, assignment) == ["Relu:CpuRef", "Neg:CpuRef"]


@pytest.mark.parametrize("break_it", ["types", "own", "missing", "twice", "strange"])
def test_an_answer_that_makes_no_sense_is_the_backends_fault(break_it: str) -> None:
    graph = chain("Relu", "Neg")
    elsewhere = chain("Relu", "Relu", "Relu", "Relu", "Abs")

    def answer(view: SubgraphView) -> OptimizationViews:
        if break_it == "types":
            editor = GraphEditor(fused(view))
            editor.types = {e: replace(t, shape=(1,)) for e, t in editor.types.items()}
            return OptimizationViews((Substitution(view, editor.finish()),))
        if break_it == "own":  # it does not compute what it made
            return OptimizationViews((Substitution(view, fused(view, "Nobody")),))
        if break_it == "missing":
            return OptimizationViews()
        if break_it == "twice":
            return OptimizationViews(failed=(view,), untouched=(view,))
        last = [n.id for n in elsewhere.nodes][-1]
        from mcu_deploy.ir import view as view_of

        return OptimizationViews(failed=(view,), untouched=(view_of(elsewhere, [last]),))

    with pytest.raises(BackendFault, match=r"The backend Only .* report this to its author"):
        choose.assign(graph, (Only(ops=("Relu", "Neg"), optimizes=answer), CpuRef()))


def test_an_override_is_honoured_or_an_error() -> None:
    graph = chain("Relu", "Neg", "Relu")
    names = [n.name for n in graph.nodes]
    only, reference = Only(), CpuRef()
    options = Choosing({names[0]: reference})
    after, assignment = choose.assign(graph, (only, reference), HOST, options)
    assert who(after, assignment) == ["Relu:CpuRef", "Neg:CpuRef", "Relu:Only"]
    assert [assignment.chosen_by[n.id] for n in after.nodes] == [
        "--layer-backend", "greedy", "greedy"
    ]  # fmt: skip
    with pytest.raises(
        UnsupportedError,
        match=rf"Only cannot compute the Neg '{names[1]}'.*: it computes Relu only",
    ):
        choose.assign(graph, (only, reference), HOST, Choosing({names[1]: only}))
    with pytest.raises(UsageError, match=rf"no layer 'relu'\. Close are .*{names[0]}"):
        choose.assign(graph, (only, reference), HOST, Choosing({"relu": only}))
    # one that is not in the preference computes the named layer only
    after, assignment = choose.assign(graph, (reference,), HOST, Choosing({names[2]: only}))
    assert who(after, assignment) == ["Relu:CpuRef", "Neg:CpuRef", "Relu:Only"]


def test_an_override_names_what_was_fused_before() -> None:
    graph, _ = choose.assign(
        chain("Relu", "Neg"), (Fuses(ops=("Relu", "Neg"), optimizes=pairs_of_relu),)
    )
    (node,) = graph.nodes
    first, second = graph.leaf_nodes(node.id)
    fuses, other = Fuses(), Fuses("Other")
    after, assignment = choose.assign(graph, (fuses, other), HOST, Choosing({second: other}))
    assert who(after, assignment) == ["ReluNeg:Other"]
    with pytest.raises(UsageError, match="became one layer"):
        choose.assign(graph, (fuses,), HOST, Choosing({first: fuses, second: other}))


def test_an_override_that_the_optimisation_gives_back_is_an_error() -> None:
    graph = chain("Relu")
    (node,) = graph.nodes
    one = Only(optimizes=lambda view: OptimizationViews(failed=(view,)))
    with pytest.raises(UnsupportedError, match="its optimisation gave the node back"):
        choose.assign(graph, (one, CpuRef()), HOST, Choosing({node.name: one}))


def test_layers_all_leaves_the_nodes_alone() -> None:
    fuses = Fuses(ops=("Relu", "Neg"), optimizes=pairs_of_relu)
    after, _ = choose.assign(chain("Relu", "Neg"), (fuses,), HOST, Choosing(optimize=False))
    assert [n.op for n in after.nodes] == ["Relu", "Neg"]


def test_a_fused_layer_has_the_work_of_its_body() -> None:
    built = Net()
    x = built.input(1, 2, 3, 3)
    w = built.constant(np.ones((4, 2, 1, 1), np.float32))
    conv = built.op("Conv", [x, w], (1, 4, 3, 3), kernel_shape=(1, 1))
    graph = built.finish(built.op("Neg", [conv], (1, 4, 3, 3)))

    def all_of_it(view: SubgraphView) -> OptimizationViews:
        return OptimizationViews((Substitution(view, fused(view)),))

    after, _ = choose.assign(graph, (Fuses(ops=None, optimizes=all_of_it),))
    (node,) = after.nodes
    assert layer_of(after, node).macs == 4 * 2 * 9


def test_a_part_whose_nodes_lost_their_reader_is_passed_over() -> None:
    """The last part does without what another backend computes for it: that one is not asked."""
    built = Net()
    x = built.input(*SHAPE)
    unread = built.op("Neg", [x], SHAPE)
    graph = built.finish(built.op("Add", [x, unread], SHAPE))

    def forgets(view: SubgraphView) -> OptimizationViews:
        editor = GraphEditor.empty("forgets")
        inputs = [editor.add_edge("in", view.type(e)) for e in view.inputs]
        output = editor.add_edge("out", view.type(view.outputs[0]))
        editor.inputs, editor.outputs = list(inputs), [output]
        middle = editor.add_edge("middle", view.type(view.outputs[0]))
        editor.add_node("Relu", inputs[:1], [middle], "only one")
        editor.add_node("Relu", [middle], [output], "again")
        return OptimizationViews((Substitution(view, editor.finish(opset=17)),))

    first = Only("First", ("Add", "Relu"), optimizes=forgets)
    after, assignment = choose.assign(graph, (first, CpuRef()))
    verify(after)
    assert who(after, assignment) == ["Relu:First", "Relu:First"]


def test_a_cancelled_pair_lets_later_parts_read_what_came_before() -> None:
    """An identity goes, so a later part of the same answer has another input than it saw."""
    graph = chain("Neg", "Neg", "Relu", "Abs")
    nodes = [n.id for n in graph.nodes]

    def cancels(view: SubgraphView) -> OptimizationViews:
        pair, last = view.part(nodes[:2]), view.part(nodes[2:])
        editor = GraphEditor.empty("nothing")
        edge = editor.add_edge("x", pair.type(pair.inputs[0]))
        editor.inputs, editor.outputs = [edge], [edge]
        return OptimizationViews(
            (Substitution(pair, editor.finish(opset=17)), Substitution(last, fused(last)))
        )

    fuses = Fuses(ops=("Neg", "Relu", "Abs"), optimizes=cancels)
    after, assignment = choose.assign(graph, (fuses,))
    verify(after)
    assert who(after, assignment) == ["ReluNeg:Only"]
    assert next(after.nodes).inputs == graph.inputs


def conv_and_relu() -> Graph:
    """A float Conv with the Relu behind it fused, by the pass that always runs."""
    built = Net()
    w = built.constant(np.ones((4, 2, 1, 1), np.float32))
    conv = built.op("Conv", [built.input(*SHAPE), w], (1, 4, 3, 3), kernel_shape=(1, 1))
    return passes.run(built.finish(built.op("Relu", [conv], (1, 4, 3, 3))))


def test_a_float_node_is_taken_apart_for_backends_without_the_fused_form() -> None:
    graph = conv_and_relu()
    assert [n.op for n in graph.nodes] == ["Conv"]
    plain = Only("Plain", None, takes=lambda layer: "activation" not in layer.attributes)
    after, assignment = choose.assign(graph, (plain,))
    verify(after)
    assert who(after, assignment) == ["Conv:Plain", "Relu:Plain"]


def test_an_integer_node_is_not_computed_by_the_floats_that_it_was_made_of(kws_dir: Path) -> None:
    """Their sums are rounded otherwise: nobody would get the oracle's bits."""
    graph = passes.run(formats.load(kws_dir / "model.onnx"))
    without = Only("Without", None, takes=lambda layer: layer.op != "AveragePool")
    with pytest.raises(
        UnsupportedError, match="1 node of the model cannot be computed:\n  AveragePool"
    ):
        choose.assign(graph, (without,))

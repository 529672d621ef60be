"""How often backends are asked, and what stays of what they said before."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from backend_cases import Only
from graph_cases import Net
from substitution_cases import one_node

from mcu_deploy import choose, passes
from mcu_deploy.backends.CpuRef import CpuRef
from mcu_deploy.backends.interface import (
    HOST,
    YES,
    BackendBase,
    Costs,
    Layer,
    LayerSupport,
    OptimizationViews,
    Price,
    Proposal,
    Proposals,
    SubgraphView,
    Substitution,
    Support,
    Target,
)
from mcu_deploy.choose import Choosing, assigning
from mcu_deploy.errors import BackendFault
from mcu_deploy.ir import Graph, Node

SHAPE = (1, 2, 3, 3)


class Fuses(Only):
    """Computes what it made itself, too."""

    def layer_support(self) -> LayerSupport:
        outer = super().layer_support()

        class Asked:
            def is_layer_supported(self, layer: Layer, *rest: object) -> Support:
                own = layer.op == "Fused"
                return YES if own else outer.is_layer_supported(layer, *rest)  # type: ignore[arg-type]

        return Asked()  # type: ignore[return-value]


def network(*ops: str, conv: bool = False) -> Graph:
    """A chain; conv: behind a Conv with a Relu that is fused into it."""
    built = Net()
    edge = built.input(*SHAPE)
    for op in ("Conv", "Relu") if conv else ():
        weights = [built.constant(np.ones((2, 2, 1, 1), np.float32))] if op == "Conv" else []
        edge = built.op(op, [edge, *weights], SHAPE)
    for op in ops:
        edge = built.op(op, [edge], SHAPE)
    return passes.run(built.finish(edge))


def who(found: tuple[Graph, choose.Assignment]) -> list[str]:
    graph, assignment = found
    return [f"{n.op}:{assignment.backends[n.id].id}" for n in graph.nodes]


def answer(
    view: SubgraphView, *, fused: Sequence[Node] = (), failed: Sequence[Node] = ()
) -> OptimizationViews:
    """Some nodes become one, some are given back, the rest stays."""
    done = {n.id for n in (*fused, *failed)}
    rest = [n.id for n in view.nodes if n.id not in done]
    parts = [view.part([n.id for n in nodes]) for nodes in (fused, failed) if nodes]
    made = tuple(Substitution(p, one_node(p, "Fused")) for p in parts[: bool(fused)])
    return OptimizationViews(
        made, failed=tuple(parts[bool(fused) :]), untouched=(view.part(rest),) if rest else ()
    )


@pytest.mark.parametrize("round_", [assigning.ROUNDS, assigning.ROUNDS + 1])
def test_backends_propose_in_so_many_rounds_and_fail_nodes_in_all(round_: int) -> None:
    length = assigning.ROUNDS + 4
    views = []

    def one_by_one(view: SubgraphView) -> OptimizationViews:
        nodes = [*view.nodes]
        views.append(len(nodes))
        left = round_ - len(views)
        return answer(view, failed=nodes[: left >= 0], fused=nodes[-1:] if left == 0 else ())

    one = Fuses("One", None, optimizes=one_by_one)
    found = who(choose.assign(network(*["Abs", "Neg"] * (length // 2)), (one, CpuRef())))
    assert views[:round_] == [*range(length, length - round_, -1)]
    assert found.count("Fused:One") == (round_ <= assigning.ROUNDS)
    assert {name.partition(":")[2] for name in found[:round_]} == {"CpuRef"}


def test_what_was_substituted_before_is_there_once() -> None:
    """The pair of the first round is that of the second, when the node behind it is gone."""

    def pair(view: SubgraphView) -> OptimizationViews:
        last = [n for n in view.nodes if n.op == "Tanh"]
        return answer(view, fused=[n for n in view.nodes if n not in last], failed=last)

    graph = network("Abs", "Neg", "Tanh")
    cheap = {n.name: Costs(cycles=1) for n in graph.nodes}
    dear = {"made": Costs(cycles=9)}
    fuses = Fuses(ops=("Abs", "Neg", "Tanh"), optimizes=pair, estimated=cheap | dear)
    after, assignment = choose.assign(graph, (fuses, CpuRef()))
    assert who((after, assignment)) == ["Abs:Only", "Neg:Only", "Tanh:CpuRef"]
    compared = assignment.candidates[next(after.nodes).id]
    assert [c.title for c in compared if c.backend == "Only"] == ["", "Fused (2 nodes)"]


def test_a_part_outlives_that_others_are_asked_again() -> None:
    """Another backend gives a fused layer back, whose parts are asked about anew."""

    def fails_fused(view: SubgraphView) -> OptimizationViews:
        return answer(view, failed=[n for n in view.nodes if "activation" in view.attributes(n.id)])

    def pair(view: SubgraphView) -> OptimizationViews:
        return answer(view, fused=list(view.nodes))

    fuses = Fuses(ops=("Abs", "Neg"), optimizes=pair)
    other = Only("Other", ("Conv", "Relu"), optimizes=fails_fused)
    found = who(choose.assign(network("Abs", "Neg", conv=True), (fuses, other)))
    assert found == ["Conv:Other", "Relu:Other", "Fused:Only"]


class Pairs(BackendBase):
    """Proposes a Relu and what is behind it as one."""

    id = "Pairs"
    rank = 1

    def propose(self, view: SubgraphView, target: Target) -> Proposals:
        found = []
        for node in view.nodes:
            (edge,) = node.outputs
            readers = view.consumers(edge) if node.op == "Relu" and edge is not None else ()
            for reader in readers:
                part = view.part([node.id, reader.id])
                made = one_node(part, "Fused")
                found.append(Proposal(part, Price(Costs(cycles=1)), lambda *_: (), made))
        return Proposals(tuple(found))


def test_who_proposes_is_asked_about_all_nodes_when_some_are_new() -> None:
    """The Relu is one of its own only when nobody takes the Conv that it is fused into."""
    plain = Only("Plain", None, takes=lambda layer: "activation" not in layer.attributes)
    found = who(choose.assign(network("Abs", conv=True), (Pairs(), plain)))
    assert found == ["Conv:Plain", "Fused:Pairs"]


def test_a_backend_that_is_named_for_a_layer_may_have_what_the_others_lack() -> None:
    class Knows(Only):
        operators = ("Relu",)

    graph = network("Relu", "Neg")
    named = Choosing({[*graph.nodes][1].name: CpuRef()})
    found = who(choose.assign(graph, (Knows(),), HOST, named))
    assert found == ["Relu:Only", "Neg:CpuRef"]


def test_three_of_the_nodes_that_an_answer_lacks_are_named() -> None:
    graph = network(*["Abs", "Neg"] * 2)
    names = ", ".join(repr(n.name) for n in [*graph.nodes][:3])
    forgets = Only(ops=None, optimizes=lambda view: OptimizationViews())
    with pytest.raises(BackendFault, match=rf"what became of: {names}\. Leave"):
        choose.assign(graph, (forgets,))

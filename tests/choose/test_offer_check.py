"""What backends offer is checked like all that comes from outside: a sentence, and the next one."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from backend_cases import Only
from graph_cases import Net
from substitution_cases import one_node

from mcu_deploy import choose, selection
from mcu_deploy.backends.CpuRef import CpuRef
from mcu_deploy.backends.interface import (
    HOST,
    BackendBase,
    Costs,
    InPlace,
    Layer,
    LayoutRule,
    OptimizationViews,
    Price,
    Proposal,
    Proposals,
    SubgraphView,
    Substitution,
    Support,
    Target,
    Workload,
)
from mcu_deploy.choose import Choosing, Cover, Problem, offers, strategies
from mcu_deploy.errors import BackendFault, UsageError
from mcu_deploy.ir import Graph, GraphEditor, view_of_all

NAN, INF = math.nan, math.inf


def chain() -> Graph:
    built = Net()
    edge = built.input(1, 4)
    for op in ("Neg", "Abs", "Relu"):
        edge = built.op(op, [edge], (1, 4))
    return built.finish(edge)


class Proposer(BackendBase):
    """Proposes one node for Neg and Abs, and Relu as it is, after somebody changed the answer."""

    id = "Proposer"
    rank = 1

    def __init__(self, change: Callable[[Proposals], Any]) -> None:
        self.change = change

    def propose(self, view: SubgraphView, target: Target) -> Proposals:
        neg, after, relu = view.topology.nodes
        part = view.part([neg, after])
        price = Price(Costs(cycles=7), {"f": 8}, 4, (InPlace(0, 0),))
        both = Proposal(part, price, lambda *_: (), one_node(part, "Fused"), title="both")
        alone = Proposal(view.part([relu]), price, lambda *_: ())
        answer: Proposals = self.change(Proposals((both, alone)))
        return answer


def priced(**changes: Any) -> Callable[[Proposals], Proposals]:
    """The first proposal with another price."""
    return lambda answer: first(price=replace(answer.proposals[0].price, **changes))(answer)


def costs(**changes: Any) -> Callable[[Proposals], Proposals]:
    return priced(costs=replace(Costs(cycles=7), **changes))


def facts(*found: Any) -> Callable[[Proposals], Proposals]:
    return priced(in_place=found)


def first(**changes: Any) -> Callable[[Proposals], Proposals]:
    def change(answer: Proposals) -> Proposals:
        one, *rest = answer.proposals
        return replace(answer, proposals=(replace(one, **changes), *rest))

    return change


def parted(*places: int) -> Callable[[Proposals], Proposals]:
    """The first proposal with another part, of some of the graph's nodes."""

    def change(answer: Proposals) -> Proposals:
        whole = answer.proposals[0].part.whole
        assert whole is not None
        nodes = list(whole.topology.nodes)
        part = view_of_all(whole).part([nodes[place] for place in places])
        return first(part=part, replacement=one_node(part, "Fused"))(answer)

    return change


def dead(answer: Proposals) -> Proposals:
    """A replacement with one node more, whose result nobody reads."""
    part = answer.proposals[0].part
    graph = one_node(part, "Fused")
    editor = GraphEditor(graph)
    more = editor.add_edge("more", graph.type(graph.outputs[0]))
    editor.add_node("Neg", [graph.inputs[0]], [more], "more", {})
    nodes = dict(editor.nodes)
    topology = replace(graph.topology, nodes=nodes, edges={**graph.topology.edges, more: "more"})
    types = {**graph.data.types, more: graph.type(graph.outputs[0])}
    attributes = {n: {} for n in nodes}
    data = replace(graph.data, types=types, attributes=attributes)
    topology = replace(topology, next_node=max(nodes) + 1, next_edge=more + 1)
    whole = replace(graph, topology=topology, data=data)
    return first(replacement=whole, layouts=(LayoutRule.NATURAL,) * 2)(answer)


HOSTILE: dict[str, tuple[Callable[[Proposals], Any], str]] = {
    "nan": (costs(cycles=NAN), "price.costs.cycles is nan, and no integer"),
    "infinite": (costs(instructions=INF), "price.costs.instructions is inf, and no integer"),
    "negative": (costs(cycles=-1), "the price's costs.cycles is -1"),
    "half": (costs(flash=0.5), "price.costs.flash is 0.5, and no integer"),
    "truth": (costs(macs=True), "price.costs.macs is True, and no integer"),
    "endless": (costs(cycles=1 << 80), f"the price's costs.cycles is {1 << 80}"),
    "how known": (costs(known="guessed"), "costs.known is 'guessed', and no Known"),
    "no costs": (priced(costs=None), "price.costs is None, and no Costs"),
    "code": (priced(code={"f": -8}), r"code\['f'\] is -8"),
    "code of nan": (priced(code={"f": NAN}), r"price.code\['f'\] is nan"),
    "code's key": (priced(code={8: 8}), "price.code's key is 8, and no text"),
    "no code": (priced(code=None), "price.code is None, and no mapping"),
    "scratch": (priced(scratch_bytes=-4), "scratch_bytes is -4"),
    "scratch of nan": (priced(scratch_bytes=NAN), "scratch_bytes is nan, and no integer"),
    "much scratch": (priced(scratch_bytes=1 << 40), "scratch_bytes is 1099511627776"),
    "input": (facts(InPlace(1, 0)), "an in-place fact names input 1 of 1"),
    "output": (facts(InPlace(0, 1)), "an in-place fact names output 1 of 1"),
    "negative input": (facts(InPlace(-1, 0)), "an in-place fact names input -1 of 1"),
    "distance": (facts(InPlace(0, 0, INF)), "distance is inf, and no integer"),  # type: ignore[arg-type]
    "far": (facts(InPlace(0, 0, -(1 << 40))), "has a distance of -1099511627776"),
    "exactly": (facts(InPlace(0, 0, 4, exactly=True)), "one exact place, and has a distance of 4"),
    "no facts": (priced(in_place=None), "in_place is None, and no tuple"),
    "no fact": (facts(None), r"in_place\[0\] is None, and no InPlace"),
    "no price": (first(price=None), "price is None, and no Price"),
    "no part": (first(part=None), r"proposals\[0\].part is None, and no SubgraphView"),
    "make": (first(make="make"), "make is 'make', and no function"),
    "layout": (first(layouts=("natural",)), r"layouts\[0\] is 'natural', and no LayoutRule"),
    "layouts": (first(layouts=(LayoutRule.SAME,) * 2), "2 layouts for 1 nodes"),
    "goal": (first(only_for="fame"), "only_for is 'fame', and none of balanced, speed, size, ram"),
    "title": (first(title=None), "title is None, and no text"),
    "nothing in place": (first(replacement=None), "2 nodes, and nothing that replaces them"),
    "a number in place": (first(replacement=7), "replacement is 7, and no Graph"),
    "not convex": (parted(0, 2), "a path leaves the part and re-enters it"),
    "no nodes": (parted(), "a part without nodes"),
    "dead": (dead, "a node whose result nobody reads"),
    "strange refusal": (lambda a: replace(a, refused={99: "x"}), "node 99, which it was not asked"),
    "no reason": (lambda a: replace(a, refused={0: None}), r"refused\[0\] is None, and no text"),
    "no answer": (lambda a: None, "its answer is None, and no Proposals"),
    "a list": (lambda a: [*a.proposals], "and no Proposals"),
    "no proposal": (lambda a: Proposals((None,)), r"proposals\[0\] is None, and no Proposal"),  # type: ignore[arg-type]
    "no proposals": (lambda a: Proposals(None), "proposals is None, and no tuple"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("case", HOSTILE)
@pytest.mark.parametrize("strategy", ["cost", "greedy"])
def test_a_proposal_that_makes_no_sense_is_one_sentence(case: str, strategy: str) -> None:
    change, says = HOSTILE[case]
    backends = (Proposer(change), CpuRef())
    begin = "The backend Proposer answered nonsense to propose: .*"
    with pytest.raises(BackendFault, match=begin + says) as fault:
        choose.assign(chain(), backends, HOST, Choosing(strategy=strategy))
    assert fault.value.backend == "Proposer"
    assert "\n" not in str(fault.value)


def test_another_way_that_makes_no_sense_names_what_was_asked() -> None:
    class Odd(CpuRef):
        id = "Odd"

        def other_ways(self, view: SubgraphView, layer: Layer) -> Sequence[Proposal]:
            return (Proposal(view, Price(Costs(cycles=-5)), lambda *_: ()),)

    says = r"The backend Odd answered nonsense to other_ways: .*costs.cycles is -5"
    with pytest.raises(BackendFault, match=says):
        choose.assign(chain(), (Odd(),), HOST, Choosing(strategy="cost"))


@pytest.mark.parametrize(("goal", "is_offered"), [("", True), ("ram", True), ("size", False)])
def test_what_is_for_one_goal_competes_there_alone(goal: str, is_offered: bool) -> None:
    class Ways(CpuRef):
        def other_ways(self, view: SubgraphView, layer: Layer) -> Sequence[Proposal]:
            return (Proposal(view, Price(), lambda *_: (), title="another", only_for="ram"),)

    graph = chain()
    nodes = [*graph.topology.nodes]
    backends = (Proposer(first(only_for="ram")), Ways())
    found = offers.collect(graph, nodes, dict.fromkeys(nodes, backends), HOST, {}, goal)
    assert len(found.parts) == is_offered
    titles = [c.title for offered in found.candidates.values() for c in offered]
    assert titles.count("another") == is_offered * len(nodes)
    # Nodes of a part are none that a backend does not take.
    refused = {node for node, _ in found.refusals}
    assert refused == (set() if is_offered else {*nodes[:2]})


def test_a_layer_may_be_given_to_a_backend_that_takes_it_in_a_part_alone() -> None:
    proposer = Proposer(lambda answer: answer)
    choosing = Choosing(strategy="cost", layer_backends={"neg0": proposer})
    graph, found = choose.assign(chain(), (CpuRef(), proposer), HOST, choosing)
    assert [found.backends[n.id].id for n in graph.nodes if n.op == "Fused"] == ["Proposer"]


def test_a_strategy_that_takes_a_part_of_nobody_s_is_told_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def foreign(problem: Problem) -> Cover:
        whole = replace(problem.parts[0])  # equal to one that was offered, and another
        labels = dict.fromkeys(problem.candidates, "CpuRef") | dict.fromkeys(
            whole.nodes, "Proposer"
        )
        return Cover(labels, (whole,))

    monkeypatch.setattr(strategies, "find", lambda name: foreign)
    backends = (Proposer(lambda answer: answer), CpuRef())
    with pytest.raises(UsageError, match="The strategy greedy gives the layer 'neg0' to nobody"):
        choose.assign(chain(), backends, HOST, Choosing())


def test_a_border_lies_as_the_first_node_that_touches_it_wants() -> None:
    net = Net()
    x = net.input(1, 4)
    graph = net.finish(net.op("Neg", [x], (1, 4)), net.op("Abs", [x], (1, 4)))
    rules = (LayoutRule.CHANNELS_LAST, LayoutRule.NATURAL)
    proposal = Proposal(view_of_all(graph), Price(), lambda *_: (), graph, rules)
    made = offers.part_of("B", proposal, graph)
    assert [*made.reads.values()] == [rules[0]] and [*made.writes.values()] == [*rules]


def test_numbers_of_numpy_and_lists_are_as_good() -> None:
    change = costs(cycles=np.int64(7), flash=np.uint8(3))
    listed = lambda a: first(layouts=[LayoutRule.NATURAL])(change(a))  # noqa: E731
    graph, _ = choose.assign(chain(), (Proposer(listed), CpuRef()), HOST, Choosing(strategy="cost"))
    assert [n.op for n in graph.nodes] == ["Fused", "Relu"]


class Diamond(BackendBase):
    """Proposes parts that share nodes, and two that need each other's results."""

    id = "Diamond"
    rank = 1

    def propose(self, view: SubgraphView, target: Target) -> Proposals:
        nodes = list(view.topology.nodes)
        parts = [view.part([nodes[p] for p in at]) for at in ((0, 3), (1, 2), (0, 1), (1, 2, 3))]
        price = Price(Costs(cycles=1))
        return Proposals(
            tuple(Proposal(p, price, lambda *_: (), one_node(p, "Fused")) for p in parts)
        )


def test_parts_that_overlap_or_need_each_other_are_never_taken_together() -> None:
    """x -> a -> b and x -> c -> d: {a, d} and {b, c} are convex, and a cycle together."""
    built = Net()
    x = built.input(1, 4)
    a = built.op("Neg", [x], (1, 4))
    c = built.op("Abs", [x], (1, 4))
    b = built.op("Relu", [a], (1, 4))
    d = built.op("Neg", [c], (1, 4))
    graph = built.finish(b, d)
    for strategy in ("cost", "greedy"):
        after, found = choose.assign(
            graph, (Diamond(), CpuRef()), HOST, Choosing(strategy=strategy)
        )
        assert len(list(after.nodes)) < 4
        assert {found.backends[n.id].id for n in after.nodes} <= {"Diamond", "CpuRef"}


class Words(Only):
    """In Arm NN's words, of which one is another."""

    def __init__(self, **answers: Any) -> None:
        super().__init__(ops=None)
        self.answers = answers

    def layer_support(self) -> Any:
        return self if "support" in self.answers else super().layer_support()

    def is_layer_supported(self, *_: object) -> Any:
        return self.answers["support"]

    def estimate(self, layer: Any) -> Any:
        return self.answers.get("costs", Costs(cycles=1))

    def optimize_subgraph(self, view: SubgraphView) -> Any:
        return self.answers.get("optimized", OptimizationViews(untouched=(view,)))

    def create_workload_factory(self, memory_manager: object) -> Any:
        return self if "made" in self.answers else super().create_workload_factory(None)

    def create_workloads(self, *_: object) -> Any:
        return self.answers["made"]


MADE = Workload("Only", None)
WORDS: dict[str, tuple[dict[str, Any], str]] = {
    "no support": ({"support": None}, "answered .* its support is None, and no Support"),
    "support": ({"support": True}, "its support is True, and no Support"),
    "layout": ({"support": Support(True, layout="flat")}, "layout is 'flat', and no LayoutRule"),  # type: ignore[arg-type]
    "reason": ({"support": Support(False, None)}, "reason is None, and no text"),  # type: ignore[arg-type]
    "nan": ({"costs": Costs(cycles=NAN)}, "estimate.cycles is nan, and no integer"),  # type: ignore[arg-type]
    "negative": ({"costs": Costs(cycles=-5)}, "the estimate.cycles is -5"),
    "no costs": ({"costs": None}, "the estimate is None, and no Costs"),
    "no views": ({"optimized": None}, "its answer is None, and no OptimizationViews"),
    "untouched": ({"optimized": OptimizationViews(untouched=(1,))}, r"untouched\[0\] is 1, and no"),  # type: ignore[arg-type]
    "replacement": (
        {"optimized": OptimizationViews((Substitution(view_of_all(chain()), None),))},  # type: ignore[arg-type]
        "replacement is None, and no Graph",
    ),
    "no workloads": ({"made": None}, "its answer is a NoneType, and no tuple"),
    "no workload": ({"made": (None,)}, "its workload is None, and no Workload"),
    "scratch": ({"made": (replace(MADE, scratch_bytes=NAN),)}, "scratch_bytes is nan, and no"),  # type: ignore[arg-type]
    "price": ({"made": (replace(MADE, costs=Costs(cycles=-1)),)}, "costs.cycles is -1"),
    "distance": (
        {"made": (replace(MADE, in_place=(InPlace(0, 0, None),)),)},  # type: ignore[arg-type]
        "distance is None, and no integer",
    ),
}


@pytest.mark.parametrize("case", WORDS)
def test_so_are_the_answers_in_arm_nns_words(case: str) -> None:
    answers, says = WORDS[case]
    backends = (Words(**answers), CpuRef())
    with pytest.raises(BackendFault, match=f"The backend Only .*{says}") as fault:
        graph, assignment = choose.assign(chain(), backends)
        selection.unmade(graph, assignment)
        selection.select(graph, assignment, backends)
    assert fault.value.backend == "Only"


def test_what_a_proposal_makes_is_looked_at() -> None:
    backends = (Proposer(first(make=lambda *_: None)), CpuRef())
    choosing = Choosing(strategy="cost")
    graph, assignment = choose.assign(chain(), backends, HOST, choosing)
    with pytest.raises(
        BackendFault, match=r"Proposer .* make for 'both': its answer is a NoneType"
    ):
        selection.select(graph, assignment, backends)


def test_a_backend_that_ends_the_program_is_named() -> None:
    def end(_: Proposals) -> Any:
        raise SystemExit(4)

    with pytest.raises(BackendFault, match="Proposer ended in propose: it raised SystemExit: 4"):
        choose.assign(chain(), (Proposer(end), CpuRef()), HOST, Choosing(strategy="cost"))

"""Covers the graph so that all costs together, conversions included, are best for the goal.

What counts is the sum of the costs of nodes and parts, all in one unit (`common_unit`: modelled
cycles, which every built-in backend states), and of the conversions that `layouts` will insert
where a tensor lies otherwise than a reader wants it. What does not state that unit competes by
rank: it gets its nodes where its backend is the first of the preference that has them, and is out
where another is. The preference decides between equal sums, too.

Measured against all choices for 1,000 random graphs of up to 8 nodes with 3 backends: it finds the
optimum of each. With WIDTH 2 it finds 980, with WIDTH 1 887, and costs 1.5 times as much at worst.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace

from mcu_deploy.backends.cost import Cost, Unit, common_unit
from mcu_deploy.backends.interface import LayoutRule, Proposal
from mcu_deploy.choose import goals
from mcu_deploy.choose.model import Candidate, Cover, Part, Problem
from mcu_deploy.choose.paths import Option, Totals
from mcu_deploy.choose.search import Search
from mcu_deploy.ir import EdgeId, Graph, NodeId

NAME = "cost"

# For each element that a conversion copies: CpuRef's Reorder on a Cortex-M4.
CONVERSION = {Unit.CYCLES: 8, Unit.INSTRUCTIONS: 5}

# How many ways to arrange the live tensors are followed at a time, at least (where figures besides
# time count, a quarter of them: each has ways of its own to be best); and how many steps are taken
# in all: small graphs are searched through.
WIDTH = 32
STEPS = 16_000


def choose(problem: Problem) -> Cover:
    """The best cover for the problem's goal; fixed nodes as they are."""
    least = WIDTH if problem.goal == "speed" else WIDTH // 4
    width = max(least, STEPS // max(1, len(problem.graph.topology.nodes)))
    search = _search(problem, width)
    found = goals.find(problem, search)
    if not search.cut or problem.goal != "speed" or problem.parts:
        return found
    # The optimum may have been cut off; what is left must not cost more than the plain preference.
    unit = _unit(problem)
    plain = {n: _options(problem, n, unit)[0].backend for n in problem.candidates}
    return Cover(plain) if total(problem, plain) < total(problem, found) else found


def total(problem: Problem, labels: Mapping[NodeId, str]) -> int:
    """The time that a cover takes: nodes, parts and conversions. What nobody knows counts as 0."""
    return totals(problem, labels).time


def totals(problem: Problem, labels: Mapping[NodeId, str]) -> Totals:
    """The sums of a cover, or of a backend for each node."""
    cover = labels if isinstance(labels, Cover) else Cover(labels)
    candidates: dict[NodeId, tuple[Candidate, ...]] = dict.fromkeys(problem.candidates, ())
    for node in cover.alone():
        candidates[node] = (cover.taken(node, problem.candidates[node]),)
    only = replace(problem, candidates=candidates, fixed={}, parts=cover.parts)
    (path, *_) = _search(only, 1).run(lambda t: (t.cost,))
    return path.totals


def _search(problem: Problem, width: int) -> Search:
    unit = _unit(problem)
    options = {node: _options(problem, node, unit) for node in problem.candidates}
    positions = problem.graph.topology.positions
    parts: dict[NodeId, list[Option]] = {}
    for part in problem.parts:
        if all(problem.fixed.get(n, part.backend) == part.backend for n in part.nodes):
            whole = _whole(problem, part, unit)
            if whole is not None:
                first = min(part.nodes, key=positions.__getitem__)
                parts.setdefault(first, []).append(whole)
    every = [o for some in (*options.values(), *parts.values()) for o in some]
    return Search(
        problem, options.__getitem__, parts, CONVERSION[unit], _shared(problem, every), width
    )  # fmt: skip


def _unit(problem: Problem) -> Unit:
    """The unit in which everything of the problem is compared."""
    nodes = (c.costs for cs in problem.candidates.values() for c in cs)
    return common_unit((*nodes, *(part.proposal.price.costs for part in problem.parts)))


def _shared(problem: Problem, options: Iterable[Option]) -> frozenset[str]:
    """The functions of which it matters whether they are there already."""
    if not goals.looks_at_flash(problem.goal):
        return frozenset()
    count = Counter(key for option in options for key in option.code)
    return frozenset(key for key, times in count.items() if times > 1)


def _options(problem: Problem, node: NodeId, unit: Unit) -> tuple[Option, ...]:
    """The candidates to compare: the fixed one; the first where it has no price; else all that have
    one."""
    fixed = problem.fixed.get(node)
    options = [
        (
            Option(
                c.backend, c.support.layout, 0 if price is None else price.value, place,
                c.costs.flash or 0, c.code,
                0 if c.proposal is None else c.proposal.price.scratch_bytes, number=place,
                in_place=_saved(problem.graph, node, c, price),
            ),
            price,
        )
        for place, c in enumerate(problem.candidates[node])
        for price in [c.costs.price(unit)]
        if fixed in (None, c.backend)
    ]  # fmt: skip
    if not options or options[0][1] is not None:
        return tuple(o for o, price in options if price is not None)
    return (options[0][0],)


def _whole(problem: Problem, part: Part, unit: Unit) -> Option | None:
    """A part as it is compared; None where it is out.

    Without a price, what a backend made itself of layers that were given to it costs what these
    cost; any other has to be of the first backend that has its nodes.
    """
    price = part.proposal.price.costs.price(unit)
    value = None if price is None else price.value
    if value is None and part.made is not None:
        own = [
            c.costs.price(unit)
            for n in part.nodes
            for c in problem.candidates.get(n, ())
            if c.backend == part.backend
        ]
        known = [c.value for c in own if c is not None]
        value = sum(known) if len(known) == len(part.nodes) else None
    places = [_place(problem, n, part.backend) for n in part.nodes]
    if value is None and any(places):
        return None
    return Option(
        part.backend, LayoutRule.NATURAL, value or 0, sum(places),
        part.proposal.price.costs.flash or 0, part.proposal.price.code,
        part.proposal.price.scratch_bytes, part,
        in_place=_shared_rooms(problem.graph, part.proposal),
    )  # fmt: skip


def _saved(
    graph: Graph, node: NodeId, candidate: Candidate, price: Cost | None
) -> dict[EdgeId, int]:
    """What is saved where a view is what it is read from, or results lie on operands. Whoever
    computes something takes time for it: what takes none is a view, whatever its layout."""
    takes_none = candidate.proposal is None and price is not None and not price.value
    if candidate.support.layout is LayoutRule.VIEW or takes_none:
        return {e: graph.type(e).bytes for e in graph.node(node).inputs[:1] if e is not None}
    return {} if candidate.proposal is None else _shared_rooms(graph, candidate.proposal)


def _shared_rooms(graph: Graph, proposal: Proposal) -> dict[EdgeId, int]:
    """Of each tensor that a proposal's nodes read, the bytes that are saved where an output, or the
    scratch, shares room with it."""
    saved: dict[EdgeId, int] = {}
    part = proposal.part
    for fact in proposal.price.in_place:
        is_whole = proposal.replacement is not None
        source = (part.inputs if is_whole else next(iter(part.nodes)).inputs)[fact.input]
        if source is None:
            continue
        x, y = graph.type(source).bytes, proposal.price.scratch_bytes
        if fact.output is not None:
            y = graph.type(part.outputs[fact.output]).bytes
        # The output starts at `distance` before the input, or anywhere earlier.
        both = max(x + max(0, fact.distance), y)
        saved[source] = max(saved.get(source, 0), x + y - both)
    return saved


def _place(problem: Problem, node: NodeId, backend: str) -> int:
    """Where a backend stands in the preference for a node."""
    order = [c.backend for c in problem.candidates.get(node, ())]
    if backend in order:
        return order.index(backend)
    before = [*problem.preference].index(backend) if backend in problem.preference else 0
    return sum(b in problem.preference[:before] for b in order)

"""Prices by what was measured (docs/costs.md).

Measured costs go by the fingerprints of workloads, and a workload is made of layers whose tensors
lie as a whole cover wants them. So covers are made in which everything that is offered occurs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from mcu_deploy.backends.cost import Cost, Costs, Known
from mcu_deploy.choose.model import Assignment, Candidate, Cover, Part, Problem
from mcu_deploy.choose.offers import Offers
from mcu_deploy.choose.strategies import cost
from mcu_deploy.ir import Graph, NodeId

# The graph with a cover applied, and who computes what of it.
Apply = Callable[[Cover], tuple[Graph, Assignment]]
# What the layers of such a graph cost, None where nobody measured it; views are not in it.
Measured = Callable[[Graph, Assignment], Mapping[NodeId, Cost | None]]

# The price, for each of its nodes, of what occurred before: more than any conversion.
_SEEN = 1 << 40


def covers(problem: Problem) -> Iterator[Cover]:
    """Covers in which each candidate and each part occurs that can be in one, as many that are new
    at a time as fit together."""
    seen: set[int] = set()
    while True:
        cover = _newest(problem, seen)
        alone = (cover.taken(node, problem.candidates[node]) for node in cover.alone())
        new = {*map(id, (*cover.parts, *alone))} - seen
        if not new:
            return
        seen |= new
        yield cover


def _newest(problem: Problem, seen: set[int]) -> Cover:
    """The cover with the fewest nodes left to what was seen; of these, with the least copied."""

    def price(offered: Candidate | Part, nodes: int = 1) -> Costs:
        return Costs(cycles=nodes * _SEEN if id(offered) in seen else 0)

    parts: dict[int, Part] = {}
    priced = []
    for part in problem.parts:
        proposal = part.proposal
        costs = replace(proposal.price, costs=price(part, len(part.nodes)))
        priced.append(replace(part, proposal=replace(proposal, price=costs)))
        parts[id(priced[-1])] = part
    candidates = {
        node: tuple(replace(c, costs=price(c)) for c in offered)
        for node, offered in problem.candidates.items()
    }
    cover = cost.choose(
        replace(problem, candidates=candidates, parts=tuple(priced), goal="speed", peak=None)
    )
    return replace(cover, parts=tuple(parts[id(part)] for part in cover.parts))


def apply(offers: Offers, problem: Problem, applied: Apply, measured: Measured) -> None:
    """Puts what was measured into the place of the prices of what is offered."""
    known: dict[int, Cost] = {}
    for cover in covers(problem):
        graph, assignment = applied(cover)
        costs = measured(graph, assignment)
        found: dict[int, list[Cost | None]] = defaultdict(list)
        for node in assignment.backends:
            if node in costs:
                taken = assignment.candidates[node][0]
                found[id(taken.proposal or taken)].append(costs[node])
        for offered, parts in found.items():
            total = _sum(parts)
            if total is not None:
                known.setdefault(offered, total)

    def priced(candidate: Candidate) -> Candidate:
        total = known.get(id(candidate.proposal or candidate))
        costs = candidate.costs
        return candidate if total is None else replace(candidate, costs=costs.known_as(total))

    def whole(part: Part) -> Part:
        proposal = part.proposal
        if part.made is None:
            total = known.get(id(proposal))
        else:
            total = _sum([known.get(id(made)) for made in part.made])
            part = replace(part, made=tuple(map(priced, part.made)))
        if total is None:
            return part
        price = replace(proposal.price, costs=proposal.price.costs.known_as(total))
        return replace(part, proposal=replace(proposal, price=price))

    offers.candidates = {
        node: tuple(map(priced, candidates)) for node, candidates in offers.candidates.items()
    }
    offers.parts = list(map(whole, offers.parts))


def _sum(costs: Sequence[Cost | None]) -> Cost | None:
    """Of layers that run one after the other; None where one is not known, or units differ."""
    known = [c for c in costs if c is not None]
    if not known or len(known) < len(costs) or len({c.unit for c in known}) > 1:
        return None
    is_measured = all(c.known is Known.MEASURED for c in known)
    how = Known.MEASURED if is_measured else Known.COUNTED
    return Cost(sum(c.value for c in known), known[0].unit, how)

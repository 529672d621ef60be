"""Whether what a backend offers makes sense: supports, costs, prices, proposals.

Every backend's offers pass here before they compete: those of in-tree folders, of sessions in
Python, and of dynamic backends. All raise Nonsense.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from mcu_deploy.backends.c_rules import Nonsense, require
from mcu_deploy.backends.cost import Costs
from mcu_deploy.backends.interface import OptimizationViews, Support
from mcu_deploy.backends.proposals import Price, Proposal, Proposals
from mcu_deploy.backends.substitute import SubstitutionError, lone_node, require_fit
from mcu_deploy.backends.typed import require_typed
from mcu_deploy.backends.workload import InPlace
from mcu_deploy.ir import Graph, GraphEditor, NodeId, SubgraphView

# More than any network takes, and small enough to be added up and written down.
_MOST = 1 << 53
_LARGEST_MEMORY = 1 << 30


def check_support(support: Support) -> None:
    """A yes with a layout, or a no with a reason."""
    require_typed(support, Support, "its support")


def check_costs(costs: Costs, what: str = "the estimate") -> None:
    """Whole numbers, none of them negative, and None for what is not known."""
    require_typed(costs, Costs, what)
    for name in ("macs", "instructions", "cycles", "flash", "code"):
        value = getattr(costs, name)
        require(value is None or 0 <= value <= _MOST, f"{what}.{name} is {value}")


def check_optimization(answer: OptimizationViews) -> None:
    """What became of a view, in types; `choose.arm_nn` looks at its nodes."""
    require_typed(answer, OptimizationViews, "its answer")


def check_answer(answer: Proposals, wanted: Collection[NodeId]) -> None:
    """Proposals, and why there are none for some nodes. wanted: those that it was asked about."""
    require_typed(answer, Proposals, "its answer")
    for node in answer.refused:
        require(node in wanted, f"it refuses node {node}, which it was not asked about")


def check_proposal(
    graph: Graph, proposal: Proposal, wanted: Collection[NodeId], goals: Collection[str]
) -> None:
    """A proposal of `check_answer`, for the graph that it was asked about.

    goals: the words that `only_for` may be.
    """
    nodes, part, replacement = proposal.nodes, proposal.part, proposal.replacement
    require(len(nodes) > 0, "a part without nodes")
    require(nodes <= {*wanted}, "a part with nodes that it was not asked about")
    require(
        replacement is not None or len(nodes) == 1,
        f"{len(nodes)} nodes, and nothing that replaces them",
    )
    count = 1 if replacement is None else len(replacement.topology.nodes)
    require(len(proposal.layouts) == count, f"{len(proposal.layouts)} layouts for {count} nodes")
    require(
        proposal.only_for in ("", *goals),
        f"only_for is {proposal.only_for!r}, and none of {', '.join(goals)}",
    )
    if replacement is not None:
        _check_replacement(graph, part, replacement)
    inputs = part.inputs if replacement is not None else next(iter(part.nodes)).inputs
    _check_price(proposal.price, len(inputs), len(part.outputs))


def _check_replacement(graph: Graph, part: SubgraphView, replacement: Graph) -> None:
    try:
        require_fit(graph, part, replacement)
        alive = GraphEditor(replacement).finish()
        require(
            [*alive.topology.nodes] == [*replacement.topology.nodes],
            "a replacement with a node whose result nobody reads, or that stands before one "
            "that it reads",
        )
        if len(alive.topology.nodes) == 1:
            lone_node(part, replacement)
    except SubstitutionError as error:
        raise Nonsense(str(error)) from None


def _check_price(price: Price, inputs: int, outputs: int) -> None:
    """inputs, outputs: how many the part has."""
    check_costs(price.costs, "the price's costs")
    for key, size in price.code.items():
        require(0 <= size <= _MOST, f"the price's code[{key!r}] is {size}")
    scratch = price.scratch_bytes
    require(0 <= scratch <= _LARGEST_MEMORY, f"the price's scratch_bytes is {scratch}")
    check_in_place(price.in_place, inputs, outputs, scratch)


def check_in_place(facts: Iterable[InPlace], inputs: int, outputs: int, scratch_bytes: int) -> None:
    """Facts about inputs and outputs of which there are so many."""
    for fact in facts:
        source, target, distance = fact.input, fact.output, fact.distance
        require(0 <= source < inputs, f"an in-place fact names input {source} of {inputs}")
        if target is None:
            require(scratch_bytes > 0, "an in-place fact is of scratch, and there is none")
        else:
            require(0 <= target < outputs, f"an in-place fact names output {target} of {outputs}")
        require(abs(distance) <= _LARGEST_MEMORY, f"an in-place fact has a distance of {distance}")
        require(
            not fact.exactly or distance == 0,
            f"an in-place fact is of one exact place, and has a distance of {distance}",
        )

"""Proves control flow in a program: branches both ways, loops for any number of rounds.

Written from what If, Loop and Scan mean (`flow.rounds_of`) and not from how the planner puts them
into a list. What holds its value is followed as in straight programs, with these rules:

- behind a Branch holds what holds at the end of both ways;
- before a round holds what holds before the first one and at the end of any other. The set is found
  by going round: it begins with what holds before the first round, and loses what a round does not
  leave; once it stays as it is, the last walk has shown that every read of every round finds its
  value, however many rounds there are, none included. It gets smaller each time, so it ends;
- what the layers of a round compute is gone before the next one;
- a state that has got its next value is not read before the next round.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet

from mcu_deploy.arrange.flow import Rounds, Slices, rounds_of
from mcu_deploy.ir import EdgeId, Graph, Node, NodeId
from mcu_deploy.plan.control import Block, Branch, Count, Element, Repeat, blocks
from mcu_deploy.plan.model import Copy, Item, PlanError, Program, Step
from mcu_deploy.selection import Chosen, Control, choices_within, every

Live = set[EdgeId]


def next_of(state: EdgeId) -> EdgeId:
    """Stands for the next value of a state, from when it is there until the round ends."""
    return ~state


def written(item: Item) -> list[EdgeId]:
    """What an item computes, or part of it."""
    if isinstance(item, Step):
        return [operand.edge for operand in item.choice.layer.outputs]
    if isinstance(item, Copy):
        return [item.target]
    if isinstance(item, Element):
        return [item.whole if item.into else item.element]
    return [item.edge] if isinstance(item, Count) else []


class FlowChecker:
    """Walks through a program with control flow; what its items do to memory is for a subclass.

    graph: with all graphs inside of it. copies: those that belong to no control flow.
    """

    def __init__(
        self, graph: Graph, choices: Sequence[Chosen], program: Program, copies: Sequence[Copy]
    ) -> None:
        self.graph, self.program = graph, program
        self.blocks = blocks(program)
        self.controls = {c.layer.node.id: c for c in every(choices) if isinstance(c, Control)}
        self._places = {block.node: block for block in self.blocks.values()}
        self._require_layers_inside()
        self._require_no_more(copies)

    # ---- What a subclass does: the edges that hold their value behind it ----

    def do(self, position: int, target: EdgeId | None, live: Live) -> Live:
        """The layer at a position, or the copy, of which the target gets the value."""
        raise NotImplementedError

    def write(self, edge: EdgeId, source: EdgeId | None, live: Live) -> Live:
        """An edge, or part of it, is written from another one."""
        raise NotImplementedError

    def with_views(self, edges: Iterable[EdgeId]) -> Live:
        """Edges and what holds its value with them."""
        raise NotImplementedError

    # ---- The walk ----

    def edges(self) -> set[EdgeId]:
        """What control flow reads and writes, without constants."""
        found = {e for item in self.program if not isinstance(item, Step) for e in item.edges}
        return {e for e in found if self.graph.constant(e) is None}

    def walk(self, positions: Sequence[int], live: Live) -> Live:
        """The edges that hold their value when the positions have run."""
        index = 0
        while index < len(positions):
            block = self.blocks.get(positions[index])
            if block is None:
                live = self._plain(positions[index], live)
                index += 1
                continue
            size = block.end - block.begin + 1
            if list(positions[index : index + size]) != list(range(block.begin, block.end + 1)):
                raise PlanError(f"the items {block.begin} to {block.end} do not run as a whole")
            item = self.program[block.begin]
            if isinstance(item, Branch):
                live = self._branch(item, block, live)
            else:
                assert isinstance(item, Repeat)
                live = self._repeat(item, block, live)
            index += size
        return live

    def _plain(self, position: int, live: Live) -> Live:
        item = self.program[position]
        if isinstance(item, Count):
            return self.write(item.edge, None, live) | self.with_views([item.edge])
        if isinstance(item, Element):
            return self._element(item, live)
        if isinstance(item, Step | Copy):
            return self.do(position, item.target if isinstance(item, Copy) else None, live)
        raise PlanError(f"position {position} belongs to no If and no Loop")

    def _element(self, item: Element, live: Live) -> Live:
        source = item.element if item.into else item.whole
        self._require({source}, live, f"node {item.node}")
        if not item.into:
            return self.write(item.element, source, live) | self.with_views([item.element])
        # The elements of other rounds stay, if the whole was still in order.
        holds = live & self.with_views([item.whole])
        return self.write(item.whole, source, live) | holds

    def _branch(self, item: Branch, block: Block, live: Live) -> Live:
        node = self.graph.node(item.node)
        if block.otherwise is None or node.inputs[0] != item.condition:
            raise PlanError(f"the If {node.name!r} does not branch as its node does")
        self._require({item.condition}, live, f"the If {node.name!r}")
        ends = []
        for name, positions in _ways(block).items():
            wanted = self._copies(node)[name]
            self._require_copies(wanted, self._direct(positions), f"the {name} of {node.name!r}")
            ends.append(self.walk(positions, set(live)))
        return ends[0] & ends[1]

    def _repeat(self, item: Repeat, block: Block, live: Live) -> Live:
        node = self.graph.node(item.node)
        what = f"the {node.op} {node.name!r}"
        rounds, body = rounds_of(self.graph, node), range(block.begin + 1, block.end)
        self._require_head(item, rounds, what)
        self._require_round(item, rounds, self._direct(body), what)
        copies = self._copies(node)
        before = range(block.begin - len(rounds.carried), block.begin)
        self._require_copies(copies["before"], before, what)
        self._require_copies(copies["round"], self._direct(body), what)
        behind = range(block.end + 1, block.end + 1 + len(copies["behind"]))
        self._require_copies(copies["behind"], behind, what)
        states = {c.state for c in rounds.carried}
        self._require(states, live, what)

        inner = {edge for position in body for edge in written(self.program[position])}
        wholes = self.with_views(s.whole for s in rounds.collected)
        inside = self.with_views(inner - states) - wholes
        head = (live | wholes) - inside
        while True:
            self._require({*item.edges}, head, what)
            after = self._round({copy.target for copy in copies["round"]}, body, head, what)
            after -= inside
            if head <= after:
                return head
            head &= after

    def _round(self, nexts: set[EdgeId], body: range, head: Live, what: str) -> Live:
        """The edges that hold their value before the next round, if they do before this one."""
        live = set(head)
        for position in self._direct(body):
            item = self.program[position]
            if isinstance(item, Copy) and item.target in nexts:
                live = self.do(position, next_of(item.target), live)
            else:
                inner = self.blocks.get(position)
                end = position if inner is None else inner.end
                live = self.walk(range(position, end + 1), live)
        for state in nexts:
            self._require({next_of(state)}, live, f"the next round of {what}")
            live -= {next_of(state)}
            live |= self.with_views([state])
        return live

    # ---- What the nodes mean ----

    def _copies(self, node: Node) -> dict[str, list[Copy]]:
        """What an If or a loop hands on: in which stretch, from where to where."""
        if node.op == "If":
            return {
                name: [
                    Copy(source, target)
                    for source, target in zip(branch.outputs, node.outputs, strict=True)
                    if target is not None
                ]
                for name, branch in self.graph.subgraphs(node.id).items()
            }
        carried = rounds_of(self.graph, node).carried
        return {
            "before": [Copy(c.initial, c.state) for c in carried if c.initial is not None],
            "round": [Copy(c.next, c.state) for c in carried if c.next != c.state],
            "behind": [Copy(c.state, c.result) for c in carried if c.result is not None],
        }

    def _require_head(self, item: Repeat, rounds: Rounds, what: str) -> None:
        limit = self.graph.constant(rounds.trips)
        trips, most = rounds.trips, None
        if limit is not None:
            trips, most = None, max(0, int(limit.reshape(-1)[0]))
        elif rounds.number is None:  # a Scan
            most = rounds.count
        condition = None if rounds.condition is None else rounds.condition.state
        if (item.trips, item.most, item.condition) != (trips, most, condition):
            raise PlanError(f"{what} does not repeat as its node does")
        if item.exactly != rounds.count:
            raise PlanError(f"{what} may run another number of rounds than its shapes say")

    def _require_round(
        self, item: Repeat, rounds: Rounds, direct: Sequence[int], what: str
    ) -> None:
        """Every element is collected once a round, and what is taken is the right one."""
        items = [self.program[position] for position in direct]
        count = Count(item.node, -1 if rounds.number is None else rounds.number)
        if any(isinstance(i, Count) and i != count for i in items):
            raise PlanError(f"{what} counts its rounds in another tensor than its body does")
        elements = [i for i in items if isinstance(i, Element)]
        collected = [self._slices(item.node, s, into=True) for s in rounds.collected]
        taken = [self._slices(item.node, s, into=False) for s in rounds.taken]
        if [e for e in elements if e.into] != collected:
            raise PlanError(f"{what} does not collect what its body puts out")
        if not all(e in taken for e in elements if not e.into):
            raise PlanError(f"{what} takes other elements than its node does")

    def _slices(self, node: NodeId, slices: Slices, *, into: bool) -> Element:
        """A slice along an axis in row-major order, as pieces."""
        type_, axis = self.graph.type(slices.whole), slices.axis
        size = type_.dtype.bytes * math.prod(type_.shape[axis + 1 :])
        return Element(
            node, slices.whole, slices.element, into, math.prod(type_.shape[:axis]), size,
            type_.shape[axis], slices.backwards,
        )  # fmt: skip

    # ---- What is where ----

    def _require(self, edges: AbstractSet[EdgeId], live: Live, what: str) -> None:
        missing = {e for e in edges if e not in live and self.graph.data.constants.get(e) is None}
        if missing:
            raise PlanError(f"{what} reads edges {sorted(missing)}, overwritten before")

    def _require_copies(self, wanted: Sequence[Copy], positions: Iterable[int], what: str) -> None:
        """The copies at these positions into wanted targets are the wanted ones, each once."""
        known = range(len(self.program))
        items = [self.program[position] for position in positions if position in known]
        targets = {copy.target for copy in wanted}
        found = (i for i in items if isinstance(i, Copy) and i.target in targets)
        if Counter(found) != Counter(wanted):
            raise PlanError(f"{what} hands on other values than its node does")

    def _direct(self, positions: Iterable[int]) -> list[int]:
        """Positions without those inside of the stretches that begin among them."""
        found, end = [], -1
        for position in positions:
            if position > end:
                found.append(position)
                end = self.blocks[position].end if position in self.blocks else end
        return found

    def _require_layers_inside(self) -> None:
        """The layers of each graph stand where it runs, and nowhere else."""
        if self._places.keys() != self.controls.keys():
            raise PlanError(
                f"nodes {sorted(self._places)} branch, but {sorted(self.controls)} are to"
            )
        for node, control in self.controls.items():
            for name, positions in _ways(self._places[node]).items():
                called = [i for p in positions if isinstance(i := self.program[p], Step)]
                inside = choices_within(control.blocks[name])
                wanted = [c.layer.node.id for c in inside if not c.workload.is_view]
                if sorted(s.choice.layer.node.id for s in called) != sorted(wanted):
                    raise PlanError(f"the {name} of node {node} does not run its layers")

    def _require_no_more(self, copies: Sequence[Copy]) -> None:
        """There is no copy that no node asks for, and no element of another loop."""
        wanted = Counter(copies)
        for control in self.controls.values():
            for asked in self._copies(control.layer.node).values():
                wanted.update(asked)
        if Counter(item for item in self.program if isinstance(item, Copy)) != wanted:
            raise PlanError("the program copies other edges than its nodes ask for")
        for position, item in enumerate(self.program):
            if isinstance(item, Count | Element):
                block = self._places.get(item.node)
                inside = () if block is None else self._direct(range(block.begin + 1, block.end))
                if position not in inside:
                    raise PlanError(f"position {position} is in no round of its loop")


def _ways(block: Block) -> dict[str, range]:
    """Where the graphs of a node stand in the program."""
    if block.otherwise is None:
        return {"body": range(block.begin + 1, block.end)}
    return {
        "then_branch": range(block.begin + 1, block.otherwise),
        "else_branch": range(block.otherwise + 1, block.end),
    }

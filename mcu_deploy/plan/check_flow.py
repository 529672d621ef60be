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

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from mcu_deploy.choose.select import Choice, Chosen, Control, choices_within
from mcu_deploy.ir import EdgeId, Graph, NodeId
from mcu_deploy.passes.flow import Rounds, Slices, rounds_of
from mcu_deploy.plan.control import Block, Branch, Count, Element, Repeat, blocks
from mcu_deploy.plan.model import Copy, PlanError, Program, Step

Live = set[EdgeId]


def next_of(state: EdgeId) -> EdgeId:
    """Stands for the next value of a state, from when it is there until the round ends."""
    return ~state


@dataclass(frozen=True)
class Actions:
    """What the checker does with an item: the edges that hold their value behind it.

    step: the layer at a position. copy: the copy at a position, of which this edge gets the value.
    write: an edge, or part of it, from another one. views: edges and what holds its value with
    them.
    """

    step: Callable[[int, Live], Live]
    copy: Callable[[int, EdgeId, Live], Live]
    write: Callable[[EdgeId, EdgeId | None, Live], Live]
    views: Callable[[Iterable[EdgeId]], Live]


class FlowChecker:
    """Walks through a program with control flow. graph: with all graphs inside of it.

    copies: those that belong to no control flow.
    """

    def __init__(
        self, graph: Graph, choices: Sequence[Chosen], program: Program, copies: Sequence[Copy]
    ) -> None:
        self.graph, self.program = graph, program
        self.blocks = blocks(program)
        self.controls = {c.layer.node.id: c for c in _controls(choices)}
        self._places = {block.node: block for block in self.blocks.values()}
        self._require_layers_inside()
        self._require_no_more(copies)

    def edges(self) -> set[EdgeId]:
        """What control flow reads and writes, without constants."""
        found = {e for item in self.program if not isinstance(item, Step) for e in item.edges}
        return {e for e in found if self.graph.constant(e) is None}

    def run(self, positions: Sequence[int], live: Live, actions: Actions) -> Live:
        """The edges that hold their value when the positions have run."""
        index = 0
        while index < len(positions):
            block = self.blocks.get(positions[index])
            if block is None:
                live = self._plain(positions[index], live, actions)
                index += 1
                continue
            size = block.end - block.begin + 1
            if list(positions[index : index + size]) != list(range(block.begin, block.end + 1)):
                raise PlanError(f"the items {block.begin} to {block.end} do not run as a whole")
            item = self.program[block.begin]
            if isinstance(item, Branch):
                live = self._branch(item, block, live, actions)
            else:
                assert isinstance(item, Repeat)
                live = self._repeat(item, block, live, actions)
            index += size
        return live

    def _plain(self, position: int, live: Live, actions: Actions) -> Live:
        item = self.program[position]
        if isinstance(item, Count):
            return actions.write(item.edge, None, live) | actions.views([item.edge])
        if isinstance(item, Element):
            return self._element(item, live, actions)
        if isinstance(item, Step):
            return actions.step(position, live)
        if isinstance(item, Copy):
            return actions.copy(position, item.target, live)
        raise PlanError(f"position {position} belongs to no If and no Loop")

    def _element(self, item: Element, live: Live, actions: Actions) -> Live:
        source = item.element if item.into else item.whole
        self._require({source}, live, f"node {item.node}")
        if not item.into:
            return actions.write(item.element, source, live) | actions.views([item.element])
        # The elements of other rounds stay, if the whole was still in order.
        holds = live & actions.views([item.whole])
        return actions.write(item.whole, source, live) | holds

    # ---- If ----

    def _branch(self, item: Branch, block: Block, live: Live, actions: Actions) -> Live:
        node = self.graph.node(item.node)
        if block.otherwise is None or node.inputs[0] != item.condition:
            raise PlanError(f"the If {node.name!r} does not branch as its node does")
        self._require({item.condition}, live, f"the If {node.name!r}")
        ways = {
            "then_branch": range(block.begin + 1, block.otherwise),
            "else_branch": range(block.otherwise + 1, block.end),
        }
        ends = []
        for name, positions in ways.items():
            outputs = self.graph.subgraphs(node.id)[name].outputs
            wanted = [
                Copy(source, target)
                for source, target in zip(outputs, node.outputs, strict=True)
                if target is not None
            ]
            self._require_copies(wanted, self._direct(positions), f"the {name} of {node.name!r}")
            ends.append(self.run(positions, set(live), actions))
        return ends[0] & ends[1]

    # ---- Loop and Scan ----

    def _repeat(self, item: Repeat, block: Block, live: Live, actions: Actions) -> Live:
        node = self.graph.node(item.node)
        what = f"the {node.op} {node.name!r}"
        rounds = rounds_of(self.graph, node)
        self._require_head(item, rounds, what)
        self._require_round(item, rounds, self._direct(range(block.begin + 1, block.end)), what)
        before = range(block.begin - len(rounds.carried), block.begin)
        wanted = [Copy(c.initial, c.state) for c in rounds.carried if c.initial is not None]
        self._require_copies(wanted, before, what)
        results = [Copy(c.state, c.result) for c in rounds.carried if c.result is not None]
        behind = range(block.end + 1, block.end + 1 + len(results))
        self._require_copies(results, behind, what)
        states = {c.state for c in rounds.carried}
        self._require(states, live, what)

        written = self._written(range(block.begin + 1, block.end))
        wholes = actions.views(s.whole for s in rounds.collected)
        inside = actions.views(written - states) - wholes
        head = (live | wholes) - inside
        while True:
            self._require({*item.edges}, head, what)
            after = self._round(rounds, block, head, actions, what) - inside
            if head <= after:
                return head
            head &= after

    def _round(self, rounds: Rounds, block: Block, head: Live, actions: Actions, what: str) -> Live:
        """The edges that hold their value before the next round, if they do before this one."""
        nexts = {c.state for c in rounds.carried if c.next != c.state}
        live = set(head)
        for position in _outer(range(block.begin + 1, block.end), self.blocks):
            item = self.program[position]
            if isinstance(item, Copy) and item.target in nexts:
                live = actions.copy(position, next_of(item.target), live)
            else:
                inner = self.blocks.get(position)
                end = position if inner is None else inner.end
                live = self.run(range(position, end + 1), live, actions)
        for state in nexts:
            self._require({next_of(state)}, live, f"the next round of {what}")
            live -= {next_of(state)}
            live |= actions.views([state])
        return live

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
        """Every element is collected once a round, what is taken is the right one, and every state
        gets its next value once.
        """
        items = [self.program[position] for position in direct]
        wanted = [Copy(c.next, c.state) for c in rounds.carried if c.next != c.state]
        self._require_copies(wanted, direct, what)
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
        shape, size = self.graph.type(slices.whole).shape, self.graph.type(slices.whole).dtype.bytes
        pieces = 1
        for extent in shape[: slices.axis]:
            pieces *= extent
        for extent in shape[slices.axis + 1 :]:
            size *= extent
        return Element(
            node, slices.whole, slices.element, into, pieces, size, shape[slices.axis],
            slices.backwards,
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
        found = [i for i in items if isinstance(i, Copy) and i.target in targets]
        if sorted(found, key=_key) != sorted(wanted, key=_key):
            raise PlanError(f"{what} hands on other values than its node does")

    def _direct(self, positions: Iterable[int]) -> list[int]:
        return list(_outer(positions, self.blocks))

    def _written(self, positions: Iterable[int]) -> set[EdgeId]:
        """What the items at these positions write, inner stretches included."""
        written: set[EdgeId] = set()
        for position in positions:
            item = self.program[position]
            if isinstance(item, Step):
                written |= {o.edge for o in item.choice.layer.outputs}
            elif isinstance(item, Copy):
                written.add(item.target)
            elif isinstance(item, Count):
                written.add(item.edge)
            elif isinstance(item, Element):
                written.add(item.whole if item.into else item.element)
        return written

    def _require_layers_inside(self) -> None:
        """The layers of each graph stand where it runs, and nowhere else."""
        found = self._places
        if found.keys() != self.controls.keys():
            raise PlanError(f"nodes {sorted(found)} branch, but {sorted(self.controls)} are to")
        for node, control in self.controls.items():
            block = found[node]
            ways = {"body": range(block.begin, block.end)}
            if block.otherwise is not None:
                ways = {
                    "then_branch": range(block.begin, block.otherwise),
                    "else_branch": range(block.otherwise, block.end),
                }
            for name, positions in ways.items():
                called = [i for p in positions if isinstance(i := self.program[p], Step)]
                inside = choices_within(control.blocks[name])
                wanted = [c.layer.node.id for c in inside if not c.workload.is_view]
                if sorted(s.choice.layer.node.id for s in called) != sorted(wanted):
                    raise PlanError(f"the {name} of node {node} does not run its layers")

    def _require_no_more(self, copies: Sequence[Copy]) -> None:
        """There is no copy that no node asks for, and no element of another loop."""
        wanted = list(copies)
        for control in self.controls.values():
            node = control.layer.node
            if node.op == "If":
                for branch in self.graph.subgraphs(node.id).values():
                    pairs = zip(branch.outputs, node.outputs, strict=True)
                    wanted += [Copy(source, to) for source, to in pairs if to is not None]
                continue
            for c in rounds_of(self.graph, node).carried:
                wanted += [] if c.initial is None else [Copy(c.initial, c.state)]
                wanted += [] if c.next == c.state else [Copy(c.next, c.state)]
                wanted += [] if c.result is None else [Copy(c.state, c.result)]
        found = [item for item in self.program if isinstance(item, Copy)]
        if sorted(found, key=_key) != sorted(wanted, key=_key):
            raise PlanError("the program copies other edges than its nodes ask for")
        for position, item in enumerate(self.program):
            if isinstance(item, Count | Element):
                block = self._places.get(item.node)
                inside = () if block is None else self._direct(range(block.begin + 1, block.end))
                if position not in inside:
                    raise PlanError(f"position {position} is in no round of its loop")


def _outer(positions: Iterable[int], inner: Mapping[int, Block]) -> Iterable[int]:
    """Positions without those inside of the stretches that begin among them."""
    end = -1
    for position in positions:
        if position > end:
            yield position
            block = inner.get(position)
            end = end if block is None else block.end


def _key(copy: Copy) -> tuple[EdgeId, EdgeId]:
    return copy.source, copy.target


def _controls(choices: Iterable[Chosen]) -> Iterable[Control]:
    for chosen in choices:
        if not isinstance(chosen, Choice):
            yield chosen
            for block in chosen.blocks.values():
                yield from _controls(block)

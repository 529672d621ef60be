"""Where things lie, as the checker sees it: stretches of bytes, what a memory manager gives at run
time, constants in RAM, and which edges are the same bytes by definition.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from mcu_deploy.backends.interface import Layer
from mcu_deploy.ir import EdgeId
from mcu_deploy.plan.model import InPool, Plan, PlanError
from mcu_deploy.plan.pieces import pieces, shown
from mcu_deploy.selection import Choice


@dataclass(frozen=True)
class Stretch:
    """Bytes [start, end) of a pool, or of the buffer behind a pointer of the table."""

    space: tuple[str, int]
    start: int
    end: int

    def meets(self, other: Stretch) -> bool:
        """Whether they have a byte in common."""
        return self.space == other.space and self.start < other.end and other.start < self.end


def with_addresses(plan: Plan, positions: Sequence[int]) -> Plan:
    """The plan with an offset for what a manager gives in a run of these positions.

    What another run alone takes stays behind its pointer.
    """
    if plan.managed is None:
        return plan
    try:
        addresses, peak = plan.managed.addresses(positions)
    except ValueError as error:
        raise PlanError(f"the memory manager fails: {error}") from error
    if peak > plan.managed.peak:
        raise PlanError(f"the memory manager gives {peak} bytes, not {plan.managed.peak}")
    sizes = {buffer.id: buffer.bytes for buffer in plan.buffers}
    for buffer, offset in addresses.items():
        if offset + sizes[buffer] > plan.managed.bytes:
            raise PlanError(f"buffer {buffer} lies outside of the manager's block")
    for buffer, place in plan.places.items():
        if isinstance(place, InPool) and place.pool == 0 and place.offset < plan.managed.end:
            raise PlanError(f"buffer {buffer} lies in the manager's block")
    places = {b: InPool(0, offset) for b, offset in addresses.items()}
    return replace(plan, places={**plan.places, **places})


def hot_places(plan: Plan) -> list[tuple[str, Stretch]]:
    """Where constants lie in RAM, each stretch once; that nothing else lies there is for `check`.

    Raises PlanError for one that is not aligned and inside of its pool, or not its copy.
    """
    found: dict[tuple[int, int], tuple[str, Stretch]] = {}
    contents: dict[tuple[int, int], bytes] = {}
    for hot in plan.hot:
        choice = plan.steps[hot.step].choice
        constant = choice.workload.constants[hot.constant]
        what = f"the constant {constant.stem!r} of {choice.layer.name!r}"
        pool, offset = at = (hot.place.pool, hot.place.offset)
        raw = constant.value.tobytes()
        if hot.bytes != len(raw) or contents.setdefault(at, raw) != raw:
            raise PlanError(f"{what} is not what is copied to its place in RAM")
        if offset % max(plan.alignment, constant.alignment):
            raise PlanError(f"{what} lies at {offset}, where it is not aligned")
        if not 0 <= pool < len(plan.pools):
            raise PlanError(f"{what} lies in pool {pool}, of which there is none")
        if offset < 0 or offset + hot.bytes > plan.pools[pool].bytes:
            raise PlanError(f"{what} lies outside of the {plan.pools[pool].name}")
        found.setdefault(at, (what, Stretch(("pool", pool), offset, offset + hot.bytes)))
    return list(found.values())


class Views:
    """The views among the choices; each piece must lie where it does in its whole."""

    def __init__(self, choices: Sequence[Choice], places: Mapping[EdgeId, Stretch]) -> None:
        self._pairs: list[tuple[EdgeId, EdgeId]] = []
        self._of: dict[EdgeId, list[Layer]] = {}
        for choice in choices:
            if choice.workload.is_view:
                for piece in pieces(choice.layer):
                    here, there = places[piece.whole], places[piece.part]
                    if (here.space, here.start + piece.offset) != (there.space, there.start):
                        raise PlanError(
                            f"edge {piece.part} is a view of {piece.whole}, but lies elsewhere"
                        )
                    self._pairs.append((piece.whole, piece.part))
                for edge in shown(choice.layer):
                    self._of.setdefault(edge, []).append(choice.layer)

    def with_views(self, edges: Iterable[EdgeId]) -> set[EdgeId]:
        """The edges and all views of them: these hold their value as soon as all that they show
        does."""
        found: set[EdgeId] = set()
        pending = list(edges)
        while pending:
            edge = pending.pop()
            if edge not in found:
                found.add(edge)
                for layer in self._of.get(edge, ()):
                    if found.issuperset(shown(layer)):
                        pending += [operand.edge for operand in layer.outputs]
        return found

    def same_memory(self, edge: EdgeId) -> set[EdgeId]:
        """The edges that show the bytes of this one: views, in both directions."""
        found, grown = {edge}, True
        while grown:
            size = len(found)
            for pair in self._pairs:
                found |= {*pair} if found & {*pair} else set()
            grown = len(found) > size
        return found

"""Trees over unsigned features as code: a node loads its feature, compares it, and branches.

All of it is in encodings of 16 bits, where a branch with a condition reaches 250 bytes and one
without 2 KB. So a leaf to which many nodes lead stands in many places: where code does not go on,
what a branch has left open is placed before it is out of reach, and a node whose ways both end goes
on in one of the two.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from mcu_deploy.backends.isa.assembly import Assembly
from mcu_deploy.backends.isa.dsp.tree_leaves import Leaves
from mcu_deploy.backends.isa.instruction import Instruction
from mcu_deploy.backends.isa.operands import Label, Memory, Register
from mcu_deploy.operators.trees import Forest

# Bytes: how far branches with a condition reach, and others; what may come before the next place
# where code does not go on. The largest split in a CMP.
_NEAR, _FAR, _ROOM, _IMMEDIATE = 250, 1950, 28, 255


@dataclass(frozen=True)
class Features:
    """Where they are: those of `held` in registers, all others in memory, where `load` has them
    from."""

    held: Mapping[int, Register]
    memory: Callable[[int], Memory]
    load: str


@dataclass
class _Place:
    """at: where it is, or the first branch to it. share: of the rows, which come to it."""

    label: Label
    at: int
    share: float = 0.0


class TreeCode:
    """Writes the trees of a forest."""

    def __init__(self, code: Assembly, forest: Forest, features: Features, leaves: Leaves) -> None:
        self._code, self._forest, self._features, self._leaves = code, forest, features, leaves
        self._value, self._split = code.registers("value split")
        self._at = 0
        self._placed: dict[int, _Place] = {}
        self._open: dict[int, _Place] = {}
        self._pairs: dict[tuple[int, int], _Place] = {}

    def tree(self, root: int) -> None:
        if root < 0:
            self._end(~root, 1.0)
        else:
            self._node(root, 1.0, -1)

    def finish(self) -> None:
        """Places all that is open."""
        for leaf in [*self._open]:
            self._write(leaf)
        self._at += self._leaves.ended(self._at, is_last=True)

    def _node(self, node: int, share: float, held: int) -> None:
        """held: the feature that `value` is."""
        with self._code.times(share):
            held = self._compare(node, held)
        ways = {"hi": int(self._forest.above[node]), "ls": int(self._forest.below[node])}
        sizes = {name: self._forest.sizes.get(way, 1) for name, way in ways.items()}
        # What it branches to is a leaf, of two one that is near; or the larger way.
        leads = max(ways, key=lambda name: (self._nearness(ways[name]), sizes[name]))
        (other,) = ways.keys() - {leads}
        taken = sizes[leads] / sum(sizes.values())
        if ways[leads] >= 0:
            label = self._code.label()
            self._branch(leads, label, share, taken)
            self._node(ways[other], share * (1 - taken), held)
            self._code.place(label)
            self._node(ways[leads], share * taken, held)
        elif ways[other] >= 0:
            self._lead(leads, ~ways[leads], share, taken)
            self._node(ways[other], share * (1 - taken), held)
        elif not self._is_known(ways["hi"], ways["ls"], share):
            self._lead(leads, ~ways[leads], share, taken)
            self._end(~ways[other], share * (1 - taken))

    def _nearness(self, way: int) -> int:
        if way >= 0:
            return 0
        place = self._placed.get(~way)
        is_near = place is not None and self._at - place.at < _NEAR
        return 3 if is_near else 2 if ~way in self._open else 1

    def _is_known(self, above: int, below: int, share: float) -> bool:
        """Whether code leads to these two leaves already: then it goes on there."""
        place = self._pairs.get((above, below))
        if place is not None and self._at - place.at < _FAR:
            self._jump(place.label, share)
            return True
        place = self._pairs[above, below] = self._new()
        self._code.place(place.label)
        return False

    def _compare(self, node: int, held: int) -> int:
        feature, split = int(self._forest.features[node]), int(self._forest.splits[node])
        code, register = self._code, self._features.held.get(feature)
        if register is None:
            register = self._value
            if feature != held:
                getattr(code, self._features.load)(register, self._features.memory(feature))
                self._at += 2
            held = feature
        if split > _IMMEDIATE:
            code.number(self._split, split)
            self._at += 4
        code.cmp(register, self._split if split > _IMMEDIATE else split)
        self._at += 2
        return held

    def _branch(self, condition: str, label: Label, share: float, taken: float) -> None:
        with self._code.times(share):
            self._code.add_instruction(Instruction(f"b{condition}", (label,)), taken)
        self._at += 2

    def _jump(self, label: Label, share: float) -> None:
        with self._code.times(share):
            self._code.b(label)
        self._at += 2
        self._ended()

    def _new(self) -> _Place:
        return _Place(self._code.label(), self._at)

    def _lead(self, condition: str, leaf: int, share: float, taken: float) -> None:
        """A branch to a leaf that is near, or that is placed later."""
        place = self._placed.get(leaf)
        if place is None or self._at - place.at >= _NEAR:
            place = self._open.setdefault(leaf, self._new())
        place.share += share * taken
        self._branch(condition, place.label, share, taken)

    def _end(self, leaf: int, share: float) -> None:
        """The code goes on with a leaf."""
        place = self._placed.get(leaf)
        if leaf not in self._open and place is not None and self._at - place.at < _FAR:
            self._jump(place.label, share)
            return
        self._open.setdefault(leaf, self._new()).share += share
        self._write(leaf)
        self._ended()

    def _ended(self) -> None:
        """The code does not go on here: places what would be too far at the next such place."""
        for leaf, place in [*self._open.items()]:
            if self._at - place.at > _NEAR - _ROOM:
                self._write(leaf)
        self._at += self._leaves.ended(self._at)

    def _write(self, leaf: int) -> None:
        place = self._placed[leaf] = self._open.pop(leaf)
        place.at = self._at
        self._code.place(place.label)
        with self._code.times(place.share):
            self._at += self._leaves.write(leaf, self._at)

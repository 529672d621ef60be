"""Proves that two straight pieces of code do the same, without knowing how one came from the other.

Both are run on symbols: a register holds what it held before, or what an instruction made of such
values; a number is added to it where one is. Loads are of an address in the memory as the stores
before them left it, in its region: behind one address each byte is what the last store to it left,
and loads of other bytes are not touched by that. The pieces are the same where all registers and
flags, and what is stored, are equal in the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from mcu_deploy.backends.isa.accesses import Resource, accesses_of, resources_of
from mcu_deploy.backends.isa.instruction import Instruction
from mcu_deploy.backends.isa.operands import (
    Kind,
    Lane,
    Memory,
    Mode,
    Moving,
    Register,
    Registers,
    Shifted,
)

_WITHOUT_FLAGS = ("add", "addw", "sub", "subw")
_ADDED = {"add": 1, "addw": 1, "adds": 1, "sub": -1, "subw": -1, "subs": -1}


def do_the_same(one: Iterable[Instruction], other: Iterable[Instruction], read: int = -1) -> bool:
    """Whether they leave the same, wherever they start from. All registers have their places.
    read: the core registers that are read behind them, as bits; others may differ."""
    one, other = [*one], [*other]
    if not (_keeps_predicated(one) and _keeps_predicated(other)):
        return False
    known: dict[object, int] = {}
    ends = [_Symbols(known) for _ in range(2)]
    for symbols, code in zip(ends, (one, other), strict=True):
        for instruction in code:
            symbols.run(instruction)
    first, second = ends
    places = first.values.keys() | second.values.keys()
    regions = first.memories.keys() | second.memories.keys()
    return all(first.memory(r) == second.memory(r) for r in regions) and all(
        first.of(p) == second.of(p) for p in places if p[0] != Kind.CORE or read >> p[1] & 1
    )


def _keeps_predicated(code: Sequence[Instruction]) -> bool:
    """Whether behind each VPST stands what it predicates, and this nowhere else."""
    left = 0
    for instruction in code:
        if instruction.is_predicated != (left > 0):
            return False
        left -= left > 0
        if instruction.name.startswith("vpst"):
            left = len(instruction.name) - 3
    return left == 0


# Behind a symbol's address a number, and bytes.
_Place = tuple[int, int, int]
# A place, what was stored, and how many bytes of that are in front of the place.
_Stored = tuple[_Place, object, int]


def _may_meet(one: _Place, other: _Place) -> bool:
    """Numbers are modulo 2**32."""
    if one[0] != other[0]:
        return True
    return (one[1] - other[1]) & 0xFFFFFFFF < other[2] or (other[1] - one[1]) & 0xFFFFFFFF < one[2]


def _behind(place: _Place, other: _Place) -> int:
    """How many bytes another place behind the same address begins behind one, or in front of it."""
    return (other[1] - place[1] & 0xFFFFFFFF ^ 0x80000000) - 0x80000000


def _inside(one: _Stored, of: _Place) -> _Stored:
    """The bytes of a store that are in a place, of those behind the same address."""
    (symbol, number, size), value, skipped = one
    begin = _behind(one[0], of)
    if symbol != of[0] or (begin <= 0 and begin + of[2] >= size):
        return one
    first, end = max(begin, 0), min(begin + of[2], size)
    return (symbol, number + first & 0xFFFFFFFF, end - first), value, skipped + first


def _outside(one: _Stored, of: _Place) -> Iterator[_Stored]:
    """Those in front of a place that it meets, and behind it."""
    (symbol, number, size), _, _ = one
    begin = _behind(one[0], of)
    end = begin + of[2]
    if begin > 0:
        yield _inside(one, (symbol, number, begin))
    if end < size:
        yield _inside(one, (symbol, number + end & 0xFFFFFFFF, size - end))


class _Symbols:
    """What each place holds: a symbol, and a number that is added to it. Equal terms are one symbol
    in all that share `known`. memories: of each region the symbol of what it was, and the stores
    since to bytes of their own."""

    def __init__(self, known: dict[object, int]) -> None:
        self._known = known
        self.values: dict[Resource, tuple[int, int]] = {}
        self.memories: dict[str, tuple[int, frozenset[_Stored]]] = {}

    def _symbol(self, *term: object) -> int:
        return self._known.setdefault(term, len(self._known))

    def of(self, place: Resource) -> tuple[int, int]:
        return self.values.get(place) or (self._symbol("before", place), 0)

    def memory(self, region: str, of: _Place | None = None) -> int:
        """The symbol of a region, or of what may have been stored at a place."""
        before, stored = self.memories.get(region) or (self._symbol("memory", region), frozenset())
        if of is not None:
            stored = frozenset(_inside(one, of) for one in stored if _may_meet(one[0], of))
        return self._symbol("behind", before, stored) if stored else before

    def _keep(self, region: str, place: _Place | None, value: object) -> None:
        """Stores a value."""
        before, stored = self.memories.get(region) or (self._symbol("memory", region), frozenset())
        if place is None:
            self.memories[region] = self._symbol("stored", value, self.memory(region)), frozenset()
            return
        met = [one for one in stored if _may_meet(one[0], place)]
        if any(one[0][0] != place[0] for one in met):
            self.memories[region] = self.memory(region), frozenset({(place, value, 0)})
            return
        left = {part for one in met for part in _outside(one, place)}
        self.memories[region] = before, (stored - {*met}) | left | {(place, value, 0)}

    def run(self, instruction: Instruction) -> None:
        name = instruction.mnemonic
        total = self._sum(instruction)
        if total is not None and name in _WITHOUT_FLAGS:
            (into,) = instruction.written
            self.values[resources_of(into)[0]] = total
        elif not self._load(instruction) and not self._store(instruction):
            self._other(instruction)

    def _sum(self, instruction: Instruction) -> tuple[int, int] | None:
        """What an instruction makes that adds a number to a register."""
        by, operands = _ADDED.get(instruction.mnemonic), instruction.operands
        if by is None or len(operands) != 3 or not isinstance(operands[2], int):
            return None
        assert isinstance(operands[1], Register)
        symbol, number = self.of(resources_of(operands[1])[0])
        return symbol, (number + by * operands[2]) & 0xFFFFFFFF

    def _load(self, instruction: Instruction) -> bool:
        """Of whole words whose addresses are numbers from a base."""
        if instruction.mnemonic.removesuffix(".w") not in ("ldr", "ldmia", "ldm", "ldrd"):
            return False
        first, last = instruction.operands[0], instruction.operands[-1]
        if isinstance(last, Memory):
            if not isinstance(last.offset, int):
                return False
            base, moves = last.base, last.offset if last.mode is not Mode.OFFSET else None
            offset = 0 if last.mode is Mode.AFTER else last.offset
            into = [o for o in instruction.operands[:-1] if isinstance(o, Register)]
        else:
            assert isinstance(last, Registers)
            is_moving = isinstance(first, Moving)
            start = first.register if isinstance(first, Moving) else first
            assert isinstance(start, Register)
            base = start
            into, offset = list(last.registers), 0
            moves = 4 * len(into) if is_moving else None
        place = resources_of(base)[0]
        symbol, number = self.of(place)
        at = [(number + offset + 4 * n) & 0xFFFFFFFF for n in range(len(into))]
        if moves is not None:
            self.values[place] = symbol, (number + moves) & 0xFFFFFFFF
        for register, address in zip(into, at, strict=True):
            memory = self.memory(base.region, (symbol, address, 4))
            loaded = self._symbol("word", symbol, address, memory)
            self.values[resources_of(register)[0]] = loaded, 0
        return True

    def _store(self, instruction: Instruction) -> bool:
        """Of a word whose address is a number from a base."""
        if instruction.mnemonic != "str":
            return False
        data, memory = instruction.operands
        assert isinstance(data, Register) and isinstance(memory, Memory)
        if not isinstance(memory.offset, int) or memory.mode is not Mode.OFFSET:
            return False
        symbol, number = self.of(resources_of(memory.base)[0])
        address = (number + memory.offset) & 0xFFFFFFFF
        stored = self.of(resources_of(data)[0])
        self._keep(memory.base.region, (symbol, address, 4), stored)
        return True

    def _other(self, instruction: Instruction) -> None:
        """Whatever an instruction makes of what it reads."""
        found = accesses_of(instruction)
        shape = tuple(_shape(operand) for operand in instruction.operands)
        flags = tuple((place, self.of(place)) for place in found.flags_read)
        read = (*(self.of(place) for place in found.reads), *flags)
        place = None
        if found.span is not None:
            symbol, number = self.of(found.span.base)
            place = symbol, (number + found.span.offset) & 0xFFFFFFFF, found.span.bytes
        memory = self.memory(found.region, place) if found.loads else None
        term = instruction.mnemonic, shape, read, memory
        total = self._sum(instruction)
        for n, written in enumerate(found.writes):
            if total is not None:
                self.values[written] = total
            elif found.moved is not None and found.moved[0] == written:
                symbol, number = self.of(written)
                self.values[written] = symbol, (number + found.moved[1]) & 0xFFFFFFFF
            else:
                self.values[written] = self._symbol("made", term, n), 0
        for flag in found.flags_written:
            self.values[flag] = self._symbol("made", term, flag), 0
        if found.stores:
            # What a predicate leaves out stays.
            self._keep(found.region, place, (term, self.memory(found.region, place)))


def _shape(operand: object) -> object:
    """An operand without its registers."""
    match operand:
        case Register(kind=kind):
            return kind
        case Shifted(how=how, by=by):
            return how, by
        case Memory(offset=offset, mode=mode):
            return mode, offset if isinstance(offset, int) else _shape(offset)
        case Moving():
            return "moving"
        case Lane(number=number):
            return "lane", number
        case Registers(registers):
            return len(registers)
    return operand

"""Proves that two straight pieces of code do the same, without knowing how one came from the other.

Both are run on symbols: a register holds what it held before, or what an instruction made of such
values; a number is added to it where one is. Loads are of an address in the memory as the stores
before them left it. The pieces are the same where all registers and flags, and the stores in their
order, are equal in the end.
"""

from __future__ import annotations

from collections.abc import Iterable

from mcu_deploy.backends.isa.instruction import Instruction
from mcu_deploy.backends.isa.operands import Memory, Mode, Moving, Register, Registers, Shifted
from mcu_deploy.backends.isa.pipeline import FLAGS, Resource, issue_of, resources_of

_ADDED = {"add": 1, "addw": 1, "sub": -1, "subw": -1}


def do_the_same(one: Iterable[Instruction], other: Iterable[Instruction]) -> bool:
    """Whether they leave the same, wherever they start from. All registers have their places."""
    known: dict[object, int] = {}
    ends = [_Symbols(known) for _ in range(2)]
    for symbols, code in zip(ends, (one, other), strict=True):
        for instruction in code:
            symbols.run(instruction)
    first, second = ends
    places = first.values.keys() | second.values.keys()
    return first.memory == second.memory and all(first.of(p) == second.of(p) for p in places)


class _Symbols:
    """What each place holds: a symbol, and a number that is added to it. Equal terms are one symbol
    in all that share `known`. memory: the symbol of all stores."""

    def __init__(self, known: dict[object, int]) -> None:
        self._known = known
        self.values: dict[Resource, tuple[int, int]] = {}
        self.memory = self._symbol("memory")

    def _symbol(self, *term: object) -> int:
        return self._known.setdefault(term, len(self._known))

    def of(self, place: Resource) -> tuple[int, int]:
        return self.values.get(place) or (self._symbol("before", place), 0)

    def run(self, instruction: Instruction) -> None:
        name, operands = instruction.mnemonic, instruction.operands
        if name in _ADDED and len(operands) == 3 and isinstance(operands[2], int):
            into, base = operands[0], operands[1]
            assert isinstance(into, Register) and isinstance(base, Register)
            symbol, number = self.of(resources_of(base)[0])
            moved = (number + _ADDED[name] * operands[2]) & 0xFFFFFFFF
            self.values[resources_of(into)[0]] = symbol, moved
        elif not self._load(instruction) and not self._store(instruction):
            self._other(instruction)

    def _load(self, instruction: Instruction) -> bool:
        """Of whole words whose addresses are numbers from a base."""
        if instruction.mnemonic not in ("ldr", "ldmia", "ldm", "ldrd"):
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
            loaded = self._symbol("word", symbol, address, self.memory)
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
        self.memory = self._symbol("stored", symbol, address, stored, self.memory)
        return True

    def _other(self, instruction: Instruction) -> None:
        """Whatever an instruction makes of what it reads."""
        issue = issue_of(instruction)
        shape = tuple(_shape(operand) for operand in instruction.operands)
        read = tuple(
            (place, self.of(place)) if place[0] in (FLAGS[0], "ge", "fpscr") else self.of(place)
            for place, _ in issue.reads
        )
        order = tuple(w for r in instruction.written for w in resources_of(r))
        memory = self.memory if issue.loads or issue.stores else None
        term = instruction.mnemonic, shape, read, memory
        flags = sorted(issue.writes - set(order))
        for n, place in enumerate((*order, *flags)):
            which = place if n >= len(order) else n
            self.values[place] = self._symbol("made", term, which), 0
        if issue.stores:
            self.memory = self._symbol("stored", term)


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
        case Registers(registers):
            return len(registers)
    return operand

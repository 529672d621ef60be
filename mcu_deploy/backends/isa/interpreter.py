"""Runs a kernel's instructions on this machine: the executable meaning of a kernel.

A kernel becomes a Python function, statement by statement of meaning.py; words are integers, memory
is what the caller lays out in it, and each access is checked (and may be watched): inside of a
region, aligned where the core wants it. So a kernel runs, and what it reads and writes is seen,
before an emulator starts.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from struct import Struct
from typing import Any

from mcu_deploy.backends.isa import f32, lanes
from mcu_deploy.backends.isa.encoding import addresses
from mcu_deploy.backends.isa.flow import begins
from mcu_deploy.backends.isa.instruction import Instruction, Item
from mcu_deploy.backends.isa.operands import (
    PC,
    Kind,
    Label,
    Lane,
    Memory,
    Mode,
    Moving,
    Operand,
    Register,
    Registers,
    Shifted,
    by_place,
    physical_name,
)  # fmt: skip

_WORD, _SIGN = (1 << 32) - 1, 1 << 31
_WORDS = [Struct(f"<{count}I") for count in range(33)]  # as many as a list of registers has
_CODE = 0x100  # where the first instruction lies
RETURN = 0xFFFF_FF01
_FLAGS = ("n", "z", "c", "v", "q", "ge", "fn", "fz", "fc", "fv", "p0")
_CONDITIONS = {
    "eq": "z", "ne": "not z", "cs": "c", "hs": "c", "cc": "not c", "lo": "not c", "mi": "n",
    "pl": "not n", "vs": "v", "vc": "not v", "hi": "c and not z", "ls": "not c or z",
    "ge": "n == v", "lt": "n != v", "gt": "not z and n == v", "le": "z or n != v",
}  # fmt: skip
REGISTERS = tuple(physical_name(Kind.CORE, n) for n in range(15)) + tuple(
    f"s{n}" for n in range(32)
)


class Fault(Exception):
    """What the core would stop at, or what no kernel may do, as a sentence."""


class Data:
    """Memory of regions, each with an address. watch: called before each access with the address,
    its bytes and whether it writes."""

    def __init__(self, watch: Callable[[int, int, bool], None] | None = None) -> None:
        self._regions: list[tuple[int, bytearray, bool]] = []
        self._addresses: list[int] = []  # of the regions
        self._watch = watch

    def lay(self, address: int, content: bytes | bytearray, is_constant: bool = False) -> bytearray:
        """Adds a region; what is returned is the region as it changes."""
        held = bytearray(content)
        self._regions.append((address, held, is_constant))
        self._regions.sort(key=lambda region: region[0])
        self._addresses = [region[0] for region in self._regions]
        return held

    def _find(self, address: int, size: int, writes: bool) -> tuple[bytearray, int]:
        at = bisect.bisect_right(self._addresses, address) - 1
        if at >= 0:
            base, held, is_constant = self._regions[at]
            if address - base + size <= len(held):
                if writes and is_constant:
                    raise Fault(f"writes {size} bytes at {address:#x}, which are constant")
                if self._watch is not None:
                    self._watch(address, size, writes)
                return held, address - base
        does = "writes" if writes else "reads"
        raise Fault(f"{does} {size} bytes at {address:#x}, where no memory is")

    def load(self, address: int, size: int) -> int:
        """Of 1, 2 or 4 bytes at any address."""
        held, at = self._find(address & _WORD, size, False)
        return int.from_bytes(held[at : at + size], "little")

    def store(self, address: int, size: int, value: int) -> None:
        held, at = self._find(address & _WORD, size, True)
        held[at : at + size] = value.to_bytes(size, "little")

    def read(self, address: int, size: int) -> bytes:
        """Of as many bytes as there are, at any address."""
        held, at = self._find(address & _WORD, size, False)
        return bytes(held[at : at + size])

    def write(self, address: int, content: bytes) -> None:
        held, at = self._find(address & _WORD, len(content), True)
        held[at : at + len(content)] = content

    def words(self, address: int, count: int) -> Sequence[int]:
        """As LDM and LDRD read them, from a multiple of 4."""
        if address % 4:
            raise Fault(f"loads {count} words from {address & _WORD:#x}, which is no multiple of 4")
        held, at = self._find(address & _WORD, 4 * count, False)
        return _WORDS[count].unpack_from(held, at)

    def put(self, address: int, *values: int) -> None:
        """As STM and STRD write them."""
        if address % 4:
            raise Fault(f"stores {len(values)} words at {address & _WORD:#x}, which is no multiple "
                        "of 4")  # fmt: skip
        held, at = self._find(address & _WORD, 4 * len(values), True)
        held[at : at + 4 * len(values)] = b"".join(v.to_bytes(4, "little") for v in values)


@dataclass
class CoreState:
    """registers: r0-r12, sp, lr, s0-s31 by name, unsigned; flags: n, z, c, v, q (0 or 1), ge (0 to
    15), the FPU's fn, fz, fc, fv, and p0, a bit for each byte of a vector."""

    registers: dict[str, int] = field(default_factory=dict)
    flags: dict[str, int] = field(default_factory=dict)


class _Value(str):
    """An operand in a statement, and forms of it."""

    @property
    def s(self) -> str:
        return f"(({self} ^ B) - B)"

    @property
    def lo(self) -> str:
        return f"(({self} & 0xFFFF ^ 0x8000) - 0x8000)"

    @property
    def hi(self) -> str:
        return f"({self.s} >> 16)"


class Program:
    """A kernel that can run: its instructions, all with places, from the first to a return."""

    def __init__(self, items: Sequence[Item]) -> None:
        self._source = "\n".join(_source(items))
        scope: dict[str, Any] = {"M": _WORD, "B": _SIGN, "f32": f32, "lanes": lanes}
        exec(compile(self._source, "kernel", "exec"), scope)
        self._run = scope["run"]

    def run(self, state: CoreState, memory: Data) -> CoreState:
        """From the first instruction until it returns. Fault: a sentence."""
        registers = [state.registers.get(name, 0) for name in REGISTERS]
        flags = [state.flags.get(name, 0) for name in _FLAGS]
        try:
            found = self._run(memory, *registers, *flags)
        except lanes.Unaligned as error:
            raise Fault(str(error)) from None
        values = dict(zip((*REGISTERS, *_FLAGS), (int(v) for v in found), strict=True))
        return CoreState({n: values[n] for n in REGISTERS}, {n: values[n] for n in _FLAGS})


def call(
    kernel: Sequence[Item] | Program, arguments: Sequence[int], memory: Data, stack: int = 512
) -> None:
    """Calls a kernel with a prologue as C does, with up to five arguments, on a stack of so many
    bytes. Fault: also where it does not give back the registers that it must."""
    top = 0x7FFF_FFF0
    on_stack = b"".join((value & _WORD).to_bytes(4, "little") for value in arguments[4:])
    memory.lay(top - stack, bytes(stack) + on_stack)
    state = CoreState({name: 0xA5A5_0000 + 7 * n for n, name in enumerate(REGISTERS)})
    state.registers |= {f"r{n}": value & _WORD for n, value in enumerate(arguments[:4])}
    state.registers |= {"sp": top, "lr": RETURN}
    program = kernel if isinstance(kernel, Program) else Program(kernel)
    after = program.run(state, memory).registers
    kept = [f"r{n}" for n in range(4, 12)] + [f"s{n}" for n in range(16, 32)] + ["sp"]
    for name in kept:
        if after[name] != state.registers[name]:
            raise Fault(f"returns with another value in {name}, which is its caller's")


@dataclass(frozen=True)
class _Layout:
    """starts: the items that begin pieces, and the end; places: of each item, its bytes from the
    first; labels: their addresses; number: of the piece at an address; tails: of each item, the
    bytes of an element that the loop around it leaves out at its end, or 0."""

    starts: Sequence[int]
    places: Sequence[int]
    labels: Mapping[Label, int]
    number: Mapping[int, int]
    tails: Sequence[int]


def _source(items: Sequence[Item]) -> Iterator[str]:
    """A function whose body jumps between pieces by their numbers."""
    places, starts = addresses(items), _starts(items)
    labels = {item: _CODE + places[n] for n, item in enumerate(items) if isinstance(item, Label)}
    number: dict[int, int] = {}
    for index, start in enumerate(starts):
        number.setdefault(_CODE + places[start], index)
    layout = _Layout([*starts, len(items)], places, labels, number, _tails(items))
    names = ", ".join((*REGISTERS, *_FLAGS))
    yield f"def run(m, {names}):"
    yield f"    pieces = {number!r}"
    yield "    p = 0"
    yield "    while p >= 0:"
    yield from _tree(items, layout, 0, len(starts), 2)
    yield f"    return {names}"


def _tails(items: Sequence[Item]) -> list[int]:
    """Loops with tail predication stand as they run: from DLSTP or WLSTP to LETP."""
    found, size = [], 0
    for item in items:
        found.append(size)
        if isinstance(item, Instruction):
            if item.name.startswith(("dlstp", "wlstp")):
                size = int(item.name.partition(".")[2]) // 8
            elif item.name == "letp":
                size = 0
    return found


def _starts(items: Sequence[Item]) -> list[int]:
    """The items that jumps may go to or leave behind them. Where a jump does not say where it goes,
    that is each."""
    code = [item for item in items if isinstance(item, Instruction)]
    # The last one is the kernel's return.
    if any(i.name == "bx" and not i.targets and i is not code[-1] for i in code):
        return [n for n, item in enumerate(items) if isinstance(item, Instruction)]
    return begins(items)


def _tree(items: Sequence[Item], code: _Layout, low: int, high: int, depth: int) -> Iterator[str]:
    """The pieces [low, high), each found by halving."""
    at = "    " * depth
    if high - low == 1:
        for n in range(code.starts[low], code.starts[high]):
            item = items[n]
            if isinstance(item, Instruction):
                behind = _CODE + code.places[n + 1]
                rows = _rows(item, code.labels, code.number, behind, code.tails[n])
                yield from (at + row for row in rows)
        yield f"{at}p = {low + 1 if high < len(code.starts) - 1 else -1}; continue"
        return
    middle = (low + high) // 2
    yield f"{at}if p < {middle}:"
    yield from _tree(items, code, low, middle, depth + 1)
    yield f"{at}else:"
    yield from _tree(items, code, middle, high, depth + 1)


def _rows(
    item: Instruction, labels: Mapping[Label, int], number: Mapping[int, int], behind: int,
    tail: int,
) -> Iterator[str]:  # fmt: skip
    """The Python of an instruction. behind: the address of the next one; tail: as `_Layout`'s."""
    if item.name.startswith("it"):
        return
    if item.name.startswith("wls"):
        count = _values(item.operands[1], labels)[0]
        yield f"if not {count}: {_go(item, labels, number)}"
        yield f"lr = {count}"
        return
    test = f"if {_CONDITIONS[item.condition]}: " if item.condition else ""
    yield test + _statement(item, labels, number, behind, tail)


def _statement(
    item: Instruction, labels: Mapping[Label, int], number: Mapping[int, int], behind: int,
    tail: int,
) -> str:  # fmt: skip
    operands = item.operands
    if item.name in ("le", "letp"):
        done = 16 // tail if item.name == "letp" else 1
        return f"if lr > {done}: lr -= {done}; {_go(item, labels, number)}"
    if item.name in ("b", "bl", "cbz", "cbnz"):
        go = _go(item, labels, number)
        if item.name == "bl":
            return f"lr = {behind | 1}; {go}"
        if item.name == "b":
            return go
        return (
            f"if {_values(operands[0], labels)[0]} {'!=' if item.name == 'cbnz' else '=='} 0: {go}"
        )
    if item.name == "bx":
        return f"p = pieces.get({_values(operands[0], labels)[0]} & ~1, -1); continue"
    values = [_values(operand, labels) for operand in operands]
    meaning = item.meaning
    lists = [v for v, o in zip(values, operands, strict=True) if isinstance(o, Registers)]
    count = len(lists[0]) if lists else 0
    written = [w for v, role in zip(values, meaning.roles, strict=True) if role == "d" for w in v]
    read = [w for v, role in zip(values, meaning.roles, strict=True) if role == "u" for w in v]
    # A list of one needs its comma.
    joined = [_Value(", ".join(v) + "," * (len(v) == 1 and isinstance(o, Registers)))
              for v, o in zip(values, operands, strict=True)]  # fmt: skip
    memory = next((o for o in operands if isinstance(o, Memory)), None)
    address, moved = _address(memory, labels) if memory else ("", "")
    active = _active(item, tail)
    text = meaning.statement.format(
        *joined, A=address, N=count, words=", ".join(written), values=", ".join(read), P=active
    )
    is_vector = bool(values) and len(values[0]) == 4 and meaning.roles[0] in "db"
    if active != "0xFFFF" and memory is None and is_vector:
        text = f"w = {joined[0]}; {text}; {joined[0]} = lanes.merged({active}, w, ({joined[0]}))"
    base = operands[0] if operands else None
    if isinstance(base, Moving):
        name = _words(base.register)[0]
        by = 4 * count * (-1 if item.name.endswith("db") else 1)
        text += f"; {name} = ({name} + {by}) & M"
    if count and PC in next(o for o in operands if isinstance(o, Registers)).registers:
        moved += "; p = pieces.get(pc & ~1, -1); continue"
    return text + moved


def _active(item: Instruction, tail: int) -> str:
    """The predicate of an instruction."""
    found = ["p0"] * item.is_predicated + [f"lanes.first({tail}, lr)"] * (tail > 0)
    return " & ".join(found) or "0xFFFF"


def _go(item: Instruction, labels: Mapping[Label, int], number: Mapping[int, int]) -> str:
    """To the label that is the last operand."""
    label = item.operands[-1]
    if not isinstance(label, Label) or label not in labels:
        raise ValueError(f"`{item}` goes to a label that is nowhere")
    return f"p = {number[labels[label]]}; continue"


def _address(memory: Memory, labels: Mapping[Label, int]) -> tuple[str, str]:
    """Of an access, and the statement behind it that moves the base."""
    if memory.base.kind is Kind.VECTOR:
        return _vector_of_addresses(memory)
    base = _values(memory.base, labels)[0]
    if not isinstance(memory.offset, int):
        offsets = memory.offset.register if isinstance(memory.offset, Shifted) else memory.offset
        if offsets.kind is Kind.VECTOR:
            shift = memory.offset.by if isinstance(memory.offset, Shifted) else 0
            return f"lanes.Gathered({base}, ({', '.join(_words(offsets))}), {shift})", ""
    by = _values(memory.offset, labels)[0]
    if isinstance(memory.offset, int):
        by = _Value(str(memory.offset))
    moved = f"({base} + {by}) & M"
    match memory.mode:
        case Mode.OFFSET:
            return moved, ""
        case Mode.BEFORE:
            return moved, f"; {base} = {moved}"
        case Mode.AFTER:
            return base, f"; {base} = {moved}"


def _vector_of_addresses(memory: Memory) -> tuple[str, str]:
    words, by = ", ".join(_words(memory.base)), memory.offset
    assert isinstance(by, int)
    moved = f"; {words} = lanes.each('add', 4, False, ({words}), {by & _WORD})"
    return f"lanes.Gathered({by}, ({words}))", moved if memory.mode is Mode.BEFORE else ""


def _values(operand: Operand, labels: Mapping[Label, int]) -> list[_Value]:
    """What stands for an operand in a statement: words of D registers are two, of lists more."""
    match operand:
        case Register():
            return [_Value(name) for name in _words(operand)]
        case Shifted(register, how, by):
            x = _Value(_words(register)[0])
            forms = {
                "lsl": f"({x} << {by} & M)", "lsr": f"({x} >> {by})", "asr": f"({x.s} >> {by} & M)",
                "ror": f"(({x} >> {by} | {x} << {32 - by}) & M)",
            }  # fmt: skip
            return [_Value(forms[how])]
        case Registers(registers):
            return [_Value(name) for register in registers for name in _words(register)]
        case Moving(register):
            return [_Value(_words(register)[0])]
        case Lane(register, index):
            return [_Value(_words(register)[index])]
        case Label():
            return [_Value(labels[operand])]
        case bool() | int():
            return [_Value(operand & _WORD)]
    return [_Value(repr(operand))]  # a condition


def _words(register: Register) -> tuple[str, ...]:
    """The names of a register's words."""
    return tuple(map(by_place, register.words))

"""When the Cortex-M7 issues a kernel's instructions: in their order, up to two a cycle.

The core publishes no timings. These were measured on STM32H743 and STM32H730 (jnk0le, "Pipeline
cycle test", cortex_m7.md, github.com/jnk0le/random; quinapalus.com/cm7cycles.html); where the two
differ, the first one's hold. Code and data answer at once, branches go where they went before: what
a loop takes that is warm, and no measurement of a chip.

- Two products, two stores, or a product and a store are never issued together; an instruction on
  bytes, halfwords, bit-fields or saturating (DSP) is the older one of a pair, and never with one
  that shifts an operand. Lists and pairs of words (LDM, STM, LDRD, STRD), and VMOV of two
  registers, are alone. Two loads are a pair where they are of different banks, as neighbours are.
- Addresses and what is shifted or extended are needed a cycle before other operands, the addend of
  a product a cycle after its factors.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence

from mcu_deploy.backends.isa.accesses import Resource, accesses_of, resources_of
from mcu_deploy.backends.isa.instruction import Instruction
from mcu_deploy.backends.isa.issues import AFTER_OTHERS, After, Class, Issue, Need
from mcu_deploy.backends.isa.model import Model, Names, Ordering, rounds
from mcu_deploy.backends.isa.operands import (
    Memory,
    Mode,
    Moving,
    Register,
    Registers,
    Shifted,
)

CORE = "cortex-m7"
MISPREDICTED = 7  # cycles of a branch that is not as it was predicted


_MACS = re.compile(r"sml|smmla|smmlar|smmul|smul|smuad|smusd|mul|ml[as]|[us]mull|[us]mlal|umaal")
_DSP = re.compile(
    r"[su]xt|pkh|[su]sat|bf[ic]|[su]bfx|rbit|rev|clz|q(add|sub|dadd|dsub)|sel|usad"
    r"|(s|q|sh|u|uq|uh)(add|sub|asx|sax)(8|16)?$"
)
_LONG, _FUSED = re.compile(r"[us]mlal|umaal|smlald"), re.compile(r"vf?n?m[als]")
_QUICK = ("add", "adds", "sub", "subs", "mov", "movs", "movw", "movt")
_LARGEST_PLAIN, _LARGEST_ADDED = 255, 4096


@functools.lru_cache(1 << 14)
def issue_of(instruction: Instruction) -> Issue:
    """ValueError, a sentence: the instruction has no meaning."""
    name = instruction.name
    kind = _class(instruction)
    early, addends = _early(instruction), _addends(instruction, kind)
    stored = _stored(instruction, early)
    reads = []
    for register in instruction.read:
        need = Need.FACTOR if kind is Class.MAC else Need.LATE
        if register in addends:
            need = Need.ADDEND
        elif register in stored:
            need = Need.STORED
        elif register in early:
            need = Need.EARLY
        reads += [(word, need) for word in resources_of(register)]
    found = accesses_of(instruction)
    shifted = any(isinstance(o, Shifted) for o in instruction.operands)
    words = max(1, sum(r.kind.words for o in instruction.operands if isinstance(o, Registers)
                       for r in o.registers) or 2 * (name in ("ldrd", "strd")))  # fmt: skip
    # A branch goes where it is predicted to, before the flags are there.
    flags = () if kind is Class.BRANCH else found.flags_read
    return Issue(
        kind,
        (*reads, *[(flag, Need.LATE) for flag in flags]),
        frozenset((*found.writes, *found.flags_written)),
        frozenset([w for r in _moved(instruction) for w in resources_of(r)]),
        words,
        is_shifted=shifted or _is_large(instruction, kind),
        after=_after(kind, words, name in _QUICK and not shifted),
        bank=_bank(instruction) if kind is Class.LOAD else None,
        loads=found.loads,
        stores=found.stores,
        region=found.region,
        is_product=kind is Class.MAC,
    )


def _class(instruction: Instruction) -> Class:
    name = instruction.name
    if name.startswith("it"):
        return Class.CONDITIONS
    if instruction.jumps_to or name in ("b", "bl", "bx", "cbz", "cbnz"):
        return Class.BRANCH
    if name in ("ldrd", "strd") or any(isinstance(o, Registers) for o in instruction.operands):
        return Class.MANY
    if name == "vmov":
        return Class.MOVE if len(instruction.operands) == 2 else Class.MOVE_TWO
    return _class_of(name)


@functools.cache
def _class_of(name: str) -> Class:
    if name in ("ldr", "vldr"):
        return Class.LOAD
    if name.startswith("ldr"):
        return Class.LOAD_PART
    if name.startswith(("str", "vstr")):
        return Class.STORE
    if name.startswith("v"):
        return Class.FLOAT
    if _MACS.match(name):
        return Class.MAC
    return Class.DSP if _DSP.match(name) else Class.ALU


def _early(instruction: Instruction) -> set[Register]:
    """Addresses, and what is shifted or extended."""
    found: set[Register] = set()
    for operand in instruction.operands:
        match operand:
            case Shifted(register) | Moving(register):
                found.add(register)
            case Memory(base, offset):
                found.add(base)
                if isinstance(offset, Register | Shifted):
                    found.add(offset if isinstance(offset, Register) else offset.register)
    name = instruction.name
    if name in ("ldmia", "stmia", "ldmdb", "stmdb", "vldmia", "vstmia"):
        found |= {o for o in instruction.operands[:1] if isinstance(o, Register)}
    source = _source(name)
    if source is not None:
        last = instruction.operands[-1]
        sources = [o for o in instruction.operands[1:] if isinstance(o, Register)]
        found.update(sources[source] if name != "pkhtb" or isinstance(last, Register) else ())
    return found


@functools.cache
def _source(name: str) -> slice | None:
    """Which of the registers that an instruction works on it needs early by its name."""
    if re.match(r"[su]xt", name):
        return slice(-1, None)
    if re.match(r"[su]sat|[su]bfx|rbit|rev|bf[ic]", name):
        return slice(1)
    return slice(None) if name == "pkhtb" else None


def _addends(instruction: Instruction, kind: Class) -> set[Register]:
    operands, name = instruction.operands, instruction.name
    if kind is Class.MAC:
        added = operands[:2] if _LONG.match(name) else operands[3:4]
        return {o for o in added if isinstance(o, Register)}
    if kind is Class.FLOAT and _FUSED.match(name):
        return {o for o in operands[:1] if isinstance(o, Register)} & set(instruction.read)
    return set()


def _stored(instruction: Instruction, early: set[Register]) -> set[Register]:
    """What a store of one word or less writes, where it is no address as well."""
    if not instruction.name.startswith(("str", "vstr")):
        return set()
    data = {o for o in instruction.operands if isinstance(o, Register)}
    return data - early


def _moved(instruction: Instruction) -> list[Register]:
    return [
        o.base if isinstance(o, Memory) else o.register for o in instruction.operands
        if isinstance(o, Moving) or (isinstance(o, Memory) and o.mode is not Mode.OFFSET)
    ]  # fmt: skip


def _is_large(instruction: Instruction, kind: Class) -> bool:
    """Whether it has a number that is no byte, which takes the shifter."""
    last = instruction.operands[-1] if instruction.operands else None
    name = instruction.name.rstrip("s")
    if not isinstance(last, int) or name in (
        "mov",
        "movw",
        "movt",
        "l",
        "lsl",
        "lsr",
        "asr",
        "ror",
    ):
        return False
    is_added = name in ("add", "addw", "sub", "subw") and abs(last) < _LARGEST_ADDED
    return kind is Class.ALU and abs(last) > _LARGEST_PLAIN and not is_added


def _bank(instruction: Instruction) -> tuple[Resource, int] | None:
    memory = instruction.operands[-1]
    if not isinstance(memory, Memory) or not isinstance(memory.offset, int):
        return None
    offset = memory.offset if memory.mode is Mode.OFFSET else 0
    return resources_of(memory.base)[0], offset


_AFTER: dict[Class, After] = {
    Class.MAC: (2, 3, 2, 1, 1),
    Class.LOAD: (1, 2, 2, 1, 0),
    Class.LOAD_PART: (2, 3, 3, 1, 0),
    Class.DSP: (1, 2, 1, 1, 0),
    Class.MOVE: (2, 3, 2, 1, 1),
    Class.MOVE_TWO: (2, 3, 2, 1, 1),
    Class.FLOAT: (3, 4, 3, 3, 3),
}
_AFTER_QUICK = _AFTER_MOVED = (1, 1, 1, 0, 0)


def _after(kind: Class, words: int, is_quick: bool) -> After:
    if kind is Class.MANY:
        last = (words + 1) // 2 - 1
        return last + 1, last + 2, last + 2, last + 1, last
    return _AFTER_QUICK if is_quick else _AFTER.get(kind, AFTER_OTHERS)


# By names of this module: each order asks for them many thousand times.
_MAC, _DSP_ONLY, _STORE, _MANY, _BRANCH = (
    Class.MAC, Class.DSP, Class.STORE, Class.MANY, Class.BRANCH,
)  # fmt: skip
_ALONE = (Class.MANY, Class.MOVE_TWO)
_LOADS = (Class.LOAD, Class.LOAD_PART)
_NEVER_TWO = (Class.MAC, Class.STORE, Class.FLOAT)
_NEVER_TOGETHER = ({Class.MAC, Class.STORE}, {Class.MOVE, Class.FLOAT})
# Of each class those that one cycle may issue behind it.
_PARTNERS = [
    [
        not (older in _ALONE or younger in _ALONE or younger is Class.DSP)
        and not (older is younger and older in _NEVER_TWO)
        and {older, younger} not in _NEVER_TOGETHER
        for younger in Class
    ]
    for older in Class
]


def may_pair(older: Issue, younger: Issue) -> bool:
    """Whether one cycle may issue both, whatever they need and write."""
    if not _PARTNERS[older.kind][younger.kind]:
        return False
    if younger.is_shifted and (older.is_shifted or older.kind is _DSP_ONLY):
        return False
    if older.loads and younger.loads and older.kind in _LOADS and younger.kind in _LOADS:
        one, other = older.bank, younger.bank
        return (
            one is not None and other is not None and one[0] == other[0]
            and (one[1] - other[1]) // 4 % 2 == 1
        )  # fmt: skip
    return True


class Pipeline:
    """The core while it issues: `cycle` is the present one."""

    def __init__(self) -> None:
        self.cycle = 0
        self.is_full = False  # whether it can issue no other
        self._older: Issue | None = None  # what this cycle has issued already
        self._written: dict[Resource, tuple[int, After]] = {}  # the cycle, and what is behind it

    def has_room(self, issue: Issue) -> bool:
        """Whether the present cycle can issue it if it has what it reads."""
        older = self._older
        if older is None:
            return True
        return (
            not self.is_full and _PARTNERS[older.kind][issue.kind]
            and may_pair(older, issue) and issue.writes.isdisjoint(older.writes)
        )  # fmt: skip

    def prefers(self, issue: Issue, other: Issue, pairing: int) -> bool:
        """What can only be the older one goes first, then a product, of which there is one a
        cycle."""
        if self._older is None:
            return issue.kind is _DSP_ONLY and (
                other.is_product if pairing == 1 else other.kind is not _DSP_ONLY
            )
        return issue.is_product and not other.is_product and self._older.kind is not _STORE

    def step(self) -> None:
        self.cycle += 1
        self._older, self.is_full = None, False

    def take(self, issue: Issue) -> None:
        """Issues it in the present cycle, which has room for it and what it reads."""
        self.is_full = self._older is not None or issue.kind in _ALONE
        self._older = issue
        if issue.kind is _MANY:
            self.cycle += (issue.words + 1) // 2 - 1

    def issue(self, issue: Issue) -> None:
        """As soon as it can be."""
        written, now = self._written, self.cycle
        first = now
        for resource, need in issue.reads:
            found = written.get(resource)
            if found is not None and found[0] + found[1][need] > first:
                first = found[0] + found[1][need]
        if first > now:
            self.cycle = now = first
            self._older, self.is_full = None, False
        elif not self.has_room(issue):
            self.step()
            now = self.cycle
        behind = now, issue.after
        for resource in issue.writes:
            written[resource] = behind
        for resource in issue.moved:
            written[resource] = now, _AFTER_MOVED
        self.take(issue)

    def turn(self) -> None:
        """Behind the last instruction of a piece: behind a branch a cycle has nothing else."""
        if self._older is not None and self._older.kind is _BRANCH:
            self.step()

    @property
    def end(self) -> int:
        """The first cycle that has issued nothing."""
        return self.cycle + (self._older is not None)

    @property
    def state(self) -> object:
        """All that what follows depends on."""
        now = self.cycle
        waits = {r: (c - now, a) for r, (c, a) in self._written.items() if c + max(a) > now}
        return self._older, self.is_full, waits


def cycles(issues: Sequence[Issue], *, is_loop: bool) -> int:
    """Of a straight piece of code: alone, or each time where it runs again and again."""
    return rounds(Pipeline(), issues, is_loop)[-1]


def delay(one: Issue, _: Issue, resource: Resource, need: Need) -> int:
    """How many cycles behind one another may issue that needs so what it writes."""
    return (_AFTER_MOVED if resource in one.moved else one.after)[need]


def least(issues: Sequence[Issue]) -> int:
    """The fewest cycles that they take in whatever order: of products and stores, and of what can
    only be the older one of a pair, each cycle has one."""
    alone = others = products = olds = 0
    for issue in issues:
        kind = issue.kind
        if kind in _ALONE:
            alone += max(1, (issue.words + 1) // 2) if kind is _MANY else 1
            continue
        others += 1
        products += kind is _MAC or kind is _STORE
        olds += kind is _DSP_ONLY
    return alone + max(products, olds, (others + 1) // 2)


def valued(issue: Issue, before: Names, behind: Names) -> Issue:
    """By other names of core registers, those that it reads and those that it writes."""
    bank = issue.bank
    return issue._replace(
        reads=tuple([(before.get(one, one), need) for one, need in issue.reads]),
        writes=frozenset([behind.get(one, one) for one in issue.writes]),
        moved=frozenset([behind.get(one, one) for one in issue.moved]),
        bank=bank and (before.get(bank[0], bank[0]), bank[1]),
    )


M7 = Model(
    CORE, issue_of, Pipeline, lambda issues, is_loop: cycles(issues, is_loop=is_loop),
    taken=0, left=MISPREDICTED, counted_left=0, column=2,
    ordering=Ordering(Pipeline, delay, pairs=True, valued=valued, least=least),
)  # fmt: skip

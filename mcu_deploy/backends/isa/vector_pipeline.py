"""When a Cortex-M55 issues a kernel's instructions: in their order, one a cycle.

Three units work on vectors: memory, integers, products and floats. Each is busy for two cycles with
the 128 bits of an operation (two beats a cycle), while an operation of another unit may begin a
cycle later. Sources, all public, none of it measured here:

- Arm, "Introduction to the Arm Cortex-M55 Processor" (white paper, 2020), and the examples of
  github.com/ARM-software/Arm-2D and github.com/Arm-Examples/Helium-Optimization: beats and units;
- SLOTHY, slothy/targets/arm_v81m/cortex_m55r1.py (copyright Arm, "approximate, not an official
  optimization guide"): when results are there, what a product that adds to a core register hands to
  the next one, the cycle that a load waits two cycles behind a vector's store.

Assumed, as the guide to the core's optimisation could not be read: LDM and STM take a cycle and one
for each two words; a word that is loaded is there in two cycles; a branch that is taken takes two
cycles more; LE takes nothing, and three cycles when its loop is left; a gather takes a cycle an
element; floats are compared in the time in which they are added; two core registers take a cycle to
a vector; no two instructions are issued together; vectors may lie at any address of their elements.
Code and data answer at once.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from mcu_deploy.backends.isa.accesses import Resource, Span, accesses_of
from mcu_deploy.backends.isa.instruction import Instruction
from mcu_deploy.backends.isa.model import Model, Ordering, rounds
from mcu_deploy.backends.isa.operands import Kind, Lane, Memory, Register, Registers, Shifted


class BusyUnit(StrEnum):
    """What an instruction keeps busy."""

    MEMORY = "memory"
    INTEGER = "integer"
    PRODUCT = "product"  # and floats
    SCALAR = "scalar"


@dataclass(frozen=True)
class Issue:
    """An instruction as the core sees it. held: cycles that its unit is busy; latency: cycles until
    its results can be used; sum: the core register that a product of vectors is added to, or is
    (is_first); is_vector: a load or store of vectors; waits: whether the core waits until it is
    done."""

    unit: BusyUnit
    held: int
    latency: int
    reads: tuple[tuple[Resource, None], ...]
    writes: frozenset[Resource]
    loads: bool = False
    stores: bool = False
    region: str = ""
    span: Span | None = None
    advance: tuple[Resource, int] | None = None
    sum: Resource | None = None
    is_first: bool = False
    is_vector: bool = False
    waits: bool = False

    @property
    def is_product(self) -> bool:
        """Or a vector of floats, which keep the same unit busy."""
        return self.unit is BusyUnit.PRODUCT and self.held == 2


_REDUCTION = re.compile(r"v(ml[as]l?dav|rml[as]ldavh|addl?v|abav|max(nm)?a?v|min(nm)?a?v)")
_ON_PRODUCTS = re.compile(r"v(mul|mla|fma|fms|cmul|q?r?d?ml[as]|q?r?d?mulh|cvt|rint|cmla|cadd)")
_LATE = re.compile(r"v(q?r?shru?n|q?movu?n|movl|shll|sli|sri|rsh[rl]|qr?shl)")


@functools.lru_cache(1 << 14)
def issue_of(instruction: Instruction) -> Issue:
    """ValueError, a sentence: the instruction has no meaning."""
    found = accesses_of(instruction)
    unit, held, latency = timing(
        instruction.name, instruction.is_vector, _words(instruction), _gathers(instruction)
    )
    if any(isinstance(operand, Lane) for operand in instruction.operands):
        unit, held, latency = BusyUnit.INTEGER, 1, 2
    is_memory = found.loads or found.stores
    total = None
    if instruction.name.startswith("vmladav"):
        total = found.writes[0]
    return Issue(
        unit, held, latency,
        tuple((resource, None) for resource in (*found.reads, *found.flags_read)),
        frozenset((*found.writes, *found.flags_written)),
        found.loads, found.stores, found.region, found.span, found.moved,
        sum=total,
        is_first=not instruction.name.startswith("vmladava"),
        is_vector=is_memory and instruction.is_vector,
        waits=held > 1 and unit in (BusyUnit.MEMORY, BusyUnit.SCALAR) and not instruction.is_vector,
    )  # fmt: skip


def timing(name: str, is_vector: bool, words: int, gathers: bool) -> tuple[BusyUnit, int, int]:
    """Of an instruction by its name with types, whether it names a Q register, how many words its
    list has, whether a vector has its addresses: its unit, the cycles that it holds it, and the
    cycles until its results can be used."""
    base, _, types = name.partition(".")
    if words:
        pairs = (words + 1) // 2
        return BusyUnit.MEMORY, 1 + pairs, 2 + pairs
    if re.match(r"v(ldr|str|ld[24]|st[24])", base) and is_vector:
        bits = int(re.sub(r"\D", "", types) or 32)
        held = max(2, 128 // bits) if gathers else 2
        return BusyUnit.MEMORY, held, held - 1
    if base.startswith(("ldr", "str", "vldr", "vstr")):
        return BusyUnit.MEMORY, 1, 2
    if _REDUCTION.match(base):
        is_sum = base.startswith(("vml", "vrml"))
        return BusyUnit.PRODUCT if is_sum else BusyUnit.INTEGER, 2, 3
    if base.startswith("vpst") or base == "vpnot":
        return BusyUnit.SCALAR, 1, 1
    if base.startswith("vctp"):
        return BusyUnit.SCALAR, 1, 2
    if base.startswith("v") and not is_vector:
        if base.startswith(("vdiv", "vsqrt")):
            return BusyUnit.PRODUCT, 14, 14
        return BusyUnit.PRODUCT, 1, 2 if base == "vmov" else 4
    if base.startswith("v"):
        if _ON_PRODUCTS.match(base) or types.startswith(("f32", "f16")):
            return BusyUnit.PRODUCT, 2, 2
        return BusyUnit.INTEGER, 2, 2 if _LATE.match(base) else 1
    if base in ("udiv", "sdiv"):
        return BusyUnit.SCALAR, 8, 8
    return BusyUnit.SCALAR, 1, 1


def _words(instruction: Instruction) -> int:
    return sum(
        r.kind.words for o in instruction.operands if isinstance(o, Registers) for r in o.registers
        if r.kind is not Kind.VECTOR
    )  # fmt: skip


def _gathers(instruction: Instruction) -> bool:
    for operand in instruction.operands:
        if isinstance(operand, Memory):
            by = operand.offset.register if isinstance(operand.offset, Shifted) else operand.offset
            is_by_vector = isinstance(by, Register) and by.kind is Kind.VECTOR
            return is_by_vector or operand.base.kind is Kind.VECTOR
    return False


def delay(one: Issue, other: Issue, resource: Resource, _: None) -> int:
    """How many cycles behind one the other may issue that reads what it writes."""
    if one.sum == resource and other.sum == resource and not other.is_first:
        return 2
    if one.unit is BusyUnit.PRODUCT and other.is_vector and other.stores:
        return 1
    return one.latency


class Pipeline:
    """The core while it issues: `cycle` is the present one. It goes on through blocks that follow
    each other. A core with other units says when they are free, and what an issue keeps busy."""

    delay: Callable[[Any, Any, Resource, None], int] = staticmethod(delay)

    def __init__(self) -> None:
        self.cycle = 0
        self.is_full = False  # whether it has issued one
        self._free: dict[StrEnum, int] = {}
        self._writers: dict[Resource, tuple[int, Any]] = {}
        self._stored = -9  # when the last store of a vector was issued

    def _when(self, issue: Any) -> int:
        """The first cycle that has what it reads."""
        first = 0
        for resource, need in issue.reads:
            writer = self._writers.get(resource)
            if writer is not None:
                first = max(first, writer[0] + self.delay(writer[1], issue, resource, need))
        return first

    def has_room(self, issue: Any) -> bool:
        """Whether the present cycle can issue it if it has what it reads."""
        return not self.is_full and self._free_at(issue, self.cycle) <= self.cycle

    def _free_at(self, issue: Any, first: int) -> int:
        """The first cycle from one on that can issue it."""
        at = max(first, self._free.get(issue.unit, 0))
        return at + (issue.loads and at == self._stored + 2)

    def _occupy(self, issue: Any) -> None:
        """Keeps busy what it needs from the present cycle on."""
        self._free[issue.unit] = self.cycle + issue.held

    def prefers(self, issue: Any, other: Any, pairing: int) -> bool:
        return False

    def step(self) -> None:
        self.cycle += 1
        self.is_full = False

    def issue(self, issue: Any) -> None:
        """As soon as it can be."""
        if self.is_full:
            self.step()
        self.cycle = self._free_at(issue, max(self.cycle, self._when(issue)))
        for resource in issue.writes:
            self._writers[resource] = self.cycle, issue
        self.take(issue)

    def take(self, issue: Any) -> None:
        """Issues it in the present cycle, which has room for it and what it reads."""
        self._occupy(issue)
        if issue.is_vector and issue.stores:
            self._stored = self.cycle
        if issue.waits:
            self.cycle += issue.held - 1
        self.is_full = True

    def turn(self) -> None:
        """Behind the last instruction of a piece nothing is otherwise."""

    @property
    def end(self) -> int:
        """The first cycle that has issued nothing."""
        return self.cycle + self.is_full

    @property
    def state(self) -> object:
        """All that what follows depends on."""
        now = self.cycle
        waits = {r: (c - now, i) for r, (c, i) in self._writers.items() if c + i.latency + 2 > now}
        busy = {unit: free - now for unit, free in self._free.items() if free > now}
        return self.is_full, max(-3, self._stored - now), busy, waits


def cycles(issues: Sequence[Any], is_loop: bool, core: Callable[[], Pipeline] = Pipeline) -> int:
    """Of a straight piece of code: alone, or each time where it runs again and again."""
    return rounds(core(), issues, is_loop)[-1]


M55 = Model(
    "cortex-m55", issue_of, Pipeline, cycles, taken=2, left=0, counted_left=3, column=None,
    ordering=Ordering(Pipeline, delay, pairs=False),
)  # fmt: skip

__all__ = ["M55", "BusyUnit", "Issue", "Pipeline", "cycles", "issue_of", "timing"]

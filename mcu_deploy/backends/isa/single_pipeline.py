"""When the Cortex-M33 issues a kernel's instructions: in their order, one a cycle.

The core publishes no timings. These were measured on an RP2350 (jnk0le, "Pipeline cycle test",
doc/cortex_m33.md, github.com/jnk0le/random). Code and data answer at once: a model of the core, and
no measurement of a chip.

- A list of n words takes n cycles, LDRD and STRD two.
- What is loaded can be used two cycles later, as an addend or to be stored one; so can what is
  multiplied, extended or has a shifted operand.
- A branch that is taken takes two cycles, and one that is not none, as it is issued together with
  what is in front of it, which is all that is modelled of the core's pairs of 16 bits; so is IT.
- Behind a fused product of floats no other float is issued for two cycles.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass

from mcu_deploy.backends.isa import issues, pipeline
from mcu_deploy.backends.isa.accesses import Resource
from mcu_deploy.backends.isa.instruction import Instruction
from mcu_deploy.backends.isa.issues import Class, Need
from mcu_deploy.backends.isa.model import Model, one_by_one
from mcu_deploy.backends.isa.operands import Kind

CORE = "cortex-m33"
TAKEN = 2  # cycles of a branch
_FUSED = re.compile(r"vf?n?m[als]")
# On bits, which are done in one stage.
_QUICK = re.compile(r"bf[ic]|[us]bfx|[us]sat")


@dataclass(frozen=True)
class Issue:
    """An instruction as the core sees it. held: the cycles until the next one; later: those until
    what it writes can be used, as an addend or to be stored `sooner`; bases that it moves on, by
    the next one. of_floats: the cycles until a float may follow, 0 for one that is none."""

    reads: tuple[tuple[Resource, Need], ...]
    writes: frozenset[Resource]
    moved: frozenset[Resource]
    held: int
    later: int
    sooner: int
    of_floats: int


@functools.lru_cache(1 << 14)
def issue_of(instruction: Instruction) -> Issue:
    """ValueError, a sentence: the instruction has no meaning."""
    is_taken = bool(instruction.name in ("b", "bl", "bx") and not instruction.condition)
    return single(pipeline.issue_of(instruction), instruction.name, is_taken)


def single(one: issues.Issue, name: str, is_taken: bool = False) -> Issue:
    """What it is for a core with two issues, for this one. is_taken: of a branch, always."""
    held, later, sooner, of_floats = 1, 1, 1, 0
    match one.kind:
        case Class.MAC | Class.LOAD | Class.LOAD_PART:
            later = 2
        case Class.DSP:
            later = 1 if _QUICK.match(name) else 2
        case Class.MANY:
            held, later, sooner = one.words, one.words + 1, one.words
        case Class.MOVE | Class.MOVE_TWO:
            to_core = any(file == Kind.CORE for file, _ in one.writes)
            held = 1 + (to_core and one.kind is Class.MOVE_TWO)
            later = 2 if to_core or one.kind is Class.MOVE_TWO else 1
        case Class.FLOAT:
            is_fused = _FUSED.match(name) is not None
            later = sooner = 3 if is_fused else 2
            of_floats = 3 if is_fused else 1
        case Class.BRANCH:
            held = TAKEN if is_taken else 0
        case Class.CONDITIONS:
            held = 0
        case _:
            later = 2 if one.is_shifted else 1
    return Issue(one.reads, one.writes, one.moved, held, later, sooner, of_floats)


class Pipeline:
    """The core while it issues: `cycle` is the present one."""

    def __init__(self) -> None:
        self.cycle = 0
        # Of what is written the first cycle that may use it, and that may add it or store it.
        self._ready: dict[Resource, tuple[int, int]] = {}
        self._floats = 0

    def issue(self, issue: Issue) -> None:
        """As soon as it can be."""
        if issue.of_floats:
            self.cycle = max(self.cycle, self._floats)
        for resource, need in issue.reads:
            if resource in self._ready:
                is_late = need in (Need.ADDEND, Need.STORED)
                self.cycle = max(self.cycle, self._ready[resource][is_late])
        for resource in issue.writes:
            later, sooner = (issue.later, issue.sooner) if resource not in issue.moved else (1, 1)
            self._ready[resource] = self.cycle + later, self.cycle + sooner
        if issue.of_floats:
            self._floats = self.cycle + issue.of_floats
        self.cycle += issue.held


def cycles(issues: Sequence[Issue], is_loop: bool) -> float:
    """As `one_by_one`."""
    return one_by_one(Pipeline(), issues, is_loop)


M33 = Model(CORE, issue_of, Pipeline, cycles, taken=TAKEN, left=0, counted_left=0, column=2)

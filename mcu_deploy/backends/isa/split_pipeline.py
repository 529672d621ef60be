"""When a Cortex-M85 issues a kernel's instructions: in their order, one a cycle.

What it has more than the M55 (vector_pipeline.py) is units: loads and stores have one each, and
vectors three: A adds, shifts and narrows, integers and floats; B multiplies and converts; C
compares. Moves and what works on bits go where there is room; VFMA takes A and B. Each is busy for
two cycles with the 128 bits of an operation.

Source: SLOTHY, slothy/targets/arm_v81m/cortex_m85r1.py (copyright Arm, "approximate", and no
official optimization guide): units, cycles until results are there, and the cycle that a load of a
vector waits right behind a load and a store of some. None of it was measured here. What that file
lacks (VMLADAV is taken for its VMLALDAV; lists, divisions, predicates, branches, scalar floats) is
the M55's.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from enum import StrEnum

from mcu_deploy.backends.isa import vector_pipeline
from mcu_deploy.backends.isa.accesses import Resource
from mcu_deploy.backends.isa.instruction import Instruction
from mcu_deploy.backends.isa.model import Model, Ordering
from mcu_deploy.backends.isa.vector_pipeline import M55, BusyUnit, cycles


class VectorUnit(StrEnum):
    """What an instruction keeps busy."""

    LOADS = "loads"
    STORES = "stores"
    A = "a"
    B = "b"
    C = "c"
    SCALAR = "scalar"


@dataclass(frozen=True)
class Issue(vector_pipeline.Issue):
    """units: of which it keeps all of a row busy, of the first row that is free."""

    units: tuple[tuple[VectorUnit, ...], ...] = ()


_A, _B, _C = ((VectorUnit.A,),), ((VectorUnit.B,),), ((VectorUnit.C,),)
_ANY, _BOTH = ((VectorUnit.A,), (VectorUnit.B,)), ((VectorUnit.A, VectorUnit.B),)
_BITS = re.compile(r"v(and|orr|orn|eor|bic|mvn|mov|rev)\b|vrev")
_COMPARES = re.compile(r"v(cmp|pt|pst|pnot|psel|ctp)")
_FUSED = re.compile(r"v(fma|fms|cmla)")


def _timing(
    name: str, found: vector_pipeline.Issue
) -> tuple[tuple[tuple[VectorUnit, ...], ...], int, int]:
    """Of an instruction that names vectors, by its name with types and by what it is on an M55:
    its units, the cycles that it holds them, and those until its results can be used."""
    base, _, types = name.partition(".")
    is_float = types.startswith(("f32", "f16"))
    if _COMPARES.match(base):
        return (_B if is_float else _C), found.held, found.latency
    if _FUSED.match(base):
        return _BOTH, 2, 4
    if _BITS.match(base):
        return _ANY, 1 if base.startswith("vmov") else 2, 1
    if is_float and re.match(r"v(add|sub|abs|neg|maxnm|minnm|cadd)", base):
        return _A, 2, 2
    if is_float and re.match(r"v(mul|cmul)", base):
        return _B, 2, 3
    if found.unit is BusyUnit.PRODUCT or (base.startswith("vadd") and base[4:5] in ("v", "l")):
        return _B, 2, 2
    return _A, 2, found.latency


@functools.lru_cache(1 << 14)
def issue_of(instruction: Instruction) -> Issue:
    """ValueError, a sentence: the instruction has no meaning."""
    found = vector_pipeline.issue_of(instruction)
    units: tuple[tuple[VectorUnit, ...], ...] = ((VectorUnit.SCALAR,),)
    held, latency = found.held, found.latency
    base = instruction.name.partition(".")[0]
    if found.loads or found.stores:
        units = ((VectorUnit.LOADS if found.loads else VectorUnit.STORES,),)
        if found.is_vector and found.loads and found.held > 2:  # a gather
            held, latency = 2, 4
        elif found.loads and re.match(r"v?ld[24]", base):
            latency = 4
        elif found.loads and not found.is_vector and not found.waits:
            latency = 3 if base.startswith(("ldrb", "ldrsb", "ldrh", "ldrsh")) else 1
            latency = 2 if base.startswith(("ldrd", "vldr")) else latency
    elif instruction.is_vector or base.startswith(("vmladav", "vaddv", "vctp", "vp")):
        units, held, latency = _timing(instruction.name, found)
    elif base.startswith("v"):
        units = _B
    elif re.match(r"(mul|mla|mls|smul|umul|sml)", base):
        latency = 2
    return Issue(**{**vars(found), "held": held, "latency": latency, "units": units})


def delay(one: Issue, other: Issue, resource: Resource, _: None) -> int:
    """How many cycles behind one the other may issue that reads what it writes."""
    return one.latency


class Pipeline(vector_pipeline.Pipeline):
    """As an M55, with these units."""

    delay = staticmethod(delay)

    def __init__(self) -> None:
        super().__init__()
        self._loaded = -9  # when the last load of a vector was issued

    def _row(self, row: tuple[VectorUnit, ...]) -> int:
        return max(self._free.get(unit, 0) for unit in row)

    def _free_at(self, issue: Issue, first: int) -> int:
        """The first cycle from one on that can issue it."""
        at = max(first, min(map(self._row, issue.units)))
        is_third = self._stored == at - 1 and self._loaded == at - 2
        return at + (issue.is_vector and issue.loads and is_third)

    def _occupy(self, issue: Issue) -> None:
        for unit in min(issue.units, key=self._row):
            self._free[unit] = self.cycle + issue.held
        if issue.is_vector and issue.loads:
            self._loaded = self.cycle

    @property
    def state(self) -> object:
        return super().state, max(-3, self._loaded - self.cycle)


M85 = Model(
    "cortex-m85", issue_of, Pipeline, functools.partial(cycles, core=Pipeline), taken=M55.taken,
    left=M55.left, counted_left=M55.counted_left, column=None,
    ordering=Ordering(Pipeline, delay, pairs=False),
)  # fmt: skip

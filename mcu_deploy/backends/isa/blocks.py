"""The modelled cycles of a linked file on the Cortex-M7: its blocks, by how often each ran.

A block is what runs from its first to its last instruction each time. It takes what it takes where
it runs again and again, if it jumps back to its own beginning, else what it takes alone; a branch
that is not always the same is predicted by what it does mostly, and takes seven cycles more where
that was wrong (the measurements that pipeline.py cites).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from mcu_deploy.backends.isa.accesses import Resource, resources_of
from mcu_deploy.backends.isa.instruction import Instruction, parsed
from mcu_deploy.backends.isa.issues import Class, Issue, Need
from mcu_deploy.backends.isa.meaning import meaning_of
from mcu_deploy.backends.isa.operands import is_physical_name, physical
from mcu_deploy.backends.isa.pipeline import (
    CORE,
    MISPREDICTED,
    cycles,
    issue_of,
)
from mcu_deploy.elf import disassembly

_NAMES = {"sl": "r10", "fp": "r11", "ip": "r12", "sb": "r9"}
_NAME = re.compile(r"\b(?:sl|fp|ip|sb)\b")
_WORD = re.compile(r"\b[a-z]+\d*\b")
_IF = "(?:eq|ne|cs|hs|cc|lo|mi|pl|vs|vc|hi|ls|ge|lt|gt|le)"  # not BIC, BFI
_JUMPS = re.compile(rf"b(?:x|l|lx|{_IF})?$|cbn?z$|tb[bh]$|letp$|le$|wls(?:tp)?$")
_CONDITIONAL = re.compile(rf"bx?{_IF}$|cbn?z$")
_TARGET = re.compile(r"0x([0-9a-f]+)$")


class Blocks:
    """The instructions of a linked file in the order of their addresses."""

    core = CORE

    def __init__(self, code: Iterable[disassembly.Disassembled]) -> None:
        self._code = sorted(code, key=lambda i: i.address)
        targets = {target_of(i) for i in self._code}
        self._targets = targets - {None}

    def cycles(self, counts: Mapping[int, int]) -> int:
        """Of a run that executed each address so often."""
        total = 0.0
        for block in self._blocks(counts):
            total += counts[block[0].address] * self._once(block)
        for instruction in self._code:
            taken = counts.get(instruction.address, 0)
            if taken and self._may_jump(instruction):
                behind = min(taken, counts.get(instruction.next, 0))
                total += self._jumped(taken, behind)
        return round(total)

    def _may_jump(self, instruction: disassembly.Disassembled) -> bool:
        """Whether it is a branch that is taken by a condition."""
        return _CONDITIONAL.match(bare(instruction)) is not None

    def _once(self, block: Sequence[disassembly.Disassembled]) -> float:
        """The cycles of one run of a block."""
        is_loop = target_of(block[-1]) == block[0].address
        return cycles([issue_of_two(instruction) for instruction in block], is_loop=is_loop)

    def _jumped(self, times: int, behind: int) -> int:
        """What a conditional branch adds that ran so often and went on behind itself so often."""
        return MISPREDICTED * min(behind, times - behind)

    def costs(self) -> Iterator[tuple[int, float, float]]:
        """Of each instruction its address, its share of its block's cycles, and how many more it
        takes where it jumps."""
        for block in self._blocks(dict.fromkeys((i.address for i in self._code), 1)):
            share = self._once(block) / len(block)
            jumps = self._jumped(1, 0)
            yield from ((i.address, share, jumps * self._may_jump(i)) for i in block)

    def _blocks(self, counts: Mapping[int, int]) -> Iterator[list[disassembly.Disassembled]]:
        block: list[disassembly.Disassembled] = []
        for instruction in self._code:
            times = counts.get(instruction.address, 0)
            if block and (
                instruction.address in self._targets
                or times != counts[block[-1].address]
                or block[-1].next != instruction.address
            ):
                yield block
                block = []
            if not times:
                continue
            block.append(instruction)
            if _jumps(instruction):
                yield block
                block = []
        if block:
            yield block


def bare(instruction: disassembly.Disassembled) -> str:
    """Its name without types and width."""
    return instruction.mnemonic.partition(".")[0]


def _jumps(instruction: disassembly.Disassembled) -> bool:
    return _JUMPS.match(bare(instruction)) is not None


def target_of(instruction: disassembly.Disassembled) -> int | None:
    """Where it jumps, if it says that."""
    found = _TARGET.search(instruction.operands) if _jumps(instruction) else None
    return None if found is None else int(found[1], 16)


def operands_of(instruction: disassembly.Disassembled) -> str:
    """With the names of registers that kernels have."""
    return _NAME.sub(lambda name: _NAMES[name[0]], instruction.operands)


def known(instruction: disassembly.Disassembled) -> Instruction | None:
    """As one of a kernel, if it could be one."""
    try:
        # objdump has another name for what adds the products of all elements.
        name = re.sub("^vmlav", "vmladav", instruction.mnemonic)
        made = parsed(f"{name} {operands_of(instruction)}")
        found = meaning_of(made.name, "")
        if found is not None and len(found.roles) == 1 + len(made.operands) == 3:  # "adds r0, #1"
            made = Instruction(made.mnemonic, (made.operands[0], *made.operands))
        return made if made.meaning else None
    except (ValueError, KeyError, AssertionError):
        return None


def words_in(text: str) -> Iterator[Resource]:
    """Of the registers that operands name."""
    for name in _WORD.findall(text):
        if is_physical_name(name):
            yield from resources_of(physical(name))


def issue_of_two(instruction: disassembly.Disassembled) -> Issue:
    """Of what compilers make as well, by its first operand where the kernels' table lacks it."""
    operands = operands_of(instruction)
    if _jumps(instruction):
        return _plain(Class.BRANCH, "", operands)
    made = known(instruction)
    if made is not None:
        return issue_of(made)
    first, _, rest = operands.partition(",")
    return _plain(Class.ALU, first, rest)


def _plain(kind: Class, written: str, read: str) -> Issue:
    return Issue(
        kind, tuple((word, Need.LATE) for word in words_in(read)), frozenset(words_in(written)),
        frozenset(),
    )  # fmt: skip

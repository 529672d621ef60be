"""The modelled cycles of a linked file on the Cortex-M33: its blocks, by how often each ran."""

from __future__ import annotations

from collections.abc import Sequence

from mcu_deploy.backends.isa.blocks import Blocks, bare, issue_of_two, target_of
from mcu_deploy.backends.isa.single_pipeline import CORE, TAKEN, Issue, cycles, single
from mcu_deploy.elf import disassembly

_ALWAYS = ("b", "bl", "bx", "blx")


class SingleBlocks(Blocks):
    """A branch takes its cycles each time that it is taken."""

    core = CORE

    def _once(self, block: Sequence[disassembly.Disassembled]) -> float:
        is_loop = target_of(block[-1]) == block[0].address
        return cycles([_issue(instruction) for instruction in block], is_loop)

    def _jumped(self, times: int, behind: int) -> int:
        return TAKEN * (times - behind)


def _issue(instruction: disassembly.Disassembled) -> Issue:
    name = bare(instruction)
    return single(issue_of_two(instruction), name, name in _ALWAYS)

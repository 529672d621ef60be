"""The modelled cycles of a linked file on a Cortex-M0+, M3 or M4: its blocks, by how often each
ran."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from mcu_deploy.backends.isa.blocks import Blocks
from mcu_deploy.backends.isa.table_pipeline import COLUMNS, Issue, Pipeline, cycles, timed_text
from mcu_deploy.elf import disassembly


class TableBlocks(Blocks):
    """A branch takes its cycles each time that it is taken. ValueError, a sentence: an instruction
    that the table has no cycles of was executed."""

    def __init__(self, core: str, code: Iterable[disassembly.Disassembled]) -> None:
        super().__init__(code)
        self.core, self._column = core, COLUMNS[core]

    def cycles(self, counts: Mapping[int, int]) -> int:
        """Of a run that executed each address so often."""
        known = {instruction.address for instruction in self._code}
        for address in counts:
            if address not in known:
                raise ValueError(
                    f"there is no known instruction at {address:#x}, which was executed"
                )
        return super().cycles(counts)

    def _once(self, block: Sequence[disassembly.Disassembled]) -> float:
        return cycles([self._issue(instruction) for instruction in block], False)

    def _jumped(self, times: int, behind: int) -> int:
        return self._column.refill * (times - behind)

    def costs(self) -> Iterator[tuple[int, float, float]]:
        """Of each instruction that the table has cycles of: its address, its cycles where the code
        goes on behind it, and how many more it takes where it jumps."""
        for block in self._blocks(dict.fromkeys((i.address for i in self._code), 1)):
            core = Pipeline()
            for instruction in block:
                before = core.cycle
                try:
                    core.issue(self._issue(instruction))
                except ValueError:
                    continue
                jumps = self._jumped(1, 0) if self._may_jump(instruction) else 0
                yield instruction.address, core.cycle - before, jumps

    def _issue(self, instruction: disassembly.Disassembled) -> Issue:
        return timed_text(self._column, instruction.mnemonic, instruction.operands)

"""The modelled cycles of a linked file on the Cortex-M55: its blocks, by how often each ran.

Blocks are issued in the order of their addresses, each behind what the one in front of it has left
to wait for, where it is entered from there. One that jumps back to its own beginning is issued a
second time for its repetitions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from mcu_deploy.backends.isa.blocks import Blocks, bare, known, operands_of, target_of, words_in
from mcu_deploy.backends.isa.vector_pipeline import M55, Issue, Pipeline, issue_of, timing
from mcu_deploy.elf import disassembly

_COUNTED = ("le", "letp")
_ALWAYS = ("b", "bl", "bx", "blx")


class VectorBlocks(Blocks):
    """As `Blocks`, on a core with Helium."""

    core = M55.core

    def cycles(self, counts: Mapping[int, int]) -> int:
        """Of a run that executed each address so often."""
        return round(sum(cost for _, cost in self._costs(counts)))

    def _costs(
        self, counts: Mapping[int, int]
    ) -> list[tuple[Sequence[disassembly.Disassembled], float]]:  # fmt: skip
        """Of each block the cycles of all its runs."""
        pipeline = Pipeline()
        found: list[tuple[Sequence[disassembly.Disassembled], float]] = []
        before: disassembly.Disassembled | None = None
        for block in self._blocks(counts):
            first, last = block[0], block[-1]
            times = counts[first.address]
            goes_on = before is not None and before.next == first.address
            if not goes_on or before is None or _leaves(before):
                pipeline = Pipeline()
            once = _run(pipeline, block)
            cost = float(once * times)
            if target_of(last) == first.address:
                entries = counts.get(before.address, 0) if goes_on and before is not None else 1
                entries = min(times, max(1, entries))
                cost = once * entries + _run(pipeline, block) * (times - entries)
            found.append((block, cost + _jumped(last, times, counts.get(last.next, 0))))
            before = last
        return found

    def costs(self) -> Iterator[tuple[int, float, float]]:
        """Of each instruction its address and its share of its block's cycles; it takes no more
        where it jumps."""
        for block, cost in self._costs(dict.fromkeys((i.address for i in self._code), 1)):
            yield from ((i.address, cost / len(block), 0.0) for i in block)


def _leaves(instruction: disassembly.Disassembled) -> bool:
    """Whether it never goes on behind itself."""
    return bare(instruction) in _ALWAYS or (
        bare(instruction) == "pop" and "pc" in instruction.operands
    )


def _jumped(last: disassembly.Disassembled, times: int, behind: int) -> float:
    """What a block's last instruction adds, where it jumps."""
    name = bare(last)
    if name in _COUNTED:
        return M55.counted_left * min(times, max(1, behind))
    if _leaves(last):
        return M55.taken * times
    return M55.taken * max(0, times - behind) if target_of(last) is not None else 0.0


def _run(pipeline: Pipeline, block: Sequence[disassembly.Disassembled]) -> int:
    begin = pipeline.end
    for instruction in block:
        if bare(instruction) not in _COUNTED:
            pipeline.issue(_issue(instruction))
    return pipeline.end - begin


def _issue(instruction: disassembly.Disassembled) -> Issue:
    """Of what compilers make as well, by its first operand where the kernels' table lacks it."""
    made = known(instruction)
    if made is not None:
        return issue_of(made)
    operands, name = operands_of(instruction), instruction.mnemonic
    first, _, rest = operands.partition(",")
    is_store = name.startswith(("st", "vst", "push", "vpush"))
    unit, held, latency = timing(name, bool(re.search(r"\bq[0-7]\b", operands)), 0, False)
    is_written = not is_store and target_of(instruction) is None
    read = words_in(rest if is_written else operands)
    written = frozenset(words_in(first)) if is_written else frozenset()
    return Issue(unit, held, latency, tuple((word, None) for word in read), written)

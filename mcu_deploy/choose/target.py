"""What the backends are told of a board."""

from __future__ import annotations

from dataclasses import replace

from mcu_deploy.backends.interface import Target
from mcu_deploy.boards import Board, Processor
from mcu_deploy.memory_timing import AT_ONCE, USUAL_FLASH, MemoryTiming, slower
from mcu_deploy.options import Options


def target_of(
    board: Processor, options: Options, hot: frozenset[str] | None = frozenset()
) -> Target:
    """What backends are told of a board: its core, and what code and constants lie in. hot: the
    kernels that lie in RAM, as `Target` has them."""
    has_fpu = board.is_host or board.fpu != "none"
    return Target(board.core, has_fpu, board.dsp, board.mve, _code_memory(board, options), hot)


def _code_memory(board: Processor, options: Options) -> MemoryTiming | None:
    """How the memory of code and constants answers at the clock that the board is rated for, which
    an object is made for whatever the start-up of its first firmware sets."""
    if board.is_host:
        return AT_ONCE
    timing: MemoryTiming | None = USUAL_FLASH
    if isinstance(board, Board):
        code, weights = board.memory_for("code"), board.memory_for("weights")
        timing = slower(code.rated_timing, weights.rated_timing)
    if options.flash_wait is None:
        return timing
    if options.flash_wait == 0:
        return AT_ONCE
    flash = timing if timing is not None and timing.wait_states else USUAL_FLASH
    return replace(flash, wait_states=options.flash_wait)

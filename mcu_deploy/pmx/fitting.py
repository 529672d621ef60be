"""Whether a saved model is what a build asks for: the target, the options, the board's memories."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from mcu_deploy.backends.interface import Target
from mcu_deploy.boards import Board, Processor
from mcu_deploy.compiled import CompiledModel
from mcu_deploy.errors import RequestError, one_line
from mcu_deploy.options import Options, flagged


def require_fit(
    model: CompiledModel, path: Path, board: Processor, target: Target, options: Options
) -> None:
    """Raises UsageError where a build asks for something else than the file holds.

    Options that are left at their defaults are what the file says.
    """
    if not model.target.has_the_core_of(target):
        raise RequestError(
            f"{path} was optimised for {_shown(model.target)}, and {board.name} has "
            f"{_shown(target)}: kernels and plan would be others. Run `mcu-deploy optimize MODEL "
            f"--board {_shown_board(board)} -o FILE.pmx` on the model that it was made of."
        )
    known = board.divided().memories if isinstance(board, Board) else ()
    memories = {memory.name for memory in known}
    for pool in model.plan.pools:
        if pool.memory and pool.memory not in memories:
            raise RequestError(
                f"{path} places tensors in the memory {pool.memory!r}, which {board.name} does not "
                f"have. Run `mcu-deploy optimize MODEL --board {_shown_board(board)} -o FILE.pmx`."
            )
    # What is left of the memories is the link's business: the plan is made.
    options = dataclasses.replace(options, pools=dataclasses.replace(options.pools, taken={}))
    default = type(options)()
    for field in dataclasses.fields(options):
        asked, saved = getattr(options, field.name), getattr(model.options, field.name)
        flags = [each.flag for each in flagged() if field.name in (each.name, each.within)]
        is_anew = any(flag.anew for flag in flags)
        if is_anew or asked in (saved, getattr(default, field.name)):
            continue
        names = [flag.name for flag in flags] or ["--split"]
        named = " or ".join(n for n in (", ".join(names[:-1]), names[-1]) if n)
        raise RequestError(
            f"{path} was not optimised with what {named} asks for now. Leave the option "
            "out, or give it to `mcu-deploy optimize`, from the model that the file was made of."
        )


def _shown_board(board: Processor) -> str:
    return board.name if isinstance(board, Board) else "BOARD"


def _shown(target: Target) -> str:
    has = {"an FPU": target.fpu, "DSP instructions": target.dsp, "MVE": target.mve}
    parts = [name for name, there in has.items() if there]
    core = one_line(target.core, 40)
    return f"a {core} with {' and '.join(parts)}" if parts else f"a {core}"

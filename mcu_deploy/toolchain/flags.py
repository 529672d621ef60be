"""The flags that C is compiled with; the one place that says them."""

from __future__ import annotations

import shlex

from mcu_deploy.boards import Board, Processor

# The folder of a build with the headers of the runtime and the networks.
HEADERS = "include"


def network_flags(board: Processor, name: str, debug: bool = False) -> tuple[str, ...]:
    """The flags that a network's object is compiled with.

    name: the network's, for gcc's internal names. -ffp-contract=off: no fused multiply-add that the
    arithmetic contract does not name. -fno-math-errno: sqrtf is the FPU's instruction alone. Where
    loops begin comes first, so that the board's own flags may say otherwise."""
    own = ("-O2", "-ffp-contract=off", "-fno-math-errno", f"-frandom-seed={name}")
    return (*_loop_flags(board), *_common_flags(board), *own, *(("-g",) if debug else ()))


def gcc_command_line(board: Processor, name: str, include: str = HEADERS) -> str:
    """The command that compiles network_<name>.c by hand, in the build folder, to the same bytes.

    The call graph and the maps of folder names are left out: they change nothing in the object."""
    gcc = "gcc" if board.is_host else "arm-none-eabi-gcc"
    source = f"network_{name}"
    return shlex.join(
        [gcc, *network_flags(board, name), "-I", include, "-c", f"{source}.c", "-o", f"{source}.o"]
    )


def runtime_flags(board: Processor) -> tuple[str, ...]:
    """The flags of the runtime and of the firmware, which are made small rather than fast."""
    return (*_common_flags(board), "-Os")


def _common_flags(board: Processor) -> list[str]:
    flags = [*board.cflags, "-std=c99", "-ffunction-sections", "-fdata-sections", "-fno-common"]
    if board.is_host:
        # Distributions switch these on in their own gcc; each would add calls to the objects.
        flags += ["-fno-stack-protector", "-U_FORTIFY_SOURCE"]
    return flags


def _loop_flags(board: Processor) -> tuple[str, ...]:
    """Loops that wait in each round begin with a read of the memory (docs/costs.md)."""
    if board.is_host or not isinstance(board, Board):
        return ()
    timing = board.memory_for("code").rated_timing
    if timing is None or not timing.waits_in_loops:
        return ()
    return (f"-falign-loops={timing.read_bytes}",)

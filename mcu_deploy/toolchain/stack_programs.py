"""The stack bounds of the two programs that a build links: what their function pointers may hold.

A network's own bound is that of `mcu_instance_run` without a hook, in bench.elf. The firmware's is
that of `mcu_firmware_main`, which runs the networks with a hook, and with what the hardware pushes
when an interrupt comes at the deepest point.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from mcu_deploy.boards import Board
from mcu_deploy.errors import ToolError
from mcu_deploy.toolchain.compiler import Toolchain
from mcu_deploy.toolchain.image import Function, Image, read_image
from mcu_deploy.toolchain.stack import StackAnalysis, StackBound, StackError
from mcu_deploy.toolchain.stack_host import host_stack_bound

_RUN = "mcu_instance_run"
_RUN_PARTITION = "mcu_instance_run_partition"
_DEINIT = "mcu_instance_deinit"
_PARALLEL = "_mcu_parallel"
_MAIN = "mcu_firmware_main"
# crt/firmware/run.c installs it for each run.
_FIRMWARE_HOOK = "watch"
# crt/firmware/provoke.c: the pointers of a provoked bad jump hold no function, and the provoked
# overflow has no bound; the fault handler ends both.
_PROVOKING = ("jump", "provoke", "mcu_provoke_in_layer", "mcu_provoke_request")
_OVERFLOWING = ("overflow",)
_PARTITION = re.compile(r"_part\d+_run_func$")
_LANE = re.compile(r"_lane\d+$")


def exception_frame_bytes(board: Board) -> int:
    """What an exception pushes on the application's stack before the handler runs on its own.

    8 words; with an FPU 26 (its registers are reserved at once, written lazily). SP is aligned to
    8 bytes before, which may cost a word; the sum is rounded up to a multiple of 8. It comes once:
    handlers interrupt each other on their own stack. tests/unit/test_stack_measured.py measures
    it."""
    if board.is_host:
        return 0
    return 40 if board.fpu == "none" else 112


def network_stack(board: Board, directory: Path, name: str) -> StackBound:
    """The stack of one run of a network, `mcu_instance_run` included, without a hook.

    directory: the build folder with bench.elf and obj/. Raises StackError where there is no bound.
    On the host only the C files are known: the C library counts as 0 and is named in `unknown`."""
    network = directory / "obj" / f"network_{name}.ci"
    runtime = sorted((directory / "obj" / "crt").glob("*.ci"))
    if board.is_host:
        return host_stack_bound(_RUN, network=network, callgraphs=runtime)
    image = read_image(directory / "bench.elf", objdump=Toolchain.for_board(board).objdump)
    run = _run_function(image, name)
    functions = _network_functions(image, name)
    indirect: dict[str, Sequence[str]] = dict.fromkeys(functions, ())
    indirect |= {_RUN: (run.name,), _PARALLEL: _lanes(functions)}
    analysis = StackAnalysis(image, callgraphs=[network, *runtime], indirect=indirect)
    return analysis.bound(_RUN)


def firmware_stack(board: Board, directory: Path, names: Sequence[str]) -> StackBound:
    """The application's stack in firmware.elf, with an exception's frame at the deepest point.

    directory: the build folder; names: of all networks in it. To be compared with
    board.stack_bytes (check_fit). Raises StackError where there is no bound. Not for the host."""
    if board.is_host:
        raise ToolError("The host's own stack needs no bound; ask for a microcontroller board's.")
    image = read_image(directory / "firmware.elf", objdump=Toolchain.for_board(board).objdump)
    functions = [f for name in names for f in _network_functions(image, name)]
    indirect: dict[str, Sequence[str]] = {
        _RUN: [_run_function(image, name).name for name in names],
        _RUN_PARTITION: [f for f in functions if _PARTITION.search(f)],
        _DEINIT: [f for f in functions if f.endswith("_release")],
        _PARALLEL: _lanes(functions),
    }
    indirect |= dict.fromkeys(_PROVOKING, ())
    for name in names:
        indirect |= dict.fromkeys(_network_functions(image, name), (_FIRMWARE_HOOK,))
    callgraphs = [directory / "obj" / f"network_{name}.ci" for name in names]
    for folder in ("crt", "platform", "firmware"):
        callgraphs += sorted((directory / "obj" / folder).glob("*.ci"))
    analysis = StackAnalysis(image, callgraphs=callgraphs, indirect=indirect, ignored=_OVERFLOWING)
    bound = analysis.bound(_MAIN)
    frame = exception_frame_bytes(board)
    return StackBound(_MAIN, bound.bytes + frame, (*bound.path, ("exception frame", frame)))


def _run_function(image: Image, name: str) -> Function:
    """The function that the descriptor's first field, run_func, points to."""
    descriptor = image.objects.get(f"_mcu_network_{name}")
    pointer = None if descriptor is None else image.word(descriptor)
    function = None if pointer is None else image.entry_at(pointer & ~1)
    if function is None:
        raise StackError(
            f"{image.path.name} does not hold the network {name}; link its object into it."
        )
    return function


def _network_functions(image: Image, name: str) -> list[str]:
    """The functions of one network, each of which may hold calls of the hook."""
    file = f"network_{name}.c"
    return [known for item in image.functions if item.file == file for known in item.names]


def _lanes(functions: Sequence[str]) -> list[str]:
    """Of a network's functions those that _mcu_parallel calls."""
    return [function for function in functions if _LANE.search(function)]

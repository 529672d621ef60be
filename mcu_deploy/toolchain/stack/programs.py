"""The stack bounds of the two programs that a build links: what their function pointers may hold.

A network's own bound is that of `mcu_instance_run` without a hook, in bench.elf, or without a board
in the image that link_network gave. The firmware's is that of the start-up's `application`, which
the stack begins with: it calls `mcu_firmware_main`, which runs networks with a hook. With it comes
what the hardware pushes when an interrupt comes at the deepest point.

Where the board has a second core and a network has lanes for it, that core's two stacks have bounds
of their own. The networks run without a hook there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mcu_deploy.boards import Board, Processor
from mcu_deploy.errors import ToolError
from mcu_deploy.toolchain.firmware import Firmware, network_callgraph, runtime_sources
from mcu_deploy.toolchain.fit import StackUse
from mcu_deploy.toolchain.stack.bound import StackAnalysis, StackBound, StackError
from mcu_deploy.toolchain.stack.callgraph import is_hook, read_callgraphs
from mcu_deploy.toolchain.stack.host import host_stack_bound
from mcu_deploy.toolchain.stack.image import ImageFunction, LinkedImage, read_image

_RUN = "mcu_instance_run"
_RUN_PARTITION = "mcu_instance_run_partition"
_DEINIT = "mcu_instance_deinit"
_PARALLEL = "_mcu_parallel"
# boards/common/startup.c: the first function on the application's stack.
_MAIN = "application"
# crt/firmware/run.c installs it for each run.
_FIRMWARE_HOOK = "watch"
# crt/firmware/provoke.c: the pointers of a provoked bad jump hold no function, and the provoked
# overflow has no bound; the fault handler ends both.
_PROVOKING = ("jump", "provoke", "mcu_provoke_in_layer", "mcu_provoke_request")
_OVERFLOWING = ("overflow",)
_PARTITION = re.compile(r"_part\d+_run_func$")
# codegen/program.py numbers the lanes pair by pair: the odd ones are for the other core.
_LANE = re.compile(r"_lane\d+$")
# What codegen's template writes of a network, under names that no backend's function gets (nor is
# one inlined there): these functions alone call the hook, by _mcu_layer_event of mcu/internal.h.
_TEMPLATE = r"_mcu_{name}_(?:layers|run_func|(?:piece|lane)\d+|part\d+_run_func)(?:\..*)?"
_SECOND_LANE = re.compile(r"_lane\d*[13579]$")
# boards/common/second_core.c: what its core does for ever, and what it has called before.
_SERVE = "serve"
_SECOND_RESET = "second_reset"
_FAULT_ENTRY = "mcu_fault_entry"


def exception_frame_bytes(board: Board) -> int:
    """What an exception pushes on the application's stack before the handler runs on its own.

    8 words; with an FPU 26 (its registers are reserved at once, written lazily). SP is aligned to
    8 bytes before, which may cost a word; the sum is rounded up to a multiple of 8. It comes once:
    handlers interrupt each other on their own stack. tests/device/test_stack_measured.py measures
    it."""
    if board.is_host:
        return 0
    return 40 if board.fpu == "none" else 112


def network_stack(board: Processor, directory: Path, name: str, linked: Path) -> StackBound:
    """The stack of one run of a network, `mcu_instance_run` included, without a hook.

    directory: the build folder. linked: an image that holds the network. Raises StackError where
    there is no bound. On the host only the C files are known: the C library counts as 0 and is
    named in `unknown`."""
    network = network_callgraph(directory, name)
    runtime = runtime_sources(board).made(directory, ".ci")
    if board.is_host:
        return host_stack_bound(_RUN, network=network, callgraphs=runtime)
    image = read_image(linked)
    run = _run_function(image, name)
    functions = _network_functions(image, name)
    hooks = _hook_callers(functions, name, network)
    indirect: dict[str, Sequence[str]] = dict.fromkeys(hooks, ())
    indirect |= {_RUN: (run.name,), _PARALLEL: _lanes(functions)}
    analysis = StackAnalysis(image, callgraphs=[network, *runtime], indirect=indirect)
    return analysis.bound(_RUN)


def firmware_stack(firmware: Firmware, directory: Path) -> StackBound:
    """The application's stack in firmware.elf, with an exception's frame at the deepest point.

    directory: the build folder. To be compared with board.stack_bytes (check_fit). Raises
    StackError where there is no bound. Not for the host."""
    board, names = firmware.board, firmware.networks
    if board.is_host:
        raise ToolError("The host's own stack needs no bound; ask for a microcontroller board's.")
    image = read_image(directory / "firmware.elf")
    functions = [f for name in names for f in _network_functions(image, name)]
    indirect: dict[str, Sequence[str]] = {
        _RUN: [_run_function(image, name).name for name in names],
        _RUN_PARTITION: [f for f in functions if _PARTITION.search(f)],
        _DEINIT: [f for f in functions if f.endswith("_release")],
        _PARALLEL: _lanes(functions),
    }
    hooks = _hook_callers_of_all(image, firmware.networks, directory)
    indirect |= dict.fromkeys(_PROVOKING, ()) | dict.fromkeys(hooks, (_FIRMWARE_HOOK,))
    graphs = firmware.callgraphs(directory)
    analysis = StackAnalysis(image, callgraphs=graphs, indirect=indirect, ignored=_OVERFLOWING)
    bound = analysis.bound(_MAIN)
    return StackBound(_MAIN, (*bound.path, ("exception frame", exception_frame_bytes(board))))


@dataclass(frozen=True)
class SecondCoreStacks:
    """The second core's two stacks: the lanes', and the one that a fault is handled on."""

    application: StackBound
    handler: StackBound

    def uses(self, board: Board) -> tuple[StackUse, ...]:
        """Each with what the board gives it."""
        core = board.second_core
        assert core is not None
        name, table = "the second core's stack", "second_core"
        return (
            StackUse(name, self.application.bytes, core.stack_bytes, "application", table),
            StackUse(
                f"{name} of handlers", self.handler.bytes, core.handler_stack_bytes, "handler",
                table,
            ),
        )  # fmt: skip


def second_lane_stack(firmware: Firmware, directory: Path, name: str) -> StackBound | None:
    """What the lanes of a network need of the second core's stack, in bench.elf.

    None where the network has no lanes, or the board no second core: there they run one after the
    other, and `network_stack` is all. Raises StackError where there is no bound."""
    if firmware.board.second_core is None:
        return None
    image = read_image(directory / "bench.elf")
    functions = _network_functions(image, name)
    network = network_callgraph(directory, name)
    hooks = _hook_callers(functions, name, network)
    analysis = StackAnalysis(image, callgraphs=[network], indirect=dict.fromkeys(hooks, ()))
    bounds = [analysis.bound(lane) for lane in functions if _SECOND_LANE.search(lane)]
    return max(bounds, key=lambda bound: bound.bytes, default=None)


def second_core_stacks(firmware: Firmware, directory: Path) -> SecondCoreStacks | None:
    """The second core's stacks in firmware.elf; None where no network has lanes, or it has no core.

    application: the loop that waits for work, the deepest lane of all networks, and the frame of a
    fault, which is pushed there. handler: what the core's reset leaves behind, the fault handler
    with its report, and the frame of a fault in it. Raises StackError where there is no bound."""
    if firmware.board.second_core is None:
        return None
    image = read_image(directory / "firmware.elf")
    functions = [f for name in firmware.networks for f in _network_functions(image, name)]
    lanes = [function for function in functions if _SECOND_LANE.search(function)]
    if not lanes:
        return None
    hooks = _hook_callers_of_all(image, firmware.networks, directory)
    indirect: dict[str, Sequence[str]] = dict.fromkeys(hooks, ())
    indirect |= {_SERVE: lanes}
    graphs = firmware.callgraphs(directory)
    analysis = StackAnalysis(image, callgraphs=graphs, indirect=indirect)
    frame = ("exception frame", exception_frame_bytes(firmware.board))
    work, fault = analysis.bound(_SERVE), analysis.bound(_FAULT_ENTRY)
    reset = (_SECOND_RESET, analysis.frame(_SECOND_RESET))
    return SecondCoreStacks(
        StackBound(_SERVE, (*work.path, frame)),
        StackBound(_FAULT_ENTRY, (reset, *fault.path, frame)),
    )


def _run_function(image: LinkedImage, name: str) -> ImageFunction:
    """The function that the descriptor's first field, run_func, points to."""
    descriptor = image.objects.get(f"_mcu_network_{name}")
    pointer = None if descriptor is None else image.word(descriptor)
    function = None if pointer is None else image.entry_at(pointer & ~1)
    if function is None:
        raise StackError(
            f"{image.path.name} does not hold the network {name}; link its object into it."
        )
    return function


def _network_functions(image: LinkedImage, name: str) -> list[str]:
    """The functions of one network."""
    file = f"network_{name}.c"
    return [known for item in image.functions if item.file == file for known in item.names]


def _hook_callers(functions: Sequence[str], name: str, callgraph: Path) -> list[str]:
    """Of a network's functions those whose calls through a pointer are the hook's, and no others'.

    A backend's function that calls through a pointer is none of them."""
    template = re.compile(_TEMPLATE.format(name=re.escape(name)))
    places = {item.name: item.pointers for item in read_callgraphs([callgraph])}
    return [
        function
        for function in functions
        if template.fullmatch(function)
        and all(is_hook(place) for place in places.get(function, ()))
    ]


def _hook_callers_of_all(image: LinkedImage, networks: Sequence[str], directory: Path) -> list[str]:
    return [
        function
        for name in networks
        for function in _hook_callers(
            _network_functions(image, name), name, network_callgraph(directory, name)
        )
    ]


def _lanes(functions: Sequence[str]) -> list[str]:
    """Of a network's functions those that _mcu_parallel calls."""
    return [function for function in functions if _LANE.search(function)]

"""Lets QEMU count a bench.elf for a board that QEMU does not have, on its machine of the same core.

The image is linked again, of the objects of the build, for the board with its memories moved to
where the machine has some: each by a multiple of 64 KiB, which is a multiple of the size of every
cache's way, so that what shares a line or a set on the board does so there. The start-up's steps,
which are for the board's own registers, do nothing; all else is as it was, byte by byte, and the
result is refused where a symbol has moved otherwise than its memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mcu_deploy.boards import Board, Memory, SetupStep, load_board, render_linker_script
from mcu_deploy.elf.reader import Elf, load_elf
from mcu_deploy.toolchain.firmware import Firmware, network_object
from mcu_deploy.toolchain.flags import HEADERS
from mcu_deploy.toolchain.link import MODELS, link_firmware

ALIGNMENT = 1 << 16
"""Addresses are the same modulo this many bytes."""

# The board whose machine runs a core's code; Armv6-M's instructions are all in Armv7-M.
_MACHINES = {
    "cortex-m0": "mps2-an385",
    "cortex-m0plus": "mps2-an385",
    "cortex-m3": "mps2-an385",
    "cortex-m4": "mps2-an386",
    "cortex-m7": "mps2-an500",
    "cortex-m33": "mps2-an505",
    "cortex-m55": "mps3-an547",
}
# What stands for a step: a wait for no bit of SCB->CPUID, which every core has.
_NOTHING = SetupStep("wait", 0xE000_ED00, 0, 0)
_RESET_BYTES = 64  # the stack pointer, and 15 vectors
_SPARE = 1 << 12  # of a memory behind what the board's own image has in it
_GUARD = ALIGNMENT  # below each memory: nothing may lie where the stack's guard does


@dataclass(frozen=True)
class StandIn:
    """A board with its memories moved, as QEMU's machine `board.qemu` runs it; image: the bench.elf
    for it; moves: of each memory that the image has anything in, by how many bytes."""

    board: Board
    image: Path
    moves: dict[str, int]


def stand_in_machine(board: Board) -> Board | None:
    """The board whose QEMU machine has a core that runs this one's code, or None."""
    name = _MACHINES.get(board.core)
    return load_board(name) if name is not None else None


def link_stand_in(
    directory: Path, board: Board, networks: Sequence[str], folder: Path
) -> StandIn | str:
    """Links the bench.elf of a build again, into an empty folder; or a clause that says why not.

    directory: of the build, which stays as it is; board: that it was made for; networks: their
    names. ToolError where the link fails."""
    machine = stand_in_machine(board)
    if machine is None:
        return f"QEMU has no machine with a {board.core}"
    own = load_elf(directory / "bench.elf")
    board = _as_linked(directory, board)
    moved = _moved(board, own, machine)
    if isinstance(moved, str):
        return moved
    there = {memory.name: memory.origin for memory in moved.memories}
    moves = {m.name: there[m.name] - m.origin for m in board.memories if m.name in there}
    for name in (HEADERS, MODELS, "libmcu_crt.a"):
        (folder / name).symlink_to(directory / name)
    for network in networks:
        made = network_object(directory, network)
        (folder / made.name).symlink_to(made)
    reset = _RESET if _RESET in there else ""
    firmware = replace(
        Firmware.of(moved, networks), linker_script=render_linker_script(moved, reset)
    )
    image = link_firmware(firmware, folder, firmware.bench)
    if wrong := next(_elsewhere(own, load_elf(image), board, moves), ""):
        return (
            f"{wrong} of bench.elf lies elsewhere when it is linked for QEMU's {machine.name}, as "
            "with another compiler than that of the build"
        )
    return StandIn(moved, image, moves)


_RESET = "machine_reset"


def _as_linked(directory: Path, board: Board) -> Board:
    """The board as its linker script saw it: divided, where a network names a memory."""
    script = directory / "obj" / f"{board.name}.ld"
    divided = board.divided()
    is_divided = script.is_file() and script.read_text() == render_linker_script(divided)
    return divided if is_divided else board


def _moved(board: Board, elf: Elf, machine: Board) -> Board | str:
    """The board with its memories where the machine has some, and a start-up for there."""
    reset = machine.memory_for("vectors").origin
    taken = {memory.name: memory.origin for memory in machine.memories}
    memories = []
    roles = {board.roles.code, board.roles.weights, board.roles.data, board.roles.stack}
    if (board.memory_for("vectors").origin - reset) % ALIGNMENT:
        memories.append(Memory(_RESET, reset, _RESET_BYTES, "flash"))
        taken[machine.roles.vectors] += _RESET_BYTES
    # The vectors first: they may have to lie where the machine looks for them.
    for memory in sorted(board.memories, key=lambda m: m.name != board.roles.vectors):
        size = _used(memory, elf)
        if size == 0 and memory.name not in roles:
            continue
        areas = sorted(machine.memories, key=lambda area: area.kind != memory.kind)
        for area in areas:
            origin = taken[area.name] + (memory.origin - taken[area.name]) % ALIGNMENT
            if origin + size + _SPARE <= area.end:
                memories.append(_there(memory, origin, size + _SPARE))
                taken[area.name] = origin + size + _SPARE + _GUARD
                break
        else:
            return f"{memory.name} of board {board.name} does not fit QEMU's {machine.name}"
    return replace(
        board,
        memories=tuple(memories),
        setup=(_NOTHING,) * len(board.setup),
        serial=replace(board.serial, setup=(_NOTHING,) * len(board.serial.setup)),
        qemu=machine.qemu,
        renode=None,
    )


def _there(memory: Memory, origin: int, size: int) -> Memory:
    """As many bytes of a memory, and of its parts, from another origin on."""
    end, by = origin + size, origin - memory.origin
    parts = tuple(
        replace(part, origin=part.origin + by, size=min(part.end + by, end) - part.origin - by)
        for part in memory.parts
        if part.origin + by < end
    )
    return replace(memory, origin=origin, size=size, parts=parts)


def _used(memory: Memory, elf: Elf) -> int:
    """How many bytes from its start on an image has in a memory, and what it is loaded from."""
    spans = [(s.address, s.size) for s in elf.sections if s.allocated]
    spans += [(s.load_address, s.size) for s in elf.segments if s.loaded]
    ends = [at + size for at, size in spans if size and memory.origin <= at < memory.end]
    return max(ends, default=memory.origin) - memory.origin


def _elsewhere(own: Elf, image: Elf, board: Board, moves: dict[str, int]) -> Iterator[str]:
    """The symbols that have not moved with their memory."""
    places: dict[str, set[int]] = {}
    for symbol in image.symbols:
        places.setdefault(symbol.name, set()).add(symbol.value)
    for symbol in own.symbols:
        if symbol.type not in ("STT_FUNC", "STT_OBJECT") or own.section_of(symbol) is None:
            continue
        name = next((m.name for m in board.memories if m.origin <= symbol.value < m.end), None)
        if name is None or symbol.value + moves.get(name, 0) not in places.get(symbol.name, ()):
            yield symbol.name

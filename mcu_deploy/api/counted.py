"""An inference of a build, counted in an emulator, and what the models make of it for the board."""

from __future__ import annotations

import struct
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from mcu_deploy.api.folder import BuildFolder
from mcu_deploy.api.running import Connection
from mcu_deploy.boards import Board
from mcu_deploy.device.counting import Counts, count_instructions
from mcu_deploy.device.emulators import choose_emulator, launcher_named, launchers_for
from mcu_deploy.device.modelling import ModelledCycles, ModelledTime, model_cycles, model_time
from mcu_deploy.device.waiting import assumed, memory_lines, no_time
from mcu_deploy.elf.reader import load_elf
from mcu_deploy.errors import RequestError, ToolError
from mcu_deploy.toolchain.stand_in import link_stand_in

_QEMU = "qemu"


@dataclass(frozen=True)
class Counted:
    """counts: of bench.elf; source: what counted, with its version; cycles: modelled without wait
    states; time: modelled with those of the board's memories, at the clock that it is rated for.
    Instead of either there may be a clause that says why there is none."""

    counts: Counts
    source: str
    cycles: ModelledCycles | str
    time: ModelledTime | str


@dataclass(frozen=True)
class _Image:
    """What is counted: a bench.elf, for which board, in which emulator (None: the best), and on
    whose machine it stands in for the board's own."""

    board: Board
    elf: Path
    emulator: str | None
    machine: str = ""


def count(
    folder: BuildFolder, chosen: Connection, shapes: Mapping[str, Sequence[int]] | None = None
) -> Counted:
    """Counts an inference of the build's first network; `chosen` says in which emulator. shapes: of
    inputs and outputs by the symbols that hold them, where they are not those of the descriptor.

    A board that QEMU lacks is counted on QEMU's machine of its core, unless another emulator is
    asked for, or is all that is installed. Errors: as of `count_instructions`."""
    with _image(folder, chosen.emulator) as image, _shaped(image.elf, shapes or {}) as elf:
        reason = _no_time(folder)
        counts = count_instructions(
            image.board,
            elf,
            emulator=image.emulator,
            extra_args=chosen.arguments,
            by_address=True,
            memories="" if reason else memory_lines(image.board, image.elf),
            timeout=chosen.run_timeout or 300.0,
        )
        cycles = model_cycles(image.board, image.elf, counts)
        at_once = assumed(image.board, load_elf(image.elf))
    source = f"{counts.emulator} {counts.version}".strip()
    if image.machine:
        source += f" on {image.machine}"
    if isinstance(cycles, str):
        return Counted(counts, source, cycles, cycles)
    time = reason or model_time(folder.board, counts, cycles, at_once)
    return Counted(counts, source, cycles, time)


def _no_time(folder: BuildFolder) -> str:
    """A clause that says why the time on the board is not modelled; "" where it is."""
    if any(network.lanes for network in folder.networks):
        return "two cores work, and waiting for memories is modelled for one"
    return no_time(folder.board, load_elf(folder.bench))


@contextmanager
def _image(folder: BuildFolder, emulator: str | None) -> Iterator[_Image]:
    board, elf = folder.board, folder.bench
    own = choose_emulator(board, emulator).launcher.name if launchers_for(board) else None
    if own == _QEMU or emulator not in (None, _QEMU) or not (own is None or _is_installed()):
        yield _Image(board, elf, own)
        return
    with tempfile.TemporaryDirectory(prefix="mcu-deploy-", ignore_cleanup_errors=True) as scratch:
        names = [network.name for network in folder.networks]
        made = link_stand_in(folder.directory, board, names, Path(scratch))
        if not isinstance(made, str):
            assert made.board.qemu is not None
            yield _Image(made.board, made.image, _QEMU, made.board.qemu.machine)
        elif own is not None:
            yield _Image(board, elf, own)
        else:
            raise RequestError(
                f"No emulator counts for board {board.name}: {made}. Connect the board and use "
                "--port."
            )


@contextmanager
def _shaped(bench: Path, shapes: Mapping[str, Sequence[int]]) -> Iterator[Path]:
    """A bench.elf of which the descriptor has other shapes: a run takes its size from them."""
    if not shapes:
        yield bench
        return
    image = load_elf(bench)
    content = bytearray(image.data)
    symbols = {symbol.name: symbol for symbol in image.symbols}
    for name, shape in shapes.items():
        section = image.section_of(symbols[name]) if name in symbols else None
        if section is None:
            raise ToolError(f"{bench} has no {name}, which holds a shape. Build it again.")
        at = section.offset + image.offset_in_section(symbols[name], section)
        struct.pack_into(f"<{len(shape)}q", content, at, *shape)
    with tempfile.TemporaryDirectory(prefix="mcu-deploy-", ignore_cleanup_errors=True) as scratch:
        made = Path(scratch, bench.name)
        made.write_bytes(content)
        yield made


def _is_installed() -> bool:
    try:
        launcher_named(_QEMU).find()
    except ToolError:
        return False
    return True

"""A linked program for a board, of a build folder or of anybody's: what is put into a chip."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from mcu_deploy.api.folder import AnyFolder, as_folder, open_folder
from mcu_deploy.boards import Board, load_board
from mcu_deploy.elf.reader import Unreadable, read_elf, read_file
from mcu_deploy.errors import RequestError, UsageError
from mcu_deploy.files.given import is_file
from mcu_deploy.hygiene.images import require_whole
from mcu_deploy.output.file import require_writable, write_file
from mcu_deploy.runners.images import binary, intel_hex, loadable
from mcu_deploy.runners.uf2 import family_of, uf2

_MAGIC = b"\x7fELF"


@dataclass(frozen=True)
class BoardProgram:
    """An ELF image and the board that it is for. vectors: the address of its vector table."""

    elf: Path
    board: Board
    vectors: int


AnyProgram = AnyFolder | BoardProgram
"""A program that was opened, or a build folder, whose firmware is meant."""


def is_elf(path: Path) -> bool:
    """Whether a file begins as ELF files do."""
    if not is_file(path):
        return False
    with path.open("rb") as stream:
        return stream.read(len(_MAGIC)) == _MAGIC


def open_program(path: str | Path, board: str | Path | Board | None = None) -> BoardProgram:
    """A linked ELF image of any build system.

    board: that of the build folder in which the file lies, where none is given; UsageError where it
    lies in none. RequestError where it is no image for Arm, is cut off, or nothing of it lies in
    the board's memories: it was linked for another one then.
    """
    file = Path(path)
    if board is None:
        board = _board_beside(file)
    target = board if isinstance(board, Board) else load_board(board)
    if target.is_host:
        raise RequestError(
            f"{file} would be for this machine itself (--board host), which is not flashed; name "
            "the board that it was linked for."
        )
    try:
        elf = read_elf(read_file(file))
    except Unreadable as error:
        raise RequestError(f"{file} is no ELF image: {error}") from error
    if not elf.is_arm or not elf.little_endian:
        raise RequestError(
            f"{file} is for {elf.machine.removeprefix('EM_')}, and boards have an Arm Cortex-M; "
            "give what arm-none-eabi-gcc has linked."
        )
    segments = loadable(require_whole(file))
    if not any(m.origin <= at < m.end for at, _ in segments for m in target.memories):
        raise RequestError(
            f"{file} lies at {', '.join(f'{at:#010x}' for at, _ in segments[:4]) or 'no address'}, "
            f"where {target.name} has no memory: it was linked for another board. Name that one "
            "with --board, or link it for this one."
        )
    vectors = target.memory_for("vectors").origin
    if not any(at <= vectors < at + len(data) for at, data in segments):
        vectors = segments[0][0]
    return BoardProgram(file.absolute(), target, vectors)


def _board_beside(file: Path) -> Board:
    try:
        return open_folder(file.parent).board
    except RequestError:
        raise UsageError(
            f"{file} lies in no build folder, which would say which board it was linked for; say "
            "it with --board."
        ) from None


def program_of(given: AnyProgram) -> BoardProgram:
    """The program, or the firmware of a build folder. RequestError for a build for the host."""
    if isinstance(given, BoardProgram):
        return given
    folder = as_folder(given)
    if folder.board.is_host:
        raise RequestError(
            f"{folder.directory} was built for this machine itself, where there is nothing to "
            "flash; build it for a board."
        )
    return BoardProgram(folder.firmware, folder.board, folder.board.memory_for("vectors").origin)


def write_image(program: AnyProgram, output: str | Path) -> None:
    """Writes a program as raw bytes (.bin, from its lowest load address on), Intel HEX (.hex), or
    UF2 (.uf2), by the output's ending. RequestError for another ending, and for UF2 where the
    board's file does not say its family."""
    opened, path = program_of(program), Path(output)
    suffix = path.suffix.lower()
    if suffix not in (".bin", ".hex", ".uf2"):
        raise RequestError(
            f"{path} has the ending {path.suffix!r}; an image is a .bin, a .hex or a .uf2."
        )
    require_writable(path)
    if suffix == ".hex":
        write_file(path, intel_hex(opened.elf).encode())
    elif suffix == ".bin":
        write_file(path, binary(opened.elf))
    else:
        told = opened.board.runners.get("uf2")
        if told is None:
            raise RequestError(
                f"{opened.board.name} has no UF2 boot loader: its file has no table [runners.uf2]. "
                "Write a .hex or a .bin, or give the table its family."
            )
        write_file(path, uf2(loadable(opened.elf), family_of(told["family"])))

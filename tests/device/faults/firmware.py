"""Builds the small firmwares of these tests and talks to them line by line."""

from __future__ import annotations

import contextlib
import shutil
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from mcu_deploy import resources
from mcu_deploy.boards import Board, platform_defines, render_linker_script, startup_sources
from mcu_deploy.device.emulators import open_emulator

_WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Wundef", "-Werror")
_SECONDS = 20.0
_HERE = Path(__file__).parent

ECHO = (_HERE / "echo.c",)


def fault_sources(board: Board) -> tuple[Path, ...]:
    """The firmware that does one forbidden thing a letter."""
    provoke = "provoke_host.c" if board.is_host else "provoke_cortexm.c"
    return (_HERE / "faults.c", _HERE / provoke)


def build(board: Board, sources: tuple[Path, ...], folder: Path, *flags: str) -> Path:
    """Compiles and links a firmware with the board's start-up, without a warning."""
    folder.mkdir(parents=True, exist_ok=True)
    elf = folder / f"{board.name}.elf"
    command = ["gcc" if board.is_host else "arm-none-eabi-gcc"]
    assert shutil.which(command[0]), command[0]
    command += ["-std=c99", "-O2", "-g", "-ffunction-sections", "-fdata-sections", *_WARNINGS]
    command += [*board.cflags, *platform_defines(board), *flags]
    command += [f"-I{resources.crt() / 'include'}", f"-I{resources.boards() / 'common'}"]
    command += [*map(str, (*startup_sources(board), *sources))]
    command += ["-Wl,--gc-sections", "-Wl,--fatal-warnings", "-o", str(elf)]
    if not board.is_host:
        script = folder / f"{board.name}.ld"
        script.write_text(render_linker_script(board))
        command += ["-nostartfiles", "--specs=nano.specs", "-T", str(script)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return elf


@dataclass(frozen=True)
class Line:
    """The serial line of a firmware at work."""

    socket: socket.socket
    stream: BinaryIO

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def read(self, size: int) -> bytes:
        """Exactly `size` bytes."""
        data = self.stream.read(size)
        assert len(data) == size, f"only {len(data)} of {size} bytes came: {data[-40:]!r}"
        return bytes(data)

    def line(self) -> str:
        """The next line."""
        data = self.stream.readline()
        assert data.endswith(b"\n"), f"no whole line came, only {data!r}"
        return data.decode("ascii").strip()

    def ask(self, letter: str) -> dict[str, str]:
        """Sends a letter; returns the words of the fault line, or {} when it was allowed."""
        self.send(letter.encode())
        words = self.line().split()
        if not words or words[0] != "fault":
            return {}
        return dict(word.split("=") for word in words[1:])


@contextlib.contextmanager
def running(board: Board, elf: Path, emulator: str | None = None) -> Iterator[Line]:
    """A firmware in an emulator (the host's: as a process), up to its first "ready"."""
    # A plain socket: pyserial's throws away what has come by the time that it is open.
    with open_emulator(board, elf, emulator=emulator) as started:
        host, _, port = started.url.removeprefix("socket://").partition(":")
        with (
            socket.create_connection((host, int(port)), timeout=_SECONDS) as connection,
            connection.makefile("rb") as stream,
        ):
            line = Line(connection, stream)
            assert line.line() == "ready"
            yield line


def function_at(elf: Path, address: int) -> str:
    """The function that an address lies in."""
    with elf.open("rb") as stream:
        table = ELFFile(stream).get_section_by_name(".symtab")
        assert isinstance(table, SymbolTableSection)
        for symbol in table.iter_symbols():
            if symbol["st_info"]["type"] == "STT_FUNC":
                start = symbol["st_value"] & ~1
                if start <= address < start + symbol["st_size"]:
                    return str(symbol.name)
    return "?"


def symbol_values(elf: Path) -> dict[str, int]:
    """All symbols of an ELF with their values."""
    with elf.open("rb") as stream:
        table = ELFFile(stream).get_section_by_name(".symtab")
        assert isinstance(table, SymbolTableSection)
        return {symbol.name: symbol["st_value"] for symbol in table.iter_symbols()}

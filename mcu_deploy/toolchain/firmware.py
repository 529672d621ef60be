"""What the programs of a build are made of, as a value that everything reads which makes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mcu_deploy import resources
from mcu_deploy.backends import file_lists
from mcu_deploy.boards import (
    Board,
    Processor,
    common,
    platform_defines,
    protocol_defines,
    render_linker_script,
    startup_sources,
)
from mcu_deploy.toolchain.flags import runtime_flags

# Of crt/firmware/: what answers the serial protocol, what is counted, and what both begin with.
_SERVING = (
    "answer.c", "cobs.c", "crc32.c", "firmware_main.c", "message.c", "protocol.c", "provoke.c",
    "run.c", "self_test.c", "size.c",
)  # fmt: skip
_COUNTED = ("bench_main.c",)
_BOTH = ("prepare.c",)


@dataclass(frozen=True)
class SourceSet:
    """C files that are compiled alike; their objects go to obj/<name>/ of a build.

    root: the folder that gcc runs in; sources: relative to it. include: folders besides
    crt/include. Whatever header one of them may take is one of `headers`."""

    name: str
    root: Path
    sources: tuple[str, ...]
    flags: tuple[str, ...]
    include: tuple[Path, ...] = ()

    @property
    def headers(self) -> tuple[Path, ...]:
        """Those of the runtime and of the folders of `include`, and those beside the sources."""
        folders = dict.fromkeys((*self.include, *((self.root / s).parent for s in self.sources)))
        own = (path for folder in folders for path in sorted(folder.glob("*.h")))
        return (*sorted((resources.crt() / "include").rglob("*.h")), *own)

    def made(self, directory: Path, suffix: str) -> tuple[Path, ...]:
        """What a build in `directory` has of each source: its object (.o), its call graph (.ci)."""
        folder = directory / "obj" / self.name
        return tuple(folder / f"{Path(source).stem}{suffix}" for source in self.sources)


@dataclass(frozen=True)
class Firmware:
    """The two programs of a build: the runtime, the board's start-up, and what is their own.

    networks: the names of those in it. platform: the start-up and drivers of mcu-deploy, and one
    more set for each folder with the user's own. main: of firmware.elf; bench: of bench.elf.
    linker_script: its text; empty for the host, whose own linker needs none.
    """

    board: Board
    networks: tuple[str, ...]
    runtime: SourceSet
    platform: tuple[SourceSet, ...]
    main: SourceSet
    bench: SourceSet
    linker_script: str

    @classmethod
    def of(cls, board: Board, networks: Sequence[str] = ()) -> Firmware:
        """What a board's programs are made of, with these networks in them."""
        root, flags = resources.root(), runtime_flags(board)
        main, bench = (
            tuple(f"crt/firmware/{name}" for name in sorted((*own, *_BOTH)))
            for own in (_SERVING, _COUNTED)
        )
        return cls(
            board,
            tuple(networks),
            runtime_sources(board),
            _platform(board, flags),
            SourceSet("firmware", root, main, (*flags, *protocol_defines(board))),
            SourceSet("bench", root, bench, flags),
            "" if board.is_host else render_linker_script(board),
        )

    def callgraphs(self, directory: Path) -> tuple[Path, ...]:
        """gcc's call graphs of all that is in firmware.elf."""
        sets = (self.runtime, *self.platform, self.main)
        own = (path for each in sets for path in each.made(directory, ".ci"))
        return (*(network_callgraph(directory, name) for name in self.networks), *own)


def runtime_sources(board: Processor) -> SourceSet:
    """What libmcu_crt.a is made of."""
    root = resources.root()
    runtime = sorted(f"crt/{source}" for source in file_lists.read(root / "crt").sources)
    return SourceSet("crt", root, tuple(runtime), runtime_flags(board))


def _platform(board: Board, flags: tuple[str, ...]) -> tuple[SourceSet, ...]:
    root = resources.root()
    every = (*flags, *platform_defines(board))
    folders: dict[Path, list[str]] = {}
    for path in startup_sources(board):
        folder = root if path.is_relative_to(root) else path.parent
        folders.setdefault(folder, []).append(path.relative_to(folder).as_posix())
    return tuple(
        SourceSet(f"platform{i or ''}", folder, tuple(sources), every, (common(),))
        for i, (folder, sources) in enumerate(folders.items())
    )


def network_object(directory: Path, name: str) -> Path:
    """Where a build has a network's object."""
    return directory / f"network_{name}.o"


def network_callgraph(directory: Path, name: str) -> Path:
    """Where a build has the call graph of a network's object."""
    return directory / "obj" / f"network_{name}.ci"

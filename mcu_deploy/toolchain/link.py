"""Links objects, runtime and start-up to an image: firmware.elf and bench.elf."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from mcu_deploy import resources
from mcu_deploy.boards import Board, platform_defines, render_linker_script, startup_sources
from mcu_deploy.elf.reader import load_elf
from mcu_deploy.errors import ToolError
from mcu_deploy.toolchain.compiler import (
    Toolchain,
    first_lines,
    relative_to,
    run_tool,
    runtime_flags,
    writing,
)
from mcu_deploy.toolchain.fit import MemoryUse, check_fit
from mcu_deploy.toolchain.sizes import object_sizes

Image = Literal["firmware", "bench"]

# Of crt/firmware/, by image: what only the bench has, and what both have.
_BENCH = "bench_main.c"
_SHARED = "prepare.c"
_MODELS = "firmware_models.c"
_OVERFLOW = re.compile(r"region `(?P<name>\w+)' overflowed by (?P<bytes>\d+) bytes?")
_HEAP = frozenset(
    {"malloc", "calloc", "realloc", "free", "_malloc_r", "_free_r", "_sbrk", "_sbrk_r"}
)


def build_platform(board: Board, directory: Path) -> tuple[Path, ...]:
    """Compiles the board's start-up and platform sources to `directory`/obj/platform/."""
    root = resources.root()
    sources = [path.relative_to(root).as_posix() for path in startup_sources(board)]
    return Toolchain.for_board(board).compile_many(
        sources,
        directory / "obj" / "platform",
        cwd=root,
        flags=(*runtime_flags(board), *platform_defines(board)),
        include=(root / "boards" / "common",),
    )


def link_firmware(
    board: Board,
    directory: Path,
    objects: Sequence[Path],
    main: Image,
    *,
    platform: Sequence[Path] | None = None,
    float_weights: bool = False,
) -> Path:
    """Links `directory`/firmware.elf or bench.elf, and returns its path.

    directory: the build folder, which holds firmware_models.c and libmcu_crt.a already. objects:
    the networks'. main: "firmware" is crt/firmware/ without bench_main.c, "bench" is that file,
    and prepare.c is in both.
    platform: what build_platform gave, to compile it only once for both images.
    float_weights: whether the networks' weights are float32, for the advice when they do not fit.

    Raises FitError where the image does not fit the board's memories, ToolError where the link
    fails otherwise or where the program would use the heap."""
    toolchain = Toolchain.for_board(board)
    directory = directory.resolve()
    models = toolchain.compile_object(
        _MODELS, f"obj/{main}/firmware_models.o", cwd=directory, flags=runtime_flags(board)
    )
    if platform is None:
        platform = build_platform(board, directory)
    root = resources.root()
    sources = [
        path.relative_to(root).as_posix()
        for path in sorted((root / "crt/firmware").glob("*.c"))
        if path.name == _SHARED or (path.name == _BENCH) == (main == "bench")
    ]
    program = toolchain.compile_many(
        sources, directory / "obj" / main, cwd=root, flags=runtime_flags(board)
    )
    inputs = [*platform, *program, models, *objects, directory / "libmcu_crt.a"]
    elf = directory / f"{main}.elf"
    made = directory / "obj" / f"{main}.elf"
    with writing(elf):
        command = _link_command(toolchain, directory, inputs, made)
        failing = f"{elf.name} does not link for board {board.name}"
        result = run_tool(command, directory, failing, directory)
    if overflows := {
        found["name"]: int(found["bytes"]) for found in _OVERFLOW.finditer(result.stderr)
    }:
        _raise_overflow(board, overflows, objects, models, float_weights)
    if result.returncode != 0:
        raise ToolError(f"{failing}: {first_lines(result.stderr)}")
    if not board.is_host:
        refuse_heap(made)
    with writing(elf):
        made.replace(elf)
    return elf


def _link_command(
    toolchain: Toolchain, directory: Path, inputs: Sequence[Path], output: Path
) -> list[str]:
    board = toolchain.board
    command = [toolchain.gcc, *board.cflags, "-Wl,--gc-sections", "-Wl,--build-id=none"]
    if board.is_host:
        command += ["-no-pie"]
    else:
        script = directory / "obj" / f"{board.name}.ld"
        script.write_text(render_linker_script(board), encoding="utf-8")
        command += ["-nostartfiles", "-T", relative_to(script, directory)]
        if toolchain.file("nano.specs"):
            command.append("--specs=nano.specs")
    command.append(f"-Wl,-Map={relative_to(output.with_suffix('.map'), directory)}")
    command += [relative_to(path, directory) for path in inputs]
    return [*command, "-lm", "-o", relative_to(output, directory)]


def _raise_overflow(
    board: Board,
    overflows: dict[str, int],
    objects: Sequence[Path],
    models: Path,
    float_weights: bool,
) -> None:
    uses = []
    for name, over in overflows.items():
        memory = board.memory(name)
        uses.append(MemoryUse(name, memory.kind, memory.size + over, memory.size))
    networks = [object_sizes(path) for path in objects]
    check_fit(
        board,
        uses,
        what=", ".join(path.stem for path in objects) or "the firmware",
        weights_bytes=sum(sizes.constants for sizes in networks),
        arena_bytes=object_sizes(models).bss,
        float_weights=float_weights,
    )


def refuse_heap(elf: Path) -> None:
    """Raises ToolError where an image has a heap's functions in it: nothing here may use one."""
    symbols = load_elf(elf).symbols
    found = {symbol.name for symbol in symbols if symbol.name in _HEAP and not symbol.undefined}
    if found:
        raise ToolError(
            f"{elf.name} would use the heap ({', '.join(sorted(found))}), which no network and no "
            "firmware may; take out what calls it (the map file beside it says who pulled it in)."
        )

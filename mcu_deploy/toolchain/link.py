"""Links objects, runtime and start-up to an image: firmware.elf and bench.elf."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from mcu_deploy.boards import Board
from mcu_deploy.elf.reader import load_elf
from mcu_deploy.errors import ToolError
from mcu_deploy.toolchain.compiler import Toolchain, first_lines, writing
from mcu_deploy.toolchain.firmware import Firmware, SourceSet, network_object
from mcu_deploy.toolchain.fit import MemoryUse, check_fit
from mcu_deploy.toolchain.flags import HEADERS
from mcu_deploy.toolchain.sizes import object_sizes

MODELS = "firmware_models.c"
_OVERFLOW = re.compile(r"region `(?P<name>\w+)' overflowed by (?P<bytes>\d+) bytes?")
_HEAP = frozenset(
    {"malloc", "calloc", "realloc", "free", "_malloc_r", "_free_r", "_sbrk", "_sbrk_r"}
)


def build_platform(firmware: Firmware, directory: Path) -> tuple[Path, ...]:
    """Compiles the board's start-up and platform sources to `directory`/obj/platform/."""
    toolchain = Toolchain.for_board(firmware.board)
    return tuple(o for each in firmware.platform for o in toolchain.compile_set(each, directory))


def link_firmware(
    firmware: Firmware,
    directory: Path,
    program: SourceSet,
    *,
    platform: Sequence[Path] | None = None,
    float_weights: bool = False,
) -> Path:
    """Links `directory`/firmware.elf or bench.elf, and returns its path.

    directory: the build folder, which holds the networks' objects, firmware_models.c and
    libmcu_crt.a already. program: firmware.main or firmware.bench.
    platform: what build_platform gave, to compile it only once for both images.
    float_weights: whether the networks' weights are float32, for the advice when they do not fit.

    Raises FitError where the image does not fit the board's memories, ToolError where the link
    fails otherwise or where the program would use the heap."""
    board = firmware.board
    toolchain = Toolchain.for_board(board)
    directory = directory.resolve()
    models = toolchain.compile_object(
        MODELS, f"obj/{program.name}/firmware_models.o", cwd=directory, flags=program.flags,
        include=(directory / HEADERS,),
    )  # fmt: skip
    if platform is None:
        platform = build_platform(firmware, directory)
    own = toolchain.compile_set(program, directory)
    objects = [network_object(directory, name) for name in firmware.networks]
    inputs = [*platform, *own, models, *objects, directory / "libmcu_crt.a"]
    elf = directory / f"{program.name}.elf"
    made = directory / "obj" / elf.name
    with writing(elf):
        script = None
        if not board.is_host:
            script = directory / "obj" / f"{board.name}.ld"
            script.write_text(firmware.linker_script, encoding="utf-8")
        options = ["-Wl,--cref", *(["-no-pie"] if board.is_host else [])]
        result = toolchain.link(inputs, made, cwd=directory, script=script, options=options)
    if overflows := {
        found["name"]: int(found["bytes"]) for found in _OVERFLOW.finditer(result.stderr)
    }:
        _raise_overflow(board, overflows, objects, models, float_weights)
    if result.returncode != 0:
        remedy = ""
        if "undefined reference to `mcu_serial_" in result.stderr:
            driver = Path(board.serial.driver).name
            remedy = f"; the driver {driver} has to define it (boards/common/board.h)"
        raise ToolError(
            f"{elf.name} does not link for board {board.name}: {first_lines(result.stderr)}{remedy}"
        )
    if not board.is_host:
        refuse_heap(made)
    with writing(elf):
        made.replace(elf)
    return elf


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

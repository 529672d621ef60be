"""What a link for a board needs: the linker script, the start-up's sources, their -D flags."""

from __future__ import annotations

from pathlib import Path

from mcu_deploy import resources
from mcu_deploy.boards.model import SERIAL_BUFFER_BYTES, Board, SetupStep
from mcu_deploy.errors import BoardError


def common() -> Path:
    """The folder with the start-up code that all boards share; it belongs on the include path."""
    return resources.boards() / "common"


def startup_sources(board: Board) -> tuple[Path, ...]:
    """The C files that implement mcu/platform.h and the start-up for a board.

    They call `void mcu_firmware_main(void)`, which the program must define, and `mcu_fault_report`,
    which it may. Include path: crt/include and common(). Flags: board.cflags and
    platform_defines(board)."""
    folder = common()
    if board.is_host:
        return tuple(folder / "host" / f"{n}_host.c" for n in ("main", "platform", "fault"))
    sources = (
        folder / "startup.c",
        folder / "vectors.c",
        folder / "fault.c",
        folder / "platform_cortexm.c",
        folder / "receive.c",
        folder / "counter.c",
        folder / "setup.c",
        _source("serial", board.serial.driver),
        *(_source("boot", name) for name in board.boot),
    )
    if board.second_core is None:
        return sources
    driver = _source("second_core", board.second_core.driver)
    return (*sources, folder / "second_core.c", driver)


def _source(kind: str, name: str) -> Path:
    """A C file of boards/common/<kind>, or the user's where the name is a path."""
    return Path(name) if Path(name).is_absolute() else common() / kind / f"{name}.c"


def platform_defines(board: Board) -> tuple[str, ...]:
    """The -D flags for startup_sources(board), as arguments of a process (no shell quoting)."""
    serial = board.serial
    defines = {
        "MCU_BOARD_NAME": f'"{board.name}"',
        "MCU_BOARD_CORE": f'"{board.core}"',
        "MCU_BOARD_CLOCK_HZ": f"{board.clock_hz}u",
        "MCU_BOARD_BAUD": f"{serial.baud}u",
    }
    if board.is_host:
        defines["MCU_BOARD_STACK_BYTES"] = f"{board.stack_bytes}u"
    else:
        defines |= {
            "MCU_BOARD_STACK_GUARD_BYTES": f"{board.stack_guard_bytes}u",
            "MCU_BOARD_HAS_PSPLIM": str(int(board.has_psplim)),
            "MCU_SERIAL_BASE": f"{serial.base:#x}u",
            "MCU_SERIAL_IRQ": str(serial.irq),
            "MCU_SERIAL_CLOCK_HZ": f"{serial.clock_hz}u",
            "MCU_BOARD_HAS_SECOND_CORE": str(int(board.second_core is not None)),
            "MCU_BOARD_CACHES": str(int(board.caches)),
        }
        if board.second_core is not None:
            core = board.second_core
            defines["MCU_SECOND_CORE_STACK_BYTES"] = f"{core.stack_bytes}u"
            defines["MCU_SECOND_CORE_HANDLER_STACK_BYTES"] = f"{core.handler_stack_bytes}u"
        for name, steps in (("BOARD", board.setup), ("SERIAL", serial.setup)):
            if steps:
                defines[f"MCU_{name}_SETUP"] = ",".join(map(_step, steps))
    return (*(f"-D{key}={value}" for key, value in defines.items()), *protocol_defines(board))


def protocol_defines(board: Board) -> tuple[str, ...]:
    """The -D flags for the sources that know how much RAM the serial protocol may have."""
    size = board.serial.buffer_bytes
    if size == SERIAL_BUFFER_BYTES:
        return ()
    largest = min(size // 4, 1024)  # MCU_PROTOCOL_MTU, of which there are two buffers besides
    return (f"-DMCU_SERIAL_RING_BYTES={size}u", f"-DMCU_PROTOCOL_MTU={largest}u")


def _step(step: SetupStep) -> str:
    kind = f"MCU_STEP_{step.kind.upper()}"
    numbers = (step.register, step.mask, step.value)
    return f"{{{','.join(f'{n:#x}u' for n in numbers)},{step.bits},{kind}}}"


def render_linker_script(board: Board, reset: str = "") -> str:
    """The linker script for a board, from boards/common/link.ld.j2. reset: the memory with what an
    emulator's machine reads after a reset, where that is not the board's own vector table.

    BoardError for the host, whose own linker needs none."""
    if board.is_host:
        raise BoardError(f"Board {board.name} is linked by the machine's own gcc without a script.")
    from mcu_deploy.files import templates  # slow to import, and all that know boards import this

    template = templates.environment(common()).get_template("link.ld.j2")
    return template.render(board=board, reset=reset)

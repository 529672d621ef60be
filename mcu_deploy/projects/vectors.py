"""The vector table of a project: a name for each exception and interrupt of the chip."""

from __future__ import annotations

from mcu_deploy.boards import Board
from mcu_deploy.errors import BoardError

# Exceptions 2 to 14 by their numbers, as CMSIS's start-up files call them.
_ARMV6M = {2: "NMI", 3: "HardFault", 11: "SVC", 14: "PendSV"}
_ARMV7M = _ARMV6M | {4: "MemManage", 5: "BusFault", 6: "UsageFault", 12: "DebugMon"}
_ARMV8M = _ARMV7M | {7: "SecureFault"}
# External interrupts that a core can have: Armv6-M 32, and no chip here more than 240.
_MOST = {"armv6s-m": 32}
_MOST_OTHERS = 240
_LEAST_ALIGNMENT = 256


def exceptions(board: Board) -> dict[int, str]:
    """The handlers of the exceptions that end as faults, by number."""
    named = _ARMV8M if board.architecture.startswith("armv8") else _ARMV7M
    named = _ARMV6M if board.architecture.startswith("armv6") else named
    return {number: f"{name}_Handler" for number, name in sorted(named.items())}


def interrupts(board: Board) -> tuple[str, ...]:
    """The handler of each interrupt by its number, "" where the chip has none.

    Where the board's file does not name them, IRQ0_Handler and so on, as many as there can be. The
    table has to lie at a multiple of its size (Armv7-M ARM, B3.2.5): BoardError where it cannot.
    """
    origin = board.memory_for("vectors").origin
    if board.interrupts:
        if origin % _alignment(len(board.interrupts)):
            raise BoardError(
                f"The vector table of board {board.name}, with {len(board.interrupts)} interrupts, "
                f"has to lie at a multiple of {_alignment(len(board.interrupts))}, and its memory "
                f"{board.roles.vectors} begins at {origin:#x}. Move that in the board's file."
            )
        return tuple(_handler(name) for name in board.interrupts)
    count = _MOST.get(board.architecture, _MOST_OTHERS)
    while origin % _alignment(count):
        count //= 2
    return tuple(f"IRQ{number}_Handler" for number in range(max(count, board.serial.irq + 1)))


def _handler(name: str) -> str:
    """As the chip's own start-up file calls it: most makers append _IRQHandler."""
    return name if not name or name.endswith("_Handler") else f"{name}_IRQHandler"


def _alignment(count: int) -> int:
    return max(_LEAST_ALIGNMENT, 1 << (4 * (16 + count) - 1).bit_length())

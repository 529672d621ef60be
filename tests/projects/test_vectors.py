"""The vector tables of new projects: what each chip has, and where it may lie."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mcu_deploy.boards import Board, load_board
from mcu_deploy.errors import BoardError
from mcu_deploy.projects.vectors import exceptions, interrupts


def moved(board: Board, by: int) -> Board:
    """The board, its memory with the vector table so many bytes further."""
    memory = board.memory_for("vectors")
    others = tuple(other for other in board.memories if other != memory)
    return replace(board, memories=(*others, replace(memory, origin=memory.origin + by)))


def test_each_architecture_has_its_exceptions() -> None:
    numbers = {n: [*exceptions(load_board(n))] for n in ("nucleo_g0b1re", "stm32f103")}
    assert numbers == {
        "nucleo_g0b1re": [2, 3, 11, 14], "stm32f103": [2, 3, 4, 5, 6, 11, 12, 14]
    }  # fmt: skip
    assert exceptions(load_board("nucleo_l552ze"))[7] == "SecureFault_Handler"


def test_handlers_are_called_as_the_maker_does() -> None:
    names = ("WWDG", "", "RADIO_Handler")
    board = replace(load_board("stm32f103"), interrupts=names)
    assert interrupts(board) == ("WWDG_IRQHandler", "", "RADIO_Handler")


def test_a_table_lies_at_a_multiple_of_its_size() -> None:
    board = load_board("stm32f103")
    assert len(interrupts(replace(moved(board, 256), interrupts=("A",) * 48))) == 48
    with pytest.raises(BoardError, match="has to lie at a multiple of 512"):
        interrupts(replace(moved(board, 256), interrupts=("A",) * 49))
    # Without names there are as many as fit there, and the one of the serial port.
    assert len(interrupts(replace(moved(board, 256), interrupts=()))) == board.serial.irq + 1 == 38
    assert len(interrupts(replace(board, interrupts=()))) == 240

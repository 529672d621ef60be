"""A board as a value that a task holds, for machines that do not have its file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from mcu_deploy.boards import Board, load_board
from mcu_deploy.boards.document import BOARD_FILE
from mcu_deploy.output.paths import write_files


@dataclass(frozen=True)
class SentBoard:
    """name: of one of ours, else empty; files: those of a user's, by their names."""

    name: str
    files: Mapping[str, bytes]

    @classmethod
    def of(cls, board: Board) -> SentBoard:
        document = board.document
        return cls(board.name, {}) if document.is_shipped else cls("", document.copies())

    def load(self, folder: Path) -> Board:
        """The board; its files, where it has some, go to this folder."""
        if self.name:
            return load_board(self.name)
        write_files(self.files, folder)
        return load_board(folder / BOARD_FILE)

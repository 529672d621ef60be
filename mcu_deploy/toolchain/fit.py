"""Whether an image fits its board, and the sentence for when it does not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mcu_deploy.boards import Board, list_boards
from mcu_deploy.boards.model import Role
from mcu_deploy.errors import BoardError, FitError


@dataclass(frozen=True)
class MemoryUse:
    """A memory of the board, and how much of it is used; kind "flash" or "ram"."""

    name: str
    kind: str
    used_bytes: int
    size_bytes: int

    @property
    def missing(self) -> int:
        return max(0, self.used_bytes - self.size_bytes)


@dataclass(frozen=True)
class StackUse:
    """A stack of the board: at most `used` bytes of `size`.

    name: as the message calls it; key, table: where board.toml has its size.
    """

    name: str
    used: int
    size: int
    key: str = "application"
    table: str = "stack"

    @property
    def missing(self) -> int:
        return max(0, self.used - self.size)


def check_fit(
    board: Board,
    uses: Sequence[MemoryUse],
    *,
    what: str = "the firmware",
    stack_bytes: int = 0,
    more_stacks: Sequence[StackUse] = (),
    weights_bytes: int = 0,
    arena_bytes: int = 0,
    float_weights: bool = False,
) -> None:
    """Raises FitError where a memory or a stack of the board is too small.

    what: how the message calls the program. stack_bytes: the bound of the application's stack,
    compared with board.stack_bytes. more_stacks: such as a second core's. weights_bytes,
    arena_bytes: of the networks in it, named in the message as the large parts. float_weights:
    int8 would make them about a quarter."""
    problems: list[str] = []
    remedies: list[str] = []
    for use in uses:
        if not use.missing:
            continue
        part, size = ("weights", weights_bytes) if use.kind == "flash" else ("arena", arena_bytes)
        largest = f" ({part} {size:,})" if size else ""
        problems.append(
            f"{_called(use)} needs {use.used_bytes:,} bytes and has {use.size_bytes:,}: "
            f"{_missing(use.missing)}{largest}"
        )
        remedies += _remedies(board, use, float_weights)
    own = [] if board.is_host else [StackUse("the stack", stack_bytes, board.stack_bytes)]
    for stack in (*own, *more_stacks):
        if not stack.missing:
            continue
        problems.append(
            f"{stack.name} needs {stack.used:,} bytes and has {stack.size:,}: "
            f"{_missing(stack.missing)}"
        )
        size = -(-stack.used // 1024)
        remedies.append(
            f'a copy of {board.path.name} with {stack.key} = "{size}K" in [{stack.table}]'
        )
    if problems:
        raise FitError(
            f"{what} does not fit board {board.name}: {'; '.join(problems)}. "
            f"What would help: {', or '.join(dict.fromkeys(remedies))}."
        )


def _called(use: MemoryUse) -> str:
    """The memory, and of which kind it is where its name does not say so."""
    return use.kind if use.name == use.kind else f"{use.kind} {use.name}"


def _missing(count: int) -> str:
    return "1 byte is missing" if count == 1 else f"{count:,} bytes are missing"


def _remedies(board: Board, use: MemoryUse, float_weights: bool) -> list[str]:
    if use.kind == "ram" and use.name != board.roles.data:
        less = "--pools off, other --pool options, a smaller --hot-weights or --hot-code"
        return [f"less in {use.name} ({less})"]
    remedies = []
    if float_weights:
        remedies.append("int8 quantisation (about a quarter of the weights and of the arena)")
    if use.kind == "ram":
        remedies += ["--optimize-for ram", "a smaller input of the model (--shape)"]
    else:
        remedies.append("--optimize-for size")
    larger = _larger_boards(board, use)
    kind = "flash" if use.kind == "flash" else "RAM"
    if larger:
        names = ", ".join(f"{name} ({size:,})" for name, size in larger)
        remedies.append(f"a board with more {kind}, such as {names}")
    else:
        remedies.append(f"a board with at least {use.used_bytes:,} bytes of {kind}")
    return remedies


def _larger_boards(board: Board, use: MemoryUse) -> list[tuple[str, int]]:
    """Up to three boards whose memory for the same purpose is large enough, the smallest first."""
    role: Role = "weights" if use.kind == "flash" else "data"
    try:
        others = [item for item in list_boards() if not item.is_host and item.name != board.name]
    except BoardError:  # a broken file of another board is not this message's business
        return []
    sizes = sorted((item.memory_for(role).size, item.name) for item in others)
    return [(name, size) for size, name in sizes if size >= use.used_bytes][:3]

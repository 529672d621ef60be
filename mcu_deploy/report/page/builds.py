"""A build as the page shows it: its networks, and what they take of the board."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mcu_deploy.boards import Board, Processor
from mcu_deploy.report.page.networks import NetworkPage
from mcu_deploy.report.whole import Report
from mcu_deploy.toolchain import MemoryUse


@dataclass(frozen=True)
class Share:
    """A part of a bar. x, width: in percent."""

    name: str
    bytes: int
    x: float
    width: float


@dataclass(frozen=True)
class Bar:
    """What is used of a memory, or of a stack: `used` of `size` bytes. how: how it is known."""

    name: str
    used: int
    size: int
    shares: tuple[Share, ...]
    how: str

    @property
    def percent(self) -> float:
        return 100 * self.used / self.size if self.size else 0.0


@dataclass(frozen=True)
class Side:
    """A build of a comparison, or the one that a page is about. called: by what the page calls it;
    board: what it was built for."""

    called: str
    report: Report
    board: Processor
    networks: tuple[NetworkPage, ...]

    @property
    def cycles(self) -> int | None:
        """Of a run of the first network, with those that the board waits, where these are known."""
        profile = self.networks[0].profile
        return None if profile is None else profile.on_board


def bars(report: Report, board: Processor) -> tuple[Bar, ...]:
    """The memories of a board and its stack; none where there is no board, or it is the host."""
    if not isinstance(board, Board) or board.is_host:
        return ()
    found = [_memory(report, board, use) for use in report.memories]
    if report.firmware_stack_bytes is not None:
        found.append(
            Bar(
                "stack", report.firmware_stack_bytes, board.stack_bytes,
                _shares({"deepest path": report.firmware_stack_bytes}, board.stack_bytes),
                "bound of the firmware, from its disassembly; of what the board reserves",
            )
        )  # fmt: skip
    return tuple(found)


def _memory(report: Report, board: Board, use: MemoryUse) -> Bar:
    parts: dict[str, int] = {}
    if use.kind == "flash" and use.name == board.roles.code == board.roles.weights:
        for network in report.networks:
            for name, size in network.flash_parts.items():
                parts[name] = parts.get(name, 0) + size
    elif use.kind == "ram":
        parts["arena"] = _arena(report, use.name)
        if board.roles.stack == use.name:
            parts["stacks"] = board.stack_bytes + board.handler_stack_bytes
    parts = {name: size for name, size in parts.items() if size > 0}
    rest = use.used_bytes - sum(parts.values())
    if rest < 0:  # in several memories, or counted twice: only the whole is known
        parts, rest = {}, use.used_bytes
    parts["the rest of the firmware" if parts else "used"] = rest
    return Bar(
        use.name, use.used_bytes, use.size_bytes, _shares(parts, use.size_bytes),
        "measured in firmware.elf",
    )  # fmt: skip


def _arena(report: Report, memory: str) -> int:
    """The bytes of the pools that lie in a memory; of a shared workspace once."""
    sizes = [sum(p.bytes for p in n.pools if p.memory == memory) for n in report.networks]
    return max(sizes, default=0) if report.arena == "shared" else sum(sizes)


def _shares(parts: Mapping[str, int], size: int) -> tuple[Share, ...]:
    found, at = [], 0
    for name, bytes_ in parts.items():
        if bytes_:
            found.append(Share(name, bytes_, 100 * at / size, 100 * bytes_ / size))
        at += bytes_
    return tuple(found)

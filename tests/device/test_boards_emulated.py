"""The emulators have what a board's file says of the chip: memories, and the serial port."""

from __future__ import annotations

import dataclasses
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from sampling import every_board

from mcu_deploy import resources
from mcu_deploy.boards import Board, load_board


@dataclasses.dataclass
class _Peripheral:
    """What a platform of Renode says of a peripheral; the interrupt where it is the NVIC's."""

    addresses: tuple[int, ...] = ()
    size: int = 0
    interrupt: int | None = None


@pytest.mark.needs_renode
@pytest.mark.parametrize("name", [b.name for b in every_board() if b.renode is not None])
def test_renodes_platforms_have_the_boards_memories_and_port(name: str) -> None:
    """An emulator may have more memory than the chip, never less."""
    board = load_board(name)
    assert board.renode is not None
    adapted = resources.root() / "renode" / f"{name}.repl"
    platform = _renode_root() / board.renode.platform
    found = _renode_peripherals(adapted if adapted.is_file() else platform)
    # What the platforms of some versions lack, and those of others have.
    added = adapted.with_suffix(".added.resc")
    memory = r"(\w+): Memory.MappedMemory @ sysbus (0x\w+) { size: (0x\w+) }"
    for own, at, size in re.findall(memory, added.read_text() if added.is_file() else ""):
        found.setdefault(own, _Peripheral((int(at, 16),), int(size, 16)))
    _require_memories(
        board, [(at, at + each.size) for each in found.values() for at in each.addresses]
    )
    port = found[board.renode.uart]
    assert port.addresses == (board.serial.base,)
    assert port.interrupt in (None, board.serial.irq)


def _renode_peripherals(path: Path) -> dict[str, _Peripheral]:
    """Those of a platform and of what it uses."""
    found: dict[str, _Peripheral] = {}
    at = _Peripheral()
    for line in path.read_text().splitlines():
        if used := re.match(r'using "(.+)"', line):
            near = path.parent / used.group(1)
            found |= _renode_peripherals(near if near.is_file() else _renode_root() / used.group(1))
        elif entry := re.match(r"(\w+):", line):
            at = found.setdefault(entry.group(1), _Peripheral())
            if addresses := re.findall(r"sysbus <?(0x[0-9A-Fa-f]+)", line):
                at.addresses = tuple(int(address, 16) for address in addresses)
        elif another := re.match(r"\s+sysbus (0x[0-9A-Fa-f]+)", line):
            at.addresses = (*at.addresses, int(another.group(1), 16))
        elif size := re.match(r"\s+size: (0x[0-9A-Fa-f]+)", line):
            at.size = int(size.group(1), 16)
        elif interrupt := re.match(r"\s+(?:IRQ ?)?-> ?nvic@(\d+)", line):
            at.interrupt = int(interrupt.group(1))
    return found


@pytest.mark.needs_qemu
@pytest.mark.parametrize("name", [b.name for b in every_board() if b.qemu is not None])
def test_qemus_machines_have_the_boards_memories(name: str) -> None:
    board = load_board(name)
    assert board.qemu is not None
    _require_memories(board, _qemu_memories(board.qemu.machine))


def _require_memories(board: Board, spans: list[tuple[int, int]]) -> None:
    """Spans are starts and ends; what is contiguous counts as one."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and joined[-1][1] == start:
            start = joined.pop()[0]
        joined.append((start, end))
    for memory in board.memories:
        assert any(start <= memory.origin and memory.end <= end for start, end in joined), memory


def _qemu_memories(machine: str) -> list[tuple[int, int]]:
    """Start and end of each ROM and RAM that the processor sees, also behind a memory protection
    controller (tz-mpc)."""
    done = subprocess.run(
        ["qemu-system-arm", "-M", machine, "-S", "-display", "none", "-monitor", "stdio"],
        input="info mtree -f\nquit\n", capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    _, _, view = done.stdout.partition('AS "cpu-memory-0"')
    lines = re.findall(
        r"^  ([0-9a-f]{16})-([0-9a-f]{16}) \(prio -?\d+, (?:ram\)|romd?\)|i/o\): tz-mpc)",
        view.partition("FlatView")[0], re.MULTILINE,
    )  # fmt: skip
    return [(int(start, 16), int(end, 16) + 1) for start, end in lines]


def _renode_root() -> Path:
    """Renode's folder: above its program, or named in the script that starts it."""
    from mcu_deploy.device.emulators.renode import find_renode

    program = Path(shutil.which(str(find_renode().path)) or "").resolve()
    candidates = [program, Path("/")]
    with program.open("rb") as stream:
        head = stream.read(4096).decode("utf-8", "replace")
    if head.startswith("#!"):
        candidates += [Path(word) for word in re.findall(r"/\S+", head)]
    for candidate in candidates:
        for folder in candidate.parents:
            if (folder / "platforms" / "cpus").is_dir():
                return folder
    pytest.skip("Renode's platforms folder is not beside its program")

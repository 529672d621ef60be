"""From board.toml to a Board: reading, checking, finding."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import get_args

from mcu_deploy import resources
from mcu_deploy.boards.cores import compiler_flags, core_facts, core_names
from mcu_deploy.boards.keys import require_keys
from mcu_deploy.boards.model import (
    HOST_CORE,
    Board,
    ClockGate,
    Memory,
    MemoryKind,
    Pin,
    QemuTarget,
    RenodeTarget,
    Role,
    Roles,
    SecondCore,
    Serial,
)
from mcu_deploy.boards.reader import Table, did_you_mean
from mcu_deploy.errors import BoardError, UnknownBoardError, one_line
from mcu_deploy.files.given import is_file, is_folder

BOARD_FILE = "board.toml"

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}", re.ASCII)
_RUNNERS = ("openocd", "pyocd", "stlink", "jlink", "gdb")
_RUNNER_KEYS = ("config", "target", "device")
_MAX_IRQ = 480  # Armv8-M: at most 480 external interrupts
_MAX_CLOCK = 10**10
_VECTOR_ALIGNMENT = 1024
_PART_ALIGNMENT = 32  # of the start of a memory
_POOL_NAMES = ("workspace", "state", "hot")  # those that lie in some memory, and are not called so
_LARGEST_FILE = 1 << 20
_STACK_ALIGNMENT = 32  # of stack ends: an MPU region, PSPLIM and the AAPCS are content with it


def list_boards() -> tuple[Board, ...]:
    """The boards that come with mcu-deploy, sorted by name.

    BoardError when one of their files is wrong."""
    files = sorted(resources.boards().glob(f"*/{BOARD_FILE}"))
    return tuple(sorted((_load_file(path) for path in files), key=lambda b: b.name))


def load_board(name_or_path: str | Path) -> Board:
    """A board by its name, or from a user's own file (or a folder with a board.toml in it).

    BoardError, with a sentence, for an unknown name (it lists the known ones), a file that cannot
    be read, or one that says something wrong."""
    text = str(name_or_path)
    path = Path(name_or_path)
    is_path = isinstance(name_or_path, Path) or "/" in text or "\\" in text or path.suffix
    if is_path:
        if is_folder(path):
            path = path / BOARD_FILE
        return _load_file(path)
    known = {file.parent.name: file for file in resources.boards().glob(f"*/{BOARD_FILE}")}
    if text in known:
        return _load_file(known[text])
    names = sorted(known)
    hint = did_you_mean(text, names)
    hint = f"{hint} Known boards: {', '.join(names)}" if hint.startswith("did") else hint
    raise UnknownBoardError(
        f"there is no board called {text!r}; {hint}; or give the path of a board.toml"
    )


def _load_file(path: Path) -> Board:
    try:
        if path.exists() and not is_file(path):  # a pipe or a device may have no end
            raise BoardError(f"the board file {path} is no file; give the path of a board.toml")
        if path.stat().st_size > _LARGEST_FILE:
            raise BoardError(f"{path} is no board file: it has more than {_LARGEST_FILE:,} bytes")
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BoardError(
            f"the board file {path} does not exist; give a board's name or an existing file"
        ) from None
    except OSError as error:
        raise BoardError(
            f"the board file {path} cannot be read ({error.strerror}); check its rights"
        ) from None
    except RecursionError:
        raise BoardError(f"{path} is nested too deeply; correct its brackets") from None
    except ValueError as error:  # of TOML, of UTF-8, and of numbers with thousands of digits
        raise BoardError(
            f"{path} is not valid TOML ({one_line(str(error), 200)}); correct that line"
        ) from None
    require_keys(values, path)
    return _board(Table(values, "", path), path)


def _board(top: Table, path: Path) -> Board:
    name = top.string("name")
    if not _NAME.fullmatch(name):
        top.fail(f"name = {name!r} must be 1 to 63 of a-z, 0-9, '-' and '_'")
    core = top.choice("core", (*core_names(), HOST_CORE))
    return _host(top, name, path) if core == HOST_CORE else _microcontroller(top, name, core, path)


def _host(top: Table, name: str, path: Path) -> Board:
    serial = top.table("serial", required=False)
    baud = serial.integer("baud", 1, 10**9, 10**8)
    stack = top.table("stack", required=False)
    stack_bytes = stack.size("application", "1M")
    return Board(
        name=name,
        title=top.string("title"),
        path=path,
        core=HOST_CORE,
        architecture=HOST_CORE,
        fpu="none",
        float_abi="hard",
        dsp=False,
        mve=False,
        has_mpu=False,
        has_psplim=False,
        clock_hz=0,
        cflags=top.strings("cflags"),
        memories=(),
        roles=Roles(),
        stack_bytes=stack_bytes,
        handler_stack_bytes=0,
        serial=Serial(driver="host", base=0, irq=0, clock_hz=0, baud=baud),
    )


def _microcontroller(top: Table, name: str, core: str, path: Path) -> Board:
    facts = core_facts(core)
    fpu = top.choice("fpu", ("none", "fpv4-sp-d16", "fpv5-sp-d16", "fpv5-d16", "fp-armv8-d16"))
    if fpu not in facts.fpus:
        top.fail(f"fpu = {fpu!r} does not exist on a {core}; it can have {', '.join(facts.fpus)}")
    dsp = _option(top, "dsp", facts.dsp, core)
    mve = _option(top, "mve", facts.mve, core)
    cflags = top.strings("cflags") or compiler_flags(core, fpu, dsp, mve)
    memories = _memories(top)
    emulators = top.table("emulators", required=False)
    stack = top.table("stack", required=False)
    board = Board(
        name=name,
        title=top.string("title"),
        path=path,
        core=core,
        architecture=facts.architecture,
        fpu=fpu,
        float_abi="soft" if fpu == "none" else "hard",
        dsp=dsp,
        mve=mve,
        has_mpu=top.boolean("mpu"),
        has_psplim=facts.stack_limits,
        clock_hz=top.integer("clock_hz", 1, _MAX_CLOCK),
        cflags=cflags,
        memories=memories,
        roles=_roles(top.table("roles"), memories),
        stack_bytes=stack.size("application", "8K"),
        handler_stack_bytes=stack.size("handler", "2K"),
        serial=_serial(top.table("serial")),
        second_core=_second_core(top),
        qemu=_qemu(emulators),
        renode=_renode(emulators),
        runners=_runners(top.table("runners", required=False)),
    )
    _check_stacks(stack, board)
    return board


def _option(top: Table, key: str, fact: str, core: str) -> bool:
    """A feature that the core has, has not, or that the chip's maker chose."""
    if fact == "option":
        return top.boolean(key)
    value = fact == "yes"
    if top.boolean(key, value) != value:
        has = "always has" if value else "never has"
        top.fail(f"{key} cannot be {str(not value).lower()}: a {core} {has} it; leave the key out")
    return value


def _memories(top: Table) -> tuple[Memory, ...]:
    table = top.table("memories")
    memories: list[Memory] = []
    for name in table.names():
        _require_memory_name(table, name)
        entry = table.table(name)
        kind: MemoryKind = "ram"
        if entry.choice("kind", get_args(MemoryKind)) == "flash":
            kind = "flash"
        memory = Memory(
            name, entry.address("origin", 16), entry.size("size"), kind, _speed(entry, kind)
        )
        if entry.has("parts"):
            memory = replace(memory, parts=_parts(entry, memory))
        if memory.end > 1 << 32:
            entry.fail(f"origin + size = {memory.end:#x} goes beyond 4 GiB")
        for other in memories:
            if memory.origin < other.end and other.origin < memory.end:
                table.fail(f"the memories {other.name} and {memory.name} overlap")
        memories.append(memory)
    if not memories:
        table.fail("a board needs at least one memory of kind flash and one of kind ram")
    names = [name for m in memories for name in (m.name, *(part.name for part in m.parts))]
    if twice := [name for name in names if names.count(name) > 1]:
        table.fail(f"the name {twice[0]!r} is given twice, to memories or their parts")
    return tuple(memories)


def _parts(entry: Table, memory: Memory) -> tuple[Memory, ...]:
    """What [memories.<name>.parts.<part>] divides a memory into, in the order of addresses."""
    table = entry.table("parts")
    if memory.kind != "ram":
        table.fail("only a memory of kind ram has parts; leave them out")
    parts: list[Memory] = []
    at = memory.origin
    for name in table.names():
        _require_memory_name(table, name)
        part = table.table(name)
        size = part.size("size")
        if size % _PART_ALIGNMENT:
            part.fail(f"size = {size} must be a multiple of {_PART_ALIGNMENT}")
        parts.append(Memory(name, at, size, memory.kind, _speed(part, memory.kind)))
        at += size
    if at != memory.end:
        table.fail(f"the parts have {at - memory.origin} bytes together, the memory {memory.size}")
    return tuple(parts)


def _speed(entry: Table, kind: MemoryKind) -> int:
    if kind != "ram" and entry.has("speed"):
        entry.fail("speed is for memories of kind ram, which tensors can lie in; leave it out")
    return entry.integer("speed", 1, 1_000_000, 1)


def _require_memory_name(table: Table, name: str) -> None:
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,30}", name, re.ASCII):
        table.fail(f"the memory's name {name!r} must be a-z, 0-9 and '_', a letter first")
    if name in _POOL_NAMES:
        table.fail(f"the memory's name {name!r} means a pool of a network; choose another")


def _roles(table: Table, memories: tuple[Memory, ...]) -> Roles:
    chosen: dict[str, str] = {}
    for role in get_args(Role):
        kind: MemoryKind = "ram" if role in ("data", "stack") else "flash"
        names = [m.name for m in memories if m.kind == kind]
        name = table.string(role)
        if name not in names:
            table.fail(
                f"{role} = {name!r} is no memory of kind {kind}; {did_you_mean(name, names)}"
            )
        chosen[role] = name
    vectors = next(m for m in memories if m.name == chosen["vectors"])
    if vectors.origin % _VECTOR_ALIGNMENT:
        table.fail(
            f"vectors = {vectors.name!r} starts at {vectors.origin:#x}; a vector table needs a "
            f"multiple of {_VECTOR_ALIGNMENT}"
        )
    return Roles(**chosen)


def _serial(table: Table) -> Serial:
    common = resources.boards() / "common"
    drivers = [path.stem for path in sorted((common / "serial").glob("*.c"))]
    serial = Serial(
        driver=table.choice("driver", drivers),
        base=table.address("base", 4),
        irq=table.integer("irq", 0, _MAX_IRQ),
        clock_hz=table.integer("clock_hz", 1, _MAX_CLOCK),
        baud=table.integer("baud", 300, 20_000_000, 115_200),
        clock_gates=tuple(_clock_gate(t) for t in table.tables("clock_gates")),
        pins=tuple(_pin(t) for t in table.tables("pins")),
    )
    if serial.clock_hz < 16 * serial.baud:
        table.fail(
            f"baud = {serial.baud} is too fast for clock_hz = {serial.clock_hz}; these ports "
            "divide their clock by 16 or more"
        )
    return serial


def _second_core(top: Table) -> SecondCore | None:
    if not top.has("second_core"):
        return None
    table = top.table("second_core")
    drivers = sorted(p.stem for p in (resources.boards() / "common" / "second_core").glob("*.c"))
    core = SecondCore(
        driver=table.choice("driver", drivers),
        stack_bytes=table.size("application", "8K"),
        handler_stack_bytes=table.size("handler", "2K"),
    )
    _check_stack_sizes(table, core.stack_bytes, core.handler_stack_bytes)
    return core


def _clock_gate(table: Table) -> ClockGate:
    return ClockGate(table.address("register", 4), table.integer("bit", 0, 32))


def _pin(table: Table) -> Pin:
    return Pin(
        table.address("port", 4), table.integer("pin", 0, 16), table.integer("function", 0, 16)
    )


def _qemu(emulators: Table) -> QemuTarget | None:
    if not emulators.has("qemu"):
        return None
    table = emulators.table("qemu")
    return QemuTarget(table.string("machine"), table.integer("serial", 0, 16, 0))


def _renode(emulators: Table) -> RenodeTarget | None:
    if not emulators.has("renode"):
        return None
    table = emulators.table("renode")
    return RenodeTarget(table.string("platform"), table.string("uart"))


def _runners(table: Table) -> Mapping[str, Mapping[str, str]]:
    """Data for flashing tools: config (openocd), target (pyocd), device (jlink, stlink)."""
    runners: dict[str, Mapping[str, str]] = {}
    for name in table.names():
        if name not in _RUNNERS:
            table.fail(f"unknown runner {name!r}; {did_you_mean(name, _RUNNERS)}")
        entry = table.table(name)
        runners[name] = MappingProxyType({k: entry.string(k) for k in _RUNNER_KEYS if entry.has(k)})
    return MappingProxyType(runners)


def _check_stacks(table: Table, board: Board) -> None:
    memory = board.memory_for("stack")
    _check_stack_sizes(table, board.stack_bytes, board.handler_stack_bytes)
    if board.stack_bytes + board.handler_stack_bytes > memory.size:
        table.fail(
            f"both stacks need {board.stack_bytes + board.handler_stack_bytes} bytes, but "
            f"{memory.name} has {memory.size}; make a stack smaller"
        )


def _check_stack_sizes(table: Table, application: int, handler: int) -> None:
    for key, size in (("application", application), ("handler", handler)):
        if size % _STACK_ALIGNMENT or size < 512:
            table.fail(f"{key} = {size} must be at least 512 and a multiple of {_STACK_ALIGNMENT}")

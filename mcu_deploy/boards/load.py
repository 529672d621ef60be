"""From board.toml to a Board: reading, checking, finding."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import get_args

from mcu_deploy import resources
from mcu_deploy.boards.cores import compiler_flags, core_facts, core_names
from mcu_deploy.boards.document import BOARD_FILE, Document, read_document, shipped_boards
from mcu_deploy.boards.keys import require_keys
from mcu_deploy.boards.load_memories import read_memories
from mcu_deploy.boards.model import (
    HOST_CORE,
    Board,
    Memory,
    MemoryKind,
    QemuTarget,
    RenodeTarget,
    Role,
    Roles,
    SecondCore,
    Serial,
)
from mcu_deploy.boards.reader import BoardTable, did_you_mean
from mcu_deploy.boards.steps import pin_steps, read_steps
from mcu_deploy.errors import UnknownBoardError
from mcu_deploy.files.given import is_folder

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}", re.ASCII)
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_USB = re.compile(r"[0-9a-f]{4}:[0-9a-f]{4}", re.ASCII)
_CACHED = ("cortex-m7", "cortex-m55", "cortex-m85")
_MAX_IRQ = 480  # Armv8-M: at most 480 external interrupts
_MAX_CLOCK = 10**10
_STACK_ALIGNMENT = 32  # of stack ends: an MPU region, PSPLIM and the AAPCS are content with it


def list_boards() -> tuple[Board, ...]:
    """The boards that come with mcu-deploy, sorted by name.

    BoardError when one of their files is wrong."""
    return tuple(sorted(map(_load_file, shipped_boards().values()), key=lambda b: b.name))


def load_board(name_or_path: str | Path, clock: str | None = None) -> Board:
    """A board by its name, or from a user's own file (or a folder with a board.toml in it).

    clock: "reset" or "rated", instead of what the file says.

    BoardError, with a sentence, for an unknown name (it lists the known ones), a file that cannot
    be read, or one that says something wrong."""
    text = str(name_or_path)
    path = Path(name_or_path)
    is_path = isinstance(name_or_path, Path) or "/" in text or "\\" in text or path.suffix
    if is_path:
        if is_folder(path):
            path = path / BOARD_FILE
        return _load_file(path, clock)
    known = shipped_boards()
    if text in known:
        return _load_file(known[text], clock)
    hint = did_you_mean(text, known)
    hint = f"{hint} Known boards: {', '.join(known)}" if hint.startswith("did") else hint
    raise UnknownBoardError(
        f"there is no board called {text!r}; {hint}; or give the path of a board.toml"
    )


def _load_file(path: Path, clock: str | None = None) -> Board:
    document = read_document(path)
    if clock is not None:
        document = document.with_clock(clock)
    require_keys(document.values, path)
    return _board(BoardTable(dict(document.values), "", path), document)


def _board(top: BoardTable, document: Document) -> Board:
    name = top.string("name")
    if not _NAME.fullmatch(name):
        top.fail(f"name = {name!r} must be 1 to 63 of a-z, 0-9, '-' and '_'")
    core = top.choice("core", (*core_names(), HOST_CORE))
    if core == HOST_CORE:
        return _host(top, name, document)
    return _microcontroller(top, name, core, document)


def _host(top: BoardTable, name: str, document: Document) -> Board:
    serial = top.table("serial", required=False)
    baud = serial.integer("baud", 1, 10**9, 10**8)
    stack = top.table("stack", required=False)
    stack_bytes = stack.size("application", "1M")
    return Board(
        name=name,
        title=top.string("title"),
        document=document,
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


def _microcontroller(top: BoardTable, name: str, core: str, document: Document) -> Board:
    facts = core_facts(core)
    fpu = top.choice("fpu", ("none", "fpv4-sp-d16", "fpv5-sp-d16", "fpv5-d16", "fp-armv8-d16"))
    if fpu not in facts.fpus:
        top.fail(f"fpu = {fpu!r} does not exist on a {core}; it can have {', '.join(facts.fpus)}")
    dsp = _option(top, "dsp", facts.dsp, core)
    mve = _option(top, "mve", facts.mve, core)
    cflags = top.strings("cflags") or compiler_flags(core, fpu, dsp, mve)
    emulators = top.table("emulators", required=False)
    stack = top.table("stack", required=False)
    rated = _rated(top)
    memories = read_memories(top, rated is not None)
    board = Board(
        name=name,
        title=top.string("title"),
        document=document,
        core=core,
        architecture=facts.architecture,
        fpu=fpu,
        float_abi="soft" if fpu == "none" else "hard",
        dsp=dsp,
        mve=mve,
        has_mpu=top.boolean("mpu"),
        has_psplim=facts.stack_limits,
        clock_hz=(rated or top).integer("clock_hz", 1, _MAX_CLOCK),
        cflags=cflags,
        memories=memories,
        roles=_roles(top.table("roles"), memories),
        stack_bytes=stack.size("application", "8K"),
        handler_stack_bytes=stack.size("handler", "2K"),
        serial=_serial(
            top.table("serial"),
            rated.integer("serial_clock_hz", 1, _MAX_CLOCK) if rated else None,
        ),
        second_core=_second_core(top),
        qemu=_qemu(emulators),
        renode=_renode(emulators),
        usb=_usb(top),
        runners=_runners(top.table("runners", required=False)),
        setup=(
            *read_steps(top.tables("setup")),
            *(read_steps(rated.tables("setup")) if rated else ()),
        ),
        boot=tuple(_own_or_known(top, "boot", name, "boot") for name in top.strings("boot")),
        caches=_caches(top, core),
        untested=top.boolean("untested", False),
        interrupts=_interrupts(top),
    )
    _check_stacks(stack, board)
    _check_vectors(top.table("roles"), board)
    return board


def _rated(top: BoardTable) -> BoardTable | None:
    """The table [rated] where `clock` says that the start-up shall follow it."""
    if top.choice("clock", ("reset", "rated"), "reset") == "reset":
        return None
    if not top.has("rated"):
        top.fail('clock = "rated" needs a table [rated], which this board has not; leave clock out')
    return top.table("rated")


def _caches(top: BoardTable, core: str) -> bool:
    caches = top.boolean("caches", False)
    if caches and core not in _CACHED:
        top.fail(f"caches: a {core} has none; only {', '.join(_CACHED)} can have them")
    return caches


def _option(top: BoardTable, key: str, fact: str, core: str) -> bool:
    """A feature that the core has, has not, or that the chip's maker chose."""
    if fact == "option":
        return top.boolean(key)
    value = fact == "yes"
    if top.boolean(key, value) != value:
        has = "always has" if value else "never has"
        top.fail(f"{key} cannot be {str(not value).lower()}: a {core} {has} it; leave the key out")
    return value


def _roles(table: BoardTable, memories: tuple[Memory, ...]) -> Roles:
    chosen: dict[str, str] = {}
    for role in get_args(Role):
        kind: MemoryKind = "ram" if role in ("data", "stack") else "flash"
        names = [m.name for m in memories if m.kind == kind and m.holds != "code"]
        name = table.string(role)
        if name not in names:
            table.fail(
                f"{role} = {name!r} is no memory of kind {kind}; {did_you_mean(name, names)}"
            )
        chosen[role] = name
    return Roles(**chosen, hot_code=_hot_code(table, memories))


def _hot_code(table: BoardTable, memories: tuple[Memory, ...]) -> str:
    """The RAM for code that the file names, else the fastest one: first what is for code alone."""
    usable = [memory for memory in memories if memory.is_for_code]
    names = [memory.name for memory in usable]
    if table.has("hot_code"):
        name = table.string("hot_code")
        if name not in names:
            table.fail(
                f"hot_code = {name!r} is no memory of kind ram that holds code; "
                f"{did_you_mean(name, names)}"
            )
        return name
    fastest = sorted(usable, key=lambda memory: (memory.holds != "code", -memory.speed))
    return fastest[0].name if fastest else ""


def _serial(table: BoardTable, clock_hz: int | None) -> Serial:
    """clock_hz: of the port where the clock is "rated", instead of what the table says."""
    serial = Serial(
        driver=_source(table, "driver", "serial"),
        base=table.address("base", 4),
        irq=table.integer("irq", 0, _MAX_IRQ),
        clock_hz=clock_hz or table.integer("clock_hz", 1, _MAX_CLOCK),
        baud=table.integer("baud", 300, 20_000_000, 115_200),
        setup=(*read_steps(table.tables("setup")), *pin_steps(table.tables("pins"))),
        buffer_bytes=table.size("buffer", "4K"),
    )
    if serial.buffer_bytes < 1024 or serial.buffer_bytes & (serial.buffer_bytes - 1):
        table.fail(f"buffer = {serial.buffer_bytes} must be a power of two from 1024 on")
    if serial.clock_hz < 16 * serial.baud:
        table.fail(
            f"baud = {serial.baud} is too fast for clock_hz = {serial.clock_hz}; these ports "
            "divide their clock by 16 or more"
        )
    return serial


def _source(table: BoardTable, key: str, kind: str) -> str:
    """A C file of boards/common/<kind> by its name, or one beside the board file by its path."""
    return _own_or_known(table, key, table.string(key), kind)


def _own_or_known(table: BoardTable, key: str, value: str, kind: str) -> str:
    names = sorted(p.stem for p in (resources.boards() / "common" / kind).glob("*.c"))
    if not Path(value).is_absolute() and value not in names:
        if table.is_beside(f"{value}.c"):
            table.fail(f'{key} = {value!r} lacks its ending; write {key} = "{value}.c"')
        table.fail(
            f"{key} = {value!r} is neither one of mcu-deploy's nor a C file beside the board file; "
            f"{did_you_mean(value, names)}"
        )
    return value


def _second_core(top: BoardTable) -> SecondCore | None:
    if not top.has("second_core"):
        return None
    table = top.table("second_core")
    core = SecondCore(
        driver=_source(table, "driver", "second_core"),
        stack_bytes=table.size("application", "8K"),
        handler_stack_bytes=table.size("handler", "2K"),
    )
    _check_stack_sizes(table, core.stack_bytes, core.handler_stack_bytes)
    return core


def _qemu(emulators: BoardTable) -> QemuTarget | None:
    if not emulators.has("qemu"):
        return None
    table = emulators.table("qemu")
    return QemuTarget(table.string("machine"), table.integer("serial", 0, 16, 0))


def _renode(emulators: BoardTable) -> RenodeTarget | None:
    if not emulators.has("renode"):
        return None
    table = emulators.table("renode")
    return RenodeTarget(table.string("platform"), table.string("uart"))


def _runners(table: BoardTable) -> Mapping[str, Mapping[str, str]]:
    """What each flashing tool is told, the preferred one first."""
    found = {name: table.table(name) for name in table.names()}
    return MappingProxyType(
        {
            name: MappingProxyType({key: entry.string(key) for key in entry.names()})
            for name, entry in found.items()
        }
    )


def _usb(top: BoardTable) -> tuple[str, ...]:
    ids = tuple(text.lower() for text in top.strings("usb"))
    if wrong := [text for text in ids if not _USB.fullmatch(text)]:
        top.fail(f"usb: {wrong[0]!r} is no vendor and product id in hex, such as '0483:374b'")
    return ids


def _check_vectors(table: BoardTable, board: Board) -> None:
    memory = board.memory_for("vectors")
    if memory.origin % board.vector_alignment:
        table.fail(
            f"vectors = {memory.name!r} starts at {memory.origin:#x}; a vector table needs a "
            f"multiple of {board.vector_alignment} where the serial port has interrupt "
            f"{board.serial.irq}"
        )


def _interrupts(top: BoardTable) -> tuple[str, ...]:
    names = top.strings("interrupts", may_be_empty=True)
    given = [name for name in names if name]
    if wrong := [name for name in given if not _IDENTIFIER.fullmatch(name)]:
        top.fail(f"interrupts: {wrong[0]!r} is no name of a function in C")
    if twice := [name for name in given if given.count(name) > 1]:
        top.fail(
            f"interrupts names {twice[0]!r} twice; give each number a name of its own, or none"
        )
    irq = top.table("serial").integer("irq", 0, _MAX_IRQ)
    if names and not names[irq : irq + 1]:
        top.fail(f"interrupts has {len(names)} names, and none for [serial] irq = {irq}; add it")
    return names


def _check_stacks(table: BoardTable, board: Board) -> None:
    memory = board.memory_for("stack")
    _check_stack_sizes(table, board.stack_bytes, board.handler_stack_bytes)
    if board.stack_bytes + board.handler_stack_bytes > memory.size:
        table.fail(
            f"both stacks need {board.stack_bytes + board.handler_stack_bytes} bytes, but "
            f"{memory.name} has {memory.size}; make a stack smaller"
        )


def _check_stack_sizes(table: BoardTable, application: int, handler: int) -> None:
    for key, size in (("application", application), ("handler", handler)):
        if size % _STACK_ALIGNMENT or size < 512:
            table.fail(f"{key} = {size} must be at least 512 and a multiple of {_STACK_ALIGNMENT}")

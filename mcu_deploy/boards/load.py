"""From board.toml to a Board: reading, checking, finding."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from types import MappingProxyType
from typing import get_args

from mcu_deploy import resources
from mcu_deploy.boards.cores import compiler_flags, core_facts, core_names
from mcu_deploy.boards.document import BOARD_FILE, Document, read_document, shipped_boards
from mcu_deploy.boards.form import HostForm, MicrocontrollerForm, RatedForm, RolesForm, read_form
from mcu_deploy.boards.load_memories import read_memories
from mcu_deploy.boards.model import (
    HOST_CORE,
    Board,
    Memory,
    MemoryKind,
    Role,
    Roles,
    SecondCore,
    Serial,
)
from mcu_deploy.errors import BoardError, UnknownBoardError
from mcu_deploy.files.given import is_file, is_folder
from mcu_deploy.schema import Misfit, WrongKeys, did_you_mean

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}", re.ASCII)
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_USB = re.compile(r"[0-9a-f]{4}:[0-9a-f]{4}", re.ASCII)
_CACHED = ("cortex-m7", "cortex-m55", "cortex-m85")


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
    if text and is_file(path / BOARD_FILE):
        return _load_file(path / BOARD_FILE, clock)
    hint = did_you_mean(text, known)
    hint = f"{hint} Known boards: {', '.join(known)}" if hint.startswith("did") else hint
    raise UnknownBoardError(
        f"There is no board called {text!r}; {hint}. Or give the path of a board.toml."
    )


def _load_file(path: Path, clock: str | None = None) -> Board:
    document = read_document(path)
    if clock is not None:
        document = document.with_clock(clock)
    try:
        form = read_form(document.values)
        return _host(form, document) if isinstance(form, HostForm) else _board(form, document)
    except WrongKeys as wrong:
        page = resources.page("boards")
        raise BoardError(f"{path}: {wrong}. {page} says what each key means.") from None
    except Misfit as misfit:
        raise BoardError(misfit.of(path)) from None


def _host(form: HostForm, document: Document) -> Board:
    return Board(
        name=_name(form.name),
        title=form.title,
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
        cflags=form.cflags,
        memories=(),
        roles=Roles(),
        stack_bytes=form.stack.application,
        handler_stack_bytes=0,
        serial=Serial(driver="host", base=0, irq=0, clock_hz=0, baud=form.serial.baud),
    )


def _board(form: MicrocontrollerForm, document: Document) -> Board:
    name, core, fpu = _name(form.name), form.core, form.fpu
    if core not in core_names():
        known = (*core_names(), HOST_CORE)
        raise Misfit("", f"core = {core!r} is not known; {did_you_mean(core, known)}")
    facts = core_facts(core)
    if fpu not in facts.fpus:
        raise Misfit(
            "", f"fpu = {fpu!r} does not exist on a {core}; it can have {', '.join(facts.fpus)}"
        )
    if form.caches and core not in _CACHED:
        raise Misfit("", f"caches: a {core} has none; only {', '.join(_CACHED)} can have them")
    dsp = _option("dsp", form.dsp, facts.dsp, core)
    mve = _option("mve", form.mve, facts.mve, core)
    rated = _rated(form)
    memories = read_memories(form)
    second = form.second_core
    board = Board(
        name=name,
        title=form.title,
        document=document,
        core=core,
        architecture=facts.architecture,
        fpu=fpu,
        float_abi="soft" if fpu == "none" else "hard",
        dsp=dsp,
        mve=mve,
        has_mpu=form.mpu,
        has_psplim=facts.stack_limits,
        clock_hz=(rated or form).clock_hz,
        cflags=form.cflags or compiler_flags(core, fpu, dsp, mve),
        memories=memories,
        roles=_roles(form.roles, memories),
        stack_bytes=form.stack.application,
        handler_stack_bytes=form.stack.handler,
        serial=_serial(form, rated, document),
        second_core=None if second is None else SecondCore(
            _file(document, "second_core", "driver", second.driver, "second_core"),
            second.application, second.handler,
        ),
        qemu=form.emulators.qemu,
        renode=form.emulators.renode,
        usb=_usb(form),
        runners=MappingProxyType({n: MappingProxyType(told) for n, told in form.runners.items()}),
        setup=tuple(step.step() for step in (*form.setup, *(rated.setup if rated else ()))),
        boot=tuple(_file(document, "", "boot", boot, "boot") for boot in form.boot),
        caches=form.caches,
        untested=form.untested,
        interrupts=_interrupts(form),
    )  # fmt: skip
    _check_stacks(board)
    _check_vectors(board)
    return board


def _name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise Misfit("", f"name = {name!r} must be 1 to 63 of a-z, 0-9, '-' and '_'")
    return name


def _rated(form: MicrocontrollerForm) -> RatedForm | None:
    """The table [rated] where `clock` says that the start-up shall follow it."""
    if form.clock == "rated" and form.rated is None:
        raise Misfit(
            "", 'clock = "rated" needs a table [rated], which this board has not; leave clock out'
        )
    return form.rated if form.clock == "rated" else None


def _option(key: str, said: bool | None, fact: str, core: str) -> bool:
    """A feature that the core has, has not, or that the chip's maker chose."""
    if fact == "option":
        return bool(said)
    value = fact == "yes"
    if said not in (None, value):
        has = "always has" if value else "never has"
        raise Misfit(
            "", f"{key} cannot be {str(said).lower()}: a {core} {has} it; leave the key out"
        )
    return value


def _roles(form: RolesForm, memories: tuple[Memory, ...]) -> Roles:
    chosen: dict[str, str] = {}
    for role in get_args(Role):
        kind: MemoryKind = "ram" if role in ("data", "stack") else "flash"
        names = [m.name for m in memories if m.kind == kind and m.holds != "code"]
        chosen[role] = _memory(role, getattr(form, role), names, f"of kind {kind}")
    usable = [memory for memory in memories if memory.is_for_code]
    if form.hot_code is not None:
        names = [memory.name for memory in usable]
        hot = _memory("hot_code", form.hot_code, names, "of kind ram that holds code")
    else:  # the fastest one: first what is for code alone
        fastest = sorted(usable, key=lambda memory: (memory.holds != "code", -memory.speed))
        hot = fastest[0].name if fastest else ""
    return Roles(**chosen, hot_code=hot)


def _memory(role: str, name: str, names: Sequence[str], what: str) -> str:
    if name not in names:
        hint = did_you_mean(name, names)
        raise Misfit("roles", f"{role} = {name!r} is no memory {what}; {hint}")
    return name


def _serial(form: MicrocontrollerForm, rated: RatedForm | None, document: Document) -> Serial:
    port = form.serial
    clock_hz = rated.serial_clock_hz if rated else port.clock_hz
    if clock_hz < 16 * port.baud:
        raise Misfit(
            "serial",
            f"baud = {port.baud} is too fast for clock_hz = {clock_hz}; these ports divide their "
            "clock by 16 or more",
        )
    steps = (*(step.step() for step in port.setup), *(s for pin in port.pins for s in pin.steps()))
    driver = _file(document, "serial", "driver", port.driver, "serial")
    return Serial(driver, port.base, port.irq, clock_hz, port.baud, steps, port.buffer)


def _file(document: Document, place: str, key: str, value: str, kind: str) -> str:
    """A C file of boards/common/<kind> by its name, or one beside the board file by its path."""
    names = sorted(p.stem for p in (resources.boards() / "common" / kind).glob("*.c"))
    if not Path(value).is_absolute() and value not in names:
        if is_file(document.path.parent / f"{value}.c"):
            raise Misfit(place, f'{key} = {value!r} lacks its ending; write {key} = "{value}.c"')
        raise Misfit(
            place,
            f"{key} = {value!r} is neither one of mcu-deploy's nor a C file beside the board file; "
            f"{did_you_mean(value, names)}",
        )
    return value


def _usb(form: MicrocontrollerForm) -> tuple[str, ...]:
    ids = tuple(text.lower() for text in form.usb)
    if wrong := [text for text in ids if not _USB.fullmatch(text)]:
        raise Misfit(
            "", f"usb: {wrong[0]!r} is no vendor and product id in hex, such as '0483:374b'"
        )
    return ids


def _check_vectors(board: Board) -> None:
    memory = board.memory_for("vectors")
    if memory.origin % board.vector_alignment:
        raise Misfit(
            "roles",
            f"vectors = {memory.name!r} starts at {memory.origin:#x}; a vector table needs a "
            f"multiple of {board.vector_alignment} where the serial port has interrupt "
            f"{board.serial.irq}",
        )


def _interrupts(form: MicrocontrollerForm) -> tuple[str, ...]:
    names, irq = form.interrupts, form.serial.irq
    given = [name for name in names if name]
    if wrong := [name for name in given if not _IDENTIFIER.fullmatch(name)]:
        raise Misfit("", f"interrupts: {wrong[0]!r} is no name of a function in C")
    if twice := [name for name in given if given.count(name) > 1]:
        raise Misfit(
            "",
            f"interrupts names {twice[0]!r} twice; give each number a name of its own, or none",
        )
    if names and not names[irq : irq + 1]:
        raise Misfit(
            "", f"interrupts has {len(names)} names, and none for [serial] irq = {irq}; add it"
        )
    return names


def _check_stacks(board: Board) -> None:
    memory, needed = board.memory_for("stack"), board.stack_bytes + board.handler_stack_bytes
    if needed > memory.size:
        raise Misfit(
            "stack",
            f"both stacks need {needed} bytes, but {memory.name} has {memory.size}; make a stack "
            "smaller",
        )

"""The addresses of all set-up steps, against what the makers' own files say of the chips.

No emulator would tell: it ignores a write to the wrong register, or has no such register at all."""

from __future__ import annotations

import os
import re
import struct
import subprocess
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile
from register_files import read_svd
from sampling import every_board

from mcu_deploy import resources
from mcu_deploy.boards import Board, load_board
from mcu_deploy.errors import BoardError

FOLDER = "MCU_DEPLOY_CHIP_FILES"
FILES = tomllib.loads(Path(__file__).with_name("registers.toml").read_text())["files"]
CHIPS = sorted({entry["chip"] for entry in FILES})
STEP = re.compile(r"register = (0x[0-9A-Fa-f_]+)")
PIN = re.compile(r"port = (0x[0-9A-Fa-f_]+), pin = (\d+)")


@cache
def registers(chip: str) -> dict[int, str]:
    """Their names by address."""
    named = [entry["registers"] for entry in FILES if entry["chip"] == chip]
    return {address: name for names in named for name, address in names.items()}


def chip_of(board: Board) -> str | None:
    text = (resources.boards() / board.name / "board.toml").read_text()
    inherits = tomllib.loads(text).get("inherits")
    if inherits and inherits.endswith("/board.toml"):  # of another board
        return chip_of(load_board(Path(inherits).parent.name))
    return inherits


def sources() -> list[tuple[str, Path]]:
    """The files that hold steps, each with the chip that they are for."""
    folder = resources.boards()
    own = [(chip, folder / "chips" / f"{chip}.toml") for chip in CHIPS]
    of_boards = [(chip_of(board), board.name) for board in every_board()]
    return own + [(chip, folder / name / "board.toml") for chip, name in of_boards if chip]


def lines_with_comments(text: str) -> Iterator[tuple[str, str]]:
    """Each line, and what comments say of it: behind it, or right above."""
    above = ""
    for line in text.splitlines():
        code, _, comment = line.partition("#")
        if code.strip():
            yield code, f"{above} {comment}"
        above = f"{above} {comment}" if not code.strip() else ""


def steps_of(board: Board) -> set[int]:
    addresses = {step.register for step in (*board.setup, *board.serial.setup)}
    return addresses | {board.serial.base} if addresses else set()


def test_every_step_goes_to_a_register_that_the_chip_has() -> None:
    unknown = []
    for board in every_board():
        addresses = steps_of(board)
        for clock in ("reset", "rated"):
            try:
                addresses |= steps_of(load_board(board.name, clock=clock))
            except BoardError:
                continue  # it has one clock only
        has = registers(chip_of(board) or "")
        unknown += [f"{board.name}: 0x{at:08X}" for at in sorted(addresses) if at not in has]
    assert not unknown, "not in tests/unit/registers.toml"


@pytest.mark.parametrize(("chip", "path"), sources(), ids=lambda value: str(value)[-40:])
def test_every_step_goes_to_the_register_that_its_comment_names(chip: str, path: Path) -> None:
    has, named, wrong = registers(chip), set(), []
    for code, comment in lines_with_comments(path.read_text()):
        if pin := PIN.search(code):
            port = has[int(pin[1], 16)].removesuffix(".MODER").removeprefix("GPIO")
            if f"_p{port}{pin[2]},".lower() not in comment:
                wrong.append(f"{code.strip()} is P{port}{pin[2]}, not: {comment.strip()}")
        if not (step := STEP.search(code)):
            continue
        address = int(step[1], 16)
        peripheral, _, register = has.get(address, "unknown").partition(".")
        said = re.findall(r"(\w+)->", comment)
        is_named = re.search(rf"(?<![A-Za-z0-9]){re.escape(register)}(?![A-Za-z0-9_\[])", comment)
        is_other = said and peripheral.lower() not in (word.lower() for word in said)
        if is_other or not (is_named or (address in named and not said)):
            wrong.append(f"0x{address:08X} is {peripheral}.{register}, not: {comment.strip()}")
        named.add(address)
    assert not wrong


def header_addresses(entry: dict, header: Path, work: Path) -> dict[str, int]:
    """What a CMSIS header says of the entry's registers, by the compiler."""
    names = [*entry["registers"]]
    fields = [f"&{name.replace('.', '->', 1)}" if "." in name else name for name in names]
    listed = ",\n".join(f"(uint32_t)({field})" for field in fields)
    folders = {path.parent for path in Path(os.environ[FOLDER]).rglob("*.h")}
    (work / "before.h").write_text(entry.get("before", "") + "\n")
    (work / "system.h").touch()  # of the maker's start-up, which no address depends on
    for line in re.findall(r'#include "(system_\w+\.h)"', header.read_text(errors="replace")):
        (work / line).touch()
    (work / "where.c").write_text(
        f'#include <stdint.h>\n#include "before.h"\n#include "{header}"\n'
        f"const uint32_t where[] = {{\n{listed}}};\n"
    )
    flags = [f"-mcpu={entry['core']}", "-mthumb", "-w", "-DCPU_MIMXRT1064DVL6A"]
    search = [f"-I{folder}" for folder in (work, *sorted(folders))]
    command = ["arm-none-eabi-gcc", *flags, *search, "-c", work / "where.c", "-o", work / "where.o"]
    subprocess.run(command, check=True)
    with (work / "where.o").open("rb") as file:
        data = ELFFile(file).get_section_by_name(".rodata").data()
    return dict(zip(names, struct.unpack(f"<{len(names)}I", data), strict=True))


FILE_NAMES = [(entry, name) for entry in FILES for name in entry["names"]]


@pytest.mark.needs_arm_gcc
@pytest.mark.parametrize(("entry", "name"), FILE_NAMES, ids=[name for _, name in FILE_NAMES])
def test_the_table_is_what_the_makers_files_say(entry: dict, name: str, tmp_path: Path) -> None:
    if FOLDER not in os.environ:
        pytest.skip(f"name a folder with SVD files or CMSIS headers of chips in {FOLDER}")
    found = next(iter(Path(os.environ[FOLDER]).rglob(name)), None)
    if found is None:
        pytest.skip(f"put {name} ({entry['source']}) into the folder that {FOLDER} names")
    is_header = found.suffix == ".h"
    says = header_addresses(entry, found, tmp_path) if is_header else read_svd(found)
    assert {key: says.get(key) for key in entry["registers"]} == entry["registers"]

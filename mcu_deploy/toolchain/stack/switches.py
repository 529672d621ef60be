"""Where a computed jump goes, as far as the linked program itself says so.

A switch's jump stands before its table or loads the table's address, and each entry of the table is
an instruction of the function; a kernel in assembly states its labels (`LinkedImage.labels`).
Anything else that jumps to an address out of a register or memory may go anywhere.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator

from mcu_deploy.elf.disassembly import Disassembled
from mcu_deploy.toolchain.stack.image import ImageFunction, LinkedImage

_IN_WORDS = re.compile(r"^pc, \[\w+, \w+, lsl #2\]$")
# gcc's way on cores with Thumb-1: the table's address from a literal, the entry, the jump.
_MOVE = re.compile(r"^pc, (?P<entry>r\d+)$")
_LOAD = re.compile(r"^(?P<entry>r\d+), \[(?P<table>r\d+), r\d+\]$")
_LITERAL = re.compile(r"^(?P<table>r\d+), \[pc, #(?P<offset>\d+)\]")


def targets(image: LinkedImage, function: ImageFunction, jump: Disassembled) -> tuple[int, ...]:
    """The addresses that a computed jump of a function goes to; none where that is not known."""
    stated = image.labels.get(function.address)
    if stated is not None:
        return stated
    base = jump.mnemonic.partition(".")[0]
    if base in {"tbb", "tbh"} and jump.operands.startswith("[pc, "):
        found = _offsets(image, jump.next, 1 if base == "tbb" else 2)
    elif base == "ldr" and _IN_WORDS.match(jump.operands):
        found = list(_words(image, function, jump.next + 3 & ~3))
    elif base == "mov":
        found = list(_thumb1(image, function, jump))
    else:
        return ()
    known = all(_is_own(image, function, target) for target in found)
    return tuple(dict.fromkeys(found)) if known else ()


def _offsets(image: LinkedImage, table: int, width: int) -> list[int]:
    """The targets of a table of halfwords to skip, which ends where code begins."""
    end = table
    while end not in image.instructions and image.number(end, 2) is not None:
        end += 2
    found = []
    for at in range(table, end, width):
        offset = image.number(at, width)
        is_padding = width == 1 and at == end - 1 and not offset
        if offset is None or is_padding:
            break
        found.append(table + 2 * offset)
    return found


def _words(image: LinkedImage, function: ImageFunction, table: int) -> Iterator[int]:
    """The addresses in a table, as long as they are the function's."""
    for at in itertools.count(table, 4):
        word = image.number(at, 4)
        if word is None or at in image.instructions or not _is_own(image, function, word & ~1):
            return
        yield word & ~1


def _thumb1(image: LinkedImage, function: ImageFunction, jump: Disassembled) -> Iterable[int]:
    before = [image.instructions.get(jump.address - back) for back in (2, 4, 6)]
    if None in before:
        return ()
    load, _, literal = (i.operands.strip() for i in before if i is not None)
    entry, moved, table = _LOAD.match(load), _MOVE.match(jump.operands), _LITERAL.match(literal)
    if not (entry and moved and table):
        return ()
    if entry["entry"] != moved["entry"] or entry["table"] != table["table"]:
        return ()
    address = image.word((jump.address - 6 + 4 & ~3) + int(table["offset"]))
    return () if address is None else _words(image, function, address)


def _is_own(image: LinkedImage, function: ImageFunction, target: int) -> bool:
    """Whether it is an instruction of the function, or of a part that gcc has split off."""
    owner = image.function_at(target)
    if owner is None or target not in image.instructions:
        return False
    return owner is function or owner.name == f"{function.name}.cold"

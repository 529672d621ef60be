"""Where a chip has its registers, read from its SVD file (CMSIS System View Description)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

Element = ElementTree.Element


def read_svd(path: Path) -> dict[str, int]:
    """The address of each register, by names such as `RCC.CR`, `P0.PIN_CNF[6]`, `UART0.PSEL.TXD`;
    that of each peripheral by its own. Arrays are counted out, `derivedFrom` is followed (of
    peripherals, clusters and registers of one peripheral)."""
    root = ElementTree.parse(path).getroot()
    peripherals = {_text(found, "name"): found for found in root.iter("peripheral")}
    addresses: dict[str, int] = {}
    for name, peripheral in peripherals.items():
        base = _number(_text(peripheral, "baseAddress"))
        addresses[name] = base
        registers = peripheral.find("registers")
        if registers is None:
            registers = peripherals[peripheral.get("derivedFrom", name)].find("registers")
        for found, offset in _members(registers):
            addresses[f"{name}.{found}"] = base + offset
    return addresses


def _members(group: Element | None) -> Iterator[tuple[str, int]]:
    """The registers of a peripheral or a cluster, with their offsets."""
    if group is None:
        return
    named = {_text(member, "name"): member for member in group if member.find("name") is not None}
    for member in group:
        if member.tag not in ("register", "cluster"):
            continue
        origin = named.get(member.get("derivedFrom", ""), member)
        for name, offset in _counted(member, origin):
            if member.tag == "register":
                yield name, offset
            else:
                inner = member if member.find("register") is not None else origin
                yield from ((f"{name}.{part}", offset + at) for part, at in _members(inner))


def _counted(member: Element, origin: Element) -> Iterator[tuple[str, int]]:
    """The names and offsets of an array's elements, or of the one that it is."""
    name, offset = _text(member, "name"), _number(_text(member, "addressOffset"))
    count = member.findtext("dim") or origin.findtext("dim")
    if count is None:
        yield name, offset
        return
    step = _number(member.findtext("dimIncrement") or _text(origin, "dimIncrement"))
    listed = member.findtext("dimIndex")
    indices = [str(number) for number in range(_number(count))]
    if listed and (bounds := re.fullmatch(r"(\d+)-(\d+)", listed)):
        indices = [str(number) for number in range(int(bounds[1]), int(bounds[2]) + 1)]
    elif listed:
        indices = listed.split(",")
    for number, index in enumerate(indices):
        yield name.replace("%s", index), offset + number * step


def _text(element: Element, tag: str) -> str:
    return (element.findtext(tag) or "").strip()


def _number(text: str) -> int:
    return int(text.lower().replace("#", "0b"), 0) if not text.isdigit() else int(text)

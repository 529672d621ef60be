"""The loops of an image by its disassembly, with how often each of their instructions ran."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from mcu_deploy.elf.disassembly import Disassembled

_TARGET = re.compile(r"(?<!\S)0x([0-9a-f]+)$")
_BRANCHES = re.compile(
    r"(b|cbn?z)((eq|ne|cs|hs|cc|lo|mi|pl|vs|vc|hi|ls|ge|lt|gt|le)?(\.[nw])?)$"
)  # fmt: skip
# Where an instruction of a loop runs so often in a round, inner loops take the time: that the outer
# one is fetched anew in each round is next to nothing.
_MANY = 64


@dataclass(frozen=True)
class HotLoop:
    """The bytes that a round runs through, wherever they lie, and how many rounds there are."""

    first: int
    last: int
    bytes: int
    rounds: int


def _target(instruction: Disassembled) -> int | None:
    if not _BRANCHES.match(instruction.mnemonic):
        return None
    found = _TARGET.search(instruction.operands)
    return int(found[1], 16) if found else None


def hot_loops(code: Sequence[Disassembled], counts: Mapping[int, int]) -> Iterator[HotLoop]:
    """Of the instructions of one function: the loops whose rounds are short. What more than every
    second round runs belongs to a loop: what lies between its first instruction and its branch
    back, and what it jumps to and comes back from."""
    places = {instruction.address: n for n, instruction in enumerate(code)}
    often = [counts.get(instruction.address, 0) for instruction in code]
    to = [places.get(_target(instruction) or -1) for instruction in code]
    for last, first in enumerate(to):
        if first is None or first > last:
            continue
        is_conditional = code[last].mnemonic not in ("b", "b.n", "b.w")
        taken = often[last] - (often[last + 1] if is_conditional else 0)
        rounds = often[first]
        if taken < 1 or rounds < 2:
            continue
        hot = {n for n, times in enumerate(often) if 2 * times > rounds}
        body = _between(code, to, hot, first, last) | {*range(first, last + 1)} & hot
        if sum(often[n] for n in body) < _MANY * rounds * len(body):
            size = sum(code[n].size for n in body)
            yield HotLoop(code[first].address, code[last].address, size, rounds)


def _between(
    code: Sequence[Disassembled], to: Sequence[int | None], hot: set[int], first: int, last: int
) -> set[int]:
    """What is run from the first instruction on and leads to the last one."""
    onward: dict[int, list[int]] = {}
    for n in hot:
        name = code[n].mnemonic
        falls = not (name in ("b", "b.n", "b.w") or "pc" in code[n].operands or name == "bx")
        onward[n] = [m for m in (to[n], n + 1 if falls else None) if m in hot and m is not None]
    back: dict[int, list[int]] = {}
    for n, following in onward.items():
        for m in following:
            back.setdefault(m, []).append(n)
    return _reached(onward, first, last) & _reached(back, last, first)


def _reached(edges: Mapping[int, Sequence[int]], begin: int, end: int) -> set[int]:
    """From one instruction on, not beyond the other."""
    seen, left = {begin}, [begin]
    while left:
        n = left.pop()
        new = [m for m in edges.get(n, ()) if m not in seen] if n != end else []
        seen.update(new)
        left += new
    return seen

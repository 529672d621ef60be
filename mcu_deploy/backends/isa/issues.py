"""What a core that issues two instructions at once sees of one."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from mcu_deploy.backends.isa.accesses import Resource, Span


class Class(IntEnum):
    """What an instruction is for the core that issues it."""

    ALU = 0
    MAC = 1
    DSP = 2
    LOAD = 3
    LOAD_PART = 4  # of bytes and halfwords, which arrive a cycle later
    STORE = 5
    MANY = 6
    MOVE = 7  # between the files of registers
    MOVE_TWO = 8
    FLOAT = 9
    BRANCH = 10
    CONDITIONS = 11  # IT


class Need(IntEnum):
    """When an operand is needed: the index of its time in what `after` gives."""

    LATE = 0
    EARLY = 1
    FACTOR = 2
    ADDEND = 3
    STORED = 4


# Behind its own cycle, when what an instruction writes can be used, as each `Need` has it.
After = tuple[int, int, int, int, int]
AFTER_OTHERS: After = (1, 2, 1, 0, 0)


class Issue(NamedTuple):
    """An instruction as the core sees it. reads: each with the time when it is needed; moved: bases
    that it moves on. words: of a list. after: of what it writes and does not move on. bank: base
    and offset of a load of one word."""

    kind: Class
    reads: tuple[tuple[Resource, Need], ...]
    writes: frozenset[Resource]
    moved: frozenset[Resource]
    words: int = 1
    is_shifted: bool = False
    after: After = AFTER_OTHERS
    bank: tuple[Resource, int] | None = None
    loads: bool = False
    stores: bool = False
    region: str = ""
    # Its order is by registers and regions alone.
    span: Span | None = None
    advance: tuple[Resource, int] | None = None
    is_product: bool = False

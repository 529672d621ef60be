"""What a model of a memory manager of crt/ answers, and the requests that it is asked.

A model does what the C does, bit for bit, so that the compiler knows the address of every
allocation, and the least block in which a sequence of them succeeds, before anything runs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mcu_deploy.plan.alignment import ALIGNMENT, aligned

WORD = 4  # sizeof(size_t) and of a pointer on Cortex-M; 8 on a host of 64 bits
UNLIMITED = 1 << 62  # more than any block can grow by
MANAGER_WORDS = 8  # MCU_MANAGER_WORDS of crt/include/mcu/managed.h


@dataclass(frozen=True)
class Allocate:
    """A slot gets `bytes` bytes (0: as 1) at a multiple of `alignment`, a power of two."""

    slot: int
    bytes: int
    alignment: int = ALIGNMENT


@dataclass(frozen=True)
class Free:
    """What the slot holds is given back."""

    slot: int


Request = Allocate | Free


class Manager(ABC):
    """A manager over one block; addresses are offsets from the block's start.

    used, peak: as in mcu_memory_manager_t. growth: as long as the block is larger by fewer bytes
    than this, every answer so far stays the same, refusals included.
    """

    def __init__(self) -> None:
        self.used = 0
        self.peak = 0
        self.growth = UNLIMITED

    @abstractmethod
    def allocate(self, size: int, alignment: int) -> int | None:
        """The address of `size` bytes; None: MCU_ERROR_OUT_OF_MEMORY."""

    @abstractmethod
    def free(self, address: int) -> None:
        """Takes back what allocate gave. ValueError for anything else (MCU_ERROR_INVALID_FREE)."""

    def _count(self, size: int) -> None:
        self.used += size
        self.peak = max(self.peak, self.used)


@dataclass(frozen=True)
class EntryPoints:
    """The C functions of crt/include/mcu/managed.h for a manager.

    begin takes the manager, the block and its bytes, then `arguments`.
    """

    begin: str
    take: str
    give: str
    arguments: tuple[int, ...] = ()


class Configuration(ABC):
    """A manager with all that its init function is told but the block."""

    @property
    @abstractmethod
    def entry_points(self) -> EntryPoints:
        """What generated code calls."""

    @property
    @abstractmethod
    def block_alignment(self) -> int:
        """The alignment of a block from whose start nothing is lost."""

    @abstractmethod
    def manager(self, size: int, word: int = WORD, start: int = 0) -> Manager | None:
        """A manager over `size` bytes at the address `start`; None: MCU_ERROR_CONFIGURATION."""

    @abstractmethod
    def rounded(self, size: int, word: int = WORD) -> int:
        """The bytes of the block that an allocation of `size` bytes takes at least."""


@dataclass(frozen=True)
class Trace:
    """What a manager answered.

    addresses: of the allocations, in order; they end before the one that was refused, and
    `complete` is False then. used, peak: as the manager counted. growth: as in Manager.
    """

    addresses: tuple[int, ...]
    used: int
    peak: int
    complete: bool
    growth: int


def simulate(manager: Manager, requests: Iterable[Request]) -> Trace:
    """Asks a manager, up to the first refusal.

    Raises ValueError for a slot that is taken twice, or given back without holding anything.
    """
    held: dict[int, int] = {}
    addresses: list[int] = []
    for request in requests:
        if isinstance(request, Free):
            if request.slot not in held:
                raise ValueError(f"slot {request.slot} is given back, but holds nothing")
            manager.free(held.pop(request.slot))
            continue
        if request.slot in held:
            raise ValueError(f"slot {request.slot} is taken twice")
        address = manager.allocate(request.bytes, request.alignment)
        if address is None:
            return Trace(tuple(addresses), manager.used, manager.peak, False, manager.growth)
        held[request.slot] = address
        addresses.append(address)
    return Trace(tuple(addresses), manager.used, manager.peak, True, manager.growth)


def least_bytes(configuration: Configuration, requests: Iterable[Request], word: int = WORD) -> int:
    """The largest sum of what is held at one time: no block below it can serve the requests."""
    held: dict[int, int] = {}
    peak = 0
    for request in requests:
        if isinstance(request, Allocate):
            held[request.slot] = configuration.rounded(request.bytes, word)
            peak = max(peak, sum(held.values()))
        else:
            held.pop(request.slot, None)
    return peak


def smallest_block(
    configuration: Configuration, sequences: Sequence[Sequence[Request]], word: int = WORD
) -> int:
    """The least multiple of ALIGNMENT in which each sequence succeeds, from an aligned start.

    A larger block may fail where a smaller one serves, as the managers choose other holes in it.
    So this looks upwards from the lower bound, and leaves out only sizes of which the model says
    that they fail as the one before did.
    """
    size = aligned(max((least_bytes(configuration, s, word) for s in sequences), default=0))
    while True:
        growth = _missing(configuration, sequences, size, word)
        if growth == 0:
            return size
        size = aligned(size + growth)


def _missing(
    configuration: Configuration, sequences: Sequence[Sequence[Request]], size: int, word: int
) -> int:
    """By how many bytes the block must grow at least before a sequence that fails may succeed."""
    for requests in sequences:
        manager = configuration.manager(size, word)
        if manager is None:
            return 1
        trace = simulate(manager, requests)
        if not trace.complete:
            return trace.growth
    return 0

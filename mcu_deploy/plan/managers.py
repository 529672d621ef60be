"""Models of the memory managers of crt/: what `--memory plain|mru|bestfit` does at run time.

A model does what the C does, bit for bit, so that the compiler knows the address of every
allocation, and the least block in which a sequence of them succeeds, before anything runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mcu_deploy.options.checked import require_word
from mcu_deploy.plan.alignment import ALIGNMENT, aligned

WORD = 4  # sizeof(size_t) and of a pointer on Cortex-M; 8 on a host of 64 bits
UNLIMITED = 1 << 62  # more than any block can grow by
MANAGER_WORDS = 8  # MCU_MANAGER_WORDS of crt/include/mcu/managed.h
LARGEST_ALIGNMENT = 64  # MCU_PAGE_ALIGNMENT of crt/include/mcu/memory.h


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


class Manager:
    """A manager over one block; addresses are offsets from the block's start.

    used, peak: as in mcu_memory_manager_t. growth: as long as the block is larger by fewer bytes
    than this, every answer so far stays the same, refusals included.
    """

    used = 0
    peak = 0
    growth = UNLIMITED

    def allocate(self, size: int, alignment: int) -> int | None:
        """The address of `size` bytes; None: MCU_ERROR_OUT_OF_MEMORY."""
        raise NotImplementedError

    def free(self, address: int) -> None:
        """Takes back what allocate gave. ValueError for anything else (MCU_ERROR_INVALID_FREE)."""
        raise NotImplementedError

    def _count(self, size: int) -> None:
        self.used += size
        self.peak = max(self.peak, self.used)

    def _changes_at(self, growth: int) -> None:
        """An answer is another one where the block, and so its last part, is so much larger."""
        self.growth = min(self.growth, growth)


# ---- plain ----


class PageManager(Manager):
    """Whole pages, first fit (as TVM's and ppl.nn's): crt/src/memory_page.c.

    A table of one byte for each page stands behind them.
    """

    def __init__(self, begin: int, pages: int, page_size_log2: int, spare: int, start: int) -> None:
        """begin: offset of the first page. spare: bytes behind the table. start: of offset 0."""
        self._begin = begin
        self._page = 1 << page_size_log2
        self._spare = spare
        self._start = start
        self._taken = [False] * pages
        self._given: dict[int, int] = {}  # first page: number of pages

    def allocate(self, size: int, alignment: int) -> int | None:
        needed = max(-(-size // self._page), 1)
        run = 0  # free pages up to here, the first of them aligned
        for page, taken in enumerate(self._taken):
            if taken:
                run = 0
            elif run or (self._start + self._begin + page * self._page) % alignment == 0:
                run += 1
            if run == needed:
                return self._take(page + 1 - needed, needed)
        # First fit never looks at pages behind the ones that it gives: only this refusal changes.
        self._changes_at((needed - run) * (self._page + 1) - self._spare)
        return None

    def free(self, address: int) -> None:
        page, rest = divmod(address - self._begin, self._page)
        if rest or page not in self._given:
            raise ValueError(f"nothing was given at {address}")
        pages = self._given.pop(page)
        self._taken[page : page + pages] = [False] * pages
        self.used -= pages * self._page

    def _take(self, first: int, pages: int) -> int:
        self._taken[first : first + pages] = [True] * pages
        self._given[first] = pages
        self._count(pages * self._page)
        return self._begin + first * self._page


@dataclass(frozen=True)
class PageConfiguration:
    """Pages of 1 << page_size_log2 bytes (4 to 24), their table in the block behind them."""

    page_size_log2: int

    family = "plain"

    @property
    def arguments(self) -> tuple[int, ...]:
        """What _mcu_plain_begin takes behind the block."""
        return (self.page_size_log2,)

    @property
    def block_alignment(self) -> int:
        """The alignment of a block from whose start nothing is lost."""
        return min(1 << self.page_size_log2, LARGEST_ALIGNMENT)

    def manager(self, size: int, word: int = WORD, start: int = 0) -> Manager | None:
        """A manager over `size` bytes at the address `start`; None: MCU_ERROR_CONFIGURATION."""
        padding = -start % self.block_alignment
        page = 1 << self.page_size_log2
        pages, spare = divmod(size - padding, page + 1)
        if pages <= 0:
            return None
        return PageManager(padding, pages, self.page_size_log2, spare, start)

    def rounded(self, size: int, word: int = WORD) -> int:
        """The bytes of the block that an allocation of `size` bytes takes at least."""
        page = 1 << self.page_size_log2
        return max(-(-size // page), 1) * (page + 1)


# ---- mru and bestfit ----


class BlockManager(Manager):
    """Blocks of any size behind headers of two words, split when given, joined when freed:
    crt/src/memory_block.c.
    """

    def __init__(self, begin: int, size: int, word: int, start: int, nearest: bool) -> None:
        """begin: offset of the first header. start: the address of offset 0."""
        self._header = 2 * word
        self._start = start
        self._nearest = nearest
        self._sizes = {begin: size}  # of all blocks with their headers, by offset
        self._free = [begin]  # the most recently freed first
        self._end = begin + size

    def allocate(self, size: int, alignment: int) -> int | None:
        header = self._header
        size = aligned(max(size, 1), header)
        chosen = self._choose(size, alignment)
        if chosen is None:
            return None
        index = self._free.index(chosen)
        gap = self._gap(chosen, alignment)
        given, room = chosen + gap, self._sizes.pop(chosen) - gap
        parts = []  # what stays free: in front for the alignment, and behind
        if gap:
            self._sizes[chosen] = gap
            parts.append(chosen)
        spare = room - header - size
        if spare >= 2 * header:
            parts.append(given + header + size)
            self._sizes[parts[-1]] = spare
            room -= spare
        elif given + room == self._end:
            self._changes_at(2 * header - spare)  # it would be split
        self._free[index : index + 1] = parts
        self._sizes[given] = room
        self._count(room)
        return given + header

    def free(self, address: int) -> None:
        block = address - self._header
        if block not in self._sizes or block in self._free:
            raise ValueError(f"nothing was given at {address}")
        self.used -= self._sizes[block]
        behind = block + self._sizes[block]
        if behind in self._free:
            self._free.remove(behind)
            self._sizes[block] += self._sizes.pop(behind)
        before = next((b for b in self._free if b + self._sizes[b] == block), None)
        if before is not None:
            self._free.remove(before)
            self._sizes[before] += self._sizes.pop(block)
            block = before
        self._free.insert(0, block)

    def _choose(self, size: int, alignment: int) -> int | None:
        fitting = []
        for block in self._free:
            missing = self._header + self._gap(block, alignment) + size - self._sizes[block]
            if missing <= 0:
                fitting.append(block)
            elif block + self._sizes[block] == self._end:
                self._changes_at(missing)  # it would fit
        if not fitting:
            return None
        if not self._nearest:
            return fitting[0]
        chosen = min(fitting, key=self._sizes.__getitem__)  # the first of the smallest
        if chosen + self._sizes[chosen] == self._end:
            for other in fitting:
                if other != chosen:  # it would be the nearer one
                    self._changes_at(max(self._sizes[other] - self._sizes[chosen], 1))
        return chosen

    def _gap(self, block: int, alignment: int) -> int:
        """How far behind its header a block's first payload with this alignment is."""
        return -(self._start + block + self._header) % alignment


@dataclass(frozen=True)
class BlockConfiguration:
    """nearest: the smallest free block that is large enough (bestfit); else the most recently freed
    one (mru), both as in ppl.nn. The members are those of PageConfiguration.
    """

    nearest: bool

    family = "block"
    arguments = ()
    block_alignment = ALIGNMENT

    def manager(self, size: int, word: int = WORD, start: int = 0) -> Manager | None:
        header = 2 * word
        padding = -start % header
        whole = (size - padding) // header * header
        if whole < 2 * header:
            return None
        return BlockManager(padding, whole, word, start, self.nearest)

    def rounded(self, size: int, word: int = WORD) -> int:
        header = 2 * word
        return header + aligned(max(size, 1), header)


# family: of the C functions `_mcu_<family>_take` and `_mcu_<family>_give`.
Configuration = PageConfiguration | BlockConfiguration

# The ways to set the manager of each strategy up.
CONFIGURATIONS: dict[str, tuple[Configuration, ...]] = {
    "bestfit": (BlockConfiguration(nearest=True),),
    "mru": (BlockConfiguration(nearest=False),),
    "plain": tuple(PageConfiguration(log2) for log2 in range(4, 13)),
}


# ---- Sequences of requests ----


@dataclass(frozen=True)
class ManagerTrace:
    """What a manager answered.

    addresses: of the allocations, in order; they end before the one that was refused, and
    `complete` is False then. used, peak: as the manager counted. growth: as in Manager.
    """

    addresses: tuple[int, ...]
    used: int
    peak: int
    complete: bool
    growth: int


def simulate(manager: Manager, requests: Iterable[Request]) -> ManagerTrace:
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
            return ManagerTrace(tuple(addresses), manager.used, manager.peak, False, manager.growth)
        held[request.slot] = address
        addresses.append(address)
    return ManagerTrace(tuple(addresses), manager.used, manager.peak, True, manager.growth)


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
        for requests in sequences:
            manager = configuration.manager(size, word)
            trace = None if manager is None else simulate(manager, requests)
            if trace is None or not trace.complete:
                size = aligned(size + (1 if trace is None else trace.growth))
                break
        else:
            return size


@dataclass(frozen=True)
class Fitted:
    """Sequences of requests that succeed: in which block, and what the manager answers to each."""

    configuration: Configuration
    bytes: int
    traces: tuple[ManagerTrace, ...]

    @property
    def peak(self) -> int:
        """The most that the manager counts as used, in any sequence."""
        return max((trace.peak for trace in self.traces), default=0)


def fit(strategy: str, sequences: Sequence[Sequence[Request]], word: int = WORD) -> Fitted:
    """The configuration of a strategy that serves each of the sequences in the least block.

    Every sequence begins with a fresh manager. Of configurations that need as little the last one:
    larger pages are found faster. The block starts at a multiple of `block_alignment`. Raises
    UsageError for a name that has no manager.
    """
    require_word("--memory", strategy, tuple(CONFIGURATIONS))
    sized = [(smallest_block(c, sequences, word), c) for c in CONFIGURATIONS[strategy]]
    size = min(bytes_ for bytes_, _ in sized)
    configuration = next(c for bytes_, c in reversed(sized) if bytes_ == size)
    traces = []
    for requests in sequences:
        manager = configuration.manager(size, word)
        assert manager is not None
        traces.append(simulate(manager, requests))
    return Fitted(configuration, size, tuple(traces))

"""plain: whole pages, first fit; the model of crt/src/memory_page.c (documents 002 and 004)."""

from __future__ import annotations

from dataclasses import dataclass

from mcu_deploy.plan.managers.interface import WORD, Configuration, EntryPoints, Manager

LARGEST_ALIGNMENT = 64  # MCU_PAGE_ALIGNMENT of crt/include/mcu/memory.h


class PageManager(Manager):
    """Pages of one size with a table of one byte for each, which stands behind the pages."""

    def __init__(self, begin: int, pages: int, page_size_log2: int, spare: int, start: int) -> None:
        """begin: offset of the first page. spare: bytes behind the table. start: of offset 0."""
        super().__init__()
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
            elif run or self._address(page) % alignment == 0:
                run += 1
            if run == needed:
                return self._take(page + 1 - needed, needed)
        # First fit never looks at pages behind the ones that it gives: only this refusal changes.
        self.growth = min(self.growth, (needed - run) * (self._page + 1) - self._spare)
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

    def _address(self, page: int) -> int:
        return self._start + self._begin + page * self._page


@dataclass(frozen=True)
class PageConfiguration(Configuration):
    """Pages of 1 << page_size_log2 bytes (4 to 24), their table in the block behind them."""

    page_size_log2: int

    @property
    def entry_points(self) -> EntryPoints:
        return EntryPoints(
            "_mcu_plain_begin", "_mcu_plain_take", "_mcu_plain_give", (self.page_size_log2,)
        )

    @property
    def block_alignment(self) -> int:
        return min(1 << self.page_size_log2, LARGEST_ALIGNMENT)

    def manager(self, size: int, word: int = WORD, start: int = 0) -> PageManager | None:
        padding = -start % self.block_alignment
        page = 1 << self.page_size_log2
        pages, spare = divmod(size - padding, page + 1)
        if pages <= 0:
            return None
        return PageManager(padding, pages, self.page_size_log2, spare, start)

    def rounded(self, size: int, word: int = WORD) -> int:
        page = 1 << self.page_size_log2
        return max(-(-size // page), 1) * (page + 1)


NAME = "plain"
CONFIGURATIONS = tuple(PageConfiguration(log2) for log2 in range(4, 13))

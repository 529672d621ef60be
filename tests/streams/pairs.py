"""Streams of two filters after two: of products with tiles of three pixels, and of Winograd's."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np
from streams.words import Filter, HeadError, Tap, Words, real, said, taps

_WORDS = r"((?:(?:scale|addend)\[[fg]\](?:, )?){4}): \("
_LATE = r"rounded too late: (.*?), again 0 but for the last\."
_TABLE = "First, once, 256 bytes that a function makes of y, from its least one on. "
# What a head lists, and what stands between: any two neighbours may be swapped to make it wrong.
LISTS = (
    (r"share a stream of words: (.*?)\. ", "; "),
    (r"the next one, g: (\d bias.*?); of each position", "; "),
    (_WORDS, ", "),
    (r"in the order (\d(?: \d)+)", " "),
    (r"at the end (\d(?: \d)+)", " "),
    (r"(\d and \d of each column, then \d and \d)\.", ", then "),
    (r"Rows are ([\d, ]+), of each the columns", ", "),
    (r"of each the columns ([\d, ]+);", ", "),
)


def product(
    head: str, words: Words, shape: tuple[int, int, int, int], groups: int
) -> Iterator[Filter]:
    """shape: filters, channels of a group, rows and columns of the weights."""
    if _TABLE in head:
        words.several(256 // 4)
        head = head.replace(_TABLE, "")
    order = taps(head, *shape[1:])
    tile = _front(head, words)
    if tile is not None:
        of_three = 20 if "of each column, then" in head else 36
        order += [None] * (tile * 6 // of_three - len(order))
    order += [None] * (len(order) % 2)
    terms = said(r"share a stream of words: (.*?)\. ", head)[1].split("; ")
    is_early = "These three are behind the biases of the next f and g" in head
    turns = "Of every second f and g the last taps come first" in head
    in_group = shape[0] // groups
    for _ in range(groups):
        pairs: list[_Pair] = []
        owing = None
        for index in range((in_group + 1) // 2):
            pair = _Pair(head, words)
            by_two = [order[n : n + 2] for n in range(0, len(order), 2)]
            for term in terms:
                pair.read(term, by_two[::-1] if turns and index % 2 else by_two)
                if len(pair.equations) == 2 and owing is not None:
                    owing.read_late()
                    owing = None
            pair.read_rounding()
            pairs.append(pair)
            if pair.has_late and is_early:
                owing = pair
            elif pair.has_late:
                pair.read_late()
        if is_early:
            said("behind the last f and g are two words of 0 for that", head)
            if words.several(2) != [0, 0]:
                raise HeadError("behind the last f and g are no two words of 0")
        if owing is not None:
            owing.read_late()
        yield from [one for pair in pairs for one in pair.filters()][:in_group]
    words.end()


def _front(head: str, words: Words) -> int | None:
    """Reads what stands in front of the stream; the bytes of a tile's taps, where it has them."""
    found = re.search(r"In front of the stream are (?:numbers|words) of the layer: (.*?)\. ", head)
    if found is None:
        return None
    first, _, how = found[1].partition("; ")
    if not how:
        names = first.split(", ")
        return words.several(len(names))[names.index("the bytes of a tile's taps")]
    tiles, more = said(
        r"^a word of the bytes of (?:a tile's|(\d+) tiles') taps( with three words for each)?$",
        first,
    ).groups()
    tile = words.next() // int(tiles or 1) - (12 if more else 0)
    begin = said(r"those of the frame from `(.*?)` on", how)[1]
    frame = said(r"the frame, a word each: (.*?); a word", head)[1].split(", ")
    count = len(frame) - frame.index(begin)
    words.several(count if how.startswith("a word each") else (count + 1) // 2)
    return tile


class _Pair:
    """Two filters, f and g, as they are read."""

    def __init__(self, head: str, words: Words) -> None:
        self._head, self._words = head, words
        self.weights: dict[str, dict[Tap, int]] = {"f": {}, "g": {}}
        self.equations: list[tuple[dict[str, int], int]] = []
        self._lanes = {"f": 1, "g": 1}
        self._rounding: dict[str, int] = {}
        self._late: list[tuple[int, int, int]] = []

    def read(self, term: str, by_two: Sequence[Sequence[Tap | None]]) -> None:
        """One of the things that the head lists."""
        if re.fullmatch(r"(\d+ )?bias\[[fg]\]( \+ (\d+ )?bias\[[fg]\])?", term):
            sides = {of: int(by or 1) for by, of in re.findall(r"(\d+ )?bias\[([fg])\]", term)}
            self.equations.append((sides, self._words.next()))
            self._lanes |= {of: max(by, self._lanes[of]) for of, by in sides.items()}
        elif term == "for two taps one, in halves 256 w[g] + w[f]":
            for two in by_two:
                for tap, half in zip(two, self._words.halves(), strict=True):
                    even = (half & 0xFF ^ 0x80) - 0x80
                    self._keep("f", tap, even)
                    self._keep("g", tap, (half - even) >> 8)
        elif found := re.fullmatch(
            r"for each two taps one of w\[([fg])\], one of w\[([fg])\], in halves", term
        ):
            for two in by_two:
                for of in found.groups():
                    for tap, half in zip(two, self._words.halves(), strict=True):
                        self._keep(of, tap, half)
        else:
            raise HeadError(f"no words are known as {term!r}")

    def _keep(self, of: str, tap: Tap | None, weight: int) -> None:
        if tap is None and weight:
            raise HeadError("what fills up two taps is not 0")
        if tap is not None:
            self.weights[of][tap] = weight

    def read_rounding(self) -> None:
        is_real = re.search(r"factor\[f\] and factor\[g\](?: / 256)?, float32", self._head)
        listed = "factor[f], factor[g]" if is_real else said(_WORDS, self._head)[1]
        self._rounding = {name: self._words.next() for name in listed.split(", ")}

    @property
    def has_late(self) -> bool:
        says = "If addend[f] is 0, three more for each sum" in self._head
        return says and self._rounding.get("addend[f]") == 0

    def read_late(self) -> None:
        """Of each late sum which filter's it is, the accumulator, and addend[f]; or a 2."""
        names = [re.sub("^4 times ", "", n) for n in said(_LATE, self._head)[1].split(", ")]
        while not self._late or not (self._late[-1][0] == 2 or self._late[-1][2]):
            one = {name: self._words.next() for name in names}
            self._late.append((one["0 or 1 for f or g"], one["the sum"], one["addend[f]"]))
            if self._late[-1][0] not in (0, 1, 2):
                raise HeadError(f"a sum of filter {self._late[-1][0]} of two is late")

    def filters(self) -> Iterator[Filter]:
        sides = [[equation.get(of, 0) for of in "fg"] for equation, _ in self.equations]
        if len(sides) != 2 or np.linalg.matrix_rank(sides) < 2:
            raise HeadError("the biases of f and g do not follow from two words")
        biases = np.linalg.solve(sides, np.array([float(word) for _, word in self.equations]))
        has_none = [which for which, *_ in self._late] == [2]
        values = [*self._rounding.values()]
        for n, (of, bias) in enumerate(zip("fg", biases.tolist(), strict=True)):
            lanes, weights = self._lanes[of], self.weights[of]
            begin = round(bias * lanes)
            if has_none or f"factor[{of}]" in self._rounding:
                factor = real(values[2 * n if has_none else n])
                yield Filter(weights, begin, lanes, factor=factor)
                continue
            addend = self._rounding[f"addend[{of}]"]
            if of == "f" and self._late:
                addend = self._late[-1][2]
            late = tuple(sum_ for which, sum_, _ in self._late if which == n)
            yield Filter(weights, begin, lanes, self._rounding[f"scale[{of}]"], addend, None, late)


def winograd(head: str, words: Words, shape: tuple[int, int, int, int]) -> Iterator[Filter]:
    """Of U = 2G w (2G)', element by element."""
    filters, channels = shape[:2]
    begin = said(r"as the frame has them from `(.*?)` on", head)[1]
    words.several(said(rf"the frame, a word each: .*; ({begin}, .*?)\. ", head)[1].count(",") + 1)
    terms = said(r"the next one, g: (\d bias.*?); of each position", head)[1].split("; ")
    rows, columns = (
        [int(n) for n in said(pattern, head)[1].split(", ")]
        for pattern in (r"Rows are ([\d, ]+), of each the columns", r"the columns ([\d, ]+);")
    )
    pairs = [tuple(map(int, two)) for two in zip(
        *[iter(said(r"of four channels (.*?);", head)[1].replace(", then", " and").split(" and "))]
        * 2, strict=True)]  # fmt: skip
    of = said(r"each two channels a word of U\[(f|g)\] and one of U\[(f|g)\], in halves", head)
    minus = int(said(r"-U where either the row or the column is (\d)", head)[1])
    g = np.array([row.split() for row in said(r"2G = (.*?), row by row", head)[1].split(", ")], int)
    undo = np.linalg.pinv(g)
    for _ in range(0, filters, 2):
        pair = _Pair(head, words)
        for term in terms:
            pair.read(term, [])
        u = {name: np.zeros((channels, 4, 4), np.int64) for name in "fg"}
        for row in rows:
            for column in columns:
                sign = -1 if (row == minus) != (column == minus) else 1
                for four in range(0, channels, 4):
                    for two in pairs:
                        for name in of.groups():
                            at = [four + c for c in two]
                            u[name][at, row, column] = sign * np.array(words.halves())
        for name, of_one in u.items():
            exact = undo @ of_one @ undo.T
            if not np.allclose(exact, np.rint(exact)):
                raise HeadError("U comes from no integers")
            for tap, weight in np.ndenumerate(np.rint(exact).astype(int)):
                pair.weights[name][tap] = int(weight)  # type: ignore[index]
        pair.read_rounding()
        if pair.has_late:
            pair.read_late()
        yield from pair.filters()
    words.end()

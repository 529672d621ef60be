"""Streams of depthwise layers, of four outputs after four, of an LSTM's units, and constants."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np
from streams.words import Filter, HeadError, Tap, Words, real, said, signed

_TAPS = r"taps, words, those in brackets by their bytes from the lowest on: (.*?)\.( |$)"
# As in pairs.py.
LISTS = (
    (r"from the lowest on: (.*?)(?:, for k|\.)", ", "),
    (r"for k of 0 to \d+: (.*?)\. ", "), "),
    (r"a, b, c and d: (.*?); of each eight taps", "; "),
    (r"in halves (256 w.*?), taps in", ", four words, "),
    (r"taps in the order (\d(?: \d)+)", " "),
    (r"((?:(?:scale|addend)\[[a-d]\](?:, )?){8})", ", "),
    (r"what the sums begin with: (.*?); of each four taps", "; "),
    (r"in halves (256 forget.*?), two words, taps", ", two words, "),
    (r"constants: (.*?); the bytes of", "; "),
    (r"constants: (scale.*?)\. scratch", "; "),
)


def planes(head: str, words: Words, shape: tuple[int, int, int, int]) -> Iterator[Filter]:
    """Of depthwise layers. shape: filters, one channel, rows and columns of the weights."""
    if "In front of taps is a word, how many channels" in head:
        words.next()
    if front := re.search(r"In front of taps are words: (.*?)\. ", head):
        words.several(len(re.split("; |, and ", front[1])))
    named = [*_named(said(_TAPS, head)[1])]
    turned = said(r"Lines i are (rows|columns) of the image", head)[1] == "columns"
    window = shape[:1:-1] if turned else shape[2:]
    found = [_channel(named, words) for _ in range(shape[0])]
    late = words.several(words.left)
    for channel in found:
        weights = {tap: channel.get(f"w[{tap[0]}][{tap[1]}]") for tap in np.ndindex(window)}
        if None in weights.values():
            raise HeadError("the head does not name every tap")
        taps = {(0, *(tap[::-1] if turned else tap)): w for tap, w in weights.items()}
        yield _plane(head, channel, taps, late)


def _channel(named: list[tuple[str, ...]], words: Words) -> dict[str, int]:
    """Its words, and its bytes, by their names."""
    found: dict[str, int] = {}
    for parts in named:
        values = words.bytes() if len(parts) > 1 else [words.next()]
        for part, value in zip(parts, values, strict=False):
            if part == "0" and value:
                raise HeadError("a byte that is said to be 0 is not")
            found[part] = value
    return found


def _named(text: str) -> Iterator[tuple[str, ...]]:
    if rows := re.search(r"for k of 0 to (\d+): (.*)", text):
        every = [rows[2].replace("[k]", f"[{k}]") for k in range(int(rows[1]) + 1)]
        text = text[: rows.start()] + ", ".join(every)
    for several, one in re.findall(r"\(([^)]*)\)|([^(), ][^(),]*)", text):
        yield tuple(several.split(", ")) if several else (one,)


def _plane(head: str, found: dict[str, int], taps: dict[Tap, int], late: list[int]) -> Filter:
    """late: what is behind all channels."""
    if "gain" not in found:
        if found["scale"] <= 0:
            said(r"Where scale is not above 0, .* with addend a float32", head)
            return Filter(taps, found["bias"], factor=real(found["addend"]))
        high, low = map(int, said(r"scale >> (\d+)\) \+ addend >> (\d+)\)", head).groups())
        return Filter(taps, found["bias"], 1, found["scale"], found["addend"], shift=high + low)
    shift, gain = int(said(r"scale\[f\] >> (\d+)\)", head)[1]), found["gain"] & 0xFF
    at = found["number of the channel's first late sum or 0"] & 0xFF
    accumulators = []
    while at:
        names = said(
            r"too small: (that output), with 256 where another one of the channel follows, and "
            r"(the sum of products)\.",
            head,
        ).groups()
        if 2 * at > len(late):
            raise HeadError("behind the channels there is no such late sum")
        one = dict(zip(names, late[2 * at - 2 : 2 * at], strict=True))
        acc = found["start"] + gain * one["the sum of products"]
        accumulators.append(acc)
        if (acc * found["scale"] >> shift) - one["that output"] & 0xFF:
            raise HeadError("a late sum has another output than it is said to have")
        at = at + 1 if one["that output"] & 256 else 0
    return Filter(taps, found["start"], gain, found["scale"], 0, None, tuple(accumulators), shift)


def dense(head: str, words: Words, outputs: int, taps: int) -> Iterator[Filter]:
    """Of four outputs after four, the last ones perhaps six; an odd one's accumulator is 256 times
    its sum, but where rows are long, as the head then says. Taps are (tap, 0, 0)."""
    front = said(r"weights: (.*?)\. Then", head)[1].split("; ")
    numbers = dict(zip([part for part in front if "addend" not in part], iter(words.next, None),
                       strict=False))  # fmt: skip
    common = next((part for part in front if "addend" in part), "")
    if common and common != "even outputs' scale and addend, odd ones'":
        raise HeadError(f"no words are known as {common!r}")
    shared = words.several(4) if common else []
    widened = numbers.get("bytes of a widened row, to a whole block")
    row = numbers["bytes of a row, to a whole block"] if widened is None else widened // 2
    blocks = row // 8
    order = [int(n) for n in said(r"taps in the order ([\d ]+)", head)[1].split()]
    starts = said(r"a, b, c and d: (.*?); of each eight taps", head)[1].split("; ")
    halves = said(r"in halves (256 w.*?), four words, taps", head)[1].split(", four words, ")
    own = re.search(r"((?:(?:scale|addend)\[[a-d]\](?:, )?){8})", head)
    six = re.search(
        r"last group has two outputs more, e and f, and each (\w+) taps of all six", head
    )
    has_others = six is not None
    fours = (outputs + 3) // 4 - 2 * has_others
    counted = 4 * fours if has_others else outputs
    if numbers["count of outputs" + " without the last group's" * has_others] != counted:
        raise HeadError("the count of outputs is not what the head says it is")

    def group(first: int, blocks: int, order: list[int], others: bool) -> Iterator[Filter]:
        """Four outputs, of which blocks have so many taps, or these and two others."""
        parts = ["", "+"] if others else [""]
        begins = {n: _starts(starts[: 2 if n else 4], words) for n in parts}
        if any("a" not in found or "b" not in found for found in begins.values()):
            raise HeadError("the last outputs are not the first of a group")
        weights: dict[str, dict[Tap, int]] = {of + n: {} for n in parts for of in "abcd"}
        for block in range(blocks):
            for n in parts:
                for of, tap, weight in _block(halves[: 1 if n else 2], order, words):
                    weights[of[2] + n][len(order) * block + tap, 0, 0] = weight
        for n in parts:
            rounding = _own(own[1].split(", "), words) if own else {
                of: shared[:2] if of in "ac" else shared[2:] for of in "abcd"}  # fmt: skip
            for at, of in enumerate("abcd", first + 4 * bool(n)):
                if at < outputs:
                    yield _output(of, weights[of + n], begins[n][of], rounding, taps)

    for number in range(fours):
        yield from group(4 * number, blocks, order, False)
    if six is not None:
        at_once = {"four": 4, "eight": 8}[six[1]]
        yield from group(4 * fours, 8 * blocks // at_once, order[:at_once], True)
    words.end()


def _starts(terms: Sequence[str], words: Words) -> dict[str, tuple[int, int]]:
    """What the accumulators of outputs begin with, and how many times the sum they are."""
    found: dict[str, tuple[int, int]] = {}
    for term in terms:
        parts = re.fullmatch(r"(?:256 start\[(\w+)\] \+ )?start\[(\w+)\]", term)
        if parts is None:
            raise HeadError(f"no words are known as {term!r}")
        if parts[1] is None:
            found[parts[2]] = words.next(), 1
        elif parts[2] not in found:
            raise HeadError(f"{term} comes before start[{parts[2]}]")
        else:
            found[parts[1]] = words.next() - found[parts[2]][0], 256
    return found


def _own(names: Sequence[str], words: Words) -> dict[str, list[int]]:
    """scale and addend of each; or, of four that no integers round, their factors."""
    values = words.several(8)
    if values[0] == 0:
        return {of: [0, bits] for of, bits in zip("abcd", values[1:5], strict=True)}
    by_name = dict(zip(names, values, strict=True))
    return {of: [by_name[f"scale[{of}]"], by_name[f"addend[{of}]"]] for of in "abcd"}


def _output(
    of: str, weights: dict[Tap, int], start: tuple[int, int],
    rounding: dict[str, list[int]], taps: int,
) -> Filter:  # fmt: skip
    begin, lanes = start
    if any(weight for (tap, *_), weight in weights.items() if tap >= taps):
        raise HeadError("behind the taps of a row there are weights")
    kept = {tap: weight for tap, weight in weights.items() if tap[0] < taps}
    scale, addend = rounding[of]
    if scale == 0:
        return Filter(kept, begin, lanes, factor=real(addend))
    return Filter(kept, begin, lanes, scale, addend)


def lstm(
    head: str, words: Words, inputs: int, hidden: int
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Weights and starts by gate and source ("input x", "forget h"): [unit, tap] and [unit]."""
    sources = said(r"of each unit, for (x) and again for (h), what", head).groups()
    terms = said(r"what the sums begin with: (.*?); of each four taps", head)[1].split("; ")
    halves = said(r"in halves (256 .*?), two words, taps", head)[1].split(", two words, ")
    order = [int(n) for n in said(r"taps in the order ([\d ]+)", head)[1].split()]
    sizes = {"x": inputs, "h": hidden}
    blocks = {source: (size + 3) // 4 for source, size in sizes.items()}
    of_unit = sum(len(terms) + 4 * count for count in blocks.values())
    said("weights: sigmoid's table, a halfword an entry; then of each unit", head)
    words.several(words.left - hidden * of_unit)
    gates = [term.split()[-3 if "256" in term else 0] for term in terms]
    weights = {f"{gate} {source}": np.zeros((hidden, 4 * blocks[source]), int)
               for gate in gates for source in sources}  # fmt: skip
    starts = {name: np.zeros(hidden, int) for name in weights}
    for unit in range(hidden):
        for source in sources:
            begins = _starts([re.sub(r"\b([a-z]+)", r"start[\1]", term) for term in terms], words)
            for gate, (begin, lanes) in begins.items():
                starts[f"{gate} {source}"][unit] = begin // lanes
                assert begin % lanes == 0
            for block in range(blocks[source]):
                for gate, tap, weight in _block(halves, order, words):
                    weights[f"{gate} {source}"][unit, 4 * block + tap] = weight
    return {name: w[:, : sizes[name[-1]]] for name, w in weights.items()}, starts


def _block(
    halves: Sequence[str], order: Sequence[int], words: Words
) -> Iterator[tuple[str, int, int]]:
    """Of two outputs after two, which output, its tap in the block, and the weight of it."""
    for pair in halves:
        odd, even = said(r"^256 (\S+) \+ (\S+)$", pair).groups()
        for at in range(0, len(order), 2):
            for tap, half in zip(order[at : at + 2], words.halves(), strict=True):
                low = signed(half, 8)
                yield even, tap, low
                yield odd, tap, (half - low) >> 8


def constants(head: str, words: Words) -> dict[str, int]:
    """Those of a formula, by the names that it has for them."""
    found: dict[str, int] = {}
    for name in said(r"constants: (.*?)\.(?: |$)", head)[1].split("; "):
        if name == "the loops'":
            words.several(words.left)
        elif twice := re.fullmatch(r"(-?)(\w+), (?:twice in a word|the same)", name):
            low, high = words.halves()
            if low != high:
                raise HeadError("what is said to be twice in a word is not")
            found[twice[2]] = -low if twice[1] else low
        else:
            found[name] = words.next()
    if found.get("nothing"):
        raise HeadError("a word that is said to be nothing is not 0")
    words.end()
    return found

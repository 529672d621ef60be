"""The memory of a network over time, laid out for a picture: time runs down, addresses across."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mcu_deploy.report.model import LayerReport, NetworkReport
from mcu_deploy.report.places import BufferReport

# Heights of a row in pixels, by how many rows there are at most.
_HEIGHTS = ((48, 20), (120, 14), (10**9, 6))
_LABELLED = 14  # rows lower than this have no room for a name
_TICKS = 5
_MOST_POSITIONS = 100_000
_MOST_BYTES = 2**40
LONGEST_NAME = 21  # letters of a row's label


@dataclass(frozen=True)
class Box:
    """A buffer, as long as it lies in one place.

    label: the layer whose output it holds, or what it is; holds: all of these; kind: "input",
    "output", "tensor", "scratch" or "persistent". first, last: rows. x, width: in percent.
    """

    label: str
    holds: str
    kind: str
    bytes: int
    offset: int
    first: int
    last: int
    since: str
    until: str
    x: float
    width: float

    @property
    def end(self) -> int:
        return self.offset + self.bytes

    @property
    def is_roomy(self) -> bool:
        """Whether its label has room in a picture 560 pixels wide."""
        return 5.6 * self.width > 7 * len(f"{self.label}  {self.bytes:,}") + 12


@dataclass(frozen=True)
class Moment:
    """A moment of a run. layer: the index of the layer that works then; used: bytes of the pool
    that hold something, each counted once; is_named: whether there is room for the label."""

    label: str
    layer: int | None
    used: int
    is_peak: bool
    is_named: bool


@dataclass(frozen=True)
class Unplaced:
    """A buffer without a fixed place. where: who places it."""

    label: str
    bytes: int
    since: str
    until: str
    where: str


@dataclass(frozen=True)
class Arena:
    """A pool of a network over time.

    scale: the bytes that the picture is wide. peak: the most bytes that are in use at a moment;
    peak_row: the first such. height: of a row, in pixels. overlaps: whether buffers meet that live
    at one time. ticks: (bytes, percent).
    """

    pool: str
    memory: str
    bytes: int
    scale: int
    peak: int
    peak_row: int
    height: int
    overlaps: bool
    rows: tuple[Moment, ...]
    boxes: tuple[Box, ...]
    ticks: tuple[tuple[int, float], ...]

    @property
    def names_width(self) -> int:
        """The room for the longest label, in pixels."""
        longest = max(len(row.label) for row in self.rows if row.is_named)
        return 8 + 7 * min(LONGEST_NAME, longest)

    @property
    def is_labelled(self) -> bool:
        """Whether a row has room for its name."""
        return self.height >= _LABELLED


def arenas(network: NetworkReport, scale: int = 0) -> tuple[Arena, ...]:
    """A picture of each pool that holds something. scale: the least bytes that it is wide.

    Raises ValueError for buffers that no plan has.
    """
    _require_drawable(network)
    moments = _Moments(network)
    found = []
    for pool in network.pools:
        lying = [b for b in network.buffers if b.pool == pool.name and b.offset is not None]
        if lying:
            found.append(_arena(moments, pool.name, pool.memory, pool.bytes, lying, scale))
    return tuple(found)


def unplaced(network: NetworkReport) -> tuple[Unplaced, ...]:
    """The buffers that lie at the caller's, or where a memory manager puts them."""
    moments = _Moments(network)
    return tuple(
        Unplaced(moments.label(b)[0], b.bytes, *moments.life(b.first, b.last), b.pool)
        for b in network.buffers
        if b.offset is None
    )


def _require_drawable(network: NetworkReport) -> None:
    """A report is read from a file, which says whatever it says."""
    if not 0 <= network.positions <= _MOST_POSITIONS:
        raise ValueError(f"a run of {network.positions} positions")
    sizes = {pool.name: pool.bytes for pool in network.pools}
    for b in network.buffers:
        if not -1 <= b.first <= b.last <= network.positions:
            raise ValueError(f"buffer {b.id} lives from {b.first} to {b.last}")
        for offset in (b.offset, *(move.offset for move in b.moves)):
            if offset is not None and not 0 <= offset <= offset + b.bytes <= sizes.get(b.pool, 0):
                raise ValueError(f"buffer {b.id} lies outside of its pool")
    if max(sizes.values(), default=0) > _MOST_BYTES:
        raise ValueError("a pool is larger than any memory")


class _Moments:
    """The rows of a network's pictures, and what its buffers are called."""

    def __init__(self, network: NetworkReport) -> None:
        self.network = network
        self._at = {layer.position: layer for layer in network.layers}
        self._results = _results(network)
        self.first = min((b.first for b in network.buffers), default=0)
        self.last = max((b.last for b in network.buffers), default=0)

    @property
    def positions(self) -> range:
        return range(self.first, self.last + 1)

    def layer(self, position: int) -> LayerReport | None:
        return self._at.get(position)

    def name(self, position: int) -> str:
        if position < 0:
            return "before"
        if position >= self.network.positions:
            return "after"
        layer = self._at.get(position)
        return "between" if layer is None else layer.short

    def life(self, first: int, last: int) -> tuple[str, str]:
        return self.name(first), self.name(last)

    def label(self, buffer: BufferReport) -> tuple[str, str]:
        """What a buffer is called, and all that it holds in the course of a run."""
        results = self._results.get(buffer.id, [])
        if buffer.holds.startswith("scratch of "):
            return "scratch", buffer.holds
        if not results:
            name = buffer.holds.partition(";")[0]
            return name, name
        if buffer.first < 0:
            return buffer.holds.partition(";")[0], ", ".join([buffer.holds, *results])
        names = results[0] if len(results) == 1 else f"{results[0]} … {results[-1]}"
        return names, f"the output of {', '.join(results)}"

    def kind(self, buffer: BufferReport) -> str:
        if buffer.persistent:
            return "persistent"
        if buffer.holds.startswith("scratch of ") or (
            buffer.first == buffer.last and buffer.id not in self._results
        ):
            return "scratch"
        if buffer.first < 0:
            return "input"
        return "output" if buffer.last >= self.network.positions else "tensor"


def _results(network: NetworkReport) -> dict[int, list[str]]:
    """By buffer the layers whose outputs lie in it."""
    found: dict[int, list[str]] = {}
    for layer in network.layers:
        for output in layer.outputs:
            holders = [
                b
                for b in network.buffers
                if b.pool == output.pool
                and b.first <= layer.position <= b.last
                and not b.holds.startswith("scratch of ")
                and _contains(b, output.offset, output.bytes, layer.position)
            ]
            # where an output overwrites an input, that too may reach over it
            new = [b for b in holders if b.first == layer.position] or holders
            named = [b for b in new if b.holds == output.name] or new
            if named:
                names = found.setdefault(min(named, key=lambda b: b.bytes).id, [])
                names += [layer.short] if layer.short not in names else []
    return found


def _contains(buffer: BufferReport, offset: int | None, size: int, position: int) -> bool:
    if buffer.offset is None or offset is None:
        return buffer.offset is None and offset is None and buffer.bytes == size
    start = buffer.offset
    for move in buffer.moves:
        start = move.offset if move.position <= position else start
    return start <= offset and offset + size <= start + buffer.bytes


def _pieces(buffer: BufferReport) -> list[tuple[int, int, int]]:
    """(first position, last position, offset), one for each place."""
    assert buffer.offset is not None
    starts = {buffer.first: buffer.offset}
    starts |= {m.position: m.offset for m in buffer.moves if buffer.first <= m.position}
    since = sorted(starts)
    until = [*(s - 1 for s in since[1:]), buffer.last]
    return [(s, u, starts[s]) for s, u in zip(since, until, strict=True) if s <= u]


def _arena(
    moments: _Moments, pool: str, memory: str, size: int, buffers: Sequence[BufferReport],
    scale: int,
) -> Arena:  # fmt: skip
    pieces = [(b, *piece) for b in buffers for piece in _pieces(b)]
    used = [
        _union([(o, o + b.bytes) for b, first, last, o in pieces if first <= at <= last])
        for at in moments.positions
    ]
    wide = max(scale, size, 1)
    boxes = []
    for b, first, last, offset in sorted(pieces, key=lambda p: (p[1], p[3])):
        label, holds = moments.label(b)
        boxes.append(
            Box(
                label, holds, moments.kind(b), b.bytes, offset, first - moments.first,
                last - moments.first, *moments.life(first, last), 100 * offset / wide,
                100 * b.bytes / wide,
            )
        )  # fmt: skip
    peak = used.index(max(used))
    height = next(height for most, height in _HEIGHTS if len(used) <= most)
    rows = []
    for row, (at, bytes_) in enumerate(zip(moments.positions, used, strict=True)):
        layer = moments.layer(at)
        index = None if layer is None else layer.index
        is_named = height >= _LABELLED or row == peak
        rows.append(Moment(moments.name(at), index, bytes_, row == peak, is_named))
    return Arena(
        pool,
        memory,
        size,
        wide,
        used[peak],
        peak,
        height,
        _overlap(boxes),
        tuple(rows),
        tuple(boxes),
        ticks(wide),
    )


def _overlap(boxes: Sequence[Box]) -> bool:
    return any(
        a.first <= b.last and b.first <= a.last and a.offset < b.end and b.offset < a.end
        for at, a in enumerate(boxes)
        for b in boxes[:at]
    )


def _union(stretches: Sequence[tuple[int, int]]) -> int:
    """The bytes that are in one of these stretches."""
    total = reached = 0
    for start, end in sorted(stretches):
        total += max(0, end - max(start, reached))
        reached = max(reached, end)
    return total


def ticks(scale: int) -> tuple[tuple[int, float], ...]:
    """Round addresses and their places in percent, at most five, the last well within."""
    step = 1
    while scale // step >= _TICKS:
        step *= 2
    return tuple((at, 100 * at / scale) for at in range(0, scale, step) if at <= 0.92 * scale)

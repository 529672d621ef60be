"""The values of report.json that say what lies where: sizes and offsets in bytes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TensorReport:
    """A tensor and its place between runs, or behind a layer.

    scale, zero_point: the first, None for a tensor that is not quantized. offset: in its pool; None
    where it lies in the caller's buffer, or wherever it is put at run time.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    scale: float | None
    zero_point: int | None
    pool: str
    offset: int | None
    bytes: int


@dataclass(frozen=True)
class OperandReport:
    """What a layer reads from memory, and where that lies then."""

    name: str
    pool: str
    offset: int | None
    bytes: int


@dataclass(frozen=True)
class ScratchReport:
    """Memory that a layer has to itself."""

    pool: str
    offset: int | None
    bytes: int


@dataclass(frozen=True)
class MoveReport:
    """From this position of the run on a buffer lies at another offset of its pool."""

    position: int
    offset: int


@dataclass(frozen=True)
class BufferReport:
    """A buffer: where it lies, from which position of the run to which, and what it holds.

    first -1: from before the run; last the number of positions: to behind it. A buffer that moves
    is listed with its first place, and where it goes from there.
    """

    id: int
    pool: str
    offset: int | None
    bytes: int
    first: int
    last: int
    persistent: bool
    holds: str
    moves: tuple[MoveReport, ...]


@dataclass(frozen=True)
class PoolReport:
    """A pool of a network. memory: the board's that it lies in."""

    name: str
    bytes: int
    memory: str

"""Bytes of a pool, as the checker sees them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Stretch:
    """Bytes [start, end) of a pool, or of the buffer behind a pointer of the table."""

    space: tuple[str, int]
    start: int
    end: int

    def meets(self, other: Stretch) -> bool:
        """Whether they have a byte in common."""
        return self.space == other.space and self.start < other.end and other.start < self.end

"""The alignment of what a plan places."""

from __future__ import annotations

ALIGNMENT = 16  # of a pool or a block, and of every buffer in it, in bytes


def aligned(size: int, alignment: int = ALIGNMENT) -> int:
    """`size` rounded up."""
    return -(-size // alignment) * alignment

"""Strategies: ways to find places for buffers.

A strategy is a file: a module of this package with `look: Strategy`, its NAME, a RANK (lower ones
are tried before), and SHARE, the part of the whole effort that it may spend: 0 for those that only
sort and place, which always run.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

from mcu_deploy.discovery import modules
from mcu_deploy.plan.placement.model import Strategy


@dataclass(frozen=True)
class Entry:
    """A strategy that was found."""

    name: str
    rank: int
    share: float
    look: Strategy


@functools.cache
def by_rank() -> tuple[Entry, ...]:
    """All strategies, in the order in which they are tried."""
    found = [
        Entry(module.NAME, module.RANK, module.SHARE, module.look)
        for _, module in modules(__name__)
        if hasattr(module, "NAME")
    ]
    return tuple(sorted(found, key=lambda entry: (entry.rank, entry.name)))

"""Models of the memory managers of crt/: what `--memory plain|mru|bestfit` does at run time.

A strategy is a file: a module of this package with `NAME: str` and `CONFIGURATIONS`, the ways to
set its manager up, is found by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mcu_deploy.discovery import named
from mcu_deploy.options import require_word
from mcu_deploy.plan.managers.interface import (
    MANAGER_WORDS,
    WORD,
    Allocate,
    Configuration,
    EntryPoints,
    Free,
    Manager,
    Request,
    Trace,
    simulate,
    smallest_block,
)

__all__ = [
    "MANAGER_WORDS",
    "Allocate",
    "Configuration",
    "EntryPoints",
    "Fitted",
    "Free",
    "Manager",
    "Request",
    "Trace",
    "configurations",
    "fit",
    "names",
    "simulate",
    "smallest_block",
]


@dataclass(frozen=True)
class Fitted:
    """Sequences of requests that succeed: in which block, and what the manager answers to each."""

    configuration: Configuration
    bytes: int
    traces: tuple[Trace, ...]

    @property
    def peak(self) -> int:
        """The most that the manager counts as used, in any sequence."""
        return max((trace.peak for trace in self.traces), default=0)


def names() -> tuple[str, ...]:
    """The names of all strategies."""
    return tuple(named(__name__))


def configurations(strategy: str) -> tuple[Configuration, ...]:
    """The ways to set up a strategy's manager. Raises UsageError for a name that has none."""
    require_word("--memory", strategy, names())
    found: tuple[Configuration, ...] = named(__name__)[strategy].CONFIGURATIONS
    return found


def fit(strategy: str, sequences: Sequence[Sequence[Request]], word: int = WORD) -> Fitted:
    """The configuration of a strategy that serves each of the sequences in the least block.

    Every sequence begins with a fresh manager. Of configurations that need as little the last one:
    larger pages are found faster. The block starts at a multiple of `block_alignment`.
    """
    sized = [(smallest_block(c, sequences, word), c) for c in configurations(strategy)]
    size = min(bytes_ for bytes_, _ in sized)
    configuration = next(c for bytes_, c in reversed(sized) if bytes_ == size)
    traces = []
    for requests in sequences:
        manager = configuration.manager(size, word)
        assert manager is not None
        traces.append(simulate(manager, requests))
    return Fitted(configuration, size, tuple(traces))

"""Strategies: which of its candidates gets each node.

A strategy is a file: a module of this package with `NAME: str` and `choose: Strategy` is found by
itself.
"""

from __future__ import annotations

from mcu_deploy.choose.model import Strategy
from mcu_deploy.discovery import named
from mcu_deploy.options import require_word


def names() -> tuple[str, ...]:
    """The names of all strategies."""
    return tuple(named(__name__))


def find(name: str) -> Strategy:
    """The strategy of this name. Raises UsageError that lists those that there are."""
    require_word("--strategy", name, names())
    strategy: Strategy = named(__name__)[name].choose
    return strategy

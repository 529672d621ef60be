"""Strategies: which of its candidates gets each node.

A strategy is a file: a module of this package with `NAME: str` and `choose: Strategy` is found by
itself.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping

from mcu_deploy.discovery import modules
from mcu_deploy.errors import UsageError
from mcu_deploy.partition.model import Strategy


@functools.cache
def _registry() -> Mapping[str, Strategy]:
    found: dict[str, Strategy] = {}
    for _, module in modules(__name__):
        if hasattr(module, "NAME"):
            found[module.NAME] = module.choose
    return found


def names() -> tuple[str, ...]:
    """The names of all strategies."""
    return tuple(sorted(_registry()))


def find(name: str) -> Strategy:
    """The strategy of this name. Raises UsageError that lists those that there are."""
    strategy = _registry().get(name)
    if strategy is None:
        raise UsageError(
            f"There is no partitioning strategy {name!r}; choose one of: {', '.join(names())}."
        )
    return strategy

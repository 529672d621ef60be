"""Strategies: by which candidates and parts the graph is covered.

A strategy is a file: a module of this package with `NAME: str` and `choose: Strategy` is found by
itself; so is a `Strategy` that an installed package names in the entry point group
`mcu_deploy.strategies`.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points

from mcu_deploy.choose.model import Strategy
from mcu_deploy.discovery import named
from mcu_deploy.errors import UsageError, one_line
from mcu_deploy.options.checked import require_word

GROUP = "mcu_deploy.strategies"


def names() -> tuple[str, ...]:
    """The names of all strategies, ours first."""
    return tuple(dict.fromkeys((*named(__name__), *_installed())))


def find(name: str) -> Strategy:
    """The strategy of this name. Raises UsageError that lists those that there are, or says why an
    installed one cannot be used."""
    require_word("--strategy", name, names())
    ours = named(__name__)
    if name in ours:
        strategy: Strategy = ours[name].choose
        return strategy
    entry = _installed()[name]
    try:
        strategy = entry.load()
    except Exception as error:
        raise UsageError(
            f"--strategy {name}: {entry.value}, which an installed package names, cannot be "
            f"loaded: {one_line(f'{type(error).__name__}: {error}')}. Mend or remove the package."
        ) from error
    return strategy


@functools.cache
def _installed() -> Mapping[str, EntryPoint]:
    return {entry.name: entry for entry in sorted(entry_points(group=GROUP))}

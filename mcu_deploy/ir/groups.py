"""Groups of what belongs together."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TypeVar

_Item = TypeVar("_Item", bound=Hashable)


def connected(items: Iterable[_Item], pairs: Iterable[tuple[_Item, _Item]]) -> list[list[_Item]]:
    """The items in groups of those that pairs lead to from one another; the groups, and the items
    in each, in the order in which the items are given."""
    up = {item: item for item in items}

    def root(item: _Item) -> _Item:
        while up[item] != item:
            up[item] = up[up[item]]  # so that the next way is shorter
            item = up[item]
        return item

    for one, other in pairs:
        up[root(one)] = root(other)
    groups: dict[_Item, list[_Item]] = {}
    for item in up:
        groups.setdefault(root(item), []).append(item)
    return [*groups.values()]

"""First fit, the largest buffer first; among equals the one with more neighbours, or the later."""

from __future__ import annotations

from mcu_deploy.plan.placement.first_fit import best_order
from mcu_deploy.plan.placement.model import Found, Search

NAME, RANK, SHARE = "by-size", 1, 0.0


def look(search: Search) -> Found:
    sizes, bans = search.instance.sizes, search.instance.bans
    return best_order(
        search.instance,
        [
            lambda i: (-sizes[i], i),
            lambda i: (-sizes[i], -i),
            lambda i: (-sizes[i], -len(bans[i]), i),
        ],
    )

"""First fit, those in most conflict first: by number of neighbours, by their bytes, by area."""

from __future__ import annotations

from mcu_deploy.plan.placement.first_fit import best_order
from mcu_deploy.plan.placement.model import Found, Search

NAME, RANK, SHARE = "by-conflict", 2, 0.0


def look(search: Search) -> Found:
    sizes, bans = search.instance.sizes, search.instance.bans
    near = [sum(sizes[other] for other, _, _ in ban) for ban in bans]
    return best_order(
        search.instance,
        [
            lambda i: (-len(bans[i]), -sizes[i], i),
            lambda i: (-near[i], -sizes[i], i),
            # A buffer with many neighbours lives long: bytes times time.
            lambda i: (-len(bans[i]) * sizes[i], i),
        ],
    )

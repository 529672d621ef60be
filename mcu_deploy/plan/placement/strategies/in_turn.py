"""First fit in the order of the buffers' numbers, which is that of their lives, and backwards.

Backwards is the better way where outputs overlap inputs: an output starts below its input, so it
must lie before the input looks for its place.
"""

from __future__ import annotations

from mcu_deploy.plan.placement.first_fit import best_order
from mcu_deploy.plan.placement.model import Found, Search

NAME, RANK, SHARE = "first-fit", 0, 0.0


def look(search: Search) -> Found:
    return best_order(search.instance, [lambda i: i, lambda i: -i])

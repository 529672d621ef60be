"""Models of dozens of layers that have nothing to do with each other: any order of them will do,
and any place of their tensors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import pytest

from mcu_deploy.plan import planner, sequence
from mcu_deploy.plan.ordering import best_order
from mcu_deploy.plan.placement import solve

_EFFORT = 1000


@contextmanager
def any_order() -> Iterator[None]:
    """Here the best order is hardly searched for, nor are the best places: that takes longer than
    all the rest."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sequence, "best_order", partial(best_order, effort=_EFFORT))
        patch.setattr(planner, "solve", partial(solve, effort=_EFFORT))
        yield

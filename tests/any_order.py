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


def search_little(patch: pytest.MonkeyPatch) -> None:
    """From here on the best order is hardly searched for, nor are the best places: that takes
    longer than all the rest."""
    patch.setattr(sequence, "best_order", partial(best_order, effort=_EFFORT))
    patch.setattr(planner, "solve", partial(solve, effort=_EFFORT))


@contextmanager
def any_order() -> Iterator[None]:
    """`search_little` in here."""
    with pytest.MonkeyPatch.context() as patch:
        search_little(patch)
        yield

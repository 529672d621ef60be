"""Models of dozens of layers that have nothing to do with each other: any order of them will do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import pytest

from mcu_deploy.plan import sequence
from mcu_deploy.plan.ordering import best_order

_EFFORT = 1000


@contextmanager
def any_order() -> Iterator[None]:
    """Here the best order is hardly searched for: that takes longer than all the rest."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sequence, "best_order", partial(best_order, effort=_EFFORT))
        yield

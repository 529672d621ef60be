"""What several tests of devices share."""

from __future__ import annotations

from functools import partial

import pytest

from mcu_deploy.plan import sequence
from mcu_deploy.plan.ordering import best_order


@pytest.fixture
def any_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Dozens of layers that have nothing to do with each other can run in any order: the search for
    the best one takes longer than all the rest."""
    monkeypatch.setattr(sequence, "best_order", partial(best_order, effort=1000))

"""What several tests of devices share."""

from __future__ import annotations

from collections.abc import Iterator

import any_order as unordered
import pytest


@pytest.fixture
def any_order() -> Iterator[None]:
    """Layers that have nothing to do with each other run in any order."""
    with unordered.any_order():
        yield

"""What several tests of devices share."""

from __future__ import annotations

import pytest
from any_order import search_little


@pytest.fixture
def any_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Layers that have nothing to do with each other run in any order. By the test's own
    `monkeypatch`: what a test sets in the same place is taken back before this, not after it."""
    search_little(monkeypatch)

"""What the sample of these tests leaves to the whole matrix."""

from __future__ import annotations

import pytest
from operators import lab


@pytest.fixture(autouse=True)
def _sample(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands of small models, without optimisation of their C."""
    if not request.config.getoption("--all"):
        monkeypatch.setattr(lab, "LEVEL", "-O0")

"""What the tests of operators do without, which have thousands of small models each."""

from __future__ import annotations

import pytest
from operators import lab


@pytest.fixture(autouse=True)
def _many(request: pytest.FixtureRequest, unforked: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """No process for each model, and in the sample no optimisation of their C."""
    if not request.config.getoption("--all"):
        monkeypatch.setattr(lab, "LEVEL", "-O0")

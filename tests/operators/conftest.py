"""What the sample of these tests leaves to the whole matrix."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import pytest
from operators import lab

from mcu_deploy.processes import contained

T = TypeVar("T")


@pytest.fixture(autouse=True)
def _sample(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands of small models that are no danger: without a process for each to read it in, and
    without optimisation of their C."""
    if not request.config.getoption("--all"):
        monkeypatch.setattr(contained, "call", _call)
        monkeypatch.setattr(lab, "LEVEL", "-O0")


def _call(function: Callable[..., T], *arguments: Any, **_limits: int) -> T:
    return function(*arguments)

"""Functions in processes beside us: the order of what they return, their errors, what they log."""

from __future__ import annotations

import logging
import multiprocessing

import pytest

from mcu_deploy.processes.workers import in_processes


def test_results_come_in_order_and_warnings_come_along(caplog: pytest.LogCaptureFixture) -> None:
    assert [*in_processes(abs, [-3, 2, -1])] == [3, 2, 1]
    assert [*in_processes(logging.getLogger("worker").warning, ["one", "two"])] == [None, None]
    assert sorted(caplog.messages) == ["one", "two"]


def test_an_error_is_the_callers_and_nothing_is_left() -> None:
    before = multiprocessing.active_children()
    with pytest.raises(ValueError, match="invalid literal"):
        [*in_processes(int, ["1", "x", "3"])]
    assert multiprocessing.active_children() == before

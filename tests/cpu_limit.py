"""A limit in the processor's time of this process: what never ends fails, on a busy machine too."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def cpu_limit(seconds: float = 60.0) -> Iterator[None]:
    """Raises AssertionError in what takes longer than this, not counting time that others get."""

    def end(number: int, frame: FrameType | None) -> None:
        raise AssertionError(f"took more than {seconds:g} seconds of processor time")

    before = signal.signal(signal.SIGVTALRM, end)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)

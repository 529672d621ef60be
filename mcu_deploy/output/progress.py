"""What a long call is doing and how far it is, for whoever wants to show it.

The library tells; a program that shows it listens around its calls. Nothing is passed through the
functions between, and where nobody listens telling costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

# What is being done, how much of it is done, and of how much; None: that is not known.
Listener = Callable[[str, int, int | None], None]
T = TypeVar("T")

_listener: ContextVar[Listener | None] = ContextVar("_listener", default=None)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Tells it what the calls inside do, in this thread."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def tell(what: str, done: int = 0, total: int | None = None) -> None:
    listener = _listener.get()
    if listener is not None:
        listener(what, done, total)


def counted(what: str, items: Sequence[T]) -> Iterator[T]:
    """The items, each told of when it is asked for, and at the end that all are done."""
    for done, item in enumerate(items):
        tell(what, done, len(items))
        yield item
    tell(what, len(items), len(items))

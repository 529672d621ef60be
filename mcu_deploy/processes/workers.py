"""Python functions at work in processes beside us, some at a time."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from logging.handlers import QueueHandler, QueueListener
from typing import Any, TypeVar

A = TypeVar("A")
T = TypeVar("T")


def in_processes(function: Callable[[A], T], items: Sequence[A]) -> Iterator[T]:
    """What a function of a module makes of each item, in the order of the items.

    As many are at work as this process may use processors; one alone is done here. Items and
    results must be something that pickle takes. Not threads: compiling takes Python's lock. When
    the caller stops or is interrupted, so are the processes, and what they began is taken back.
    What they log is logged here.
    """
    count = min(len(items), len(os.sched_getaffinity(0)))
    if count < 2:
        yield from map(function, items)
        return
    others = {*multiprocessing.active_children()}
    context = multiprocessing.get_context("spawn")
    logged = context.Queue()
    listener = QueueListener(logged, _Here())
    pool = ProcessPoolExecutor(count, context, _begin, (logged,))
    listener.start()
    try:
        yield from pool.map(function, items)
    except BaseException:
        for process in multiprocessing.active_children():
            if process not in others:
                process.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)
        listener.stop()


class _Here(logging.Handler):
    """Logs again what a worker has logged."""

    def emit(self, record: logging.LogRecord) -> None:
        logging.getLogger(record.name).handle(record)


def _begin(logged: Any) -> None:
    """In a worker: Ctrl-C is the parent's, who then ends us, as an error would."""
    logging.getLogger().addHandler(QueueHandler(logged))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))

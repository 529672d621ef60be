"""Python functions at work in processes beside us, some at a time."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import TypeVar

A = TypeVar("A")
T = TypeVar("T")


def in_processes(function: Callable[[A], T], items: Sequence[A]) -> Iterator[T]:
    """What a function of a module makes of each item, in the order of the items.

    As many are at work as this process may use processors; one alone is done here. Items and
    results must be something that pickle takes. Not threads: compiling takes Python's lock, and
    reads models in forked processes, which must not happen while another thread computes. When the
    caller stops or is interrupted, so are the processes, and what they began is taken back.
    """
    count = min(len(items), len(os.sched_getaffinity(0)))
    if count < 2:
        yield from map(function, items)
        return
    others = {*multiprocessing.active_children()}
    pool = ProcessPoolExecutor(count, multiprocessing.get_context("spawn"), _begin)
    try:
        yield from pool.map(function, items)
    except BaseException:
        for process in multiprocessing.active_children():
            if process not in others:
                process.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _begin() -> None:
    """In a worker: Ctrl-C is the parent's, who then ends us, as an error would."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))

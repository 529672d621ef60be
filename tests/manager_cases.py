"""Sequences of requests for memory managers, and the managers of crt/ themselves to ask."""

from __future__ import annotations

import ctypes
import random
import subprocess
from collections.abc import Sequence
from pathlib import Path

from hypothesis import strategies as st

from mcu_deploy.plan.managers import (
    Allocate,
    BlockConfiguration,
    Configuration,
    Free,
    PageConfiguration,
    Request,
)

CRT = Path(__file__).resolve().parents[1] / "crt"
SOURCES = (CRT / "src" / "memory_page.c", CRT / "src" / "memory_block.c")
LARGEST_BLOCK = 1 << 14

CONFIGURATIONS: tuple[Configuration, ...] = (
    BlockConfiguration(nearest=False),
    BlockConfiguration(nearest=True),
    PageConfiguration(4),
    PageConfiguration(5),
    PageConfiguration(7),
)


def requests_of(numbers: Sequence[tuple[int, int, int]]) -> list[Request]:
    """A sequence in which (slot, bytes, alignment) takes the slot, or gives it back if taken."""
    taken: set[int] = set()
    requests: list[Request] = []
    for slot, size, alignment in numbers:
        if slot in taken:
            taken.remove(slot)
            requests.append(Free(slot))
        else:
            taken.add(slot)
            requests.append(Allocate(slot, size, alignment))
    return requests


def sequences(alignments: Sequence[int] = (16,)) -> st.SearchStrategy[list[Request]]:
    """Sequences of up to 40 requests of up to 600 bytes."""
    size = st.one_of(st.integers(0, 600), st.sampled_from([16, 32, 48, 64, 128, 256]))
    number = st.tuples(st.integers(0, 7), size, st.sampled_from(alignments))
    return st.lists(number, max_size=40).map(requests_of)


def random_sequence(seed: int, length: int = 60) -> list[Request]:
    chosen = random.Random(seed)
    return requests_of(
        [
            (chosen.randrange(8), chosen.randrange(600), chosen.choice([1, 8, 16, 32]))
            for _ in range(length)
        ]
    )


class _Base(ctypes.Structure):
    """mcu_memory_manager_t."""


_ALLOCATE = ctypes.CFUNCTYPE(
    ctypes.c_int32,
    ctypes.POINTER(_Base),
    ctypes.c_size_t,
    ctypes.c_size_t,
    ctypes.POINTER(ctypes.c_void_p),
)
_FREE = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.POINTER(_Base), ctypes.c_void_p)
_Base._fields_ = [
    ("allocate", _ALLOCATE),
    ("free", _FREE),
    ("used", ctypes.c_size_t),
    ("peak", ctypes.c_size_t),
]


class RealManagers:
    """The C of crt/, compiled for this machine."""

    def __init__(self, folder: Path) -> None:
        library = folder / "managers.so"
        flags = ["-std=c99", "-O1", "-shared", "-fPIC", f"-I{CRT / 'include'}"]
        subprocess.run(["gcc", *flags, *SOURCES, "-o", library], check=True, timeout=60)
        self._library = ctypes.CDLL(str(library))
        self._memory = ctypes.create_string_buffer(LARGEST_BLOCK + 256)
        self._aligned = -(-ctypes.addressof(self._memory) // 64) * 64

    def run(
        self, configuration: Configuration, requests: Sequence[Request], size: int, start: int
    ) -> tuple[tuple[int, ...], int, int, bool] | None:
        """The fields of a Trace, from a block of `size` bytes at `start` behind a multiple of 64.

        None: the manager refuses the block.
        """
        assert start + size <= LARGEST_BLOCK + 128
        state = (ctypes.c_size_t * 16)()  # larger than either manager
        block = self._aligned + start
        if self._init(configuration, state, block, size) != 0:
            return None
        base = ctypes.cast(state, ctypes.POINTER(_Base))
        held: dict[int, int] = {}
        addresses = []
        complete = True
        for request in requests:
            if isinstance(request, Free):
                assert base.contents.free(base, held.pop(request.slot)) == 0
                continue
            out = ctypes.c_void_p()
            status = base.contents.allocate(
                base, request.bytes, request.alignment, ctypes.byref(out)
            )
            if status != 0:
                complete = False
                break
            assert out.value is not None
            held[request.slot] = out.value
            addresses.append(out.value - block)
        return tuple(addresses), base.contents.used, base.contents.peak, complete

    def _init(
        self, configuration: Configuration, state: ctypes.Array[ctypes.c_size_t], at: int, size: int
    ) -> int:
        block, whole = ctypes.c_void_p(at), ctypes.c_size_t(size)
        if isinstance(configuration, PageConfiguration):
            log2 = ctypes.c_uint32(configuration.page_size_log2)
            init = self._library.mcu_page_manager_init
            return int(init(state, block, whole, log2, None, ctypes.c_size_t(0)))
        assert isinstance(configuration, BlockConfiguration)
        nearest = configuration.nearest
        init = self._library.mcu_bestfit_init if nearest else self._library.mcu_mru_init
        return int(init(state, block, whole))

"""How a network uses a memory manager in a run: what it takes and gives back, and when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mcu_deploy.plan.alignment import aligned
from mcu_deploy.plan.managers import (
    MANAGER_WORDS,
    Allocate,
    Configuration,
    Free,
    ManagerTrace,
    Request,
    simulate,
)


@dataclass(frozen=True)
class Take:
    """A buffer gets `bytes` bytes, and the entry `slot` of the table points to them."""

    buffer: int
    slot: int
    bytes: int


@dataclass(frozen=True)
class Managed:
    """How a network uses a memory manager in each run.

    bytes: of the block, which lies at the begin of the workspace, the manager itself behind it.
    takes, gives: before and after which position of the program. peak: the most that the manager
    counts as used in any way of running the network.
    """

    strategy: str
    configuration: Configuration
    bytes: int
    peak: int
    takes: Mapping[int, tuple[Take, ...]]
    gives: Mapping[int, tuple[Take, ...]]
    word: int

    @property
    def manager(self) -> int:
        """Where in the workspace the manager lies."""
        return aligned(self.bytes)

    @property
    def end(self) -> int:
        """Where in the workspace the rest begins."""
        return self.manager + aligned(MANAGER_WORDS * self.word)

    @property
    def slots(self) -> dict[int, int]:
        """By buffer: its entry of the table of pointers."""
        return {take.buffer: take.slot for taken in self.takes.values() for take in taken}

    def addresses(self, positions: Sequence[int]) -> tuple[dict[int, int], int]:
        """By buffer its offset in the workspace in a run of these positions, and the peak there.

        Raises ValueError where the manager refuses a request.
        """
        manager = self.configuration.manager(self.bytes, self.word)
        requests = requests_of(self.takes, self.gives, positions)
        trace = ManagerTrace((), 0, 0, False, 0) if manager is None else simulate(manager, requests)
        if not trace.complete:
            raise ValueError(f"a block of {self.bytes} bytes does not serve all requests")
        taken = [request.slot for request in requests if isinstance(request, Allocate)]
        return dict(zip(taken, trace.addresses, strict=True)), trace.peak


def requests_of(
    takes: Mapping[int, Sequence[Take]],
    gives: Mapping[int, Sequence[Take]],
    positions: Sequence[int],
) -> list[Request]:
    """The requests of the positions, in their order."""
    requests: list[Request] = []
    for position in positions:
        requests += [Allocate(take.buffer, take.bytes) for take in takes.get(position, ())]
        requests += [Free(take.buffer) for take in gives.get(position, ())]
    return requests

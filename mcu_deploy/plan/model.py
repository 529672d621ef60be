"""The words of a plan: buffers with lifetimes, steps, and the offsets they got."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mcu_deploy.backends.interface import Region
from mcu_deploy.ir import EdgeId
from mcu_deploy.select import Choice

ALIGNMENT = 16  # of the workspace and of every buffer in it, in bytes


class PlanError(AssertionError):
    """A plan that would corrupt a tensor: a bug in planner or backend, never the user's fault."""


@dataclass(frozen=True)
class Tensor:
    """An edge that has memory: which buffer it lies in."""

    edge: EdgeId
    buffer: int
    bytes: int


@dataclass(frozen=True)
class Buffer:
    """A stretch of memory that is needed from step `first` to step `last`, both included.

    Several edges share a buffer where one is a view of the other, or is computed in its place.
    Step -1 is before the first layer (inputs), step len(steps) after the last (outputs).
    """

    id: int
    bytes: int
    first: int
    last: int
    label: str


@dataclass(frozen=True)
class Step:
    """A layer that is called: its choice, its scratch buffer, and those of its scratch regions."""

    index: int
    choice: Choice
    scratch: int | None
    regions: Mapping[Region, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Plan:
    """Every buffer's offset in the workspace, in bytes.

    tensors: where each edge that is computed lies. bytes: the workspace's size; lower_bound: the
    largest sum of buffers that live at one step, aligned, which no plan in this order can beat.
    private: the buffer that holds the backends' private regions, and each region's offset in it.
    """

    steps: tuple[Step, ...]
    buffers: tuple[Buffer, ...]
    tensors: Mapping[EdgeId, Tensor]
    offsets: Mapping[int, int]
    bytes: int
    lower_bound: int
    alignment: int = ALIGNMENT
    private: int | None = None
    private_offsets: Mapping[Region, int] = field(default_factory=dict)

    def offset(self, edge: EdgeId) -> int:
        """The offset of an edge's tensor in the workspace."""
        return self.offsets[self.tensors[edge].buffer]

    def private_offset(self, region: Region) -> int:
        """The offset of a private region in the workspace."""
        assert self.private is not None
        return self.offsets[self.private] + self.private_offsets[region]

    @property
    def private_place(self) -> tuple[int, int]:
        """Offset and bytes of all private regions together; (0, 0) where there is none."""
        if self.private is None:
            return 0, 0
        return self.offsets[self.private], self.buffers[self.private].bytes


def aligned(size: int, alignment: int = ALIGNMENT) -> int:
    """`size` rounded up."""
    return -(-size // alignment) * alignment

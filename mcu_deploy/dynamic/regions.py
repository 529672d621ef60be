"""The regions of memory that a dynamic backend asks for in one network."""

from __future__ import annotations

from mcu_deploy.backends.c_rules import require
from mcu_deploy.backends.workload import Region, RegionKind

_LARGEST = 1 << 30
_LONGEST_NAME = 64


class NetworkRegions:
    """The regions of one backend in one network: those of equal name and kind are one.

    Scratch regions of different sizes are different ones. `number`: what tells apart regions of
    equal name; None: nothing does.
    """

    def __init__(self, backend: str) -> None:
        self.backend = backend
        self._regions: dict[tuple[RegionKind, str, int, int | None], Region] = {}

    @property
    def all(self) -> tuple[Region, ...]:
        """In the order of asking."""
        return tuple(self._regions.values())

    def region(self, kind: RegionKind, name: str, size: int, number: int | None) -> Region:
        """The region of this name, a new one at first. Raises Nonsense for another size."""
        check_name(name, "a region's name")
        require(1 <= size <= _LARGEST, f"the size of the region {name} is {size}")
        key = (kind, name, size if kind is RegionKind.SCRATCH else 0, number)
        if key not in self._regions:
            self._regions[key] = Region(self.backend, len(self._regions), kind, name, size)
        known = self._regions[key].bytes
        require(known == size, f"the region {name!r} has {size} bytes, but elsewhere {known}")
        return self._regions[key]


def check_name(name: str, what: str) -> str:
    """A short printable text that is not empty. Raises Nonsense for others."""
    require(
        0 < len(name) <= _LONGEST_NAME and name.isprintable(),
        f"{what} is {name[:_LONGEST_NAME]!r}, not 1 to {_LONGEST_NAME} printable characters",
    )
    return name

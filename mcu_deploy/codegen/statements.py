"""Statements of generated C, the functions that hold them, and the expressions for places."""

from __future__ import annotations

from dataclasses import dataclass

from mcu_deploy.plan import InPool, InSlot, Place
from mcu_deploy.plan.runtime import Managed


class Addresses:
    """C expressions for places, and the variables that the expressions of one function use."""

    def __init__(self, managed: Managed | None = None) -> None:
        """managed: what is taken from a memory manager, whose entries of the table change."""
        self._used: set[str] = set()
        self._managed = managed

    def manager(self) -> str:
        """The memory manager of the instance."""
        self._used.add("manager")
        return "manager"

    def slot(self, slot: int) -> str:
        """The address of an entry of the table of pointers."""
        self._used.add("pointers")
        return f"&pointers[{slot}]"

    def block(self) -> str:
        """Where the memory manager's block begins."""
        return self._base(InPool(0, 0))

    def pointer(self, ctype: str, place: Place) -> str:
        """A place as a pointer of this type."""
        if isinstance(place, InSlot):
            self._used.add("pointers")
            return f"({ctype})pointers[{place.slot}]"
        base = self._base(place)
        return f"({ctype})({base} + {place.offset})"

    def _base(self, place: InPool) -> str:
        name = "ws" if place.pool == 0 else f"pool{place.pool}"
        self._used.add(name)
        return name

    @property
    def declarations(self) -> list[str]:
        """The variables, each with its value."""
        found = []
        for name in sorted(self._used, key=lambda n: (n != "ws", n)):
            if name == "ws":
                found.append("uint8_t *const ws = instance->workspace;")
            elif name == "pointers":
                constant = "*const *const" if self._managed is None else "**const"
                found.append(f"uint8_t {constant} pointers = _mcu_pointers(instance);")
            elif name == "manager":
                assert self._managed is not None
                found.append(
                    f"void *const manager = instance->workspace + {self._managed.manager};"
                )
            else:
                index = int(name.removeprefix("pool")) - 1
                found.append(f"uint8_t *const {name} = instance->extra_pools[{index}];")
        return found or ["(void)instance; /* there is nothing to compute */"]


@dataclass(frozen=True)
class Statement:
    """Lines of C with the comment that stands above them; `layer` has its events around it.

    before, after: lines outside of the events. pad: the indentation, which `text` has already.
    opens: it ends in the bracket of a block.
    """

    comment: tuple[str, ...]
    text: str
    layer: int | None = None
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    pad: str = "    "
    opens: bool = False


@dataclass(frozen=True)
class Function:
    """A static function of the instance. parts: the partitions that call it, by number.

    has_status: it returns a code, as it may fail; returns: it does so in its statements.
    is_lane: it runs beside another one, and is called by the function that has both.
    """

    stem: str
    title: str
    declarations: tuple[str, ...]
    statements: tuple[Statement, ...]
    parts: frozenset[int] = frozenset()
    has_status: bool = False
    returns: bool = False
    is_lane: bool = False

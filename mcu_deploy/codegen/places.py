"""The memory that a function of generated C uses: each place is declared once, under a name."""

from __future__ import annotations

from mcu_deploy.backends.interface import Parameter
from mcu_deploy.codegen import names
from mcu_deploy.codegen.text import fill
from mcu_deploy.ir import EdgeId, Graph
from mcu_deploy.plan import InSlot, Place, Plan


class Places:
    """Names for what one function uses.

    A tensor is named after the layer that computes it, whatever other shapes it is seen under. What
    comes from a memory manager has no fixed address: its name is that of its entry in the table of
    pointers.
    """

    def __init__(self, graph: Graph, plan: Plan) -> None:
        """graph: with all graphs inside of it."""
        self._graph = graph
        self._plan = plan
        self._computed = {
            output.edge: step.short if len(step.choice.layer.outputs) == 1 else f"{step.short}_{k}"
            for step in plan.steps
            for k, output in enumerate(step.choice.layer.outputs)
        }
        self._bases: dict[str, str] = {}
        self._entries: dict[tuple[int, int], str] = {}
        self._pointers: dict[tuple[str, str, Place], str] = {}
        self._lines: list[str] = []
        self._taken: set[str] = set()

    # ---- Tensors and other buffers ----

    def tensor(self, ctype: str, edge: EdgeId, step: int | None = None) -> str:
        """An edge's tensor as a pointer of this type (while layer `step` runs, where it moves)."""
        own = f"{self._graph.type(edge).dtype.c_type} *"
        tensor, stem = self._plan.tensors[edge], self._stem(edge)
        if tensor.offset:
            name = self.at(own, self._plan.place(edge, step), stem)
        else:
            name = self.buffer(own, tensor.buffer, stem, step)
        if ctype.removeprefix("const ") in (own, "void *"):
            return name
        return f"({ctype}){name.removeprefix(f'({own})')}"

    def buffer(self, ctype: str, buffer: int, stem: str, step: int | None = None) -> str:
        """A buffer as a pointer of this type (while layer `step` runs, where it moves)."""
        place = self._plan.buffer_place(buffer, step)
        if isinstance(place, InSlot) and not place.caller:
            return f"({ctype}){self._table()}[{self._entry(place.slot, buffer, stem)}]"
        return self.at(ctype, place, stem)

    def at(self, ctype: str, place: Place, stem: str) -> str:
        """A place as a pointer of this type."""
        key = (stem, ctype, place)
        if key not in self._pointers:
            name = names.variable(stem, self._taken)
            self._pointers[key] = name
            declared = Parameter(ctype, f"const {name}")
            self._lines.append(f"{declared} = ({ctype}){self._address(place)};")
        return self._pointers[key]

    def slot(self, slot: int, buffer: int) -> str:
        """The address of the entry of the table of pointers that a buffer has."""
        entry = self._entry(slot, buffer, self._plan.buffers[buffer].label)
        return f"&{self._table()}[{entry}]"

    def manager(self) -> str:
        """The memory manager of the instance."""
        managed = self._plan.managed
        assert managed is not None
        return self._base("manager", f"void *const manager = {self.pool(0)} + {managed.manager};")

    def pool(self, number: int) -> str:
        """Where a pool begins."""
        if number == 0:
            return self._base("ws", "uint8_t *const ws = instance->workspace;")
        known = f"pool{number}"
        return self._base(known, f"uint8_t *const {known} = instance->extra_pools[{number - 1}];")

    @property
    def head(self) -> list[str]:
        """What the function declares first: where pools and tables begin."""
        found = list(self._bases.values())
        if self._entries:
            entries = fill((f"{name} = {slot}" for (slot, _), name in self._entries.items()), 8)
            found += ["enum {\n" + entries, "};"]
        return found or ["(void)instance; /* there is nothing to compute */"]

    def declared(self) -> list[str]:
        """The declarations of the places that were named since this was asked last.

        They stand where a place is used first: at the function's head, all of them would be alive
        at once, and gcc spills them.
        """
        found, self._lines = self._lines, []
        return found

    def _stem(self, edge: EdgeId) -> str:
        """What a tensor is named after."""
        if edge in self._computed:
            return self._computed[edge]
        node = self._graph.producer(edge)
        shown = node.inputs[0] if node is not None and node.inputs else None
        if shown is not None and self._lies_in(shown) == self._lies_in(edge):
            return self._stem(shown)
        return self._graph.edge_name(edge)

    def _lies_in(self, edge: EdgeId) -> tuple[int, int, int] | None:
        """Buffer, offset and bytes; None of what has no memory."""
        tensor = self._plan.tensors.get(edge)
        return None if tensor is None else (tensor.buffer, tensor.offset, tensor.bytes)

    def _address(self, place: Place) -> str:
        if isinstance(place, InSlot):
            return f"{self._table()}[{place.slot}]"
        return f"({self.pool(place.pool)} + {place.offset})"

    def _entry(self, slot: int, buffer: int, stem: str) -> str:
        """The name of the number of a buffer's entry."""
        key = (slot, buffer)
        if key not in self._entries:
            self._entries[key] = names.variable(stem, self._taken)
        return self._entries[key]

    def _table(self) -> str:
        constant = "*const *const" if self._plan.managed is None else "**const"
        return self._base("pointers", f"uint8_t {constant} pointers = _mcu_pointers(instance);")

    def _base(self, name: str, declaration: str) -> str:
        self._bases.setdefault(name, declaration)
        return name

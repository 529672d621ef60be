"""If, Loop and Scan in generated C: the lines between the layers of their graphs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from mcu_deploy.backends.interface import Constant
from mcu_deploy.codegen import describe
from mcu_deploy.codegen.places import Places
from mcu_deploy.codegen.statements import Statement
from mcu_deploy.codegen.symbols import Symbols
from mcu_deploy.codegen.text import COLUMNS, wrap
from mcu_deploy.ir import EdgeId, Graph, NodeId
from mcu_deploy.plan import Plan, Step
from mcu_deploy.plan.control import Branch, ControlItem, Count, Element, End, Otherwise, Repeat

_ERROR = "MCU_ERROR_TRIP_COUNT"
_INT32 = 2**31


def can_fail(plan: Plan) -> bool:
    """Whether a run may end early: a loop runs another number of rounds than its shapes say, or a
    layer is given values that contradict its shapes.
    """
    return any(
        item.choice.workload.can_fail
        if isinstance(item, Step)
        else isinstance(item, Repeat) and item.is_checked
        for item in plan.program
    )


@dataclass
class ControlLines:
    """The lines of control flow in one function. graph: with all graphs inside of it."""

    graph: Graph
    plan: Plan
    symbols: Symbols
    places: Places
    statements: list[Statement] = field(default_factory=list)
    _open: list[Branch | Repeat] = field(default_factory=list)
    _outermost: int = 0
    _variables: dict[NodeId, str] = field(default_factory=dict)

    def add(self, make: Callable[[], Statement]) -> None:
        """Adds a statement, and the declarations that it needs; inside of blocks, before them."""
        if not self._open:
            self._outermost = len(self.statements)
        self.statements.append(make())
        lines = tuple(f"    {line}" for line in self.places.declared())
        user = self.statements[self._outermost]
        self.statements[self._outermost] = replace(user, before=(*user.before, *lines))

    @property
    def pad(self) -> str:
        """The indentation of the next line."""
        return "    " * (1 + len(self._open))

    def source(self, edge: EdgeId, ctype: str = "const void *") -> str:
        """Where a tensor is read: its place, or the array of a constant."""
        value = self.graph.constant(edge)
        if value is None:
            return self.places.tensor(ctype, edge)
        memory = np.ascontiguousarray(value)
        symbol = self.symbols.constant(Constant("value", memory))
        return symbol if ctype == "const void *" else f"({ctype}){symbol}"

    def statement(self, item: ControlItem) -> Statement:
        """The line that an item becomes."""
        if isinstance(item, Branch):
            return self._branch(item)
        if isinstance(item, Otherwise):
            return Statement((), f"{self.pad[4:]}}} else {{", pad=self.pad, opens=True)
        if isinstance(item, Repeat):
            return self._repeat(item)
        if isinstance(item, End):
            return self._end()
        if isinstance(item, Count):
            return self._count(item)
        return self._element(item)

    def _branch(self, item: Branch) -> Statement:
        node, pad = self.graph.node(item.node), self.pad
        self._open.append(item)
        condition = describe.name(self.graph.edge_name(item.condition))
        comment = f"{describe.node(node)}: where {condition} holds."
        return Statement(
            (comment,), f"{pad}if ({self._holds(item.condition)}) {{", pad=pad, opens=True
        )

    def _holds(self, edge: EdgeId) -> str:
        return f"*{self.source(edge, 'const uint8_t *')} != 0"

    # ---- Rounds ----

    def _repeat(self, item: Repeat) -> Statement:
        node, pad = self.graph.node(item.node), self.pad
        variable = self._variables[item.node] = f"round{len(self._variables)}"
        self._open.append(item)
        limit = self._limit(item)
        wide = item.trips is not None or item.most is None or item.most >= _INT32
        conditions = [] if limit is None else [f"{variable} < {limit}"]
        if item.condition is not None:
            conditions.append(self._holds(item.condition))
        comment = f"{describe.node(node)}: {_rounds(item)}."
        first = f"{'int64_t' if wide else 'int32_t'} {variable} = 0;"
        lines = []
        if item.trips is not None:
            trips = self.source(item.trips, "const int64_t *")
            lines.append(f"{pad}const int64_t {limit} = *{trips};")
        if item.is_checked:
            lines.append(f"{pad}{first}")
            first = ";"
        lines.append(_head(pad, first, " && ".join(conditions), f"++{variable}"))
        if item.is_checked:
            lines += [
                f"{pad}    if ({variable} == {item.exactly}) {{",
                f"{pad}        return {_ERROR};",
                f"{pad}    }}",
            ]
        return Statement((comment,), "\n".join(lines), pad=pad, opens=not item.is_checked)

    def _limit(self, item: Repeat) -> str | None:
        """The most rounds, as C; None: no limit."""
        if item.trips is not None:
            return self._variables[item.node].replace("round", "trips")
        if item.most is None:
            return None
        return str(item.most) if item.most < _INT32 else f"INT64_C({item.most})"

    def _end(self) -> Statement:
        item = self._open.pop()
        lines = [f"{self.pad}}}"]
        if isinstance(item, Repeat) and item.is_checked:
            lines += [
                f"{self.pad}if ({self._variables[item.node]} != {item.exactly}) {{",
                f"{self.pad}    return {_ERROR};",
                f"{self.pad}}}",
            ]
        return Statement((), "\n".join(lines), pad=self.pad)

    def _count(self, item: Count) -> Statement:
        target = self.places.tensor("int64_t *", item.edge)
        text = f"{self.pad}*{target} = {self._variables[item.node]};"
        return Statement(("The number of the round.",), text, pad=self.pad)

    def _element(self, item: Element) -> Statement:
        index = self._variables[item.node]
        if item.backwards:
            index = f"({item.count - 1} - {index})"
        whole = describe.name(self.graph.edge_name(item.whole), 40)
        comment = f"This round's element {'into' if item.into else 'of'} {whole}."
        slice_ = f"(size_t){index} * {item.bytes}U"
        if item.pieces == 1:
            text = self._move(item, self.pad, slice_, "")
            return Statement((comment,), text, pad=self.pad)
        inner = self.pad + "    "
        piece, stride = f"piece * {item.bytes}U", item.count * item.bytes
        lines = [
            f"{self.pad}for (size_t piece = 0; piece < {item.pieces}U; ++piece) {{",
            self._move(item, inner, f"piece * {stride}U + {slice_}", piece),
            f"{self.pad}}}",
        ]
        return Statement((comment,), "\n".join(lines), pad=self.pad)

    def _move(self, item: Element, pad: str, at_whole: str, at_element: str) -> str:
        """A memcpy between a slice and an element, at these offsets."""
        read, written = (item.element, item.whole) if item.into else (item.whole, item.element)
        target = self.places.tensor("uint8_t *", written)
        source = self.source(read, "const uint8_t *")
        at_target, at_source = (at_whole, at_element) if item.into else (at_element, at_whole)
        arguments = [
            f"{target} + {at_target}" if at_target else target,
            f"{source} + {at_source}" if at_source else source,
            f"{item.bytes}U",
        ]
        return wrap(f"{pad}memcpy(", arguments, ");")


def _head(pad: str, first: str, test: str, last: str) -> str:
    """The line that begins a loop; broken where it is too long."""
    line = f"{pad}for ({first}{' ' if test else ''}{test}; {last}) {{"
    if len(line) <= COLUMNS:
        return line
    return f"{pad}for ({first}\n{pad}     {test};\n{pad}     {last}) {{"


def _rounds(item: Repeat) -> str:
    if item.most is not None and item.condition is None:
        return f"{item.most} round{'s' if item.most != 1 else ''}"
    limit = "a number of rounds that a tensor says"
    if item.trips is None:
        limit = "round after round" if item.most is None else f"at most {item.most} rounds"
    text = limit if item.condition is None else f"{limit}, while its condition holds"
    return text if item.exactly is None else f"{text}; it must be {item.exactly}"

"""Functions of one byte by a table of 256: activations, changes of scale, and sums and products
with a constant number.

The table is the oracle's answer to every byte, whatever the function. Eight elements are taken at a
time, a load each, and then their answers: bytes that are cut out of words and put together again
take longer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mcu_deploy.backends.ArmDsp.workloads import ALIKE, Called, proposal
from mcu_deploy.backends.interface import (
    Constant,
    InPlace,
    Layer,
    Parameter,
    Proposal,
    SubgraphView,
)
from mcu_deploy.backends.isa import Assembly, Kind
from mcu_deploy.backends.quantized.byte_functions import OPERATORS, computed, refusal, table_of
from mcu_deploy.backends.quantized.chains import reader
from mcu_deploy.ir import NodeId
from mcu_deploy.operators import label

_AT_ONCE = 16
_LOADED = 8  # in a row: loads behind loads take a cycle each


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A function by itself."""
    if reason := refusal(node):
        return reason
    which = computed(node)
    if which is None:
        return ""
    table = Constant("table", table_of(node, which), 1)
    elements = node.output.type.elements
    made = proposal(
        view.part([node.node.id]), node.target, "table_dsp", assemble(elements), [table], "table",
        in_place=[InPlace(which, 0, 0)], layouts=ALIKE, operands={"x": which},
        count=("elements", elements),
    )  # fmt: skip
    return [made]


@dataclass(frozen=True)
class Middle:
    """What is between two layers of a chain: nothing, or a function of a byte, in place. layer: the
    last before the second one; cycles: of all elements."""

    layer: Layer
    nodes: tuple[NodeId, ...]
    cycles: int = 0
    constants: tuple[Constant, ...] = ()
    called: tuple[Called, ...] = ()

    @property
    def constant_bytes(self) -> int:
        return sum(constant.value.nbytes for constant in self.constants)

    def titled(self, first: str, *others: str) -> str:
        """The chain, for people."""
        return " + ".join((first, *(["table"] if self.called else []), *others))

    def call(self, place: str, elements: str) -> str:
        """C that computes elements; empty where nothing is."""
        made = [
            f"${of.stem}({place}, {place}, table, (uint32_t)({elements}));" for of in self.called
        ]
        return "".join(made)


def middle(view: SubgraphView, first: Layer) -> Middle:
    """Behind the first layer of a chain."""
    layer, dtype = reader(view, first), first.output.type.dtype
    nothing = Middle(first, (first.node.id,))
    if layer is None or label(layer.domain, layer.op) not in OPERATORS or refusal(layer):
        return nothing
    which = computed(layer)
    if which is None or layer.output.type.dtype is not dtype:
        return nothing
    code, ctype = assemble(layer.output.type.elements), dtype.c_type
    stem = f"table_{dtype.value}_dsp"
    parameters = (
        Parameter(f"const {ctype} *", "x"), Parameter(f"{ctype} *", "y"),
        Parameter("const uint8_t *", "table"), Parameter("uint32_t", "elements"),
    )  # fmt: skip
    return Middle(
        layer, (first.node.id, layer.node.id), code.time(layer.target),
        (Constant("table", table_of(layer, which), 1),), (Called(stem, parameters, code),),
    )  # fmt: skip


def assemble(elements: int) -> Assembly:
    """The kernel, of no count of elements: input, output, table, elements.

    y[i] = table[x[i]], bytes; y may lie on x. Nothing but the four arguments is read.
    """
    rounds, rest = divmod(elements, _AT_ONCE)
    code = Assembly()
    x, y, table, count = code.arguments("x y table elements")
    bytes_ = code.registers(" ".join(f"byte{n}" for n in range(_LOADED)))
    end, kept = code.register("end"), code.register("end_of_all", kind=Kind.SINGLE)
    last, done = code.label(), code.label()
    code.note("y[i] = table[x[i]]; y may lie on x.")
    code.add(end, y, count)
    code.vmov(kept, end)
    code.bic(count, count, _AT_ONCE - 1)
    code.add(end, y, count)
    code.cmp(y, end)
    code.beq(last)
    code.note("Elements, then what the table has for them.")
    with code.times(rounds > 0), code.repeat(max(1, rounds)):
        for first in range(0, _AT_ONCE, _LOADED):
            for n, byte in enumerate(bytes_, first):
                code.ldrb(byte, x[n])
            for byte in bytes_:
                code.ldrb(byte, table[byte])
            for n, byte in enumerate(bytes_, first):
                code.strb(byte, y[n])
        code.add(x, x, _AT_ONCE)
        code.add(y, y, _AT_ONCE)
        code.cmp(y, end)
    code.place(last)
    code.vmov(end, kept)
    code.cmp(y, end)
    code.beq(done)
    with code.times(rest > 0), code.repeat(max(1, rest)):
        code.ldrb(bytes_[0], x.after(1))
        code.ldrb(bytes_[0], table[bytes_[0]])
        code.strb(bytes_[0], y.after(1))
        code.cmp(y, end)
    code.place(done)
    return code

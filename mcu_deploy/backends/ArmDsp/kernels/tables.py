"""Functions of one byte by a table of 256: activations, changes of scale, and sums and products
with a constant number.

The table is the oracle's answer to every byte, whatever the function. Eight elements are taken at a
time, a load each, and then their answers: bytes that are cut out of words and put together again
take longer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.ArmDsp.chains import reader
from mcu_deploy.backends.ArmDsp.workloads import ALIKE, proposal
from mcu_deploy.backends.interface import (
    CFunction,
    Constant,
    InPlace,
    Layer,
    Parameter,
    Proposal,
    SubgraphView,
)
from mcu_deploy.backends.isa import Assembly, Kind, kernel
from mcu_deploy.backends.quantized.layers import BYTES
from mcu_deploy.ir import NodeId
from mcu_deploy.operators import find, label, registry
from mcu_deploy.operators.base import of_elements

OPERATORS = (
    *(label(o.domain, o.name) for o in registry().values() if o.elementwise or o.broadcasts),
    "tflite::Requantize",
)
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
    last before the second one; cycles: of all elements; code: as `Price` has it."""

    layer: Layer
    nodes: tuple[NodeId, ...]
    cycles: int = 0
    code: Mapping[str, int] = field(default_factory=dict)
    constants: tuple[Constant, ...] = ()
    helpers: tuple[CFunction, ...] = ()

    @property
    def constant_bytes(self) -> int:
        return sum(constant.value.nbytes for constant in self.constants)

    def titled(self, first: str, *others: str) -> str:
        """The chain, for people."""
        return " + ".join((first, *(["table"] if self.code else []), *others))

    def call(self, place: str, elements: str) -> str:
        """C that computes elements; empty where nothing is."""
        made = [
            f"${of.stem}({place}, {place}, table, (uint32_t)({elements}));" for of in self.helpers
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
        {f"{stem} {code.digest}": code.bytes}, (Constant("table", table_of(layer, which), 1),),
        (kernel(stem, parameters, code, layer.target),),
    )  # fmt: skip


def computed(layer: Layer) -> int | None:
    """Which input the function is of: the only one that is no constant number."""
    there = [k for k, operand in enumerate(layer.inputs) if operand is not None]
    tensors = [k for k in there if layer.input(k).constant is None]
    numbers = [k for k in there if k not in tensors and layer.input(k).type.elements == 1]
    return tensors[0] if len(tensors) == 1 and len(tensors) + len(numbers) == len(there) else None


def refusal(layer: Layer) -> str:
    """Why the kernel does not compute a function, a clause; empty where it may."""
    which, y = computed(layer), layer.output.type
    if which is None:
        return ""
    x = layer.input(which).type
    for type_ in (x, y):
        if type_.dtype not in BYTES:
            return f"it computes int8 and uint8, not {type_}"
    if any(t.quantization is not None and not t.quantization.per_tensor for t in (x, y)):
        return "it makes tables of tensors with one scale"
    if x.shape != y.shape or len(layer.outputs) != 1 or not y.elements:
        return "it makes tables of functions of one element"
    return ""


def table_of(layer: Layer, which: int) -> Array:
    """uint8 [256]: the answers to the bytes 0 to 255 for an input, as they lie in memory."""
    operator = find(layer.domain, layer.op)
    assert operator is not None
    every = np.arange(256, dtype=np.uint8).view(layer.input(which).type.dtype.numpy)
    return of_elements(operator, layer.call, {which: every}).view(np.uint8)


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

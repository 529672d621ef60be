"""Functions of one byte by a table of 256, sixteen elements a gather."""

from __future__ import annotations

from collections.abc import Sequence

from mcu_deploy.backends.ArmMve.elements import proposal
from mcu_deploy.backends.ArmMve.workloads import assembly
from mcu_deploy.backends.interface import Constant, InPlace, Layer, Proposal, SubgraphView
from mcu_deploy.backends.isa import Assembly, Kind
from mcu_deploy.backends.quantized.byte_functions import OPERATORS, computed, refusal, table_of

__all__ = ["OPERATORS"]

_LANES = 16


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A function by itself."""
    if reason := refusal(node):
        return reason
    which = computed(node)
    if which is None:
        return ""
    elements = node.output.type.elements
    made = proposal(
        view, node, "table_mve", assemble(elements),
        [Constant("table", table_of(node, which), 1)], "table",
        in_place=[InPlace(which, 0, 0)], operands={"x": which}, count=("elements", elements),
    )  # fmt: skip
    return [made]


def assemble(elements: int) -> Assembly:
    """The kernel, of no count of elements: input, output, table, elements.

    y[i] = table[x[i]], bytes; y may lie on x. Of the table what no element names is not read.
    """
    code = assembly()
    x, y, table, count = code.arguments("x y table elements")
    # What a gather loads is never where its offsets are.
    bytes_, found = code.registers("bytes found", "q0", "q1", kind=Kind.VECTOR)
    code.note("y[i] = table[x[i]]; y may lie on x.")
    with code.counted(-(-elements // _LANES), count, 8):
        code.vldrb_u8(bytes_, x.after(_LANES))
        code.vldrb_u8(found, table[bytes_])
        code.vstrb_8(found, y.after(_LANES))
    return code

"""Rows of bytes as distances from their maximum, four at a time, and what a table has for these:
what both kernels of softmax have in common.

The maximum is found in all four lanes of a word, by SSUB8 and SEL. At such places words need not
be aligned, which LDR and STR allow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.ArmDsp.workloads import ID
from mcu_deploy.backends.interface import (
    Constant,
    Costs,
    InPlace,
    Layer,
    Parameter,
    Price,
    Proposal,
    SubgraphView,
    Workload,
)
from mcu_deploy.backends.isa import Assembly, kernel
from mcu_deploy.backends.kit.arguments import INPUT, OUTPUT, constant_argument, pointer, scalar
from mcu_deploy.ir import DType, TensorType

LANES = 4
# What the table has for each lane.
LANE = ("r6", "r7", "r10", "r11")


def proposals(
    view: SubgraphView, node: Layer, stem: str, words: Array, rows: int, code: Assembly
) -> Sequence[Proposal]:
    """Of a layer by itself. words: uint32, the constants. The code gets x, y, these and the rows,
    and reads each element for the last time before it writes it."""
    constant = Constant("exponential", words)
    price = Price(
        Costs(cycles=round(code.cycles), flash=words.nbytes),
        {f"{stem} {code.digest}": code.bytes},
        in_place=(InPlace(0, 0, 0),),
    )

    def make(layers: Sequence[Layer], _: Any) -> tuple[Workload, ...]:
        (layer,) = layers
        parameters = (
            pointer(layer.input(0), "x"), pointer(layer.output, "y", const=False),
            Parameter("const uint32_t *", "exponential"), Parameter("uint32_t", "rows"),
        )  # fmt: skip
        arguments = (INPUT, OUTPUT, constant_argument(0), scalar(rows))
        return (
            Workload(
                ID, kernel(stem, parameters, code, fpu=layer.target.fpu), arguments, (constant,),
                in_place=price.in_place, costs=price.costs,
            ),
        )  # fmt: skip

    return [Proposal(view.part([node.node.id]), price, make, title="softmax")]


def ended(table: Array) -> Array:
    """A table as the kernels read it: with a last entry of 0 for all distances that are longer,
    where there are any."""
    return np.append(table, np.zeros_like(table, shape=1))[:256]


def limit(entries: int) -> int:
    """What r9 has to be: adding it to four bytes and subtracting it, both with saturation, leaves
    them at the last of so many entries."""
    return (256 - entries) * 0x01010101


def maximum(code: Assembly, size: int, x: TensorType) -> None:
    """Of the row at r0, to each byte of r5; r0 is behind its last whole word. Of a last word that
    is not full, those before it are compared again."""
    subtract = "ssub8" if x.dtype is DType.INT8 else "usub8"
    whole, rest = divmod(size, LANES)
    code.note("The row's greatest element, to each byte of r5.")

    def larger() -> None:
        code(f"{subtract} r7, r4, r5", "sel r5, r4, r5")

    if whole:
        code("ldr r5, [r0], #4")
    elif rest == 2:
        code("ldrh r5, [r0]", "orr r5, r5, r5, lsl #16")
    else:
        code("ldrh r5, [r0]", "ldrb r4, [r0, #2]")
        code("orr r5, r5, r4, lsl #16", "orr r5, r5, r4, lsl #24")
    if whole > 1:
        code.number("r3", whole - 1)
        with code.repeat(whole - 1):
            code("ldr r4, [r0], #4")
            larger()
            code("subs r3, r3, #1")
    if whole and rest:
        code(f"ldr r4, [r0, #{rest - LANES}]")
        larger()
    for by in (16, 8):
        code(f"ror r4, r5, #{by}")
        larger()


def each_word(code: Assembly, size: int, entries: int, body: Callable[[int], None]) -> None:
    """A body for each word of the row at r0, with what the table at r2 has for so many elements in
    `LANE`; r0 is behind the row then."""
    whole, rest = divmod(size, LANES)
    if whole:
        code.number("r3", whole)
        with code.repeat(whole):
            code("ldr r4, [r0], #4")
            _look_up(code, LANES, entries)
            body(LANES)
            code("subs r3, r3, #1")
    if rest:
        code("ldrb r4, [r0], #1" if rest == 1 else "ldrh r4, [r0], #2")
        if rest == 3:
            code("ldrb r6, [r0], #1", "orr r4, r4, r6, lsl #16")
        _look_up(code, rest, entries)
        body(rest)


def _look_up(code: Assembly, lanes: int, entries: int) -> None:
    """The table at the distances of the bytes of r4."""
    code("usub8 r4, r5, r4")
    if entries < 256:
        code("uqadd8 r4, r4, r9", "uqsub8 r4, r4, r9")
    code(*(f"ubfx {LANE[n]}, r4, #{8 * n}, #8" for n in range(lanes)))
    code(*(f"ldr {LANE[n]}, [r2, {LANE[n]}, lsl #2]" for n in range(lanes)))

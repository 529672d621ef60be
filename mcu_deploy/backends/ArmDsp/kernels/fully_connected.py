"""Fully connected layers of int8: a row of activations with constant weights, 4 outputs at a time.

A row is widened once, to int16 in the scratch. 4 sums, 4 words of activations, 4 of weights and
the two pointers fill all 14 registers. A word of weights is two taps of two outputs, as in a 1x1
convolution (tile.py): SMLAD of the word sums 256 * odd + even, SMLAD of the word through
SXTB16 sums even, and their difference is 256 times the odd output's sum.

The code is of no depth and no count of outputs: both stand before the weights. Eight taps are a
block; 16 blocks stand one behind the other, or fewer where loops must be short, and the first time
in a group of outputs the code is entered so far inside that the rest comes out even. What a group
needs besides its sums lies behind the activations, where the pointer to these ends up by itself. It
is written there when a row has been widened, so that the row may lie in the scratch's second half,
if nothing needs it any more.

Sums of long rows leave the 24 bits that an odd output's has in such a word. They are taken apart in
the middle too, and what the odd output has so far waits in the FPU.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mcu_deploy.backends.ArmDsp.workloads import CHANNELS_LAST, proposal
from mcu_deploy.backends.interface import (
    Constant,
    InPlace,
    Layer,
    LayoutRule,
    Proposal,
    SubgraphView,
    Target,
    layer_of,
)
from mcu_deploy.backends.isa import Assembly, Kind, Label, Register
from mcu_deploy.backends.isa.dsp.kept import counted
from mcu_deploy.backends.isa.dsp.rounding import (
    round_each_twice,
    round_in_float,
    round_once,
    round_twice,
)
from mcu_deploy.backends.isa.dsp.tile import multiply_row, pairs, take_apart
from mcu_deploy.backends.isa.dsp.widening import Row, rest_offset, widen_row
from mcu_deploy.backends.isa.models import MODELS
from mcu_deploy.backends.kit import overlap
from mcu_deploy.backends.quantized.dense import (
    BLOCKS,
    OUTPUTS,
    TAPS,
    Dense,
    RowProduct,
    is_of_rows,
    read,
    refusal,
    row_product,
)
from mcu_deploy.backends.quantized.loops import loop_bytes
from mcu_deploy.operators import label

OPERATORS = ("Gemm", "MatMul", "tflite::FullyConnected", "Conv", "tflite::Conv")

# Bytes of a block, all of whose instructions are wide; of one with wide words; and what a block has
# more that widens its taps.
BLOCK_CODE, _WIDE_BLOCK_CODE, _WIDENING = 4 * 27, 4 * 21, 4 * 4
# Bytes behind the activations: output pointer, its end, where the blocks are entered, the scales of
# all.
_TAIL = 28
# The long form must save so many cycles for each byte of its code.
_WORTH = 1


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """Blocks in a loop, and 16 of them unrolled, or as many as may be, where the dense layers
    together are worth it."""
    layer = read(node)
    if isinstance(layer, str):
        return layer
    if reason := refusal(layer):
        return reason
    products = [row_product(layer)]
    if layer.may_be_direct:
        products.append(replace(products[0], layer=replace(layer, is_direct=True)))
    found: list[Proposal] = []
    for product in products:
        most = unrolled_blocks(product, loop_bytes(node.target))
        # Of those that cost the same cycles the first is taken: the code that others need anyway.
        unrolled = (most, 1) if most > 1 and _pays(view, node, most) else (1,)
        found += [_proposal(view, node, replace(product, unrolled=n)) for n in unrolled]
    return found


def block_code(layer: Dense) -> int:
    """The bytes of a block."""
    return (_WIDE_BLOCK_CODE if layer.is_wide else BLOCK_CODE) + _WIDENING * layer.is_direct


def unrolled_blocks(product: RowProduct, most_bytes: int | None) -> int:
    """How many blocks stand one behind the other, so that the whole function has no more than
    most_bytes: a row's widening, which runs once, would else take lines of the weights' loop."""
    if most_bytes is None:
        return BLOCKS
    # What follows where a long row is taken apart is a multiple of BLOCKS.
    counts = (16, 8, 4, 2) if product.layer.is_long else range(BLOCKS, 1, -1)
    for count in counts:
        is_near = count * block_code(product.layer) < most_bytes
        if is_near and assemble(replace(product, unrolled=count)).bytes <= most_bytes:
            return count
    return 1


def enters(target: Target, unrolled: int) -> bool:
    """Whether the blocks are entered by an address. A single one need not be: it is where code of
    several cores is to be the same, but not where lists are to be split, as places that jumps by an
    address go to are counted in bytes."""
    model = MODELS.get(target.core)
    return unrolled > 1 or model is None or not model.splits_lists


def _pays(view: SubgraphView, node: Layer, unrolled: int) -> bool:
    """Whether the unrolled blocks save enough, in all layers of the view that could share them."""
    blocks = 0
    for other in view.nodes:
        if label(other.domain, other.op) in OPERATORS:
            layer = layer_of(view, other, node.target)
            if other.op != "Conv" or is_of_rows(layer):
                blocks += layer.macs // (TAPS * OUTPUTS)
    return blocks * 5 >= _WORTH * unrolled * BLOCK_CODE


def _proposal(view: SubgraphView, node: Layer, product: RowProduct) -> Proposal:
    layer, is_unrolled = product.layer, product.unrolled > 1
    outputs, taps = layer.weights.shape
    stem = "dense" + "_direct" * layer.is_direct + "_wide" * layer.is_wide
    stem += "_long" * layer.is_long + "_unrolled" * is_unrolled + "_dsp"
    # A row is read before it is written.
    rows = layer.rows - 1 if outputs > taps else 1
    distance = rows * (outputs - taps) if layer.rows > 1 else -layer.x.bytes
    in_place = [InPlace(0, 0, max(distance, -layer.x.bytes))]
    if layer.is_direct:
        in_place = in_place if layer.groups == 1 else []
    else:
        in_place.append(InPlace(0, None, max(scratch_distance(layer), -layer.x.bytes)))
    return proposal(
        view.part([node.node.id]), node.target, stem,
        assemble(product, enters(node.target, product.unrolled)),
        [Constant("weights", product.pack(block_code(layer)))],
        "dense" + ", unrolled" * is_unrolled + ", wide weights" * layer.is_wide
        + ", bytes as they lie" * layer.is_direct,
        macs=layer.rows * outputs * taps,
        scratch_bytes=_TAIL + (0 if layer.is_direct else product.row_bytes),
        in_place=in_place,
        layouts=CHANNELS_LAST if node.op == "Conv" else (LayoutRule.NATURAL,),
    )  # fmt: skip


def scratch_distance(layer: Dense) -> int:
    """How far the scratch must start before the input, as `InPlace` has it. The writes of the first
    row are followed by the lowest reads."""
    taps = layer.x.shape[-1]
    whole, end = taps // TAPS * TAPS, 2 * TAPS * layer.blocks
    ends = np.arange(2 * TAPS, 2 * whole + 1, 2 * TAPS)
    rest = [2 * whole + rest_offset(n) + 2 for n in range(taps - whole)]
    after = taps if layer.rows > 1 else overlap.NOTHING  # the next row
    return overlap.distance(
        np.array([*ends, *rest, end + _TAIL]),
        np.r_[0:whole:TAPS, whole:taps, overlap.NOTHING, after],
    )


class _Kernel:
    """A kernel and its registers.

    In the FPU's, row_begin, row_end, middle, part and limit: of the row, widened or as it lies,
    where it begins and ends, and of a long one where its middle is, the bytes of a part behind
    that, and where the blocks end next; before: its odd outputs' sums before; state: what outputs
    need, where the row lies elsewhere; stream_begin: the packed stream; next_x, next_y: of the next
    row; outputs: the bytes of a row of y; rows: that are left.

    sums: of four outputs, even, odd, even, odd. ends: where y goes, where the row of y ends, where
    the blocks are entered. common: what rounds all outputs, the four words of `Rounding`; own: what
    rounds each of the four, scale and addend, or the words of a group that has no such.
    """

    def __init__(self, code: Assembly, product: RowProduct, is_entered: bool) -> None:
        self.code, self.product, self.layer = code, product, product.layer
        self.is_entered = is_entered
        self.row_begin, self.row_end, self.stream_begin, self.next_x, self.next_y = code.registers(
            "row_begin end_of_row stream_begin row_x row_y", kind=Kind.SINGLE
        )
        self.outputs, self.rows, self.limit, self.middle, self.part, self.state = code.registers(
            "outputs rows_left next_limit middle_of_row bytes_of_part state", kind=Kind.SINGLE
        )
        # Pinned, for the flow does not tell that a row's middle writes it before its end reads it.
        self.before = code.register("odds_before_middle", "d5")
        self.taps, self.stream, self.taps_end = code.registers("taps stream limit")
        self.sums = code.registers("even0 odd0 even1 odd1")
        self.x = code.registers("x02 x13 x46 x57")
        self.words = code.registers("w02 w13 w46 w57")
        self.out, self.end, self.entry = code.registers("out out_end entry")
        self.ends = [self.out, self.end, *([self.entry] if is_entered else [])]
        self.common: list[Register] = []
        self.own: list[Register] = []
        if product.common is None:
            self.own = code.registers("scale0 addend0 scale1 addend1 scale2 addend2 scale3 addend3")
        elif product.common.is_twice:
            self.common = code.registers("multiplier addend shift nothing")
        else:
            self.common = code.registers("even_scale even_addend odd_scale odd_addend")
        self.blocks = [code.label() for _ in range(product.unrolled)]


def assemble(product: RowProduct, is_entered: bool = True) -> Assembly:
    """The kernel: x, y, the packed stream, scratch. is_entered: as `enters` has it.

    y[r][k] = sat(((sum of x[r] * w[k] + start[k]) * scale >> 32) + addend >> shift), or as TFLite
    rounds twice, or in float32. The scratch has a row, widened to int16 in the order of SXTB16,
    then the words of `ends` and `common`. y may follow the rows that were read, the scratch the row
    that is read: `scratch_distance`.
    """
    code, layer = Assembly(), product.layer
    k = _Kernel(code, product, is_entered)
    for line in product.description():
        code.note(line)
    row = "" if layer.is_direct else "a row, two taps in a word; "
    code.note(f"scratch: {row}what its outputs need.")
    _begin(k)
    with counted(code, k.rows, layer.rows):
        if layer.rows > 1:
            code.vmov(k.out, k.next_y)
            code.vmov(k.end, k.outputs)
            code.add(k.end, k.end, k.out)
            code.vmov(k.next_y, k.end)
        if product.surplus:
            code.add(k.end, k.end, product.surplus)
        if layer.is_direct:
            end = code.register("state_begin")
            code.vmov(end, k.state)
        else:
            code.note("A row, widened to int16, in front of what outputs need to be stored.")
            end = _widen_row(k)
        code.stmia(end, [*k.ends, *k.common])
        code.vmov(k.stream, k.stream_begin)
        _groups(k)
    return code


def _begin(k: _Kernel) -> None:
    """The head of the stream, and what is kept of it."""
    code, layer = k.code, k.layer
    x, y, weights, scratch = code.arguments("x y weights scratch")
    row_bytes, skipped, outputs, *of_long = code.registers("row_bytes skipped outputs middle part")
    stream, row_end = k.stream, code.register("row_end")
    code.vmov(k.next_x, x)
    row = x if layer.is_direct else scratch
    code.vmov(k.row_begin, row)
    if layer.is_direct:
        code.vmov(k.state, scratch)
    code.mov(stream, weights)
    of_long = of_long[: min(layer.parts - 1, 2)] if layer.is_long else []
    code.ldmia(stream.moving, [row_bytes, skipped, outputs, *of_long])
    if layer.parts > 2:
        none = code.register("none")
        code.vmov(k.part, of_long[1])
        code.mov(none, 0)
        code.vmov(k.before, none, none)
    if layer.is_long:
        middle = of_long[0]
        code.add(middle, middle, row)
        code.vmov(k.middle, middle)
        code.vmov(k.limit, middle)
    code.add(row_end, row, row_bytes)
    code.vmov(k.row_end, row_end)
    if layer.rows > 1:
        code.vmov(k.next_y, y)
        code.vmov(k.outputs, outputs)
    else:
        code.mov(k.out, y)
        code.add(k.end, y, outputs)
    if k.is_entered:
        code.adr_w(k.entry, k.blocks[0])
        code.add(k.entry, k.entry, skipped)
        code.orr(k.entry, k.entry, 1)
    if k.common:
        code.ldmia(stream.moving, k.common)
    code.vmov(k.stream_begin, stream)


def _widen_row(k: _Kernel) -> Register:
    """A row in the scratch; gives where it ends there."""
    code, layer = k.code, k.layer
    row, taps = Row(code, TAPS // 4), layer.weights.shape[1]
    # Where whole rounds end.
    behind = 2 * TAPS if taps % TAPS else 0
    code.vmov(row.source, k.next_x)
    code.vmov(row.into, k.row_begin)
    code.vmov(row.end, k.row_end)
    if behind:
        code.sub(row.end, row.end, behind)
    # Several rows begin anywhere if they are no words.
    widen_row(code, row, taps, layer.extend, is_aligned=taps % 4 == 0 or layer.rows == 1)
    if behind:
        code.add(row.into, row.into, behind)
    if layer.rows > 1:
        code.vmov(k.next_x, row.source)
    return row.into


def _groups(k: _Kernel) -> None:
    """The outputs of a row, four at a time."""
    code, product, layer = k.code, k.product, k.layer
    unsolved, store, last = (code.label() for _ in range(3))
    code.reads(OUTPUTS * layer.groups * TAPS * layer.blocks)
    _begin_group(k)
    code.place(k.blocks[0])
    with code.times(layer.groups):
        if layer.is_wide:
            code.note("Four outputs, eight taps at a time.")
        else:
            code.note("Four outputs, eight taps at a time. A word of weights has 256 odd + even,")
            code.note("twice; by SXTB16 it has the even ones.")
        with code.repeat(product.passes):
            for n, block in enumerate(k.blocks):
                if n:
                    code.place(block)
                with code.times((product.passes - (n < product.skipped)) / product.passes):
                    multiply_row(
                        code, k.taps, k.stream, k.sums, k.x, k.words, layer.is_wide,
                        layer.extend if layer.is_direct else "",
                    )  # fmt: skip
            code.vmov(k.taps_end, k.limit if layer.is_long else k.row_end)
            code.cmp(k.taps, k.taps_end)
        if not layer.is_wide:
            take_apart(code, pairs(k.sums))
        if layer.is_long:
            _add_parts(k)
        code.note("To elements of the output.")
        if layer.is_direct:
            code.vmov(k.taps, k.state)
        _round(k, unsolved, store)
        _store(k)
        code.beq(last)
        _begin_group(k)
        if not k.is_entered:
            code.b(k.blocks[0])
    if product.common is None:
        with code.rarely():
            code.place(unsolved)
            code.note("No integers round these outputs at once.")
            _round_otherwise(k)
            code.b(store)
    code.place(last)


def _begin_group(k: _Kernel) -> None:
    k.code.vmov(k.taps, k.row_begin)
    k.code.ldmia(k.stream.moving, k.sums)
    if k.is_entered:
        k.code.bx(k.entry, to=k.blocks)


def _add_parts(k: _Kernel) -> None:
    """The odd outputs' sums, which are 256-fold: behind a part of the row they wait, and the sums
    begin again with the even ones' as they are; at its end all are added."""
    code, end = k.code, k.code.label()
    evens, odds = k.sums[::2], k.sums[1::2]
    row_end, middle = code.registers("row_end middle")
    before = code.registers("before0 before1")
    has_many = k.layer.parts > 2

    def add() -> None:
        code.vmov(*before, k.before)
        for odd, part in zip(odds, before, strict=True):
            code.add(odd, odd, part)

    for odd in odds:
        code.asr(odd, odd, 8)
    if has_many:
        add()
    code.vmov(row_end, k.row_end)
    code.cmp(k.taps_end, row_end)
    code.beq(end)
    code.vmov(k.before, *odds)
    for even, odd in zip(evens, odds, strict=True):
        code.mov(odd, even)
    if has_many:
        code.vmov(row_end, k.part)
        code.add(row_end, row_end, k.taps_end)
    code.vmov(k.limit, row_end)
    code.b(k.blocks[0])
    code.place(end)
    if has_many:
        code.mov(middle, 0)
        code.vmov(k.before, middle, middle)
    else:
        add()
    code.vmov(middle, k.middle)
    code.vmov(k.limit, middle)


def _round(k: _Kernel, unsolved: Label, ready: Label) -> None:
    """The sums to elements. unsolved: where a group goes on that no integers round at once, which
    comes back to `ready`."""
    code, common, lanes = k.code, k.product.common, k.layer.lanes
    if common is None:
        code.ldmia(k.stream.moving, k.own)
        code.cbz(k.own[0], unsolved)
    else:
        code.ldmia(k.taps, [*k.ends, *k.common])
    if common is not None and common.is_twice:
        round_twice(code, k.layer.saturate, k.sums, lanes, k.common[:3])
    else:
        shift = k.product.shift
        shifts = [shift, shift + lanes.bit_length() - 1] * 2
        round_once(code, k.layer.saturate, k.sums, pairs(2 * k.common or k.own), shifts)
    code.place(ready)
    if common is None:
        code.ldmia(k.taps, k.ends)


def _round_otherwise(k: _Kernel) -> None:
    """By the words that stand behind a 0 instead of scales and addends."""
    code, layer, given = k.code, k.layer, k.own[1:]
    if layer.fixed is None:  # factors
        round_in_float(code, layer.saturate, [(k.sums, given[:4])], layer.zero_points[1])
    else:  # multipliers, shifts, zero point
        each = zip(([acc] for acc in k.sums), given, [1, layer.lanes] * 2, strict=False)
        round_each_twice(code, layer.saturate, [*each], given[4], given[5])


def _store(k: _Kernel) -> None:
    """The four outputs, but for those that the last group has too many."""
    code, surplus = k.code, k.product.surplus
    code.strb(k.sums[0], k.out.after(4))
    code.cmp(k.out, k.end)
    for n, element in enumerate(k.sums[1:], 1):
        if n == OUTPUTS - surplus:
            getattr(code, f"i{'t' * surplus}")("ne")
        store = code.strbne if n >= OUTPUTS - surplus else code.strb
        store(element, k.out[n - OUTPUTS])
    code.str(k.out, k.taps[0])

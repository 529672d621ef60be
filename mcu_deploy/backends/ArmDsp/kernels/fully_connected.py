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

import math
from collections.abc import Sequence

import numpy as np

from mcu_deploy.arithmetic import Array
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
    LANES,
    OUTPUTS,
    TAPS,
    Dense,
    Rounding,
    is_of_rows,
    read,
    refusal,
    round_group,
    rounding,
    words,
)
from mcu_deploy.backends.quantized.loops import loop_bytes
from mcu_deploy.operators import label

OPERATORS = ("Gemm", "MatMul", "tflite::FullyConnected", "Conv", "tflite::Conv")

BLOCK_CODE = 4 * 27  # bytes: all of its instructions are wide
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
    shift, common = rounding(layer)
    most = unrolled_blocks(layer, shift, common, loop_bytes(node.target))
    # Of those that cost the same cycles the first is taken: the code that others need anyway.
    unrolled = (most, 1) if most > 1 and _pays(view, node, most) else (1,)
    return [
        _proposal(
            view, node, layer, n,
            pack(layer, shift, common, n),
            assemble(layer, shift, common, n, enters(node.target, n)),
        )
        for n in unrolled
    ]  # fmt: skip


def unrolled_blocks(
    layer: Dense, shift: int, common: Rounding | None, most_bytes: int | None
) -> int:
    """How many blocks stand one behind the other, so that the whole function has no more than
    most_bytes: a row's widening, which runs once, would else take lines of the weights' loop."""
    if most_bytes is None:
        return BLOCKS
    # Behind a long row's middle is a multiple of BLOCKS.
    counts = (16, 8, 4, 2) if layer.is_long else range(BLOCKS, 1, -1)
    for count in counts:
        is_near = count * BLOCK_CODE < most_bytes
        if is_near and assemble(layer, shift, common, count).bytes <= most_bytes:
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


def _proposal(
    view: SubgraphView, node: Layer, layer: Dense, unrolled: int, stream: Array, code: Assembly
) -> Proposal:
    outputs, taps = layer.weights.shape
    stem = f"dense{'_long' * layer.is_long}{'_unrolled' * (unrolled > 1)}_dsp"
    # A row is read before it is written.
    rows = layer.rows - 1 if outputs > taps else 1
    distance = rows * (outputs - taps) if layer.rows > 1 else -layer.x.bytes
    return proposal(
        view.part([node.node.id]), node.target, stem, code, [Constant("weights", stream)],
        "dense" if unrolled == 1 else "dense, unrolled",
        macs=layer.rows * outputs * taps,
        scratch_bytes=2 * TAPS * layer.blocks + _TAIL,
        in_place=(
            InPlace(0, 0, max(distance, -layer.x.bytes)),
            InPlace(0, None, max(scratch_distance(layer), -layer.x.bytes)),
        ),
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


def pack(layer: Dense, shift: int, common: Rounding | None, unrolled: int) -> Array:
    """The words that the kernel reads: bytes of a widened row, bytes of code that the first blocks
    skip, outputs, of long rows the bytes before their middle, the common scales; then group after
    group the start of the four sums, the weights, and where outputs differ, scale and addend of
    each. A group of which an output has no integer scale has 0 there, and four float32 factors
    behind it, or what `_round_each_twice` takes."""
    packed = words(layer.weights, TAPS)
    skipped = -layer.blocks % unrolled * BLOCK_CODE
    stream = [2 * TAPS * layer.blocks, skipped, len(layer.weights)]
    stream += [2 * TAPS * layer.middle] if layer.is_long else []
    stream += [] if common is None else common.words
    bias = np.resize(layer.bias, OUTPUTS * layer.groups).reshape(-1, OUTPUTS)
    for group in range(layer.groups):
        ends: list[int] = []
        if common is None:
            moves, ends = round_group(layer, group, shift)
        else:
            moves = [*common.moves] * 2
        starts = bias[group] * [1, LANES, 1, LANES]
        starts += moves * np.array([1, LANES // layer.lanes] * 2)
        starts[1::2] += starts[::2]
        stream += [*starts.tolist(), *packed[group].tolist(), *ends]
    return (np.array(stream, np.int64) & 0xFFFFFFFF).astype(np.uint32)


class _Kept:
    """In the FPU's registers: the widened row, its end, the packed stream, of the next row x and y,
    the bytes of a row of y, rows that are left. Of long rows: where the blocks end next, the
    middle, and the odd outputs' sums before it."""

    def __init__(self, code: Assembly) -> None:
        self.row, self.end, self.stream, self.x, self.y, self.outputs, self.rows = code.registers(
            "row_begin end_of_row stream_begin row_x row_y outputs rows_left", kind=Kind.SINGLE
        )
        self.limit, self.middle = code.registers("next_limit middle_of_row", kind=Kind.SINGLE)
        # Pinned, for the flow does not tell that a row's middle writes it before its end reads it.
        self.before = code.register("odds_before_middle", "d5")


class _Group:
    """The registers of four outputs.

    sums: even, odd, even, odd. ends: where y goes, where the row of y ends, where the blocks are
    entered. common: what rounds all outputs, the four words of `Rounding`; own: what rounds each of
    the four, scale and addend, or the words of a group that has no such.
    """

    def __init__(self, code: Assembly, common: Rounding | None, is_entered: bool) -> None:
        self.is_entered = is_entered
        self.taps, self.stream, self.limit = code.registers("taps stream limit")
        self.sums = code.registers("even0 odd0 even1 odd1")
        self.x = code.registers("x02 x13 x46 x57")
        self.words = code.registers("w02 w13 w46 w57")
        self.out, self.end, self.entry = code.registers("out out_end entry")
        self.ends = [self.out, self.end, *([self.entry] if is_entered else [])]
        self.common: list[Register] = []
        self.own: list[Register] = []
        if common is None:
            self.own = code.registers("scale0 addend0 scale1 addend1 scale2 addend2 scale3 addend3")
        elif common.is_twice:
            self.common = code.registers("multiplier addend shift nothing")
        else:
            self.common = code.registers("even_scale even_addend odd_scale odd_addend")


def assemble(
    layer: Dense, shift: int, common: Rounding | None, unrolled: int, is_entered: bool = True
) -> Assembly:
    """The kernel: x, y, the packed stream, scratch. is_entered: as `enters` has it.

    y[r][k] = sat(((sum of x[r] * w[k] + start[k]) * scale >> 32) + addend >> shift), or as TFLite
    rounds twice, or in float32. The stream is that of `pack`; the scratch has a row, widened to
    int16 in the order of SXTB16, then the words of `ends` and `common`. y may follow the rows that
    were read, the scratch the row that is read: `scratch_distance`.
    """
    code = Assembly()
    kept, group = _Kept(code), _Group(code, common, is_entered)
    blocks = [code.label() for _ in range(unrolled)]
    _describe(code, layer, common)
    _begin(code, kept, group, layer, blocks[0])
    with counted(code, kept.rows, layer.rows):
        if layer.rows > 1:
            code.vmov(group.out, kept.y)
            code.vmov(group.end, kept.outputs)
            code.add(group.end, group.end, group.out)
            code.vmov(kept.y, group.end)
        if surplus := -len(layer.weights) % OUTPUTS:
            code.add(group.end, group.end, surplus)
        code.note("A row, widened to int16, in front of what outputs need to be stored.")
        end = _widen_row(code, kept, layer)
        code.stmia(end, [*group.ends, *group.common])
        code.vmov(group.stream, kept.stream)
        _groups(code, kept, group, layer, shift, common, blocks)
    return code


def _groups(
    code: Assembly, kept: _Kept, group: _Group, layer: Dense, shift: int, common: Rounding | None,
    blocks: Sequence[Label],
) -> None:  # fmt: skip
    """The outputs of a row, four at a time."""
    passes = math.ceil(layer.blocks / len(blocks))
    skipped = passes * len(blocks) - layer.blocks
    unsolved, store, last = (code.label() for _ in range(3))
    tile = layer.saturate, group.sums
    code.reads(OUTPUTS * layer.groups * TAPS * layer.blocks)

    def begin() -> None:
        code.vmov(group.taps, kept.row)
        code.ldmia(group.stream.moving, group.sums)
        if group.is_entered:
            code.bx(group.entry, to=blocks)

    begin()
    code.place(blocks[0])
    with code.times(layer.groups):
        code.note("Four outputs, eight taps at a time. A word of weights has 256 odd + even,")
        code.note("twice; by SXTB16 it has the even ones.")
        with code.repeat(passes):
            for n, block in enumerate(blocks):
                if n:
                    code.place(block)
                with code.times((passes - (n < skipped)) / passes):
                    multiply_row(code, group.taps, group.stream, group.sums, group.x, group.words)
            code.vmov(group.limit, kept.limit if layer.is_long else kept.end)
            code.cmp(group.taps, group.limit)
        take_apart(code, pairs(group.sums))
        if layer.is_long:
            _add_halves(code, kept, group, blocks[0])
        code.note("To elements of the output.")
        if common is None:
            code.ldmia(group.stream.moving, group.own)
            code.cbz(group.own[0], unsolved)
        else:
            code.ldmia(group.taps, [*group.ends, *group.common])
        if common is not None and common.is_twice:
            round_twice(code, *tile, layer.lanes, group.common[:3])
        else:
            shifts = [shift, shift + layer.lanes.bit_length() - 1] * 2
            round_once(code, *tile, pairs(2 * group.common or group.own), shifts)
        code.place(store)
        if common is None:
            code.ldmia(group.taps, group.ends)
        _store(code, group, -len(layer.weights) % OUTPUTS)
        code.beq(last)
        begin()
        if not group.is_entered:
            code.b(blocks[0])
    if common is None:
        with code.rarely():
            code.place(unsolved)
            code.note("No integers round these outputs at once.")
            given = group.own[1:]  # behind a 0
            if layer.fixed is None:  # factors
                zero = layer.zero_points[1]
                round_in_float(code, layer.saturate, [(group.sums, given[:4])], zero)
            else:  # multipliers, shifts, zero point
                each = zip(([acc] for acc in group.sums), given, [1, layer.lanes] * 2, strict=False)
                round_each_twice(code, layer.saturate, [*each], given[4], given[5])
            code.b(store)
    code.place(last)


def _describe(code: Assembly, layer: Dense, common: Rounding | None) -> None:
    """What stands over the code."""
    formula, more, own = "sat((sum * scale >> 32) + addend >> shift)", "", ""
    if common is None:
        own = "; scale[a], addend[a], scale[b], addend[b], scale[c], addend[c], scale[d], addend[d]"
        if layer.fixed is None:
            part = "" if layer.is_long else ", those of b and d 256 times too small"
            own += f". If scale[a] is 0, their factors, float32{part}, stand behind it instead"
    elif common.is_twice:
        formula = "sat((2 * sum * multiplier >> 32, rounded) + addend - (sum < 0) >> shift)"
        more = "; multiplier, addend, shift, nothing"
    else:
        more = "; even outputs' scale and addend, odd ones'"
    middle = "; bytes of it before the middle" if layer.is_long else ""
    code.note(f"y[r][k] = {formula}, with sum = start[k] + sum of x[r] * w[k].")
    code.note(
        "weights: bytes of a widened row; of code that the first blocks skip; count of outputs"
        f"{middle}{more}. Then of each four outputs a, b, c and d: start[a]; "
        "256 start[b] + start[a]; start[c]; 256 start[d] + start[c]; of each eight taps, two a "
        "word, in halves 256 w[b] + w[a], four words, 256 w[d] + w[c], four words, taps in the "
        f"order 0 2 1 3 4 6 5 7{own}."
    )
    code.note("scratch: a row, two taps in a word; what its outputs need.")


def _begin(code: Assembly, kept: _Kept, group: _Group, layer: Dense, blocks: Label) -> None:
    """The head of the stream, and what is kept of it."""
    x, y, weights, scratch = code.arguments("x y weights scratch")
    row_bytes, skipped, outputs, middle = code.registers("row_bytes skipped outputs middle")
    stream, row_end = group.stream, code.register("row_end")
    code.vmov(kept.x, x)
    code.vmov(kept.row, scratch)
    code.mov(stream, weights)
    code.ldmia(stream.moving, [row_bytes, skipped, outputs, *([middle] if layer.is_long else [])])
    if layer.is_long:
        code.add(middle, middle, scratch)
        code.vmov(kept.middle, middle)
        code.vmov(kept.limit, middle)
    code.add(row_end, scratch, row_bytes)
    code.vmov(kept.end, row_end)
    if layer.rows > 1:
        code.vmov(kept.y, y)
        code.vmov(kept.outputs, outputs)
    else:
        code.mov(group.out, y)
        code.add(group.end, y, outputs)
    if group.is_entered:
        code.adr_w(group.entry, blocks)
        code.add(group.entry, group.entry, skipped)
        code.orr(group.entry, group.entry, 1)
    if group.common:
        code.ldmia(stream.moving, group.common)
    code.vmov(kept.stream, stream)


def _widen_row(code: Assembly, kept: _Kept, layer: Dense) -> Register:
    """A row in the scratch; gives where it ends there."""
    row, taps = Row(code, TAPS // 4), layer.weights.shape[1]
    has_rest = taps % TAPS > 0
    code.vmov(row.source, kept.x)
    code.vmov(row.into, kept.row)
    code.vmov(row.end, kept.end)
    if has_rest:
        code.sub(row.end, row.end, 2 * TAPS)
    # Several rows begin anywhere if they are no words.
    widen_row(code, row, taps, layer.extend, is_aligned=taps % 4 == 0 or layer.rows == 1)
    if has_rest:
        code.add(row.into, row.into, 2 * TAPS)
    if layer.rows > 1:
        code.vmov(kept.x, row.source)
    return row.into


def _add_halves(code: Assembly, kept: _Kept, group: _Group, blocks: Label) -> None:
    """The odd outputs' sums, which are 256-fold: in the middle of the row they wait, and the sums
    begin again with the even ones' as they are; at its end both are added."""
    end = code.label()
    evens, odds = group.sums[::2], group.sums[1::2]
    row_end, middle = code.registers("row_end middle")
    before = code.registers("before0 before1")
    for odd in odds:
        code.asr(odd, odd, 8)
    code.vmov(row_end, kept.end)
    code.cmp(group.limit, row_end)
    code.beq(end)
    code.vmov(kept.before, *odds)
    for even, odd in zip(evens, odds, strict=True):
        code.mov(odd, even)
    code.vmov(kept.limit, row_end)
    code.b(blocks)
    code.place(end)
    code.vmov(*before, kept.before)
    for odd, half in zip(odds, before, strict=True):
        code.add(odd, odd, half)
    code.vmov(middle, kept.middle)
    code.vmov(kept.limit, middle)


def _store(code: Assembly, group: _Group, surplus: int) -> None:
    """The four outputs, but for those that the last group has too many."""
    code.strb(group.sums[0], group.out.after(4))
    code.cmp(group.out, group.end)
    for n, element in enumerate(group.sums[1:], 1):
        if n == OUTPUTS - surplus:
            getattr(code, f"i{'t' * surplus}")("ne")
        store = code.strbne if n >= OUTPUTS - surplus else code.strb
        store(element, group.out[n - OUTPUTS])
    code.str(group.out, group.taps[0])

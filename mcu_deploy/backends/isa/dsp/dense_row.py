"""The row of a fully connected layer, in instructions: eight taps a block, four outputs a group."""

from __future__ import annotations

from collections.abc import Sequence

from mcu_deploy.backends.isa import Assembly, Kind, Label, Register
from mcu_deploy.backends.isa.dsp.kept import counted
from mcu_deploy.backends.isa.dsp.rounding import (
    round_each_twice,
    round_in_float,
    round_once,
    round_twice,
)
from mcu_deploy.backends.isa.dsp.tile import multiply_row, pairs, take_apart
from mcu_deploy.backends.isa.dsp.widening import Row, widen_row
from mcu_deploy.backends.quantized.dense import OUTPUTS, TAPS, RowProduct


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
    code.reads((OUTPUTS * product.groups + OUTPUTS // 2 * bool(product.half)) * TAPS * layer.blocks)
    _begin_group(k)
    code.place(k.blocks[0])
    with code.times(product.groups):
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
            _add_parts(k, k.sums, k.blocks[0])
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
    if product.half:
        _half_group(k)


def _half_group(k: _Kernel) -> None:
    """The last outputs: as a group, of its first two."""
    code, product, layer = k.code, k.product, k.layer
    begin, unsolved, store, last = (code.label() for _ in range(4))
    code.note("The last outputs, eight taps of two at a time.")
    sums = k.sums[: OUTPUTS // 2]
    code.vmov(k.taps, k.row_begin)
    code.ldmia(k.stream.moving, sums)
    code.place(begin)
    with code.repeat(product.passes):
        for _ in range(product.unrolled):
            multiply_row(
                code, k.taps, k.stream, sums, k.x, k.words,
                extend=layer.extend if layer.is_direct else "",
            )  # fmt: skip
        code.vmov(k.taps_end, k.limit if layer.is_long else k.row_end)
        code.cmp(k.taps, k.taps_end)
    take_apart(code, pairs(sums))
    if layer.is_long:
        _add_parts(k, sums, begin)
    if layer.is_direct:
        code.vmov(k.taps, k.state)
    _round(k, unsolved, store)
    for n, element in enumerate(sums[: product.half]):
        code.strb(element, k.out[n])
    if product.common is None:
        code.b(last)
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


def _add_parts(k: _Kernel, sums: Sequence[Register], begin: Label) -> None:
    """The odd outputs' sums, which are 256-fold: behind a part of the row they wait, and the sums
    begin again with the even ones' as they are; at its end all are added.
    begin: where a part is summed up."""
    code, end = k.code, k.code.label()
    evens, odds = sums[::2], sums[1::2]
    row_end, middle = code.registers("row_end middle")
    before = code.registers("before0 before1")
    has_many = k.layer.parts > 2

    def add() -> None:
        code.vmov(*before, k.before)
        for odd, part in zip(odds, before[: len(odds)], strict=True):
            code.add(odd, odd, part)

    for odd in odds:
        code.asr(odd, odd, 8)
    if has_many:
        add()
    code.vmov(row_end, k.row_end)
    code.cmp(k.taps_end, row_end)
    code.beq(end)
    code.vmov(k.before, odds[0], odds[-1])
    for even, odd in zip(evens, odds, strict=True):
        code.mov(odd, even)
    if has_many:
        code.vmov(row_end, k.part)
        code.add(row_end, row_end, k.taps_end)
    code.vmov(k.limit, row_end)
    code.b(begin)
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

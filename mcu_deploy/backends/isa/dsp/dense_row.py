"""The row of a fully connected layer, in instructions: eight taps a block, four outputs a group,
and of long rows the last six outputs, four taps at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mcu_deploy.backends.isa import Assembly, Kind, Label, Register
from mcu_deploy.backends.isa.dsp.rounding import (
    round_each_twice,
    round_in_float,
    round_once,
    round_twice,
)
from mcu_deploy.backends.isa.dsp.tile import multiply_row, pairs, take_apart
from mcu_deploy.backends.isa.dsp.widening import Row, widen_row
from mcu_deploy.backends.isa.kept import counted
from mcu_deploy.backends.quantized.dense import OUTPUTS, TAPS, RowProduct

_SIX_UNROLLED = 8  # blocks, whose code is longer


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
        self.third = code.register("third_before_middle", "s12")
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
        self.extend = self.layer.extend if self.layer.is_direct else ""


def assemble(product: RowProduct, is_entered: bool = True) -> Assembly:
    """The kernel: x, y, the packed stream, scratch. is_entered: as `enters` has it.

    y[r][k] = sat(((sum of x[r] * w[k] + start[k]) * scale >> 32) + addend >> shift), or as TFLite
    rounds twice, or in float32. The scratch has a row, widened to int16 in the order of SXTB16,
    then the words of `ends` and `common`. y may follow the rows that were read, the scratch the row
    that is read: `scratch_distance`.
    """
    code, layer = Assembly(), product.layer
    k = _Kernel(code, product, is_entered and product.groups > 0)
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
    head = [row_bytes, skipped, outputs, *of_long]
    code.reads(4 * len(head) + 4 * len(k.common))
    code.ldmia(stream.moving, head)
    if layer.parts > 2:
        none = code.register("none")
        code.vmov(k.part, of_long[1])
        code.mov(none, 0)
        code.vmov(k.before, none, none)
        if k.product.others:
            code.vmov(k.third, none)
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
    """The outputs of a row, four at a time, or the last six."""
    code, product, layer = k.code, k.product, k.layer
    outputs = OUTPUTS * product.groups + bool(product.others) * (OUTPUTS + OUTPUTS // 2)
    # With what sums start as, and scales and addends of the four that are rounded at a time.
    rounded = product.groups + 2 * bool(product.others)
    code.reads(outputs * (TAPS * layer.blocks + 4) + 4 * len(k.own) * rounded, 16)
    if product.groups:
        _fours(k)
    if product.others:
        _six(k)


def _fours(k: _Kernel) -> None:
    """Groups of four outputs."""
    code, product, layer = k.code, k.product, k.layer
    unsolved, store, last = (code.label() for _ in range(3))
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
                        code, k.taps, k.stream, k.sums, k.x, k.words, layer.is_wide, k.extend
                    )
            _compare(k)
        _take_apart(k, k.sums, k.blocks[0])
        code.note("To elements of the output.")
        if layer.is_direct:
            code.vmov(k.taps, k.state)
        _round(k, unsolved, store)
        _store(k)
        code.beq(last)
        _begin_group(k)
        if not k.is_entered:
            code.b(k.blocks[0])
    _unsolved(k, unsolved, store)
    code.place(last)


def _six(k: _Kernel) -> None:
    """The last outputs. The sums of the fifth and the sixth wait while four are rounded."""
    code, product, layer = k.code, k.product, k.layer
    begin = code.label()
    code.note("Six outputs, four taps at a time.")
    others = code.registers("even2 odd2")
    waiting = code.registers("fifth sixth", kind=Kind.SINGLE)
    sums = [*k.sums, *others]
    at_once = min(product.unrolled, _SIX_UNROLLED)
    code.vmov(k.taps, k.row_begin)
    code.ldmia(k.stream.moving, k.sums)
    code.ldmia(k.stream.moving, others)
    code.place(begin)
    with code.repeat(layer.blocks // at_once):
        for _ in range(2 * at_once):
            multiply_row(code, k.taps, k.stream, sums, k.x[:2], k.words, extend=k.extend)
        _compare(k)
    _take_apart(k, sums, begin)
    code.note("To elements of the output.")
    for one, place in zip(others, waiting, strict=True):
        code.vmov(place, one)
    if layer.is_direct:
        code.vmov(k.taps, k.state)
    _round_and_store(k, lambda: _store(k))
    for one, place in zip(k.sums, waiting, strict=False):
        code.vmov(one, place)

    def store_others() -> None:
        for n, element in enumerate(k.sums[: product.others]):
            code.strb(element, k.out[n])

    _round_and_store(k, store_others)


def _round_and_store(k: _Kernel, store: Callable[[], None]) -> None:
    """Of the last outputs four sums; what no integers round stands behind, as near as CBZ needs."""
    unsolved, ready, done = (k.code.label() for _ in range(3))
    _round(k, unsolved, ready)
    store()
    if k.product.common is None:
        k.code.b(done)
    _unsolved(k, unsolved, ready)
    k.code.place(done)


def _compare(k: _Kernel) -> None:
    """Whether there are more taps, or more of a part."""
    k.code.vmov(k.taps_end, k.limit if k.layer.is_long else k.row_end)
    k.code.cmp(k.taps, k.taps_end)


def _take_apart(k: _Kernel, sums: Sequence[Register], begin: Label) -> None:
    """What is summed up; `begin`: as `_add_parts` has it."""
    if not k.layer.is_wide:
        take_apart(k.code, pairs(sums))
    if k.layer.is_long:
        _add_parts(k, sums, begin)


def _unsolved(k: _Kernel, label: Label, store: Label) -> None:
    """Outputs that no integers round at once, if there may be such; then it goes on at `store`."""
    if k.product.common is None:
        with k.code.rarely():
            k.code.place(label)
            k.code.note("No integers round these outputs at once.")
            _round_otherwise(k)
            k.code.b(store)


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
    before = code.registers("before0 before1 before2")[: len(odds)]
    has_many, has_third = k.layer.parts > 2, len(odds) > 2

    def wait(*values: Register) -> None:
        code.vmov(k.before, *values[:2])
        if has_third:
            code.vmov(k.third, values[2])

    def add() -> None:
        code.vmov(*before[:2], k.before)
        if has_third:
            code.vmov(before[2], k.third)
        for odd, part in zip(odds, before, strict=True):
            code.add(odd, odd, part)

    for odd in odds:
        code.asr(odd, odd, 8)
    if has_many:
        add()
    code.vmov(row_end, k.row_end)
    code.cmp(k.taps_end, row_end)
    code.beq(end)
    wait(*odds)
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
        wait(*[middle] * 3)
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
        round_twice(code, k.layer.saturate, k.sums, lanes, *k.common[:3])
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

"""Fully connected layers of int8: a row of activations with constant weights, 4 outputs at a time.

A row is widened once, to int16 in the scratch. 4 sums, 4 words of activations, 4 of weights and
the two pointers fill all 14 registers. A word of weights is two taps of two outputs, as in a 1x1
convolution (core.py): SMLAD of the word sums 256 * odd + even, SMLAD of the word through
SXTB16 sums even, and their difference is 256 times the odd output's sum.

The code is of no depth and no count of outputs: both stand before the weights. Eight taps are a
block; 16 blocks stand one behind the other, and the first time in a group of outputs the code is
entered so far inside that the rest comes out even. What a group needs besides its sums lies behind
the activations, where the pointer to these ends up by itself. It is written there when a row has
been widened, so that the row may lie in the scratch's second half, if nothing needs it any more.

Sums of long rows leave the 24 bits that an odd output's has in such a word. They are taken apart in
the middle too, and what the odd output has so far waits in the FPU.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.ArmDsp.dense import (
    BLOCKS,
    LANES,
    OUTPUTS,
    TAPS,
    Dense,
    Rounding,
    is_of_rows,
    read,
    refusal,
    round_pair,
    rounding,
)
from mcu_deploy.backends.ArmDsp.workloads import CHANNELS_LAST, workload
from mcu_deploy.backends.interface import (
    Constant,
    Costs,
    InPlace,
    Layer,
    Price,
    Proposal,
    SubgraphView,
    Workload,
    layer_of,
)
from mcu_deploy.backends.isa import Assembly
from mcu_deploy.backends.kit import overlap
from mcu_deploy.operators import label

OPERATORS = ("Gemm", "MatMul", "tflite::FullyConnected", "Conv", "tflite::Conv")

_BLOCK_CODE = 4 * 27  # bytes
_SUMS = ("r0", "r1", "r2", "r3")  # even, odd, even, odd
# Scale and addend of even and odd outputs: of all, and of each of a group.
_COMMON_SCALES = ("r7", "r8", "r9", "r10") * 2
_OWN_SCALES = ("r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11")
# What makes twice the sum, by what it is a multiple of.
_TWICE = {1: "lsl {}, {}, #1", LANES: "asr {}, {}, #7"}
# Behind the activations: output pointer, its end, where the blocks are entered, the scales of all,
# and eight bytes for the rest of a row.
_TAIL, _REST = 28, 28
# In the FPU's registers.
_ROW, _END, _X, _Y, _STEP, _WEIGHTS, _ROWS = "s0", "s1", "s2", "s3", "s4", "s5", "s6"
# Of long rows: where the blocks end next, the middle, and the odd outputs' sums before it.
_LIMIT, _MIDDLE, _BEFORE = "s7", "s16", "d5"
# The long form must save so many cycles for each byte of its code.
_WORTH = 1


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """Blocks in a loop, and 16 of them unrolled where the dense layers together are worth it."""
    layer = read(node)
    if isinstance(layer, str):
        return layer
    if reason := refusal(layer):
        return reason
    # Of those that cost the same cycles the first is taken: the code that others need anyway.
    unrolled = (BLOCKS, 1) if _pays(view, node) else (1,)
    shift, common = rounding(layer)
    return [
        _proposal(
            view, node, layer, n,
            pack(layer, shift, common, n), assemble(layer, shift, common, n),
        )
        for n in unrolled
    ]  # fmt: skip


def _pays(view: SubgraphView, node: Layer) -> bool:
    """Whether the unrolled blocks save enough, in all layers of the view that could share them."""
    blocks = 0
    for other in view.nodes:
        if label(other.domain, other.op) in OPERATORS:
            layer = layer_of(view, other, node.target)
            if other.op != "Conv" or is_of_rows(layer):
                blocks += layer.macs // (TAPS * OUTPUTS)
    return blocks * 5 >= _WORTH * BLOCKS * _BLOCK_CODE


def _proposal(
    view: SubgraphView, node: Layer, layer: Dense, unrolled: int, stream: Array, code: Assembly
) -> Proposal:
    outputs, taps = layer.weights.shape
    stem = f"dense{'_long' * layer.is_long}{'_unrolled' * (unrolled > 1)}_dsp"
    # A row is read before it is written.
    rows = layer.rows - 1 if outputs > taps else 1
    distance = rows * (outputs - taps) if layer.rows > 1 else -layer.x.bytes
    price = Price(
        Costs(layer.rows * outputs * taps, cycles=round(code.cycles), flash=stream.nbytes),
        {f"{stem} {code.digest}": code.bytes},
        2 * TAPS * layer.blocks + _TAIL + (TAPS if taps % TAPS else 0),
        (
            InPlace(0, 0, max(distance, -layer.x.bytes)),
            InPlace(0, None, max(scratch_distance(layer), -layer.x.bytes)),
        ),
    )

    def make(layers: Sequence[Layer], _: Any) -> tuple[Workload, ...]:
        return (workload(layers[0], stem, code, (Constant("weights", stream),), price),)

    title = "dense" if unrolled == 1 else "dense, unrolled"
    part = view.part([node.node.id])
    if node.op == "Conv":
        return Proposal(part, price, make, layouts=CHANNELS_LAST, title=title)
    return Proposal(part, price, make, title=title)


def scratch_distance(layer: Dense) -> int:
    """How far the scratch must start before the input, as `InPlace` has it. The writes of the first
    row are followed by the lowest reads."""
    taps = layer.x.shape[-1]
    whole, end = taps // TAPS * TAPS, 2 * TAPS * layer.blocks
    ends = np.arange(2 * TAPS, 2 * whole + 1, 2 * TAPS)
    rest = np.arange(taps - whole) + end + _REST + 1
    after = taps if layer.rows > 1 else overlap.NOTHING  # the next row
    return overlap.distance(
        np.r_[ends, rest, end + _TAIL],
        np.r_[0:whole:TAPS, whole:taps, overlap.NOTHING, after],
    )


def pack(layer: Dense, shift: int, common: Rounding | None, unrolled: int) -> Array:
    """The words that the kernel reads: bytes of a widened row, bytes of code that the first blocks
    skip, outputs, of long rows the bytes before their middle, the common scales; then group after
    group the start of the four sums, the weights, and where outputs differ, scale and addend of
    each. A group of which an output has no integer scale has 0 there, and four float32 factors
    behind it, or what `_round_each_twice` takes."""
    even, odd = layer.pairs()
    halves = (LANES * odd + even).reshape(layer.groups, 2, layer.blocks, 4, 2)
    words = (halves[..., 0] & 0xFFFF | (halves[..., 1] & 0xFFFF) << 16).transpose(0, 2, 1, 3)
    skipped = -layer.blocks % unrolled * _BLOCK_CODE
    stream = [2 * TAPS * layer.blocks, skipped, len(layer.weights)]
    stream += [2 * TAPS * layer.middle] if layer.is_long else []
    stream += [] if common is None else common.words
    bias = np.resize(layer.bias, OUTPUTS * layer.groups).reshape(-1, OUTPUTS)
    for group in range(layer.groups):
        ends: list[int] = []
        if common is None:
            moves, ends = _ends(layer, group, shift)
        else:
            moves = [*common.moves] * 2
        starts = bias[group] * [1, LANES, 1, LANES]
        starts += moves * np.array([1, LANES // layer.lanes] * 2)
        starts[1::2] += starts[::2]
        stream += [*starts.tolist(), *words[group].reshape(-1).tolist(), *ends]
    return (np.array(stream, np.int64) & 0xFFFFFFFF).astype(np.uint32)


def _ends(layer: Dense, group: int, shift: int) -> tuple[list[int], list[int]]:
    """What the four sums of a group are moved by, and what stands behind its weights."""
    indices = [min(OUTPUTS * group + k, len(layer.factors) - 1) for k in range(OUTPUTS)]
    channels = [layer.channel(k) for k in indices]
    first, second = (round_pair(channels[k], channels[k + 1], shift, layer.lanes) for k in (0, 2))
    if first is not None and second is not None:
        return [*first.moves, *second.moves], [*first.words, *second.words]
    if layer.fixed is not None:
        pairs = layer.fixed[indices]
        shifts = sum(-int(by) << 8 * n for n, by in enumerate(pairs[:, 1]))
        return [0] * OUTPUTS, [0, *map(int, pairs[:, 0]), shifts, layer.zero_points[1], 0]
    factors = layer.factors[indices] / np.array([1, layer.lanes] * 2, np.float32)
    return [0] * OUTPUTS, [0, *map(int, factors.astype(np.float32).view(np.uint32)), 0, 0, 0]


def assemble(layer: Dense, shift: int, common: Rounding | None, unrolled: int) -> Assembly:
    """The kernel. r0: rows, r1: output, r2: the packed stream, r3: scratch."""
    surplus = -len(layer.weights) % OUTPUTS
    passes = math.ceil(layer.blocks / unrolled)
    skipped = passes * unrolled - layer.blocks
    code = Assembly()
    blocks, last = code.label(), code.label()
    code(f"vmov {_X}, r0", f"vmov {_Y}, r1", f"vmov {_ROW}, r3", "mov lr, r2")
    code(f"ldmia lr!, {{r0-{'r3' if layer.is_long else 'r2'}}}", f"vmov r12, {_ROW}")
    if layer.is_long:
        code("add r3, r3, r12", f"vmov {_MIDDLE}, r3", f"vmov {_LIMIT}, r3")
    code("add r12, r12, r0", f"vmov {_END}, r12")
    code(f"vmov r4, {_Y}", "add r5, r4, r2")
    if surplus:
        code(f"add r5, r5, #{surplus}")
    code(f"adr.w r6, {blocks}f", "add r6, r6, r1", "orr r6, r6, #1")
    if common is not None:
        code("ldmia lr!, {r7-r10}")
    code(f"vmov {_WEIGHTS}, lr")
    if layer.rows > 1:
        code(f"vmov {_STEP}, r2", f"movw r0, #{layer.rows}", f"vmov {_ROWS}, r0")
    rows = code.label()
    code.place(rows)
    with code.times(layer.rows):
        code.note("A row, widened to int16, in front of what outputs need to be stored.")
        _widen(code, layer)
        code("stmia r12, {r4-r10}", f"vmov lr, {_WEIGHTS}", f"vmov r12, {_ROW}")
        code("ldmia lr!, {r0-r3}", "bx r6")
        code.place(blocks)
        with code.times(layer.groups):
            code.note("Four outputs (r0-r3), eight taps at a time (r4-r7). A word of weights has")
            code.note("256 odd + even, twice; by SXTB16 it has the even ones.")
            with code.repeat(passes):
                for n in range(unrolled):
                    code.target()
                    with code.times((passes - (n < skipped)) / passes):
                        _block(code)
                code(f"vmov r4, {_LIMIT if layer.is_long else _END}", "cmp r12, r4")
            code("sub r1, r1, r0", "sub r3, r3, r2")
            if layer.is_long:
                _add_halves(code, blocks)
            fractional, store = code.label(), code.label()
            code.note("To elements of the output.")
            if common is None:
                code("ldmia lr!, {r4-r11}", f"cbz r4, {fractional}f")
            else:
                code("ldmia r12, {r4-r10}")
            if common is not None and common.is_twice:
                _round_twice(code, layer)
            else:
                scales = _OWN_SCALES if common is None else _COMMON_SCALES
                by = layer.lanes.bit_length() - 1
                for acc, scale, addend in zip(_SUMS, scales[::2], scales[1::2], strict=True):
                    code(f"smmla {acc}, {acc}, {scale}, {addend}")
                for n, acc in enumerate(_SUMS):
                    code(f"{layer.saturate} {acc}, #8, {acc}, asr #{shift + n % 2 * by}")
            code.place(store)
            if common is None:
                code("ldmia r12, {r4-r6}")
            _store(code, surplus)
            code(f"beq {last}f", f"vmov r12, {_ROW}", "ldmia lr!, {r0-r3}", "bx r6")
        if common is None:
            with code.rarely():
                code.place(fractional)
                code.note("No integers round these outputs.")
                if layer.fixed is None:
                    _round_floats(code, layer)
                else:
                    _round_each_twice(code, layer)
                code(f"b {store}b")
        code.place(last)
        if layer.rows > 1:
            done = code.label()
            code(f"vmov r0, {_ROWS}", "subs r0, r0, #1", f"beq {done}f", f"vmov {_ROWS}, r0")
            code(f"vmov r4, {_Y}", f"vmov r5, {_STEP}", "add r4, r4, r5", f"vmov {_Y}, r4")
            code("add r5, r4, r5", *([f"add r5, r5, #{surplus}"] if surplus else []))
            code(f"b {rows}b")
            code.place(done)
    return code


def _widen(code: Assembly, layer: Dense) -> None:
    """A row, to pairs of int16 in the scratch; r12 ends behind them, r4-r10 stay. The bytes of a
    block that the row does not fill are any: their weights are 0."""
    whole, rest = divmod(layer.weights.shape[1], TAPS)
    code(f"vmov r11, {_X}", f"vmov r12, {_ROW}", f"vmov lr, {_END}")
    if rest:
        code(f"sub lr, lr, #{2 * TAPS}")
    if whole:
        with code.repeat(whole):
            if rest % 4 and layer.rows > 1:  # rows begin anywhere, where LDM would trap
                code("ldr r0, [r11], #4", "ldr r1, [r11], #4")
            else:
                code("ldmia r11!, {r0, r1}")
            _widen_eight(code, layer)
            code("cmp r12, lr")
    if rest:
        for n in range(rest):
            code("ldrb r0, [r11], #1", f"strb r0, [r12, #{2 * TAPS + _REST + n}]")
        code(f"ldrd r0, r1, [r12, #{2 * TAPS + _REST}]")
        _widen_eight(code, layer)
    if layer.rows > 1:
        code(f"vmov {_X}, r11")


def _widen_eight(code: Assembly, layer: Dense) -> None:
    code(f"{layer.extend} r2, r0, ror #8", f"{layer.extend} r3, r1, ror #8")
    code(f"{layer.extend} r0, r0", f"{layer.extend} r1, r1", "stmia r12!, {r0-r3}")


def _block(code: Assembly) -> None:
    """Eight taps of four outputs: 32 products in 27 instructions."""
    taps = [("r8", "r4"), ("r9", "r5"), ("r10", "r6"), ("r11", "r7")]
    code("ldmia r12!, {r4-r7}")
    for even, odd in (_SUMS[:2], _SUMS[2:]):
        code("ldmia lr!, {r8-r11}")
        code(*(f"smlad {odd}, {word}, {x}, {odd}" for word, x in taps))
        code(*(f"sxtb16 {word}, {word}" for word, _ in taps))
        code(*(f"smlad {even}, {word}, {x}, {even}" for word, x in taps))


def _add_halves(code: Assembly, blocks: str) -> None:
    """The odd outputs' sums, which are 256-fold in r1 and r3: in the middle of the row they wait,
    and the sums begin again with the even ones' as they are; at its end both are added."""
    end = code.label()
    code("asr r1, r1, #8", "asr r3, r3, #8", f"vmov r5, {_END}", "cmp r4, r5", f"beq {end}f")
    code(f"vmov {_BEFORE}, r1, r3", "mov r1, r0", "mov r3, r2", f"vmov {_LIMIT}, r5")
    code(f"b {blocks}b")
    code.place(end)
    code(f"vmov r4, r5, {_BEFORE}", "add r1, r1, r4", "add r3, r3, r5")
    code(f"vmov r4, {_MIDDLE}", f"vmov {_LIMIT}, r4")


def _store(code: Assembly, surplus: int) -> None:
    """The four outputs, but for those that the last group has too many."""
    code("strb r0, [r4], #4", "cmp r4, r5")
    for n in range(1, OUTPUTS):
        if n == OUTPUTS - surplus:
            code(f"i{'t' * surplus} ne")
        code(f"strb{'ne' if n >= OUTPUTS - surplus else ''} r{n}, [r4, #{n - 4}]")
    code("str r4, [r12]")


def _round_floats(code: Assembly, layer: Dense) -> None:
    """The four sums times the factors in r5-r8."""
    code("vmov d4, r5, r6", "vmov d5, r7, r8", "vmov d6, r0, r1", "vmov d7, r2, r3")
    code(*(f"vcvt.f32.s32 s{n}, s{n}" for n in range(12, 16)))
    code(*(f"vmul.f32 s{n}, s{n}, s{n - 4}" for n in range(12, 16)))
    code(*(f"vcvtr.s32.f32 s{n}, s{n}" for n in range(12, 16)))
    code("vmov r0, r1, d6", "vmov r2, r3, d7")
    zero = layer.zero_points[1]
    for acc in _SUMS:
        code(f"{'sub' if zero < 0 else 'add'} {acc}, {acc}, #{abs(zero)}")
        code(f"{layer.saturate} {acc}, #8, {acc}")


def _round_twice(code: Assembly, layer: Dense) -> None:
    """The four sums times the multiplier in r7, with the addend in r8 and the shift in r9: the
    upper word of twice the product is rounded with ties up, then shifted with ties away from zero,
    which is with ties up of one less where it is negative."""
    for n, acc in enumerate(_SUMS):
        code(_TWICE[layer.lanes if n % 2 else 1].format("r10", acc), "smmlar r10, r10, r7, r8")
        code(f"add {acc}, r10, {acc}, asr #31", f"asr {acc}, {acc}, r9")
        code(f"{layer.saturate} {acc}, #8, {acc}")


def _round_each_twice(code: Assembly, layer: Dense) -> None:
    """The same with multipliers in r5-r8, shifts in the bytes of r9 and the zero point in r10: the
    carry is the last bit that a shift drops."""
    for n, acc in enumerate(_SUMS):
        code(f"ubfx r11, r9, #{8 * n}, #8", _TWICE[layer.lanes if n % 2 else 1].format("r4", acc))
        code(f"smmulr r4, r4, r{5 + n}", f"add {acc}, r4, {acc}, asr #31")
        code(
            f"asrs {acc}, {acc}, r11",
            f"adc {acc}, {acc}, r10",
            f"{layer.saturate} {acc}, #8, {acc}",
        )

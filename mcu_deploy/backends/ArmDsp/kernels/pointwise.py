"""1x1 convolution of int8: tiles of 3 pixels, 2 output channels at a time.

A tile of 2 x 3 sums, 3 activations, 3 words of weights and the two pointers fill all 14 registers.
Activations are widened once a tile, to pairs of int16 in the scratch. A word of weights is two taps
of two channels: each half holds `256 * odd + even` (the carry is settled when it is packed), so
SMLAD of the word sums 256 * odd + even, and SMLAD of the word through SXTB16 sums even; their
difference is 256 times the odd channel's sum, and the 1/256 is in its scale. What a tile must
remember lies behind its activations, where the pointer to these ends up by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.ArmDsp.layers import Convolution, read
from mcu_deploy.backends.ArmDsp.requantization import accumulate, shift_of
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
)
from mcu_deploy.backends.isa import Assembly, statement

OPERATORS = ("Conv",)

LANES = 256  # of the odd channel's accumulator
_EVEN, _ODD = ("r0", "r1", "r2"), ("r3", "r4", "r5")
_X, _W = ("r6", "r7", "r8"), ("r9", "r10", "r11")
# Behind a tile's activations: three output pointers, the end of the first, then these; and behind
# them bytes that take the results of pixels that do not exist.
_INPUT, _WEIGHTS, _TILES, _NOWHERE = 16, 20, 24, 28


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A 1x1 convolution by itself."""
    layer = read(node)
    if isinstance(layer, str):
        return layer
    if not layer.is_pixelwise:
        return ""
    if reason := refusal(layer):
        return reason
    channels, filters = layer.x.shape[1], layer.y.shape[1]
    code = assemble(layer)
    stem = f"conv1x1_{channels}x{filters}_dsp"
    # A tile is read before it is written. (The last one reads some pixels again whose results are
    # not taken, whatever has been written over them.)
    tiles = layer.pixels // 3 if filters > channels else 1
    distance = max(3 * tiles * (filters - channels), -layer.x.bytes)
    price = Price(
        Costs(
            layer.pixels * channels * filters,
            cycles=round(code.cycles),
            flash=constant_bytes(layer),
        ),
        {f"{stem} {code.digest}": code.bytes},
        scratch_bytes(channels, filters),
        (InPlace(0, 0, distance),),
    )

    def make(layers: Sequence[Layer], _: Any) -> tuple[Workload, ...]:
        body = "{\n" + statement(code, "x", "y", "weights", "scratch") + "}"
        constants = (Constant("weights", pack(layer)),)
        return (workload(layers[0], stem, body, constants, price),)

    return [
        Proposal(view.part([node.node.id]), price, make, layouts=CHANNELS_LAST, title="conv1x1")
    ]


def constant_bytes(layer: Convolution) -> int:
    """Of a 1x1 convolution's constants: of each filter the weights, bias, scale and addend."""
    channels, filters = layer.x.shape[1], layer.y.shape[1]
    return (channels + 12) * filters


def refusal(layer: Convolution) -> str:
    """Why the kernel does not compute a 1x1 convolution, a clause; empty where it does."""
    filters, channels = layer.weights.shape[:2]
    if channels % 4 or filters % 2:
        return f"it takes channels by 4 and filters by 2, not {channels} and {filters}"
    if channels > 512 or filters > 2048:
        return f"it has offsets for 512 channels and 2048 filters, not {channels} and {filters}"
    if layer.pixels < 3:
        return f"it takes pixels by 3, and there are {layer.pixels}"
    if shift_of(layer.factors) < 0:
        return "its factors are too large for a 31-bit scale"
    low, high = layer.reach
    if max(-low.min(), high.max()) >= 2**23 - 2**15:
        return "a sum of its weights could leave the 24 bits that two channels in one word have"
    even, odd = _pairs(layer.weights.reshape(filters, channels).astype(np.int64))
    if ((odd == -128) & (even < 0)).any():
        return "a weight of -128 stands beside a negative one, which one word cannot hold"
    return ""


def _pairs(weights: Array) -> tuple[Array, Array]:
    return weights[::2], weights[1::2]


def _order(channels: int) -> Array:
    """The taps in the order in which SXTB16 widens eight bytes: (0, 2), (4, 6), (1, 3), (5, 7)."""
    eight = np.array([0, 2, 4, 6, 1, 3, 5, 7])
    whole = (np.arange(0, channels // 8 * 8, 8)[:, None] + eight).reshape(-1)
    rest = channels - 4 + np.array([0, 2, 1, 3]) if channels % 8 else np.array([], np.int64)
    return np.concatenate([whole, rest])


def words(weights: Array) -> Array:
    """Weights [filter, channel] as the kernel reads them: uint32 [filter / 2, channel / 2]."""
    even, odd = _pairs(weights.astype(np.int64)[:, _order(weights.shape[1])])
    halves = (LANES * odd + even).reshape(even.shape[0], -1, 2)
    assert halves.min() >= -(2**15) and halves.max() < 2**15
    return ((halves[..., 0] & 0xFFFF) | (halves[..., 1] & 0xFFFF) << 16).astype(np.uint32)


def pack(layer: Convolution) -> Array:
    """The stream of words that the kernel reads, pair after pair: both biases, the weights, and
    scale and addend of both. A pair of which a channel has no integer scale has 0 there, and two
    float32 factors behind it."""
    filters, channels = layer.weights.shape[:2]
    taps = words(layer.weights.reshape(filters, channels))
    shift = shift_of(layer.factors)
    stream = []
    for pair in range(filters // 2):
        even, odd = 2 * pair, 2 * pair + 1
        first = accumulate(layer.channel(even), 1, shift)
        second = accumulate(layer.channel(odd), LANES, shift + 8)
        moves, ends = (
            [0, 0],
            [0, *_bits(layer.factors[[even, odd]] / np.array([1, LANES], np.float32)), 0],
        )
        if first is not None and second is not None:
            moves = [first[2], second[2]]
            ends = [*first[:2], *second[:2]]
        begin = int(layer.bias[even]) + moves[0]
        start = LANES * int(layer.bias[odd]) + moves[1] + begin
        stream.append([begin, start, *taps[pair].tolist(), *ends])
    return (np.array(stream, np.int64).reshape(-1) & 0xFFFFFFFF).astype(np.uint32)


def _bits(values: Array) -> list[int]:
    return [int(v) for v in values.astype(np.float32).view(np.uint32)]


def scratch_bytes(channels: int, filters: int) -> int:
    return 6 * channels + _NOWHERE + filters


def count_at(channels: int) -> int:
    """Where the scratch has the number of tiles, an int32."""
    return 6 * channels + _TILES


def assemble(layer: Convolution, is_counted: bool = True) -> Assembly:
    """The kernel. %0: pixels, %1: output, %2: the packed stream, %3: scratch.

    is_counted: it computes all of the layer; else as many tiles as the scratch has at `count_at`,
    of a layer whose rows are whole tiles.
    """
    filters, channels = layer.weights.shape[:2]
    whole, rest = divmod(layer.pixels, 3)
    tiles = whole + (rest > 0)
    tile = 6 * channels
    code = Assembly()
    code(
        f"add r12, %3, #{tile}", f"str %0, [r12, #{_INPUT}]", f"str %2, [r12, #{_WEIGHTS}]",
        "mov r4, %1", f"add r5, r4, #{filters}", f"add r6, r5, #{filters}", "mov r7, r5",
        "stmia r12, {r4-r7}",
    )  # fmt: skip
    if is_counted:
        code(f"mov r4, #{tiles}", f"str r4, [r12, #{_TILES}]")
    with code.repeat(tiles, "b"):
        code(f"sub lr, r12, #{tile}", f"ldr r12, [r12, #{_INPUT}]")
        _widen(code, channels, layer.extend)
        code("mov r12, lr", f"ldr lr, [r12, #{_WEIGHTS}]")
        after = code.label()
        with code.repeat(filters // 2):
            code(f"sub r12, r12, #{tile}", "ldmia lr!, {r2, r5}")
            _sums(code, channels // 2)
            fractional, store = code.label(), code.label()
            code(*(f"sub {o}, {o}, {e}" for o, e in zip(_ODD, _EVEN, strict=True)))
            code("ldmia lr!, {r6-r9}", f"cbz r6, {fractional}f")
            shift = shift_of(layer.factors)
            for sums, scale, addend, by in (
                (_EVEN, "r6", "r7", shift), (_ODD, "r8", "r9", shift + 8),
            ):  # fmt: skip
                for acc in sums:
                    code(f"smmla {acc}, {acc}, {scale}, {addend}")
                for acc in sums:
                    code(f"{layer.saturate} {acc}, #8, {acc}, asr #{by}")
            code.place(store)
            code("ldmia r12, {r6-r9}")
            for y, even, odd in zip(_X, _EVEN, _ODD, strict=True):
                code(f"strb {even}, [{y}], #1", f"strb {odd}, [{y}], #1")
            code("stmia r12, {r6-r8}", "cmp r6, r9")
        code(f"b {after}f")
        with code.rarely():
            code.place(fractional)
            code("vmov d3, r7, r8", "vmov d0, r0, r1", "vmov d1, r2, r3", "vmov d2, r4, r5")
            code(*(f"vcvt.f32.s32 s{n}, s{n}" for n in range(6)))
            code(*(f"vmul.f32 s{n}, s{n}, s{6 + n // 3}" for n in range(6)))
            code(*(f"vcvtr.s32.f32 s{n}, s{n}" for n in range(6)))
            code("vmov r0, r1, d0", "vmov r2, r3, d1", "vmov r4, r5, d2")
            for acc in (*_EVEN, *_ODD):
                code(layer.add_zero_point(acc), f"{layer.saturate} {acc}, #8, {acc}")
            code(f"b {store}b")
        code.place(after)
        done, ready = code.label(), code.label()
        code(
            f"ldr r0, [r12, #{_TILES}]", "ldr r1, [r12, #8]", f"ldr r4, [r12, #{_INPUT}]",
            "subs r0, r0, #1", f"str r0, [r12, #{_TILES}]", f"beq {done}f",
            f"add r4, r4, #{3 * channels}", f"add r2, r1, #{filters}", f"add r3, r2, #{filters}",
        )  # fmt: skip
        if rest:
            # The last tile takes the last three pixels: those that others had go nowhere.
            code("cmp r0, #1", f"bne {ready}f")
            with code.rarely():
                code(*(["mov r3, r1"] if rest == 1 else ["mov r3, r2", "mov r2, r1"]))
                code(f"add r1, r12, #{_NOWHERE}", *(["mov r2, r1"] if rest == 1 else []))
                code(f"sub r4, r4, #{(3 - rest) * channels}")
            code.place(ready)
        code(f"add r5, r1, #{filters}", "stmia r12, {r1, r2, r3, r5}", f"str r4, [r12, #{_INPUT}]")
    code.place(done)
    return code


def _widen(code: Assembly, channels: int, extend: str) -> None:
    """Three pixels from r12 on, to pairs of int16 by lr: of each pair of taps the three pixels."""
    for at in range(0, channels // 8 * 8, 8):
        pixels = (f"#{at}", f"#{channels + at}", f"#{2 * channels + at}")
        code(*(f"ldrd r{n}, r{n + 3}, [r12, {offset}]" for n, offset in enumerate(pixels)))
        code(*(f"{extend} r{6 + n}, r{n}, ror #8" for n in range(6)))
        code(*(f"{extend} r{n}, r{n}" for n in range(6)), "stmia lr!, {r0-r11}")
    if channels % 8:
        code(*(f"ldr r{n}, [r12, #{n * channels + channels - 4}]" for n in range(3)))
        code(*(f"{extend} r{3 + n}, r{n}, ror #8" for n in range(3)))
        code(*(f"{extend} r{n}, r{n}" for n in range(3)), "stmia lr!, {r0-r5}")


def _sums(code: Assembly, pairs: int) -> None:
    """The six sums. The first SMLADs take the biases, in r2 and r5, for all three pixels."""
    for first in range(0, pairs, 3):
        taken = _W[: min(3, pairs - first)]
        code(
            f"ldmia lr!, {{{', '.join(taken)}}}" if len(taken) > 1 else f"ldr {taken[0]}, [lr], #4"
        )
        for n, word in enumerate(taken):
            code("ldmia r12!, {r6-r8}")
            for sums in (_ODD, _EVEN):
                if sums is _EVEN:
                    code(f"sxtb16 {word}, {word}")
                for acc, x in zip(sums, _X, strict=True):
                    code(f"smlad {acc}, {word}, {x}, {acc if first + n else sums[2]}")

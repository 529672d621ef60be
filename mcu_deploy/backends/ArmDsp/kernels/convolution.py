"""Convolution of int8 of any kernel, stride, padding and dilation: three windows are gathered, then
multiplied by all filters.

Tiles of three outputs follow each other over the rows. The windows of most lie inside of the image
and in one row: these are begun in a dozen instructions. Others are begun one by one, and a window
that leaves the image is first copied to a patch of its own, with the zero point where there is no
image, so that the gather and the bias need to know of no border. All numbers of a layer are in
front of its weights, so that layers whose taps are gathered alike share a function.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.ArmDsp.core import STATE, Product
from mcu_deploy.backends.ArmDsp.gather import Gather
from mcu_deploy.backends.ArmDsp.layers import Convolution, read
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

OPERATORS = ("Conv", "tflite::Conv")

# What lies behind a tile's activations: first what changes, then what a tile begins with, then what
# a window that is begun by itself needs, and what a patch needs.
_NUMBERS = (
    *STATE,
    "source", "column", "row", "tile columns", "tile rows", "step", "down", "three strides",
    "column end", "row end", "window step", "stride", "columns inside", "rows inside",
    "column begin", "row stride", "wrap", "filters", "rounds", "unused",
)  # fmt: skip
_OF_PATCHES = (
    "height", "copied rows", "down the image", "row of a patch", "down a patch", "width", "span",
    "channels", "zeros", "patch", "patches", "unused a", "unused b", "unused c", "unused d",
    "unused e",
)  # fmt: skip
# Of each window of a tile that is begun by itself: what leads down its rows, its begin, its patch.
_SLOTS = 9 * 4


@dataclass(frozen=True, eq=False)
class Tiles:
    """Where the windows of a layer begin, pixel by pixel: their first row and column."""

    layer: Convolution

    @property
    def positions(self) -> tuple[Array, Array]:
        window = self.layer.window
        rows, columns = (
            np.arange(window.output[axis]) * window.strides[axis] - window.begin[axis]
            for axis in range(2)
        )
        return np.repeat(rows, columns.size), np.tile(columns, rows.size)

    @property
    def span(self) -> tuple[int, int]:
        """Rows and columns under a window."""
        window = self.layer.window
        rows, columns = (
            (k - 1) * d + 1 for k, d in zip(window.kernel, window.dilations, strict=True)
        )
        return rows, columns

    @property
    def inside(self) -> tuple[int, int]:
        """So many rows and columns from the first on begin windows that lie inside of the image."""
        rows, columns = (
            max(0, size - span + 1)
            for size, span in zip(self.layer.window.input, self.span, strict=True)
        )
        return rows, columns

    @property
    def whole_columns(self) -> int:
        """As `inside`, of three windows in a row."""
        return max(0, self.inside[1] - 2 * self.layer.window.strides[1])

    @property
    def count(self) -> int:
        return -(-self.layer.pixels // 3)

    def are_whole(self) -> Array:
        """Of each tile whether its windows lie in one row and inside."""
        rows, columns = (p[::3] for p in self.positions)
        begins_inside = (rows >= 0) & (rows < self.inside[0]) & (columns >= 0)
        whole: Array = begins_inside & (columns < self.whole_columns)
        return whole

    def are_inside(self) -> Array:
        """Of each pixel."""
        rows, columns = self.positions
        inside: Array = (rows >= 0) & (rows < self.inside[0])
        return inside & (columns >= 0) & (columns < self.inside[1])

    def distance(self) -> int:
        """As `InPlace` has it: a tile is gathered before it is written."""
        rows, columns = self.positions
        (height, width), (below, right) = self.layer.window.input, self.span
        dilation, channels = self.layer.window.dilations[0], self.layer.x.shape[1]
        first = np.where(rows < 0, rows % dilation, rows)
        is_empty = first >= np.minimum(height, rows + below)
        is_empty |= (columns >= width) | (columns + right <= 0)
        lowest = (first * width + np.maximum(columns, 0)) * channels
        lowest = np.where(is_empty, self.layer.x.bytes, lowest)
        later = np.minimum.accumulate(lowest[::-1])[::-1][3::3]
        written = 3 * self.layer.y.shape[1] * np.arange(1, later.size + 1)
        return int((written - later).max(initial=-self.layer.x.bytes))


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A convolution by itself, that is no 1x1 one with a stride of 1."""
    layer = read(node)
    if isinstance(layer, str):
        return layer
    if layer.is_pixelwise or layer.is_depthwise:
        return ""
    if reason := refusal(layer, node):
        return reason
    weights = Gather(layer).weights()
    kinds = [Product(layer, weights, is_wide) for is_wide in (False, True)]
    reasons = [product.refusal() for product in kinds]
    if all(reasons):
        return reasons[1]
    return [
        _proposal(view, node, product)
        for product, reason in zip(kinds, reasons, strict=True)
        if not reason
    ]


def refusal(layer: Convolution, node: Layer) -> str:
    """Why the kernel does not compute a convolution, a clause; empty where it does."""
    window = layer.window
    if int(node.attributes.get("group", 1)) != 1:
        return "of convolutions in groups it has depthwise ones only"
    if layer.x.shape[0] != 1:
        return f"it convolves one image, and the batch has {layer.x.shape[0]}"
    if min(*window.begin, *window.end) < 0:
        return "its padding is negative"
    if max(window.dilations) * layer.x.shape[1] > 4095:
        return "its dilation is out of the reach of an offset"
    return ""


def _proposal(view: SubgraphView, node: Layer, product: Product) -> Proposal:
    layer = product.layer
    rows, columns = layer.window.kernel
    code = assemble(product)
    stem = f"conv{rows}x{columns}_dsp"
    price = Price(
        Costs(
            layer.pixels * product.filters * layer.weights[0].size,
            cycles=round(code.cycles),
            flash=product.constant_bytes + 4 * numbers(product).size,
        ),
        {f"{stem} {code.digest}": code.bytes},
        scratch_bytes(product),
        (InPlace(0, 0, Tiles(layer).distance()),),
    )

    def make(layers: Sequence[Layer], _: Any) -> tuple[Workload, ...]:
        body = "{\n" + statement(code, "x", "y", "weights", "scratch") + "}"
        stream = np.concatenate([numbers(product), product.pack()])
        return (workload(layers[0], stem, body, (Constant("weights", stream),), price),)

    part = view.part([node.node.id])
    return Proposal(part, price, make, layouts=CHANNELS_LAST, title=f"conv{rows}x{columns}")


def _names(layer: Convolution) -> tuple[str, ...]:
    return (*_NUMBERS, *_OF_PATCHES) if layer.window.padded else _NUMBERS


def _patch_bytes(layer: Convolution) -> int:
    return -(-Gather(layer).row_bytes * layer.window.kernel[0] // 16) * 16


def _nowhere_bytes(layer: Convolution) -> int:
    return -(-layer.y.shape[1] // 4) * 4


def scratch_bytes(product: Product) -> int:
    layer = product.layer
    patches = 3 * _patch_bytes(layer) if layer.window.padded else 0
    frame = 4 * len(_names(layer)) + _SLOTS
    return product.tile_bytes + frame + _nowhere_bytes(layer) + patches


def numbers(product: Product) -> Array:
    """The layer's numbers, in the order of `_NUMBERS`, behind the bytes of a tile's activations."""
    layer, gather, tiles = product.layer, Gather(product.layer), Tiles(product.layer)
    window, channels, filters = layer.window, layer.x.shape[1], product.filters
    pitch = window.input[1] * channels
    down = window.dilations[0] * pitch
    step = window.strides[1] * channels
    end = window.output[1] * window.strides[1] - window.begin[1]
    zero = layer.zero_points[0] & 0xFF
    values = {
        "second": filters - 2,
        "third": 2 * filters - 2,
        "source": -(window.begin[0] * pitch + window.begin[1] * channels),
        "column": -window.begin[1],
        "row": -window.begin[0],
        "tile columns": tiles.whole_columns,
        "tile rows": tiles.inside[0],
        "step": step,
        "down": down - gather.row_bytes,
        "three strides": 3 * window.strides[1],
        "column end": end,
        "row end": window.output[0] * window.strides[0] - window.begin[0],
        "window step": step,
        "stride": window.strides[1],
        "columns inside": tiles.inside[1],
        "rows inside": tiles.inside[0],
        "column begin": -window.begin[1],
        "row stride": window.strides[0],
        "wrap": window.strides[0] * pitch - window.output[1] * step,
        "filters": filters,
        "rounds": gather.rounds,
        "height": window.input[0],
        "copied rows": window.kernel[0],
        "down the image": down,
        "row of a patch": gather.row_bytes,
        "down a patch": 0,
        "width": window.input[1],
        "span": tiles.span[1],
        "channels": channels,
        "zeros": zero * 0x01010101,
        "patch": _patch_bytes(layer),
        "patches": 4 * len(_names(layer)) + _SLOTS + _nowhere_bytes(layer),
    }
    stream = [product.tile_bytes, *(values.get(name, 0) for name in _names(layer))]
    return (np.array(stream, np.int64) & 0xFFFFFFFF).astype(np.uint32)


class _Frame:
    """Offsets behind the activations of a tile."""

    def __init__(self, layer: Convolution) -> None:
        names = _names(layer)
        self._at = {name: 4 * index for index, name in enumerate(names)}
        self.slots = 4 * len(names)
        self.nowhere = self.slots + _SLOTS

    def __call__(self, name: str) -> str:
        return f"[r12, #{self._at[name]}]"

    def at(self, name: str) -> int:
        return self._at[name]


def assemble(product: Product) -> Assembly:
    """The kernel. %0: the image, %1: output, %2: numbers and packed stream, %3: scratch.

    s8: behind the tile's activations, where the numbers are; s9: the activations; s10: the stream.
    """
    layer = product.layer
    frame, tiles, gather = _Frame(layer), Tiles(layer), Gather(layer)
    code = Assembly()
    _begin(code, layer, frame)
    slow, ready, done = code.label(), code.label(), code.label()
    share = 1 - float(tiles.are_whole().mean())
    with code.repeat(tiles.count, "b"):
        code(f"add r11, r12, #{frame.at('source')}", "ldmia r11, {r0-r7}")
        code("cmp r1, r3", "it lo", "cmplo r2, r4", f"bhs {slow}f")
        with code.times(1 - share):
            code("mov r9, r0", "add r10, r9, r5", "add r11, r10, r5", "add r0, r11, r5")
            code("add r1, r1, r7", f"strd r0, r1, {frame('source')}", "mov r7, r6", "mov r8, r6")
        code.place(ready)
        code("vmov lr, s9")
        gather.assemble(code)
        code("vmov lr, s10")
        product.assemble(code, "vmov r12, s9", "vmov r6, s8")
        code(f"ldr r6, {frame('next')}", f"ldr r7, {frame('filters')}")
        code("add r6, r6, r7, lsl #1", "add r7, r6, r7", "strd r6, r7, [r12]")
    code.place(slow)
    with code.times(tiles.count * share):
        _windows(code, product, frame, ready, done)
    code.place(done)
    return code


def _begin(code: Assembly, layer: Convolution, frame: _Frame) -> None:
    code("ldr r4, [%2], #4", "add r12, %3, r4", "mov lr, r12", "vmov s8, r12", "vmov s9, %3")
    for _ in range(len(_names(layer)) // 8):
        code("ldmia %2!, {r4-r11}", "stmia lr!, {r4-r11}")
    code("vmov s10, %2", f"ldr r4, {frame('filters')}", "add r4, %1, r4")
    code(f"str %1, {frame('next')}", f"str r4, {frame('end')}")
    code(f"ldr r4, {frame('source')}", "add r4, %0, r4", f"str r4, {frame('source')}")
    code(f"ldr r4, {frame('rounds')}", "vmov s12, r4")
    if layer.window.padded:
        code(f"ldr r4, {frame('patches')}", f"ldr r7, {frame('patch')}", "add r4, r4, r12")
        code("add r5, r4, r7", "add r6, r5, r7", "add lr, lr, #24", "stmia lr, {r4-r6}")


def _windows(code: Assembly, product: Product, frame: _Frame, ready: str, done: str) -> None:
    """Begins three windows one by one: r0 the window's first byte, r1 its column, r2 its row."""
    layer, tiles = product.layer, Tiles(product.layer)
    begun = 3 * np.repeat(~tiles.are_whole(), 3)[: layer.pixels].sum()
    border = ~tiles.are_inside()
    absent, following, window = code.label(), code.label(), code.label()
    constants = (f"add r10, r12, #{frame.at('column end')}", "ldmia r10, {r4-r9}")
    code(f"add r3, r12, #{frame.slots}", *constants)
    code.place(window)
    with code.times(3):
        same = code.label()
        code("cmp r1, r4", f"bne {same}f")
        with code.times(layer.window.output[0] / max(1, begun)):
            code(f"ldr r1, {frame('column begin')}", f"ldr r10, {frame('row stride')}")
            code("add r2, r2, r10", f"ldr r10, {frame('wrap')}", "add r0, r0, r10")
        code.place(same)
        code("cmp r2, r5", f"beq {absent}f")
        step = code.label()
        if layer.window.padded:
            inside = code.label()
            code("cmp r1, r8", "it lo", "cmplo r2, r9", f"blo {inside}f")
            with code.times(float(border.sum()) / max(1, begun)):
                _patch(code, product, frame)
                code(*constants, f"b {step}f")
            code.place(inside)
        code(f"ldr r10, {frame('down')}", "str r10, [r3]", "str r0, [r3, #12]")
        code.place(step)
        code("add r0, r0, r6", "add r1, r1, r7")
        code.place(following)
        code("add r3, r3, #4", f"add r10, r12, #{frame.slots + 12}", "cmp r3, r10")
    code(f"bne {window}b")
    code(f"add r10, r12, #{frame.at('source')}", "stmia r10, {r0-r2}")
    code(f"add r10, r12, #{frame.slots}", "ldmia r10, {r6-r11}", f"b {ready}b")
    with code.rarely():
        # There is no such pixel: it takes the one before it again, for nobody.
        code.place(absent)
        code(f"add r10, r12, #{frame.slots}", "cmp r3, r10", f"beq {done}f")
        code("sub r10, r3, #4", "ldr r4, [r10]", "str r4, [r3]", "ldr r4, [r10, #12]")
        code("str r4, [r3, #12]", f"add r10, r12, #{frame.nowhere - 2}", "ldr r4, [r12]")
        code("sub r10, r10, r4", f"sub r4, r3, #{frame.slots - frame.at('second') + 4}")
        code("str r10, [r4]", *constants, f"b {following}b")


def _patch(code: Assembly, product: Product, frame: _Frame) -> None:
    """Copies a window to its patch, and keeps r0-r3."""
    layer = product.layer
    unit, size = (4, "") if layer.x.shape[1] % 4 == 0 else (1, "b")
    rows, columns = layer.window.kernel[0], Gather(layer).row_bytes // unit
    code("ldr r8, [r3, #24]", f"ldr r4, {frame('down a patch')}", "str r4, [r3]")
    code("str r8, [r3, #12]", f"ldr r10, {frame('patch')}", "add r10, r10, r8", "mov r9, r8")
    code(f"ldr r4, {frame('zeros')}", "mov r5, r4", "mov r6, r4", "mov r7, r4")
    with code.repeat(_patch_bytes(layer) // 16):
        code("stmia r9!, {r4-r7}", "cmp r9, r10")
    nothing = code.label()
    # The columns from r5 on are inside, r6 of them.
    code("rsb r5, r1, #0", "bic r5, r5, r5, asr #31", f"ldr r6, {frame('width')}")
    code("sub r6, r6, r1", f"ldr r7, {frame('span')}", "cmp r6, r7", "it gt", "movgt r6, r7")
    code("subs r6, r6, r5", f"ble {nothing}f")
    code(f"ldr r7, {frame('channels')}", "mul r6, r6, r7", "mul r5, r5, r7")
    code("add r7, r0, r5", "add r8, r8, r5", "mov r9, r2", f"ldr r5, {frame('height')}")
    code(f"ldr r10, {frame('copied rows')}", f"ldr r11, {frame('down the image')}")
    code(f"ldr lr, {frame('row of a patch')}")
    with code.repeat(rows):
        outside = code.label()
        code("cmp r9, r5", f"bhs {outside}f", "mov r12, r6")
        with code.repeat(columns):
            code(f"subs r12, r12, #{unit}", f"ldr{size} r4, [r7, r12]", f"str{size} r4, [r8, r12]")
        code.place(outside)
        code("add r7, r7, r11", "add r8, r8, lr", f"add r9, r9, #{layer.window.dilations[0]}")
        code("subs r10, r10, #1")
    code.place(nothing)
    code("vmov r12, s8")

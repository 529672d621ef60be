"""Convolution of int8 of any kernel, stride, padding and dilation: three windows are gathered, then
multiplied by all filters.

Tiles of three outputs follow each other over the rows. The windows of most lie inside of the image
and in one row: these are begun in a dozen instructions. Others are begun one by one, and a window
that leaves the image is first copied to a patch of its own, with the zero point where there is no
image, so that the gather and the bias need to know of no border. A small image may be copied as a
whole instead (bordered.py). All numbers of a layer are in front of its weights, so that layers
whose taps are gathered alike share a function. Of a convolution in groups the windows of a tile are
begun once, and gathered and multiplied for each.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.ArmDsp import core, frames
from mcu_deploy.backends.ArmDsp.bordered import Bordered
from mcu_deploy.backends.ArmDsp.chains import fused, reader
from mcu_deploy.backends.ArmDsp.frames import Frame, Kernel, numbers
from mcu_deploy.backends.ArmDsp.gather import Gather, SharedGather, Windows
from mcu_deploy.backends.ArmDsp.kernels import pointwise
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
from mcu_deploy.backends.isa import Assembly, Kind, Label, Register

OPERATORS = ("Conv", "tflite::Conv")


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A convolution by itself. A 1x1 one with a stride of 1 only where pointwise.py has none."""
    layer = read(node)
    if isinstance(layer, str):
        return layer
    if layer.is_depthwise or (layer.is_pixelwise and not pointwise.refusal(layer)):
        return ""
    if reason := refusal(layer):
        return reason
    behind = reader(view, node)
    # Where a pool follows, strips (convolution_pool.py) save more memory than a copy saves time.
    may_copy = behind is None or "Pool" not in behind.op
    return proposals(view.part([node.node.id]), layer, may_copy) or Kernel(layer).product.refusal()


def proposals(
    part: SubgraphView, layer: Convolution, may_copy: bool = True, table: Array | None = None
) -> Sequence[Proposal]:
    """All ways to compute a part, which is the layer, or with the function of a table behind it.
    may_copy: a small image with its padding."""
    if layer.is_pixelwise:
        layer = _in_one_row(layer)
    kernels = [Kernel(layer, is_wide, table=table) for is_wide in (False, True)]
    if Kernel.may_hold_ends(layer):
        kernels.append(Kernel(layer, holds_ends=True, table=table))
        if kernels[-1].product.may_be_double:
            kernels.append(Kernel(layer, holds_ends=True, is_double=True, table=table))
    if Gather(layer).is_of_words:
        kernels.append(Kernel(layer, is_common=True, table=table))
    if not SharedGather.refusal(layer):
        kernels.append(Kernel(layer, is_shared=True, table=table))
    found = [_proposal(part, kernel) for kernel in kernels if not kernel.product.refusal()]
    if may_copy and not Bordered.refusal(layer):
        image = Bordered(layer)
        kernel = Kernel(image.inside, table=table)
        if not kernel.product.refusal():
            found.append(_proposal(part, kernel, image))
    return found


def _in_one_row(layer: Convolution) -> Convolution:
    pixels = (1, layer.pixels)
    return replace(layer, window=replace(layer.window, input=pixels, output=pixels))


def refusal(layer: Convolution) -> str:
    """Why the kernel does not compute a convolution, a clause; empty where it does."""
    window = layer.window
    if layer.x.shape[0] != 1:
        return f"it convolves one image, and the batch has {layer.x.shape[0]}"
    if min(*window.begin, *window.end) < 0:
        return "its padding is negative"
    if max(window.dilations) * layer.x.shape[1] > 4095:
        return "its dilation is out of the reach of an offset"
    return ""


def _proposal(part: SubgraphView, kernel: Kernel, image: Bordered | None = None) -> Proposal:
    layer, product = kernel.layer, kernel.product
    ahead = np.concatenate([product.looked_up(), numbers(kernel)])
    rows, columns = layer.window.kernel
    code = assemble(kernel, image)
    stem = "conv_dsp" if kernel.is_common else f"conv{rows}x{columns}_dsp"
    price = Price(
        Costs(
            layer.pixels * layer.weights.size,
            cycles=round(code.cycles),
            flash=product.constant_bytes + ahead.nbytes,
        ),
        {f"{stem} {code.digest}": code.bytes},
        kernel.scratch_bytes + (image.scratch_bytes if image else 0),
        image.in_place if image else (InPlace(0, 0, kernel.tiles.distance()),),
    )

    def make(layers: Sequence[Layer], _: Any) -> tuple[Workload, ...]:
        stream = np.concatenate([ahead, product.pack()])
        return (workload(layers[0], stem, code, (Constant("weights", stream),), price),)

    title = f"conv{rows}x{columns}"
    title += ", shared columns" * kernel.is_shared + ", wide weights" * product.is_wide
    title += ", filters of this layer" * product.holds_ends
    title += (
        ", four a round" * product.is_double
        + ", common code" * kernel.is_common
        + ", padded copy" * (image is not None)
        + " + table" * (product.table is not None)
    )
    replacement = None if product.table is None else fused(part, "ConvolutionTable")
    return Proposal(part, price, make, replacement, CHANNELS_LAST, title)


class _Registers:
    """What a kernel names once.

    source, column, row: of the next window: its first byte, and where in the image that is. begun:
    the words in the frame of the window that is begun. In S registers, activations: of the tile;
    numbers: what is behind them; stream: what is behind the numbers. group, end: of groups, the
    next one's stream, and the end of the last one's.
    """

    def __init__(self, code: Assembly, kernel: Kernel) -> None:
        self.tile = core.Tile(code, kernel.product)
        self.windows = Windows(code, kernel.is_shared)
        self.frame = Frame(kernel, self.tile.taps)
        self.source, self.column, self.row = code.registers("source column row")
        self.begun, self.free = code.registers("begun free")
        self.activations, self.numbers, self.stream, self.group, self.end = code.registers(
            "activations numbers weights group_weights weights_end", kind=Kind.SINGLE
        )

    @property
    def slots(self) -> list[Register]:
        """What the frame has at `downs` and `begins`."""
        return [*self.windows.downs, *self.windows.sources]


def assemble(kernel: Kernel, image: Bordered | None = None) -> Assembly:
    """The kernel: image, output, numbers and packed stream, scratch.

    image: what it copies with its padding, so that the layer of the kernel has none.
    """
    tiles = kernel.tiles
    code = Assembly()
    names = _Registers(code, kernel)
    tile, windows, frame, free = names.tile, names.windows, names.frame, names.free
    source, column, row = names.source, names.column, names.row
    x, y, weights, scratch = code.arguments("x y weights scratch")
    core.hold_table(kernel.product, code, tile, weights)
    if image is not None:
        image.assemble(code, x, y, scratch, kernel.scratch_bytes)
    code.note("The layer's numbers go behind the taps of a tile.")
    _begin(code, kernel, names, (x, y, weights, scratch))
    code.note("Three windows, begun at once if they are inside of the image and of one row.")
    slow, ready, done = code.label(), code.label(), code.label()
    share = 1 - float(tiles.are_whole().mean())
    columns, rows, step, stride = code.registers("tile_columns tile_rows step tile_stride")
    out, stop, filters = code.registers("out end filters")
    with code.repeat(tiles.count, "b"):
        code.add(free, tile.taps, frame.at("source"))
        first, *others = windows.downs
        code.ldmia(free, [source, column, row, columns, rows, step, first, stride])
        code.cmp(column, columns)
        code.it("lo")
        code.cmplo(row, rows)
        code.bhs(slow)
        with code.times(1 - share):
            code.mov(windows.sources[0], source)
            code.add(column, column, stride)
            for one, next_ in pairwise([*windows.sources, source]):
                code.add(next_, one, step)
            for down in others:
                code.mov(down, first)
            code.strd(source, column, frame["source"])
        code.place(ready)
        if kernel.layer.groups > 1:
            _groups(code, kernel, names)
        else:
            into = code.register("into")
            code.vmov(into, names.activations)
            kernel.gather.assemble(code, windows, into)
            code.vmov(tile.stream, names.stream)
            _multiply(code, kernel, names)
        if kernel.product.holds_ends:
            code.vmov(out, tile.ends.halves[0])
        else:
            code.ldr(out, frame["next"])
        code.ldr(filters, frame["filters"])
        if tiles.rest:
            code.ldr(free, frame["behind"])
            code.add(out, out, free)
        else:
            code.add(out, out, filters.lsl(1))
        if kernel.layer.groups > 1:
            code.ldr(filters, frame["filters of a group"])
        code.add(stop, out, filters)
        if kernel.product.holds_ends:
            code.vmov(tile.ends, out, stop)
        else:
            code.strd(out, stop, frame["next"])
    code.note("Other windows are begun one by one.")
    code.place(slow)
    with code.times(tiles.count * share):
        _windows(code, kernel, names, ready, done)
    code.place(done)
    return code


def _multiply(code: Assembly, kernel: Kernel, names: _Registers) -> None:
    taps, end = names.tile.taps, code.register("taps_end")

    def compare() -> None:
        if kernel.alignment > 4:
            code.tst(taps, kernel.alignment - 1)
        else:
            code.vmov(end, names.numbers)
            code.cmp(taps, end)

    begin = functools.partial(code.vmov, taps, names.activations)
    core.assemble(kernel.product, code, names.tile, begin, compare)


def _groups(code: Assembly, kernel: Kernel, names: _Registers) -> None:
    """The windows of a tile, one group's channels after the other's. The slots have what leads to
    the windows of the next."""
    tile, frame, windows, sources = names.tile, names.frame, names.windows, names.windows.sources
    slots, into, more, end = code.registers("slots into more end")
    code.vmov(more, names.stream)
    code.vmov(names.group, more)
    code.add(slots, tile.taps, frame.downs)
    code.stmia(slots, names.slots)
    with code.repeat(kernel.layer.groups):
        code.vmov(into, names.activations)
        code.add(slots, tile.taps, frame.downs)
        code.ldmia(slots, names.slots)
        kernel.gather.assemble(code, windows, into)
        code.vmov(tile.stream, names.group)
        _multiply(code, kernel, names)
        code.vmov(names.group, tile.stream)
        code.add(slots, tile.taps, frame.begins)
        if kernel.is_shared:
            code.ldr(sources[0], slots[0])
        else:
            code.ldmia(slots, sources)
        code.ldr(more, frame["channels of a group"])
        for source in sources:
            code.add(source, source, more)
        if kernel.is_shared:
            code.str(sources[0], slots[0])
        else:
            code.stmia(slots, sources)
        code.ldr(more, frame["filters of a group"])
        code.ldr(end, frame["end"])
        code.add(end, end, more)
        code.str(end, frame["end"])
        code.vmov(end, names.end)
        code.cmp(tile.stream, end)


def _begin(
    code: Assembly, kernel: Kernel, names: _Registers, arguments: Sequence[Register]
) -> None:
    """Numbers to the frame, and to registers what all tiles need."""
    x, y, weights, scratch = arguments
    tile, frame, taken = names.tile, names.frame, frames.stated(kernel)
    taps, into, end = tile.taps, *code.registers("into end")
    size, out, source = code.registers("size out source")
    code.ldr(size, weights.after(4))
    code.add(taps, scratch, size)
    if kernel.alignment > 4:
        code.add(taps, taps, kernel.alignment - 1)
        code.bic(taps, taps, kernel.alignment - 1)
    code.sub(size, taps, size)
    code.vmov(names.activations, size)
    code.vmov(names.numbers, taps)
    code.add(into, taps, 8)
    if frames.are_words(taken):
        words = code.registers("a b c d e f g h")
        for at in range(0, taken.size, 8):
            code.ldmia(weights.moving, words[: taken.size - at])
            code.stmia(into.moving, words[: taken.size - at])
    else:
        low, high = code.registers("low high")
        code.add(end, taps, 8 + 4 * (taken.size + taken.size % 2))
        with code.repeat((taken.size + 1) // 2):
            code.ldr(high, weights.after(4))
            code.sxth(low, high)
            code.asrs(high, high, 16)
            code.strd(low, high, into.after(8))
            code.cmp(into, end)
    if kernel.layer.groups > 1:
        code.ldr(end, frame["stream"])
        code.add(end, weights, end)
        code.vmov(names.end, end)
    code.vmov(names.stream, weights)
    code.ldr(size, frame["filters of a group" if kernel.layer.groups > 1 else "filters"])
    if kernel.product.holds_ends:
        code.add(out, y, kernel.product.lead)
        code.add(end, out, size)
        code.vmov(tile.ends, out, end)
    else:
        code.add(end, y, size)
        code.strd(y, end, frame["next"])
    code.ldr(source, frame["source"])
    code.add(source, x, source)
    code.str(source, frame["source"])
    rounds, rows = code.registers("rounds rows")
    code.add(size, taps, frame.at("rounds"))
    code.ldmia(size, [rounds, rows])
    code.vmov(names.windows.counts, rounds, rows)
    if kernel.is_of_rows:
        code.ldrd(rows, end, scratch[0])
        code.str(rows, frame["row"])
        code.str(end, frame["row end"])
        if not kernel.is_shared:  # so that behind the last row no tile begins where all is inside
            code.ldr(rows, frame["tile rows"])
            code.cmp(end, rows)
            code.it("lo")
            code.strlo(end, frame["tile rows"])
    if kernel.has_patches:
        _patches(code, kernel, names)


def _patches(code: Assembly, kernel: Kernel, names: _Registers) -> None:
    """Where they are, to the frame."""
    frame, taps = names.frame, names.tile.taps
    size, into, *patches = code.registers("size into patch0 patch1 patch2")
    code.ldr(patches[0], frame["patches"])
    if kernel.is_shared:
        code.add(patches[0], patches[0], taps)
        code.str(patches[0], taps[frame.patches])
        return
    code.ldr(size, frame["patch"])
    code.add(patches[0], patches[0], taps)
    for one, next_ in pairwise(patches):
        code.add(next_, one, size)
    code.add(into, taps, frame.patches)
    code.stmia(into, patches)


def _windows(code: Assembly, kernel: Kernel, names: _Registers, ready: Label, done: Label) -> None:
    """Begins a tile's windows one by one."""
    tiles, frame, taps, begun = kernel.tiles, names.frame, names.tile.taps, names.begun
    source, column, row, free = names.source, names.column, names.row, names.free
    count = max(1, tiles.windows * int((~tiles.are_whole()).sum()))
    absent, following, window = code.label(), code.label(), code.label()
    numbers = code.registers("column_end row_end step stride columns_inside rows_inside")
    column_end, row_end, step, stride, columns_inside, rows_inside = numbers
    slot = 4 * tiles.windows  # from what leads down a window's rows to its begin

    def load() -> None:
        code.add(free, taps, frame.at("column end"))
        code.ldmia(free, numbers)

    code.add(begun, taps, frame.downs)
    load()
    code.place(window)
    with code.times(tiles.windows):
        same = code.label()
        code.cmp(column, column_end)
        code.bne(same)
        with code.times(tiles.layer.window.output[0] / count):
            code.ldr(column, frame["column begin"])
            code.ldr(free, frame["row stride"])
            code.add(row, row, free)
            code.ldr(free, frame["wrap"])
            code.add(source, source, free)
        code.place(same)
        code.cmp(row, row_end)
        code.beq(done if kernel.is_shared else absent)
        if tiles.rest:
            _rest(code, kernel, names)
        step_on = code.label()
        if kernel.has_patches:
            inside = code.label()
            code.cmp(column, columns_inside)
            code.it("lo")
            code.cmplo(row, rows_inside)
            code.blo(inside)
            with code.times(float((~tiles.are_inside()).sum()) / count):
                _patch(code, kernel, names)
                load()
                code.b(step_on)
            code.place(inside)
        code.ldr(free, frame["down"])
        code.str(free, begun[0])
        code.str(source, begun[slot])
        code.place(step_on)
        code.add(source, source, step)
        code.add(column, column, stride)
        if not kernel.is_shared:
            code.place(following)
            code.add(begun, begun, 4)
            code.add(free, taps, frame.begins)
            code.cmp(begun, free)
            code.bne(window)
    code.add(free, taps, frame.at("source"))
    code.stmia(free, [source, column, row])
    code.add(free, taps, frame.downs)
    code.ldmia(free, names.slots)
    code.b(ready)
    if kernel.is_shared:
        return
    with code.rarely():
        # There is no such pixel: it takes the one before it again, for nobody.
        code.place(absent)
        other = code.register("other")
        code.add(free, taps, frame.downs)
        code.cmp(begun, free)
        code.beq(done)
        code.sub(free, begun, 4)
        code.ldr(other, free[0])
        code.str(other, begun[0])
        code.ldr(other, free[slot])
        code.str(other, begun[slot])
        code.add(free, taps, frame.nowhere - 2)
        code.ldr(other, frame["next"])
        code.sub(free, free, other)
        code.sub(other, begun, frame.downs - frame.at("second") + 4)
        code.str(free, other[0])
        load()
        code.b(following)


def _rest(code: Assembly, kernel: Kernel, names: _Registers) -> None:
    """Where the pixels of this tile go: those of a row's last tile that do not exist, nowhere."""
    frame, taps, whole = names.frame, names.tile.taps, code.label()
    filters, behind = names.free, code.register("behind")
    code.ldr(filters, frame["filters"])
    code.sub(behind, filters, 2)
    code.str(behind, frame["second"])
    code.add(behind, behind, filters)
    code.str(behind, frame["third"])
    code.lsl(filters, filters, 1)
    code.str(filters, frame["behind"])
    code.ldr(filters, frame["last column"])
    code.cmp(names.column, filters)
    code.bne(whole)
    code.ldr(filters, frame["behind the rest"])
    code.str(filters, frame["behind"])
    code.add(filters, taps, frame.nowhere - 2)
    code.ldr(behind, frame["next"])
    code.sub(filters, filters, behind)
    if kernel.tiles.rest == 1:
        code.str(filters, frame["second"])
    code.str(filters, frame["third"])
    code.place(whole)


def _patch(code: Assembly, kernel: Kernel, names: _Registers) -> None:
    """Copies a window to its patch."""
    layer, frame, free = kernel.layer, names.frame, names.free
    code.note("One that leaves the image is copied, with the zero point around it.")
    unit = max(unit for unit in (1, 4, 16) if layer.x.shape[1] % unit == 0)
    width = kernel.gather.row_bytes // unit
    slot = 4 * kernel.tiles.windows
    into, end, at = code.registers("into patch_end at")
    zeros = code.registers("zeros zeros1 zeros2 zeros3")
    code.ldr(into, names.begun[2 * slot])
    code.ldr(free, frame["down a patch"])
    code.str(free, names.begun[0])
    code.str(into, names.begun[slot])
    code.ldr(end, frame["patch"])
    code.add(end, end, into)
    code.mov(at, into)
    code.ldr(zeros[0], frame["zeros"])
    code.pkhbt(zeros[0], zeros[0], zeros[0].lsl(16))
    for other in zeros[1:]:
        code.mov(other, zeros[0])
    with code.repeat(kernel.patch_bytes // 32):
        code.stmia(at.moving, zeros)
        code.stmia(at.moving, zeros)
        code.cmp(at, end)
    nothing = code.label()
    # The columns from `outside` on are inside, `bytes` of them.
    outside, bytes_, span = code.registers("outside bytes span")
    code.rsb(outside, names.column, 0)
    code.bic(outside, outside, outside.asr(31))
    code.ldr(bytes_, frame["width"])
    code.sub(bytes_, bytes_, names.column)
    code.ldr(span, frame["span"])
    code.cmp(bytes_, span)
    code.it("gt")
    code.movgt(bytes_, span)
    code.subs(bytes_, bytes_, outside)
    code.ble(nothing)
    channels, from_, row = code.registers("channels from row")
    height, rows, down, patch_down = code.registers("height rows_left down patch_down")
    code.ldr(channels, frame["channels"])
    code.mul(bytes_, bytes_, channels)
    code.mul(outside, outside, channels)
    code.add(from_, names.source, outside)
    code.add(into, into, outside)
    code.mov(row, names.row)
    code.ldr(height, frame["height"])
    code.ldr(rows, frame["rows"])
    code.ldr(down, frame["down the image"])
    code.ldr(patch_down, frame["row of a patch"])
    kept = (names.source, names.column), (names.row, names.begun)
    saved = code.registers("source_column row_begun", kind=Kind.DOUBLE)
    if unit == 16:
        for two, pair in zip(saved, kept, strict=True):
            code.vmov(two, *pair)
    with code.repeat(layer.window.kernel[0]):
        above = code.label()
        code.cmp(row, height)
        code.bhs(above)
        if unit == 16:
            row_end, words = code.register("row_end"), code.registers("a b c d")
            code.add(row_end, from_, bytes_)
            with code.repeat(width):
                code.ldmia(from_.moving, words)
                code.stmia(into.moving, words)
                code.cmp(from_, row_end)
            code.sub(from_, from_, bytes_)
            code.sub(into, into, bytes_)
        else:
            left = code.register("left")
            code.mov(left, bytes_)
            _row(code, from_, into, left, width, unit)
        code.place(above)
        code.add(from_, from_, down)
        code.add(into, into, patch_down)
        code.add(row, row, layer.window.dilations[0])
        code.subs(rows, rows, 1)
    if unit == 16:
        for two, pair in zip(saved, kept, strict=True):
            code.vmov(*pair, two)
    code.place(nothing)
    code.vmov(names.tile.taps, names.numbers)


def _row(
    code: Assembly, source: Register, into: Register, left: Register, width: int, unit: int
) -> None:
    """Copies so many bytes as are left, from the last to the first: words, then bytes."""
    some, done, copied = code.label(), code.label(), code.register("copied")
    words = width * unit // 4
    if words:
        code.subs(left, left, 4)
        if unit == 1:
            code.blo(some)
        with code.repeat(words, "bhs"):
            code.ldr(copied, source[left])
            code.str(copied, into[left])
            code.subs(left, left, 4)
    if unit == 4:
        return
    if words:
        code.place(some)
        code.adds(left, left, 4)
        code.beq(done)
    with code.repeat(width % 4 or 1):
        code.subs(left, left, 1)
        code.ldrb(copied, source[left])
        code.strb(copied, into[left])
    code.place(done)

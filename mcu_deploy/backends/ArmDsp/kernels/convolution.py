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

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.ArmDsp import core_text as core
from mcu_deploy.backends.ArmDsp import frames
from mcu_deploy.backends.ArmDsp.bordered import Bordered
from mcu_deploy.backends.ArmDsp.chains import fused, reader
from mcu_deploy.backends.ArmDsp.frames import Frame, Kernel, numbers
from mcu_deploy.backends.ArmDsp.gather import Gather, SharedGather
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
from mcu_deploy.backends.isa import Assembly

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


def assemble(kernel: Kernel, image: Bordered | None = None) -> Assembly:
    """The kernel. r0: the image, r1: output, r2: numbers and packed stream, r3: scratch.

    image: what it copies with its padding, so that the layer of the kernel has none. s8: behind the
    tile's activations, where the numbers are; s9: the activations; s10: the stream.
    """
    frame, tiles = Frame(kernel), kernel.tiles
    code = Assembly()
    core.hold_table(kernel.product, code, "r2")
    if image is not None:
        image.assemble(code, kernel.scratch_bytes)
    code.note("The layer's numbers go behind the taps of a tile, to r12; s10: the weights.")
    _begin(code, kernel, frame)
    code.note("Three windows, at r9-r11 if they are inside of the image and of one row.")
    slow, ready, done = code.label(), code.label(), code.label()
    share = 1 - float(tiles.are_whole().mean())
    with code.repeat(tiles.count, "b"):
        code(f"add r11, r12, #{frame.at('source')}", "ldmia r11, {r0-r7}")
        code("cmp r1, r3", "it lo", "cmplo r2, r4", f"bhs {slow}f")
        with code.times(1 - share):
            code("mov r9, r0", "add r1, r1, r7")
            if kernel.is_shared:
                code("add r0, r0, r5")
            else:
                code("add r10, r9, r5", "add r11, r10, r5", "add r0, r11, r5")
                code("mov r7, r6", "mov r8, r6")
            code(f"strd r0, r1, {frame('source')}")
        code.place(ready)
        if kernel.layer.groups > 1:
            _groups(code, kernel, frame)
        else:
            code("vmov lr, s9")
            kernel.gather.assemble(code)
            code("vmov lr, s10")
            _multiply(code, kernel)
        holds_ends, next_ = kernel.product.holds_ends, f"ldr r6, {frame('next')}"
        code("vmov r6, s14" if holds_ends else next_, f"ldr r7, {frame('filters')}")
        if tiles.rest:
            code(f"ldr r8, {frame('behind')}", "add r6, r6, r8")
        else:
            code("add r6, r6, r7, lsl #1")
        if kernel.layer.groups > 1:
            code(f"ldr r7, {frame('filters of a group')}")
        code("add r7, r6, r7", "vmov d7, r6, r7" if holds_ends else "strd r6, r7, [r12]")
    code.note("Other windows are begun one by one: r0 the first byte, r1 the column, r2 the row.")
    code.place(slow)
    with code.times(tiles.count * share):
        _windows(code, kernel, frame, ready, done)
    code.place(done)
    return code


def _multiply(code: Assembly, kernel: Kernel) -> None:
    is_aligned = kernel.alignment > 4
    end = [f"tst r12, #{kernel.alignment - 1}"] if is_aligned else ["vmov r6, s8", "cmp r12, r6"]
    core.assemble(kernel.product, code, "vmov r12, s9", end)


def _groups(code: Assembly, kernel: Kernel, frame: Frame) -> None:
    """The windows of a tile, one group's channels after the other's. s14: the next one's stream;
    s15: the end of the last one's. The slots have what leads to the windows of the next."""
    code("vmov r0, s10", "vmov s14, r0", f"add r0, r12, #{frame.slots}", "stmia r0, {r6-r11}")
    with code.repeat(kernel.layer.groups):
        code("vmov lr, s9", f"add r0, r12, #{frame.slots}", "ldmia r0, {r6-r11}")
        kernel.gather.assemble(code)
        code("vmov lr, s14")
        _multiply(code, kernel)
        code("vmov s14, lr", f"add r0, r12, #{frame.slots + 12}", "ldmia r0, {r1-r3}")
        code(f"ldr r4, {frame('channels of a group')}", *(f"add r{n}, r{n}, r4" for n in (1, 2, 3)))
        code("stmia r0, {r1-r3}", f"ldr r4, {frame('filters of a group')}")
        code(f"ldr r5, {frame('end')}", "add r5, r5, r4", f"str r5, {frame('end')}")
        code("vmov r4, s15", "cmp lr, r4")


def _begin(code: Assembly, kernel: Kernel, frame: Frame) -> None:
    taken = frames.stated(kernel)
    code("ldr r4, [r2], #4", "add r12, r3, r4")
    if kernel.alignment > 4:
        code(f"add r12, r12, #{kernel.alignment - 1}", f"bic r12, r12, #{kernel.alignment - 1}")
    code("sub r4, r12, r4", "vmov s9, r4", "vmov s8, r12", "add lr, r12, #8")
    if frames.are_words(taken):
        for at in range(0, taken.size, 8):
            last = 3 + min(8, taken.size - at)
            code(f"ldmia r2!, {{r4-r{last}}}", f"stmia lr!, {{r4-r{last}}}")
    else:
        code(f"add r6, r12, #{8 + 4 * (taken.size + taken.size % 2)}")
        with code.repeat((taken.size + 1) // 2):
            code("ldr r4, [r2], #4", "sxth r5, r4", "asrs r4, r4, #16")
            code("strd r5, r4, [lr], #8", "cmp lr, r6")
    of_group = "filters"
    if kernel.layer.groups > 1:
        of_group = "filters of a group"
        code(f"ldr r4, {frame('stream')}", "add r4, r2, r4", "vmov s15, r4")
    code("vmov s10, r2", f"ldr r4, {frame(of_group)}")
    if kernel.product.holds_ends:
        code(f"add r5, r1, #{kernel.product.lead}", "add r4, r5, r4", "vmov d7, r5, r4")
    else:
        code("add r4, r1, r4", "strd r1, r4, [r12]")
    code(f"ldr r4, {frame('source')}", "add r4, r0, r4", f"str r4, {frame('source')}")
    code(f"add r4, r12, #{frame.at('rounds')}", "ldmia r4, {r4, r5}", "vmov d6, r4, r5")
    if kernel.is_of_rows:
        code("ldrd r4, r5, [r3]", f"str r4, {frame('row')}", f"str r5, {frame('row end')}")
        if not kernel.is_shared:  # so that behind the last row no tile begins where all is inside
            code(f"ldr r4, {frame('tile rows')}", "cmp r5, r4", "it lo")
            code(f"strlo r5, {frame('tile rows')}")
    if kernel.has_patches:
        code(f"ldr r4, {frame('patches')}", f"ldr r7, {frame('patch')}", "add r4, r4, r12")
        code("add r5, r4, r7", "add r6, r5, r7")
        code(f"add lr, r12, #{frame.slots + 24}", "stmia lr, {r4-r6}")


def _windows(code: Assembly, kernel: Kernel, frame: Frame, ready: str, done: str) -> None:
    """Begins a tile's windows one by one: r0 a window's first byte, r1 its column, r2 its row."""
    tiles = kernel.tiles
    begun = max(1, tiles.windows * int((~tiles.are_whole()).sum()))
    absent, following, window = code.label(), code.label(), code.label()
    constants = (f"add r10, r12, #{frame.at('column end')}", "ldmia r10, {r4-r9}")
    code(f"add r3, r12, #{frame.slots}", *constants)
    code.place(window)
    with code.times(tiles.windows):
        same = code.label()
        code("cmp r1, r4", f"bne {same}f")
        with code.times(tiles.layer.window.output[0] / begun):
            code(f"ldr r1, {frame('column begin')}", f"ldr r10, {frame('row stride')}")
            code("add r2, r2, r10", f"ldr r10, {frame('wrap')}", "add r0, r0, r10")
        code.place(same)
        code("cmp r2, r5", f"beq {done if kernel.is_shared else absent}f")
        if tiles.rest:
            _rest(code, kernel, frame)
        step = code.label()
        if kernel.has_patches:
            inside = code.label()
            code("cmp r1, r8", "it lo", "cmplo r2, r9", f"blo {inside}f")
            with code.times(float((~tiles.are_inside()).sum()) / begun):
                _patch(code, kernel, frame)
                code(*constants, f"b {step}f")
            code.place(inside)
        code(f"ldr r10, {frame('down')}", "str r10, [r3]", "str r0, [r3, #12]")
        code.place(step)
        code("add r0, r0, r6", "add r1, r1, r7")
        if not kernel.is_shared:
            code.place(following)
            code("add r3, r3, #4", f"add r10, r12, #{frame.slots + 12}", "cmp r3, r10")
            code(f"bne {window}b")
    code(f"add r10, r12, #{frame.at('source')}", "stmia r10, {r0-r2}")
    code(f"add r10, r12, #{frame.slots}", "ldmia r10, {r6-r11}", f"b {ready}b")
    if kernel.is_shared:
        return
    with code.rarely():
        # There is no such pixel: it takes the one before it again, for nobody.
        code.place(absent)
        code(f"add r10, r12, #{frame.slots}", "cmp r3, r10", f"beq {done}f")
        code("sub r10, r3, #4", "ldr r4, [r10]", "str r4, [r3]", "ldr r4, [r10, #12]")
        code("str r4, [r3, #12]", f"add r10, r12, #{frame.nowhere - 2}", "ldr r4, [r12]")
        code("sub r10, r10, r4", f"sub r4, r3, #{frame.slots - frame.at('second') + 4}")
        code("str r10, [r4]", *constants, f"b {following}b")


def _rest(code: Assembly, kernel: Kernel, frame: Frame) -> None:
    """Where the pixels of this tile go: those of a row's last tile that do not exist, nowhere."""
    whole = code.label()
    code(f"ldr r10, {frame('filters')}", "sub r11, r10, #2", f"str r11, {frame('second')}")
    code("add r11, r11, r10", f"str r11, {frame('third')}", "lsl r10, r10, #1")
    code(f"str r10, {frame('behind')}", f"ldr r10, {frame('last column')}", "cmp r1, r10")
    code(f"bne {whole}f", f"ldr r10, {frame('behind the rest')}", f"str r10, {frame('behind')}")
    code(f"add r10, r12, #{frame.nowhere - 2}", "ldr r11, [r12]", "sub r10, r10, r11")
    if kernel.tiles.rest == 1:
        code(f"str r10, {frame('second')}")
    code(f"str r10, {frame('third')}")
    code.place(whole)


def _patch(code: Assembly, kernel: Kernel, frame: Frame) -> None:
    """Copies a window to its patch, and keeps r0-r3."""
    layer = kernel.layer
    code.note("One that leaves the image is copied, with the zero point around it.")
    unit = max(unit for unit in (1, 4, 16) if layer.x.shape[1] % unit == 0)
    width = kernel.gather.row_bytes // unit
    code("ldr r8, [r3, #24]", f"ldr r4, {frame('down a patch')}", "str r4, [r3]")
    code("str r8, [r3, #12]", f"ldr r10, {frame('patch')}", "add r10, r10, r8", "mov r9, r8")
    code(f"ldr r4, {frame('zeros')}", "pkhbt r4, r4, r4, lsl #16")
    code("mov r5, r4", "mov r6, r4", "mov r7, r4")
    with code.repeat(kernel.patch_bytes // 32):
        code("stmia r9!, {r4-r7}", "stmia r9!, {r4-r7}", "cmp r9, r10")
    nothing = code.label()
    # The columns from r5 on are inside, r6 of them.
    code("rsb r5, r1, #0", "bic r5, r5, r5, asr #31", f"ldr r6, {frame('width')}")
    code("sub r6, r6, r1", f"ldr r7, {frame('span')}", "cmp r6, r7", "it gt", "movgt r6, r7")
    code("subs r6, r6, r5", f"ble {nothing}f")
    code(f"ldr r7, {frame('channels')}", "mul r6, r6, r7", "mul r5, r5, r7")
    code("add r7, r0, r5", "add r8, r8, r5", "mov r9, r2", f"ldr r5, {frame('height')}")
    code(f"ldr r10, {frame('rows')}", f"ldr r11, {frame('down the image')}")
    code(f"ldr lr, {frame('row of a patch')}")
    if unit == 16:
        code("vmov d0, r0, r1", "vmov d1, r2, r3")
    with code.repeat(layer.window.kernel[0]):
        outside = code.label()
        code("cmp r9, r5", f"bhs {outside}f", "add r12, r7, r6" if unit == 16 else "mov r12, r6")
        if unit == 16:
            with code.repeat(width):
                code("ldmia r7!, {r0-r3}", "stmia r8!, {r0-r3}", "cmp r7, r12")
            code("sub r7, r7, r6", "sub r8, r8, r6")
        else:
            _row(code, width, unit)
        code.place(outside)
        code("add r7, r7, r11", "add r8, r8, lr", f"add r9, r9, #{layer.window.dilations[0]}")
        code("subs r10, r10, #1")
    if unit == 16:
        code("vmov r0, r1, d0", "vmov r2, r3, d1")
    code.place(nothing)
    code("vmov r12, s8")


def _row(code: Assembly, width: int, unit: int) -> None:
    """Copies r12 bytes from r7 to r8, from the last to the first: words, then what is left."""
    some, done = code.label(), code.label()
    words = width * unit // 4
    if words:
        code("subs r12, r12, #4", *([f"blo {some}f"] if unit == 1 else []))
        with code.repeat(words, "bhs"):
            code("ldr r4, [r7, r12]", "str r4, [r8, r12]", "subs r12, r12, #4")
    if unit == 4:
        return
    if words:
        code.place(some)
        code("adds r12, r12, #4", f"beq {done}f")
    with code.repeat(width % 4 or 1):
        code("subs r12, r12, #1", "ldrb r4, [r7, r12]", "strb r4, [r8, r12]")
    code.place(done)

"""Convolution of int8 of any kernel, stride, padding and dilation: three windows are gathered, then
multiplied by all filters.

Tiles of three outputs follow each other over the rows. The windows of most lie inside of the image
and in one row: these are begun in a dozen instructions. Others are begun one by one, and a window
that leaves the image is first copied to a patch of its own, with the zero point where there is no
image, so that the gather and the bias need to know of no border. A small image may be copied
before instead (bordered.py). All numbers of a layer are in front of its weights, so that layers
whose taps are gathered alike share a function. Of a convolution in groups the windows of a tile are
begun once, and gathered and multiplied for each.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.ArmDsp.kernels import pointwise
from mcu_deploy.backends.ArmDsp.workloads import CHANNELS_LAST, ID, proposal
from mcu_deploy.backends.interface import Constant, InPlace, Layer, Proposal, SubgraphView
from mcu_deploy.backends.isa import Assembly, Register
from mcu_deploy.backends.isa.dsp import frames, nests, tap_sums, window_groups
from mcu_deploy.backends.isa.dsp.bordered import Bordered
from mcu_deploy.backends.isa.dsp.frames import Kernel, numbers
from mcu_deploy.backends.isa.dsp.gather import Gather, SharedGather
from mcu_deploy.backends.isa.dsp.windows import Registers, begin_each, hold_patches
from mcu_deploy.backends.quantized.chains import fused, reader
from mcu_deploy.backends.quantized.layers import Convolution, image_refusal, read
from mcu_deploy.backends.quantized.loops import HARDLY_LONGER, WORTH_IT

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
    found = [_proposal(part, fitting(k)) for k in kernels if not k.product.refusal()]
    if may_copy and not Bordered.refusal(layer):
        for is_halved in (False, True)[: 1 + Bordered.may_be_halved(layer)]:
            image = Bordered(layer, is_halved)
            kernel = Kernel(image.inside, is_of_rows=is_halved, table=table)
            if not kernel.product.refusal():
                found.append(_proposal(part, fitting(kernel, image), image))
    return found


def fitting(kernel: Kernel, image: Bordered | None = None) -> Kernel:
    """Where it waits for code, and what each tile or group of tiles runs through is longer than a
    loop may be: the kernel whose loop over taps is shorter by as much, or by half as much, if that
    is worth it, or hardly waits and hardly takes longer; else itself. image: as `assemble` has it.
    """
    limit, product, target = kernel.layer.loop_bytes, kernel.product, kernel.layer.target
    if limit is None or product.is_common or product.is_double:
        return kernel

    def waits(code: Assembly) -> bool:
        return code.waited_for_code(target) >= (1 - WORTH_IT) * code.time(target)

    code = assemble(kernel, image)
    much = code.longest_loop(kernel.tiles.count / kernel.tiles_together - 1) - limit
    if much <= 0 or not waits(code):
        return kernel
    kernels = [kernel.leaving(product.room_for(less)) for less in (much // 2, much)]
    short = min(kernels, key=lambda one: assemble(one, image).time(target))
    shorter = assemble(short, image)
    most = WORTH_IT if waits(shorter) else HARDLY_LONGER
    return short if shorter.time(target) < most * code.time(target) else kernel


def _in_one_row(layer: Convolution) -> Convolution:
    pixels = (1, layer.pixels)
    return replace(layer, window=replace(layer.window, input=pixels, output=pixels))


def refusal(layer: Convolution) -> str:
    """Why the kernel does not compute a convolution, a clause; empty where it does."""
    if reason := image_refusal(layer):
        return reason
    if max(layer.window.dilations) * layer.x.shape[1] > 4095:
        return "its dilation is out of the reach of an offset"
    return ""


def _proposal(part: SubgraphView, kernel: Kernel, image: Bordered | None = None) -> Proposal:
    layer, product = kernel.layer, kernel.product
    ahead = np.concatenate([product.looked_up(), numbers(kernel)])
    rows, columns = layer.window.kernel
    title = f"conv{rows}x{columns}"
    stem = "conv_dsp" if kernel.is_common else f"{title}_dsp"
    title += ", shared columns" * kernel.is_shared + ", wide weights" * product.is_wide
    title += ", moved weights" * (product.summed > 0)
    title += ", filters of this layer" * product.holds_ends
    title += (
        ", four a round" * product.is_double
        + ", common code" * kernel.is_common
        + ("" if image is None else ", padded halves" if image.is_halved else ", padded copy")
        + " + table" * (product.table is not None)
    )
    return proposal(
        part, layer.target, stem, assemble(kernel, image),
        lambda: [Constant("weights", np.concatenate([ahead, product.pack()]))], title,
        macs=(image or kernel).layer.pixels * layer.weights.size,
        constant_bytes=product.constant_bytes + ahead.nbytes,
        scratch_bytes=kernel.scratch_bytes + (image.scratch_bytes if image else 0),
        in_place=image.in_place if image else [InPlace(0, 0, kernel.tiles.distance())],
        layouts=CHANNELS_LAST,
        replacement=None if product.table is None else fused(part, "ConvolutionTable", ID),
        # Where weights are waited for, what it spares of scratch is not worth what it takes longer.
        only_for="size" if kernel.is_common and layer.is_waited_for else "",
    )  # fmt: skip


def assemble(kernel: Kernel, image: Bordered | None = None) -> Assembly:
    """The kernel: image, output, numbers and packed stream, scratch.

    image: what it copies with its padding, so that the layer of the kernel has none.
    """
    form = kernel.form, None if image is None else image.form
    return _assembled(_Asked(form, kernel, image))


@dataclass(frozen=True)
class _Asked:
    """A kernel that is assembled, once for all of the same form."""

    form: Hashable
    kernel: Kernel = field(compare=False)
    image: Bordered | None = field(compare=False)


@functools.lru_cache(1 << 6)
def _assembled(asked: _Asked) -> Assembly:
    kernel, image, code = asked.kernel, asked.image, Assembly()
    names = Registers(code, kernel)
    arguments = code.arguments("x y weights scratch")
    frames.describe(code, kernel)
    names.tile.hold_table(arguments[2])
    copied = nullcontext() if image is None else image.copied(code, arguments, kernel.scratch_bytes)
    with copied:
        _convolve(code, kernel, names, arguments)
    return code


def _convolve(
    code: Assembly, kernel: Kernel, names: Registers, arguments: Sequence[Register]
) -> None:
    """All tiles."""
    tiles, tile, windows, frame = kernel.tiles, names.tile, names.windows, names.frame
    source, column, row = names.source, names.column, names.row
    _begin(code, kernel, names, arguments)
    if kernel.tiles_together > 1:
        window_groups.begin(code, names)
    code.note("Three windows, begun at once if they are inside of the image and of one row.")
    slow, ready, done = code.label(), code.label(), code.label()
    share, together = 1 - float(tiles.are_whole().mean()), kernel.tiles_together

    def begin() -> None:
        columns, rows, step, stride = code.registers("tile_columns tile_rows step tile_stride")
        at, (first, *others) = code.register("at"), windows.downs
        code.add(at, tile.taps, frame.at("source"))
        code.ldmia(at, [source, column, row, columns, rows, step, first, stride])
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

    def begin_otherwise(tiles: float) -> None:
        code.place(slow)
        with code.detour(tiles * share):
            begin_each(code, kernel, names, ready, done)
        code.place(done)

    if together == 1:
        with code.repeat(tiles.count, "b"):
            begin()
            _tile(code, kernel, names)
        begin_otherwise(tiles.count)
        return
    multiply, finished = code.label(), code.label()
    with code.repeat(tiles.count / together, "b"):
        with code.repeat(together):
            begin()
            window_groups.gather(code, kernel, names)
        code.b(multiply)
        begin_otherwise(together)
        window_groups.end(code, names, finished)
        code.place(multiply)
        window_groups.multiply(code, kernel, names, finished)
    code.place(finished)


def _tile(code: Assembly, kernel: Kernel, names: Registers) -> None:
    """A tile whose windows are begun, and where the next one's outputs go."""
    tile, frame, windows = names.tile, names.frame, names.windows
    out, stop, filters = code.registers("out end filters")
    if kernel.layer.groups > 1:
        _groups(code, kernel, names)
    else:
        into = code.register("into")
        code.vmov(into, names.activations)
        kernel.gather.assemble(code, windows, into)
        _sum_taps(code, kernel, names)
        code.vmov(tile.stream, names.stream)
        _multiply(code, kernel, names)
    if kernel.product.holds_ends:
        code.vmov(out, tile.ends.halves[0])
    else:
        code.ldr(out, frame["next"])
    names.pass_others(out, filters)
    if kernel.layer.groups > 1:
        code.ldr(filters, frame["filters of a group"])
    code.add(stop, out, filters)
    if kernel.product.holds_ends:
        code.vmov(tile.ends, out, stop)
    else:
        code.strd(out, stop, frame["next"])


def _multiply(code: Assembly, kernel: Kernel, names: Registers) -> None:
    taps, end = names.tile.taps, code.register("taps_end")

    def compare() -> None:
        if kernel.alignment > 4:
            code.tst(taps, kernel.alignment - 1)
        else:
            code.vmov(end, names.numbers)
            code.cmp(taps, end)

    begin = functools.partial(code.vmov, taps, names.activations)
    nests.one_tile(names.tile, begin, compare)


def _sum_taps(code: Assembly, kernel: Kernel, names: Registers) -> None:
    """Where weights are moved."""
    if kernel.product.summed:
        begin = code.register("first_taps")
        code.vmov(begin, names.activations)
        tap_sums.append(code, begin, kernel.product.summed)


def _groups(code: Assembly, kernel: Kernel, names: Registers) -> None:
    """The windows of a tile, one group's channels after the other's. The frame has what leads to
    the windows of the next."""
    tile, frame, windows, sources = names.tile, names.frame, names.windows, names.windows.sources
    into, at, stream, end = code.registers("into at stream weights_end")
    channels, filters = code.registers("channels filters")
    code.vmov(stream, names.stream)
    code.vmov(names.group, stream)
    code.add(at, tile.taps, frame.downs)
    code.stmia(at, windows.begun)
    with code.repeat(kernel.layer.groups):
        code.vmov(into, names.activations)
        code.add(at, tile.taps, frame.downs)
        code.ldmia(at, windows.begun)
        kernel.gather.assemble(code, windows, into)
        _sum_taps(code, kernel, names)
        code.vmov(tile.stream, names.group)
        _multiply(code, kernel, names)
        code.note("The next group: its stream, channels and filters.")
        code.vmov(names.group, tile.stream)
        code.add(at, tile.taps, frame.begins)
        _each(code.ldmia, code.ldr, at, sources)
        code.ldr(channels, frame["channels of a group"])
        for source in sources:
            code.add(source, source, channels)
        _each(code.stmia, code.str, at, sources)
        code.ldr(filters, frame["filters of a group"])
        code.ldr(end, frame["end"])
        code.add(end, end, filters)
        code.str(end, frame["end"])
        code.vmov(end, names.end)
        code.cmp(tile.stream, end)


def _each(
    several: Callable[..., None], one: Callable[..., None], at: Register, words: Sequence[Register]
) -> None:
    """A list of one register is no list."""
    if len(words) > 1:
        several(at, words)
    else:
        one(words[0], at[0])


def _begin(code: Assembly, kernel: Kernel, names: Registers, arguments: Sequence[Register]) -> None:
    """Numbers to the frame, and to registers what all tiles need."""
    code.note("The numbers go behind the taps of a tile.")
    x, y, weights, scratch = arguments
    tile, frame, taken, taps = names.tile, names.frame, kernel.stated, names.tile.taps
    into, end, size, begin, at = code.registers("into end taps_bytes begin at")
    code.ldr(size, weights.after(4))
    code.add(taps, scratch, size)
    if kernel.product.is_in_turn:
        code.add(begin, scratch, nests.STACK_BYTES - 1)
        code.bic(begin, begin, nests.STACK_BYTES - 1)
        code.add(taps, begin, kernel.stacks_bytes)
        code.add(taps, taps, size)
    if kernel.alignment > 4:
        code.add(taps, taps, kernel.alignment - 1)
        code.bic(taps, taps, kernel.alignment - 1)
    code.sub(begin, taps, size)
    code.vmov(names.activations, begin)
    code.vmov(names.numbers, taps)
    code.add(into, taps, 8)
    if frames.are_words(taken):
        words = code.registers("a b c d e f g h")
        for done in range(0, taken.size, 8):
            code.ldmia(weights.moving, words[: taken.size - done])
            code.stmia(into.moving, words[: taken.size - done])
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
    out, filters, source, rounds, rows = code.registers("out filters source rounds rows")
    code.ldr(filters, frame["filters of a group" if kernel.layer.groups > 1 else "filters"])
    if kernel.product.holds_ends:
        code.add(out, y, kernel.product.lead)
        code.add(end, out, filters)
        code.vmov(tile.ends, out, end)
    else:
        code.add(end, y, filters)
        code.strd(y, end, frame["next"])
    code.ldr(source, frame["source"])
    code.add(source, x, source)
    code.str(source, frame["source"])
    code.add(at, taps, frame.at("rounds"))
    code.ldmia(at, [rounds, rows])
    code.vmov(names.windows.counts, rounds, rows)
    if kernel.is_of_rows:
        row, row_end, tile_rows = code.registers("row row_end tile_rows")
        code.ldrd(row, row_end, scratch[0])
        code.str(row, frame["row"])
        code.str(row_end, frame["row end"])
        if not kernel.is_shared:  # so that behind the last row no tile begins where all is inside
            code.ldr(tile_rows, frame["tile rows"])
            code.cmp(row_end, tile_rows)
            code.it("lo")
            code.strlo(row_end, frame["tile rows"])
    if kernel.has_patches:
        hold_patches(code, kernel, names)

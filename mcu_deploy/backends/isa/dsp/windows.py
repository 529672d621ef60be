"""Windows of a convolution that are begun one by one: at the ends of rows, and where one leaves the
image, which is copied to a patch then.
"""

from __future__ import annotations

from itertools import pairwise

from mcu_deploy.backends.isa import Assembly, Kind, Label, Register
from mcu_deploy.backends.isa.dsp.core import Tile
from mcu_deploy.backends.isa.dsp.frames import Frame, Kernel
from mcu_deploy.backends.isa.dsp.gather import Windows
from mcu_deploy.backends.isa.dsp.patches import copy_window


class Registers:
    """What a kernel of convolution.py names once, beside a tile's registers and its windows'.

    source, column, row: of the next window: its first byte, and where in the image that is. In S
    registers, activations: of the tile; numbers: what is behind them;
    stream: what is behind the numbers; group, end: of groups, the next one's stream, and the end of
    the last one's. Of groups of tiles, next_tile: where the next one's
    taps go; filters: that are left.
    """

    def __init__(self, code: Assembly, kernel: Kernel) -> None:
        self.tile = Tile(code, kernel.product)
        self.windows = Windows(code, kernel.is_shared)
        self.frame = Frame(kernel, self.tile.taps)
        self.source, self.column, self.row = code.registers("source column row")
        self.activations, self.numbers, self.stream, self.group, self.end = code.registers(
            "first_taps numbers first_weights group_weights weights_end", kind=Kind.SINGLE
        )
        self.next_tile, self.filters = code.registers("next_tile filters_left", kind=Kind.SINGLE)
        self._has_rest = kernel.tiles.rest > 0

    def pass_others(self, out: Register, filters: Register) -> None:
        """From behind the first pixel's outputs to behind the last one's of a tile. filters: of a
        pixel, afterwards."""
        code, behind = self.tile.code, self.tile.code.register("behind")
        code.ldr(filters, self.frame["filters"])
        if self._has_rest:
            code.ldr(behind, self.frame["behind"])
            code.add(out, out, behind)
        else:
            code.add(out, out, filters.lsl(1))


def hold_patches(code: Assembly, kernel: Kernel, names: Registers) -> None:
    """Where the patches are, to the frame."""
    frame, taps = names.frame, names.tile.taps
    at, bytes_, *patches = code.registers("at patch_bytes patch0 patch1 patch2")
    code.ldr(patches[0], frame["patches"])
    if kernel.is_shared:
        code.add(patches[0], patches[0], taps)
        code.str(patches[0], taps[frame.patches])
        return
    code.ldr(bytes_, frame["patch"])
    code.add(patches[0], patches[0], taps)
    for one, next_ in pairwise(patches):
        code.add(next_, one, bytes_)
    code.add(at, taps, frame.patches)
    code.stmia(at, patches)


def begin_each(code: Assembly, kernel: Kernel, names: Registers, ready: Label, done: Label) -> None:
    """A tile's windows. ready: where it goes on with these; done: where there are no more."""
    code.note("Other windows are begun one by one.")
    tiles, frame, taps, at = kernel.tiles, names.frame, names.tile.taps, code.register("at")
    source, column, row, begun = names.source, names.column, names.row, code.register("begun")
    count = max(1, tiles.windows * int((~tiles.are_whole()).sum()))
    absent, following, window = code.label(), code.label(), code.label()
    numbers = code.registers("column_end row_end step stride columns_inside rows_inside")
    column_end, row_end, step, stride, columns_inside, rows_inside = numbers
    row_stride, wrap, down = code.registers("row_stride wrap down")
    apart = frame.begins - frame.downs

    def load() -> None:
        code.add(at, taps, frame.at("column end"))
        code.ldmia(at, numbers)

    code.add(begun, taps, frame.downs)
    load()
    code.place(window)
    with code.times(tiles.windows):
        same, go_on = code.label(), code.label()
        code.cmp(column, column_end)
        code.bne(same)
        with code.times(tiles.layer.window.output[0] / count):
            code.ldrd(column, row_stride, frame["column begin"])
            code.add(row, row, row_stride)
            code.ldr(wrap, frame["wrap"])
            code.add(source, source, wrap)
        code.place(same)
        code.cmp(row, row_end)
        code.beq(done if kernel.is_shared else absent)
        if tiles.rest:
            _rest(code, kernel, names)
        if kernel.has_patches:
            inside = code.label()
            code.cmp(column, columns_inside)
            code.it("lo")
            code.cmplo(row, rows_inside)
            code.blo(inside)
            with code.times(float((~tiles.are_inside()).sum()) / count):
                _patch(code, kernel, names, begun)
                load()
                code.b(go_on)
            code.place(inside)
        code.ldr(down, frame["down"])
        code.str(down, begun[0])
        code.str(source, begun[apart])
        code.place(go_on)
        code.add(source, source, step)
        code.add(column, column, stride)
        if not kernel.is_shared:
            code.place(following)
            code.add(begun, begun, 4)
            code.add(at, taps, frame.begins)
            code.cmp(begun, at)
            code.bne(window)
    code.add(at, taps, frame.at("source"))
    code.stmia(at, [source, column, row])
    code.add(at, taps, frame.downs)
    code.ldmia(at, names.windows.begun)
    code.b(ready)
    if kernel.is_shared:
        return
    with code.rarely():
        code.place(absent)
        code.note("There is no such pixel: it takes the one before it again, for nobody.")
        before, begin, next_, nowhere = code.registers("before begin next nowhere")
        code.add(at, taps, frame.downs)
        code.cmp(begun, at)
        code.beq(done)
        code.sub(before, begun, 4)
        code.ldr(down, before[0])
        code.str(down, begun[0])
        code.ldr(begin, before[apart])
        code.str(begin, begun[apart])
        code.add(nowhere, taps, frame.nowhere - 2)
        code.ldr(next_, frame["next"])
        code.sub(nowhere, nowhere, next_)
        code.sub(at, begun, frame.downs - frame.at("second") + 4)
        code.str(nowhere, at[0])
        load()
        code.b(following)


def _rest(code: Assembly, kernel: Kernel, names: Registers) -> None:
    """Where the pixels of this tile go: those of a row's last tile that do not exist, nowhere."""
    frame, whole = names.frame, code.label()
    filters, behind, last_column = code.registers("filters behind last_column")
    second, third, next_, nowhere = code.registers("second third next nowhere")
    code.ldr(filters, frame["filters"])
    code.sub(second, filters, 2)
    code.str(second, frame["second"])
    code.add(third, second, filters)
    code.str(third, frame["third"])
    code.lsl(behind, filters, 1)
    code.str(behind, frame["behind"])
    code.ldr(last_column, frame["last column"])
    code.cmp(names.column, last_column)
    code.bne(whole)
    code.ldr(behind, frame["behind the rest"])
    code.str(behind, frame["behind"])
    code.add(nowhere, frame.base, frame.nowhere - 2)
    code.ldr(next_, frame["next"])
    code.sub(nowhere, nowhere, next_)
    if kernel.tiles.rest == 1:
        code.str(nowhere, frame["second"])
    code.str(nowhere, frame["third"])
    code.place(whole)


def _patch(code: Assembly, kernel: Kernel, names: Registers, begun: Register) -> None:
    """Copies a window to its patch. begun: the window's words in the frame."""
    code.note("One that leaves the image is copied, with the zero point around it.")
    layer, frame = kernel.layer, names.frame
    unit = max(unit for unit in (1, 4, 16) if layer.x.shape[1] % unit == 0)
    into, down = code.registers("into down_patch")
    code.ldr(into, begun[frame.patches - frame.downs])
    code.ldr(down, frame["down a patch"])
    code.str(down, begun[0])
    code.str(into, begun[frame.begins - frame.downs])
    copy_window(
        code, (names.source, names.column, names.row), into, frame, unit,
        (kernel.patch_bytes, kernel.gather.row_bytes // unit, layer.window.kernel[0]),
        layer.window.dilations[0], ((names.source, names.column), (names.row, begun)),
    )  # fmt: skip
    code.vmov(names.tile.taps, names.numbers)

"""Windows of a convolution by groups of tiles: see groups.py."""

from __future__ import annotations

from mcu_deploy.backends.isa import Assembly, Label
from mcu_deploy.backends.isa.dsp import groups
from mcu_deploy.backends.isa.dsp.frames import Kernel
from mcu_deploy.backends.isa.dsp.windows import Registers


def begin(code: Assembly, kernel: Kernel, names: Registers) -> None:
    """No tile is gathered yet."""
    at = code.register("at")
    code.mov(at, 0)
    code.vmov(names.is_last, at)
    code.vmov(at, names.activations)
    code.vmov(names.next_tile, at)


def gather(code: Assembly, kernel: Kernel, names: Registers, go_on: Label) -> None:
    """A tile whose windows are begun. go_on: where it goes on if the group has room for more."""
    frame, taps = names.frame, names.tile.taps
    into, free, at, end = code.registers("into free at tiles_end")
    out, stop, second, third = code.registers("out end second third")
    filters, behind = code.registers("filters behind")
    code.vmov(into, names.next_tile)
    kernel.gather.assemble(code, names.windows, into)
    code.note("Behind the taps of the tile stands where its outputs go.")
    code.vmov(taps, names.numbers)
    code.vmov(into, names.next_tile)
    code.offset(at, kernel.product.tile_bytes, free, into)
    code.ldmia(taps, [out, stop, second, third])
    code.stmia(at.moving, [out, second, third])
    code.vmov(names.next_tile, at)
    code.ldr(filters, frame["filters"])
    if kernel.tiles.rest:
        code.ldr(behind, frame["behind"])
        code.add(out, out, behind)
    else:
        code.add(out, out, filters.lsl(1))
    code.add(out, out, filters)
    code.str(out, frame["next"])
    code.vmov(end, names.numbers)
    code.cmp(at, end)
    code.bne(go_on)


def multiply(code: Assembly, kernel: Kernel, names: Registers, finished: Label) -> None:
    """All tiles of the group. finished: where it goes on if there are no more."""
    tile, product, at = names.tile, kernel.product, code.register("at")
    with code.times(1 / kernel.tiles_together):
        code.ldr(at, names.frame["filters"])
        code.vmov(names.filters, at)
        code.vmov(tile.stream, names.stream)
        outputs = groups.InSlots(code, names.filters)
        if product.is_twin:
            groups.multiply_twins(product, code, tile, names.twins, outputs)
        else:
            code.vmov(at, names.next_tile)
            code.vmov(names.tiles_end, at)
            group = groups.Group(names.activations, names.tiles_end)
            groups.multiply_group(product, code, tile, group, outputs, kernel.tiles_together)
        code.vmov(at, names.activations)
        code.vmov(names.next_tile, at)
        code.vmov(tile.taps, names.numbers)
        code.vmov(at, names.is_last)
        code.cmp(at, 0)
        code.bne(finished)


def last(
    code: Assembly, kernel: Kernel, names: Registers, multiply: Label, finished: Label
) -> None:
    """There are no more windows: what is gathered is the last group."""
    frame, at, first = names.frame, code.register("at"), code.register("first")
    with code.rarely():
        code.vmov(at, names.next_tile)
        code.vmov(first, names.activations)
        code.cmp(at, first)
        code.beq(finished)
        code.mov(first, 1)
        code.vmov(names.is_last, first)
        if kernel.product.is_twin:
            code.note("It is one tile: the outputs of another are nobody's.")
            out, second, third = code.registers("out second third")
            code.offset(at, kernel.product.tile_bytes, first)
            code.add(out, frame.base, frame.nowhere)
            code.mvn(second, 1)
            code.mov(third, second)
            code.stmia(at, [out, second, third])
        code.b(multiply)
    code.place(finished)

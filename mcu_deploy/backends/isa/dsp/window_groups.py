"""Windows of a convolution by groups of tiles: see nests.py."""

from __future__ import annotations

from mcu_deploy.backends.isa import Assembly, Label
from mcu_deploy.backends.isa.dsp import nests
from mcu_deploy.backends.isa.dsp.frames import Kernel
from mcu_deploy.backends.isa.dsp.outputs import InOrder, InSlots
from mcu_deploy.backends.isa.dsp.windows import Registers

# The word of the frame that says whether no more windows come, 0 or 1.
_IS_LAST = "end"


def begin(code: Assembly, names: Registers) -> None:
    """More windows may come, and no tile is gathered yet."""
    at = code.register("at")
    code.mov(at, 0)
    code.str(at, names.frame[_IS_LAST])
    _begin_group(code, names)


def _begin_group(code: Assembly, names: Registers) -> None:
    at = code.register("at")
    code.vmov(at, names.activations)
    code.vmov(names.next_tile, at)


def gather(code: Assembly, kernel: Kernel, names: Registers) -> None:
    """A tile whose windows are begun. Sets the flags of a branch to the next one of the group."""
    frame, taps = names.frame, names.tile.taps
    into, free, at, end = code.registers("into free at tiles_end")
    out, stop, second, third = code.registers("out end second third")
    filters = code.register("filters")
    code.vmov(into, names.next_tile)
    kernel.gather.assemble(code, names.windows, into)
    if kernel.is_in_order:
        code.vmov(taps, names.numbers)
        code.offset(into, kernel.product.tile_bytes - kernel.gather.moved, free)
        code.vmov(names.next_tile, into)
        code.cmp(into, taps)
        return
    code.note("Behind the taps of the tile stands where its outputs go.")
    code.vmov(taps, names.numbers)
    code.vmov(into, names.next_tile)
    code.offset(at, kernel.product.tile_bytes, free, into)
    code.ldmia(taps, [out, stop, second, third])
    code.stmia(at.moving, [out, second, third])
    code.vmov(names.next_tile, at)
    names.pass_others(out, filters)
    code.add(out, out, filters)
    code.str(out, frame["next"])
    code.vmov(end, names.numbers)
    code.cmp(at, end)


def end(code: Assembly, names: Registers, finished: Label) -> None:
    """There are no more windows: what is gathered is the last group. finished: where it goes on if
    that is nothing."""
    at, first = code.registers("at first")
    with code.rarely():
        code.vmov(at, names.next_tile)
        code.vmov(first, names.activations)
        code.cmp(at, first)
        code.beq(finished)
        code.mov(first, 1)
        code.str(first, names.frame[_IS_LAST])


def multiply(code: Assembly, kernel: Kernel, names: Registers, finished: Label) -> None:
    """All tiles of the group. finished: where it goes on if there are no more."""
    tile, tiles, at = names.tile, kernel.tiles_together, code.register("at")
    out, free = code.registers("out free")
    in_order = InOrder(tile) if kernel.is_in_order else None
    code.ldr(at, names.frame["filters"])
    if in_order:
        code.ldr(out, names.frame["next"])
        code.add(at, at, out)
        code.vmov(tile.ends, out, at)
    else:
        code.vmov(names.filters, at)
    code.vmov(tile.stream, names.stream)
    outputs = in_order or InSlots(tile, names.filters)
    group = nests.TapGroup(names.activations, names.next_tile, tiles)
    if kernel.product.is_in_turn:
        nests.in_turn(tile, group, outputs, kernel.taps_bytes // tiles)
    else:
        nests.group(tile, group, outputs)
    _begin_group(code, names)
    if kernel.product.is_in_turn:  # whose words took the register
        code.vmov(tile.taps, names.next_tile)
        code.offset(tile.taps, kernel.taps_bytes, free)
        code.vmov(names.numbers, tile.taps)
    else:
        code.vmov(tile.taps, names.numbers)
    if in_order:
        code.vmov(out, in_order.next_out)
        code.offset(out, 2 - kernel.product.filters, free)
        code.str(out, names.frame["next"])
    code.ldr(at, names.frame[_IS_LAST])
    code.cmp(at, 0)
    code.bne(finished)

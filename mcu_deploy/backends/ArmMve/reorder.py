"""Copies into another order of the axes, which stand between layers that want their tensors
otherwise: in vectors that are gathered from columns, or scattered over them, or of blocks of bytes
that stay together, as those of a head of attention.

They are added when layouts are known, behind all proposals, so a backend is asked for them by
itself, in Arm NN's words.
"""

from __future__ import annotations

import math
from contextlib import nullcontext
from typing import NamedTuple

import numpy as np

from mcu_deploy.backends.ArmMve.workloads import assembly, workload
from mcu_deploy.backends.interface import YES, Costs, Layer, Price, Support, Workload, no
from mcu_deploy.backends.isa import Assembly, Kind
from mcu_deploy.backends.isa.kept import each
from mcu_deploy.backends.kit import overlap
from mcu_deploy.backends.kit.strides import Loops, collapse, memory_strides

_VECTOR = 16  # bytes
_LEAST_BLOCK = 4  # bytes
_LARGEST = 1 << 16  # what a lane of 16 bits holds
_MOST_ADDED = 4095


class Turned(NamedTuple):
    """Matrices of elements of so many bytes, of which each row becomes a column."""

    matrices: int
    rows: int
    columns: int
    size: int

    @property
    def lanes(self) -> int:
        """Elements of a vector: of a byte each they are widened to 16 bits, for their offsets."""
        return 8 if self.size == 1 else 4

    @property
    def scatters(self) -> bool:
        """Whether vectors are of a row of the input, not of the output: of the longer one."""
        return self.columns >= self.rows

    @property
    def distance(self) -> int:
        """How far the output may reach into the input (InPlace): behind the first row or column of
        either no element is written where one is still to be read."""
        return self.size * (self.rows - 1) * (self.columns - 1)


def _loops(layer: Layer) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Over the output of bytes or words in its order: how long they are, and their steps in the
    input. None of other elements."""
    x, y = layer.input(0).type, layer.output.type
    if x.dtype.bytes not in (1, 4) or not y.elements:
        return (), ()
    strides = memory_strides(x)
    loops = collapse([y.shape[a] for a in y.order], [[strides[a] for a in y.order]])
    return loops.extents, loops.steps[0]


def turned(layer: Layer) -> Turned | None:
    """A layer that brings a tensor into another order, if that is one of these."""
    x, (extents, steps) = layer.input(0).type, _loops(layer)
    if len(extents) == 2:
        extents, steps = (1, *extents), (extents[0] * extents[1], *steps)
    if len(extents) != 3:
        return None
    matrices, columns, rows = extents
    if steps != (rows * columns, 1, columns):
        return None
    found = Turned(matrices, rows, columns, x.dtype.bytes)
    apart = found.size * min(rows, columns) * found.lanes
    return found if apart < _LARGEST else None


class Blocks(NamedTuple):
    """Blocks of bytes, one behind the other in the output. extents: of the loops over them, then
    the bytes of one; steps: of each loop in the input, in bytes."""

    extents: tuple[int, ...]
    steps: tuple[int, ...]

    @property
    def distance(self) -> int:
        """As `Turned` has it: a vector of a block is read, then written."""
        *loops, block = self.extents
        vectors = _VECTOR * np.arange(-(-block // _VECTOR))
        lowest = overlap.nested(overlap.strided(tuple(loops), self.steps), vectors)
        begins = block * np.arange(math.prod(loops))
        ends = overlap.nested(begins, np.minimum(vectors + _VECTOR, block))
        return overlap.distance(ends, lowest)


def blocks(layer: Layer) -> Blocks | None:
    """A layer that moves blocks."""
    bytes_, (extents, steps) = layer.input(0).type.dtype.bytes, _loops(layer)
    if len(extents) < 2 or steps[-1] != 1 or bytes_ * extents[-1] < _LEAST_BLOCK:
        return None
    return Blocks(
        (*extents[:-1], bytes_ * extents[-1]), tuple(bytes_ * step for step in steps[:-1])
    )


def supports(layer: Layer) -> Support:
    """Whether a layer is one of these copies."""
    if (layer.domain, layer.op) != ("mcu", "Reorder"):
        return no("it proposes nothing for this operator")
    if not (layer.target.mve and layer.target.fpu):
        return no("its kernels need Helium and its floats")  # vectors have no soft form
    is_any = turned(layer) or blocks(layer)
    return YES if is_any else no("it turns matrices of bytes or words, and moves blocks")


def workloads(layer: Layer) -> tuple[Workload, ...]:
    """What computes it."""
    found, of = turned(layer), blocks(layer)
    if found is not None:
        stem, code, distance = "x".join(map(str, found)), assemble(found), found.distance
    else:
        assert of is not None, "asked for workloads of a layer that it does not support"
        stem, code, distance = "x".join(map(str, of.extents)), assemble_blocks(of), of.distance
    costs = Costs(0, cycles=code.time(layer.target), flash=code.bytes)
    price = Price(costs, in_place=overlap.fact(layer, 0, distance))
    return (workload(layer, f"reorder_{stem}_mve", code, (), price),)


def assemble_blocks(of: Blocks) -> Assembly:
    """The kernel: input, output."""
    code = assembly()
    x, y = code.arguments("x y")
    *outer, rows, block = of.extents
    count, at, left, far = code.registers("bytes_of_block x_at rows_left far")
    vector = code.register("bytes", kind=Kind.VECTOR)
    first = code.register("first_block", kind=Kind.SINGLE)
    names = " ".join(f"left{n}" for n in range(len(outer)))
    counters = code.registers(names, kind=Kind.SINGLE)
    code.note(f"Blocks of {block} bytes, one behind the other in y, {of.steps[-1]} apart in x.")
    code.number(count, block)
    code.vmov(first, x)
    read = -(-block // _VECTOR) * _VECTOR

    def run() -> None:
        code.vmov(at, first)
        code.number(left, rows)
        with code.repeat(rows):
            with code.counted(read // _VECTOR, count, 8):
                code.vldrb_u8(vector, at.after(_VECTOR))
                code.vstrb_8(vector, y.after(_VECTOR))
            code.offset(at, of.steps[-1] - read, far)
            if read > block:
                code.sub(y, y, read - block)
            code.subs(left, left, 1)

    each(code, Loops(tuple(outer), (of.steps[:-1],)), counters, [first], run)
    return code


def assemble(of: Turned) -> Assembly:
    """The kernel: input, output.

    y[m][c][r] = x[m][r][c].
    """
    code = assembly()
    x, y = code.arguments("x y")
    offsets, vector = code.registers("offsets elements", "q0", "q1", kind=Kind.VECTOR)
    place, apart, count = code.registers("place bytes_apart elements_of_row")
    matrices, rows = code.registers("matrices_left rows_left")
    size, lanes = of.size, of.lanes
    # The row that vectors are of, and the other one, along which they are taken apart.
    length, across = (of.columns, of.rows) if of.scatters else (of.rows, of.columns)
    along, scattered = (x, y) if of.scatters else (y, x)
    code.note(f"y[m][c][r] = x[m][r][c]: {of.matrices} times {of.rows} rows of {of.columns}.")
    code.note(
        f"{lanes} neighbours of the {'input' if of.scatters else 'output'} at a time; in the other "
        f"one they are {size * across} bytes apart."
    )
    if size == 1:
        load, store, index, multiply = (
            code.vldrb_u16, code.vstrb_16, code.vidup_u16, code.vmul_i16
        )  # fmt: skip
    else:
        load, store, index, multiply = (
            code.vldrw_u32, code.vstrw_32, code.vidup_u32, code.vmul_i32
        )  # fmt: skip
    code.mov(count, 0)
    index(offsets, count, 1)
    code.number(apart, size * across)
    multiply(offsets, offsets, apart)
    if lanes * size * across > _MOST_ADDED:
        code.number(apart, lanes * size * across)
    step = apart if lanes * size * across > _MOST_ADDED else lanes * size * across
    if of.matrices > 1:
        code.number(matrices, of.matrices)
    with code.repeat(of.matrices) if of.matrices > 1 else nullcontext():
        code.number(rows, across)
        with code.repeat(across):
            code.mov(place, scattered)
            code.number(count, length)
            with code.counted(-(-length // lanes), count, 128 // lanes):
                if of.scatters:
                    load(vector, along.after(size * lanes))
                    store(vector, place[offsets])
                else:
                    load(vector, place[offsets])
                    store(vector, along.after(size * lanes))
                code.add(place, place, step)
            if over := size * (-length % lanes):
                code.sub(along, along, over)
            code.add(scattered, scattered, size)
            code.subs(rows, rows, 1)
        if of.matrices > 1:
            code.offset(scattered, size * across * (length - 1), place)
            code.subs(matrices, matrices, 1)
    return code

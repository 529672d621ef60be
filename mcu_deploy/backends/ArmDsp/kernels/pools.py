"""Pools of int8 in channel-last order: up to 16 channels of a window at a time.

An average adds bytes into lanes of 16 bits, which lie in the scratch until all channels of a pixel
are summed; then SMMLA and SSAT make them outputs. Of a window of more than 256 elements there are
words of 32 bits in the scratch, to which the lanes are added before they could overflow.

The contract sums real numbers in float32, one after the other, whose error depends on the elements,
so a sum that lies near the middle of two outputs may give either. Where a window has such sums (of
64 equal scales every tie, of 125 none) they are known by the fraction that SMMLA leaves, and their
channel is summed again, in floats.

A padded window is cut to what is inside of the input, by its place. Where an average is of that
alone, the scale of one element is divided by how many there are.

A pool is read in pool_layer.py, and the integers of an average are found in pool_rounding.py.
Windows follow each other in pool_code.py, blocks of a window's channels are summed in
pool_blocks.py, and become outputs in pool_outputs.py.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.ArmDsp.workloads import CHANNELS_LAST, proposal
from mcu_deploy.backends.interface import Constant, Layer, Proposal, SubgraphView
from mcu_deploy.backends.isa.dsp.pool_blocks import WORDS
from mcu_deploy.backends.isa.dsp.pool_code import assemble
from mcu_deploy.backends.isa.workloads import NATURAL
from mcu_deploy.backends.kit import overlap
from mcu_deploy.backends.quantized.pool_layer import Pool, read
from mcu_deploy.backends.quantized.pool_rounding import Rounding, rounding_of

OPERATORS = (
    "AveragePool", "GlobalAveragePool", "MaxPool", "GlobalMaxPool", "ReduceMean", "ReduceMax",
    "tflite::AveragePool", "tflite::MaxPool", "tflite::ReduceMean",
)  # fmt: skip


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A pool by itself."""
    pool = read(node)
    if isinstance(pool, str):
        return pool
    rounding = rounding_of(pool, node)
    if isinstance(rounding, str):
        return rounding
    code = assemble(pool, rounding)
    constants = (Constant("constants", pack(pool, rounding)),)
    made = proposal(
        view.part([node.node.id]), node.target, f"{pool.stem}_dsp", code, constants, pool.title,
        scratch_bytes=pool.scratch_bytes, layouts=NATURAL if pool.is_natural else CHANNELS_LAST,
        in_place=overlap.fact(node, 0, demand(pool, rounding)),
    )  # fmt: skip
    return [made]


def demand(pool: Pool, rounding: Rounding | None) -> int:
    """How far behind the input the output may follow (InPlace)."""
    pixels = np.arange(pool.pixels) * pool.channels
    if rounding is None:  # block after block of a window is read, and its maxima are written
        firsts = np.arange(0, pool.channels, 4 * WORDS)
        ends = np.minimum(firsts + 4 * WORDS, pool.channels)
        firsts = np.minimum(firsts, pool.channels - 4)
        return overlap.distance(overlap.nested(pixels, ends), overlap.nested(pool.starts, firsts))
    # What is summed again is read while the pixel's first outputs are written.
    again = [overlap.NOTHING] if rounding.margin else []
    return overlap.distance(pixels + pool.channels, np.concatenate([again, pool.starts]))


def pack(pool: Pool, rounding: Rounding | None) -> Array:
    """What the kernel loads first: where the sums of a whole window start, or a maximum; then the
    numbers of an average."""
    if rounding is None:
        return np.array([0x80808080 if pool.is_signed else 0], np.uint32)
    xq, yq = pool.x.scaling, pool.y.scaling
    begin, each = pool.start
    start = begin + pool.taps * each
    start = start & 0xFFFFFFFF if pool.is_large else (start & 0xFFFF) * 0x10001
    integers = np.array([start, rounding.scale, rounding.addend & 0xFFFFFFFF], np.uint32)
    reals = np.array([xq.scale[0], pool.taps, yq.scale[0]], np.float32)
    return np.concatenate([integers, reals.view(np.uint32)])

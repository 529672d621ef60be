"""Pools of bytes in channel-last order, of any number of channels: isa/mve/pools.py."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mcu_deploy.backends.ArmMve.elements import proposal
from mcu_deploy.backends.ArmMve.workloads import CHANNELS_LAST, NATURAL, assembly
from mcu_deploy.backends.interface import Constant, Layer, Proposal, SubgraphView
from mcu_deploy.backends.isa import Assembly
from mcu_deploy.backends.isa.mve import pools
from mcu_deploy.backends.isa.mve.averages import Average
from mcu_deploy.backends.isa.mve.means import Mean
from mcu_deploy.backends.kit import overlap
from mcu_deploy.backends.quantized.pool_layer import Pool, read
from mcu_deploy.backends.quantized.pool_rounding import Rounding, rounding_of

OPERATORS = (
    "AveragePool", "GlobalAveragePool", "MaxPool", "GlobalMaxPool", "ReduceMean", "ReduceMax",
    "tflite::AveragePool", "tflite::MaxPool", "tflite::ReduceMean",
)  # fmt: skip

_MOST_COLUMNS = 1 << 16
# Below this float32 numbers of sums might be flushed to zero.
_LEAST_SCALE = 2.0**-100


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A pool by itself."""
    pool = read(node, 1, _MOST_COLUMNS)
    if isinstance(pool, str):
        return pool
    if reason := pools.refusal(pool):
        return reason
    if pool.fixed is not None:
        return _mean(view, node, pool)
    rounding = rounding_of(pool, node)
    if isinstance(rounding, str):
        return rounding
    if rounding is not None and rounding.margin and pool.x.scaling.scale[0] < _LEAST_SCALE:
        return "the scale of its input is hardly any number"
    outputs: pools.Outputs = pools.Maximum(pool)
    if rounding is not None:
        outputs = Average(pool, rounding)
    return [_proposal(view, node, pool, assemble(pool, rounding, outputs), outputs)]


def _mean(view: SubgraphView, node: Layer, pool: Pool) -> Sequence[Proposal] | str:
    """Of TFLite."""
    if pool.fixed is None or pool.fixed[1] >= 0:
        return "it multiplies sums by factors below a half"
    outputs = Mean(pool)
    return [_proposal(view, node, pool, assemble(pool, None, outputs), outputs)]


def _proposal(
    view: SubgraphView, node: Layer, pool: Pool, code: Assembly, outputs: pools.Outputs
) -> Proposal:
    words = np.array([*outputs.numbers, *pools.places(pool)], np.uint32)
    return proposal(
        view, node, f"{pool.stem}_mve", code, [Constant("constants", words)], pool.title,
        layouts=NATURAL if pool.is_natural else CHANNELS_LAST,
        in_place=overlap.fact(node, 0, demand(pool)),
    )  # fmt: skip


def demand(pool: Pool) -> int:
    """How far behind the input the output may follow (InPlace): block after block of a window is
    read, and its outputs are written."""
    pixels = np.arange(pool.pixels) * pool.channels
    firsts = np.arange(0, pool.channels, pools.block_of(pool))
    ends = np.minimum(firsts + pools.block_of(pool), pool.channels)
    return overlap.distance(overlap.nested(pixels, ends), overlap.nested(pool.starts, firsts))


def assemble(pool: Pool, rounding: Rounding | None, outputs: pools.Outputs) -> Assembly:
    """The kernel: input, output, constants."""
    code = assembly()
    window = f"of the {'x'.join(map(str, pool.window.kernel))} window of pixel p"
    if pool.fixed is not None:
        code.note("y[p][c] = sat((sum * factor >> 31 >> shift) + zero_point), sum = start + moved")
        code.note(f"+ all x[q][c] {window}; what is shifted is rounded to")
        code.note("nearest, ties first up, then away from zero.")
        numbers = "start; what it gets for each q inside; moved; factor; -shift; zero_point"
    elif rounding is None:
        code.note(f"y[p][c] = the greatest x[q][c] {window}.")
        numbers = "the least element, in each byte of a word"
    else:
        by = pool.lanes.bit_length() - 1
        code.note(f"y[p][c] = sat((sum * 2**{by} * scale >> 32) + addend >> {rounding.shift}),")
        code.note(f"sum = start + all x[q][c] {window} that are inside.")
        numbers = (
            "start; what it gets for each q inside; scale; addend; of float32 the scale of x, a "
            "window's pixels, the scale of y"
        )
        if pool.is_of_inside:
            code.note("scale is that of one pixel, and is divided by how many are inside.")
    code.note(f"x and y have {pool.channels} channels, which lie last. constants: {numbers}.")
    counts = ", in the lowest 8 bits how many of its rows or columns are inside"
    code.note(
        "Then of the windows of each row of y, and of each column, where they begin in bytes, "
        f"times 256{counts * pool.window.padded}."
    )
    code.note("In place: of a window a block of channels is read before its outputs are written.")
    pools.Window(code, pool).assemble(outputs)
    return code

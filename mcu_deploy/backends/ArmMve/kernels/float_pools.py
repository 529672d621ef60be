"""Pools of float32: some pixels, four channels at a time, of any number of channels. An average is
the sum, row by row, times the reciprocal of how many elements there are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.ArmMve.workloads import CHANNELS_LAST, assembly, proposal
from mcu_deploy.backends.floats.layers import is_of_floats, types_refusal
from mcu_deploy.backends.floats.tiles import inside
from mcu_deploy.backends.interface import Constant, Layer, Proposal, SubgraphView
from mcu_deploy.backends.isa import Assembly
from mcu_deploy.backends.isa.mve.float_channels import Channels, sizes_of
from mcu_deploy.backends.isa.mve.float_pools import Average, Maximum
from mcu_deploy.backends.isa.window_rows import LONGEST_SIDE, SCRATCH_BYTES, description
from mcu_deploy.backends.kit import overlap
from mcu_deploy.backends.quantized.layers import of_rows
from mcu_deploy.operators.pool import average_counts, pool_window
from mcu_deploy.operators.reduction import reduced_axes
from mcu_deploy.operators.windows import Window, window

OPERATORS = ("AveragePool", "GlobalAveragePool", "MaxPool", "GlobalMaxPool", "ReduceMean")

_MOST_PIXELS = 5
_MOST_COLUMNS = 16  # of a window
_MOST_TOGETHER = 8  # pixels of windows that are whole rows


@dataclass(frozen=True)
class _Pool:
    """counts, reciprocals: as `Average` has them, of a maximum none."""

    window: Window
    is_maximum: bool
    counts: Sequence[int] = ()
    reciprocals: Sequence[float] = ()


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A pool by itself, or a mean over the spatial axes."""
    if not is_of_floats(node):
        return ""
    pool = _read(node)
    if isinstance(pool, str):
        return pool
    channels = node.input(0).type.shape[1]
    code, kernel = _assemble(pool, channels, node.call.activation)
    rows, columns = pool.window.kernel
    title = "max_pool" if pool.is_maximum else "avg_pool"
    scales = np.array(pool.reciprocals, np.float32)
    made = proposal(
        view.part([node.node.id]), node.target,
        f"{title}{rows}x{columns}_{channels}_f32_mve", code,
        () if pool.is_maximum else (Constant("reciprocals", scales),),
        f"{title}, vectors of float32", scratch_bytes=SCRATCH_BYTES,
        in_place=overlap.fact(node, 0, kernel.demand), layouts=CHANNELS_LAST, operands={"x": 0},
    )  # fmt: skip
    return [made]


def _assemble(
    pool: _Pool, channels: int, bounds: tuple[float, float]
) -> tuple[Assembly, Channels]:  # fmt: skip
    """The kernel: image, output, reciprocals of an average, scratch."""
    code = assembly()
    what = "the greatest of" if pool.is_maximum else "the average of"
    code.note(f"y[p][c] = {what} window[p][k][c], float32, of what lies inside of the image.")
    code.note("x: [row][column][channel], y: [p][c].")
    if not pool.is_maximum:
        code.note("constants: the reciprocals of how many elements there are, by their columns.")
    code.note(f"{description()} In place: as depthwise convolutions.")
    sizes = sizes_of(pool.window, _MOST_PIXELS, has_weights=False)
    kernel: Channels = (
        Maximum(code, pool.window, channels, sizes, bounds) if pool.is_maximum
        else Average(code, pool.window, channels, sizes, bounds, pool.counts)
    )  # fmt: skip
    kernel.assemble()
    return code, kernel


def _read(node: Layer) -> _Pool | str:
    """The pool, or why it is none for this kernel, a clause."""
    x, y = node.input(0).type, node.output.type
    if x.rank not in (3, 4):
        return f"it pools over one or two spatial axes, not {x.rank - 2}"
    if len(node.outputs) > 1:
        return "it does not compute the indices of maxima"
    if reason := types_refusal(x, y):
        return reason
    if x.shape[0] != 1 or not x.elements * y.elements:
        return "it takes one image"
    if node.op == "ReduceMean":
        axes = node.optional(1)
        if axes is not None and axes.constant is None:
            return "its axes are computed at run time"
        if reduced_axes(node.call) != tuple(range(2, x.rank)):
            return "it takes means over the spatial axes"
        size = x.shape[2:]
        found = _folded(of_rows(window({}, size, (1,) * len(size), size)))
        return _limited(_Pool(found, False, (), [1 / math.prod(size)]))
    real = pool_window(node.call)
    found = _folded(of_rows(real))
    if "Max" in node.op:
        return _limited(_Pool(found, True))
    elements = average_counts(node.call, real)
    if len(np.unique(elements)) == 1:
        return _limited(_Pool(found, False, (), _reciprocals(elements.reshape(-1)[:1])))
    if node.attributes.get("count_include_pad", 0):
        return "its windows have different numbers of elements, with their padding"
    return _limited(_Pool(found, False, *_by_counts(found)))


def _limited(pool: _Pool) -> _Pool | str:
    rows, columns = pool.window.kernel
    if columns > _MOST_COLUMNS:
        return f"its windows have more than {_MOST_COLUMNS} columns"
    if rows > LONGEST_SIDE and pool.window.padded_axes[0]:
        return f"its windows have more than {LONGEST_SIDE} rows, some of which lie outside"
    return pool


def _reciprocals(counts: Sequence[int] | Array) -> Sequence[float]:
    """Of no element the sum of none becomes NaN, as a division by 0 does."""
    return [1 / count if count else math.inf for count in counts]


def _by_counts(window: Window) -> tuple[Sequence[int], Sequence[float]]:
    """Of the windows' columns inside which numbers there are, and the reciprocals: of each number
    of rows inside, where that may differ, those of each."""
    columns = sorted({len(inside(window, 1, n)) for n in range(window.output[1])})
    kernel = window.kernel[0]
    rows = range(kernel + 1) if window.padded_axes[0] else [kernel]
    return columns, _reciprocals([row * column for row in rows for column in columns])


def _folded(window: Window) -> Window:
    """Of a window that is the whole image, pixels that are neighbours: some in each row."""
    is_whole = window.kernel == window.input and window.output == (1, 1)
    if window.padded or not is_whole or window.dilations != (1, 1):
        return window
    taps = math.prod(window.kernel)
    together = max(n for n in range(1, _MOST_TOGETHER + 1) if taps % n == 0)
    kernel, one = (taps // together, together), (1, 1)
    return Window(kernel, one, one, (0, 0), (0, 0), kernel, one)

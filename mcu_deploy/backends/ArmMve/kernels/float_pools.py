"""Pools of float32: some pixels, four channels at a time, of any number of channels. An average is
the sum, row by row, times the reciprocal of how many elements there are."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.ArmMve.workloads import CHANNELS_LAST, assembly, proposal
from mcu_deploy.backends.floats.layers import is_of_floats, types_refusal
from mcu_deploy.backends.floats.tiles import inside
from mcu_deploy.backends.interface import Constant, Layer, Proposal, SubgraphView
from mcu_deploy.backends.isa.mve.float_channels import Channels, sizes_of
from mcu_deploy.backends.isa.mve.float_pools import Average, Maximum
from mcu_deploy.backends.isa.mve.float_rows import LONGEST_SIDE, SCRATCH_BYTES, description
from mcu_deploy.backends.kit import overlap
from mcu_deploy.backends.quantized.layers import of_rows
from mcu_deploy.operators.pool import average_counts, pool_window
from mcu_deploy.operators.windows import Window

OPERATORS = ("AveragePool", "GlobalAveragePool", "MaxPool", "GlobalMaxPool")

_MOST_PIXELS = 5
_MOST_COLUMNS = 16  # of a window


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A pool by itself."""
    if not is_of_floats(node):
        return ""
    x, y = node.input(0).type, node.output.type
    if reason := _refusal(node):
        return reason
    is_maximum = "Max" in node.op
    window = of_rows(pool_window(node.call))
    counts: list[int] = []
    scales = np.zeros(0, np.float32)
    if not is_maximum:
        elements = average_counts(node.call, pool_window(node.call))
        if len(np.unique(elements)) == 1:
            scales = _reciprocals([int(elements.flat[0])])
        elif node.attributes.get("count_include_pad", 0):
            return "its windows have different numbers of elements, with their padding"
        else:
            counts, scales = _by_counts(window)
    window = _folded(window)
    if window.kernel[1] > _MOST_COLUMNS or window.kernel[0] > LONGEST_SIDE:
        return f"its windows have more than {_MOST_COLUMNS} columns or {LONGEST_SIDE} rows"
    code = assembly()
    what = "the greatest of" if is_maximum else "the average of"
    code.note(f"y[p][c] = {what} window[p][k][c], float32, of what lies inside of the image.")
    code.note("x: [row][column][channel], y: [p][c].")
    if not is_maximum:
        code.note("constants: the reciprocals of how many elements there are, by their columns.")
    code.note(f"{description()} In place: as depthwise convolutions.")
    sizes, channels = sizes_of(window, _MOST_PIXELS, has_weights=False), x.shape[1]
    bounds = node.call.activation
    kernel: Channels = (
        Maximum(code, window, channels, sizes, bounds) if is_maximum
        else Average(code, window, channels, sizes, bounds, counts)
    )  # fmt: skip
    kernel.assemble()
    rows, columns = window.kernel
    title = "max_pool" if is_maximum else "avg_pool"
    constants = () if is_maximum else (Constant("reciprocals", scales),)
    made = proposal(
        view.part([node.node.id]), node.target,
        f"{title}{rows}x{columns}_{channels}_f32_mve", code, constants,
        f"{title}, vectors of float32", scratch_bytes=SCRATCH_BYTES,
        in_place=overlap.fact(node, 0, kernel.demand), layouts=CHANNELS_LAST,
    )  # fmt: skip
    assert y.elements
    return [made]


def _refusal(node: Layer) -> str:
    x, y = node.input(0).type, node.output.type
    if x.rank not in (3, 4):
        return f"it pools over one or two spatial axes, not {x.rank - 2}"
    if len(node.outputs) > 1:
        return "it does not compute the indices of maxima"
    if reason := types_refusal(x, y):
        return reason
    if x.shape[0] != 1 or not y.elements:
        return "it takes one image"
    return ""


def _reciprocals(counts: Sequence[int]) -> Array:
    """Of no element the sum of none becomes NaN, as a division by 0 does."""
    return np.array([1 / count if count else math.inf for count in counts], np.float32)


def _by_counts(window: Window) -> tuple[list[int], Array]:
    """Of the windows' columns inside which numbers there are, and the reciprocals: of each number
    of rows inside, where that may differ, those of each."""
    columns = sorted({len(inside(window, 1, n)) for n in range(window.output[1])})
    kernel = window.kernel[0]
    rows = range(kernel + 1) if window.padded_axes[0] else [kernel]
    return columns, _reciprocals([row * column for row in rows for column in columns])


def _folded(window: Window) -> Window:
    """Of windows that are whole rows of the image, pixels that are neighbours: some in each row."""
    rows, columns = window.kernel
    if window.padded or columns != window.input[1] or window.output != (1, 1):
        return window
    if window.dilations != (1, 1):
        return window
    taps = rows * columns
    together = max(n for n in range(1, 9) if taps % n == 0)
    kernel = (taps // together, together)
    one = (1, 1)
    return Window(kernel, one, one, (0, 0), (0, 0), kernel, one)

"""Transposed convolutions as convolutions with a stride of 1 (sub-pixels: Shi et al., CVPR 2016).

With strides of s, output row s g + r meets of input row g + j the tap r + pad - s j of each column
of the kernel: of each r these rows are a convolution. In such a row the outputs of s columns are
channels of one pixel, and lie side by side where channels are last.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.interface import Layer, Operand
from mcu_deploy.backends.layer import kept
from mcu_deploy.backends.quantized.layers import Convolution, of_rows, read
from mcu_deploy.ir import Quantization, TensorType
from mcu_deploy.operators.conv_transpose import transposed_window
from mcu_deploy.operators.windows import Window


@kept
def read_rows(layer: Layer) -> Sequence[Convolution] | str:
    """As `rows_of`, of layers that kernels may take; or why one is none, a clause."""
    rows = rows_of(layer)
    if isinstance(rows, str):
        return rows
    found = [read(row) for row in rows]
    convolutions = [one for one in found if not isinstance(one, str)]
    return convolutions if len(convolutions) == len(found) else _first_reason(found)


def _first_reason(found: Sequence[object]) -> str:
    return next(one for one in found if isinstance(one, str))


@kept
def rows_of(layer: Layer) -> Sequence[Layer] | str:
    """For each of the rows that follow each other up to the stride a convolution, whose row g is
    the output's row g * stride + r; or why there is none, a clause."""
    x, w, bias = layer.input(0), layer.input(1), layer.optional(2)
    if w.constant is None or (bias is not None and bias.constant is None):
        return "its weights or its bias are computed at run time"
    if x.type.rank not in (3, 4):
        return f"it convolves over one or two spatial axes, not {x.type.rank - 2}"
    if x.type.shape[0] != 1:
        return f"it convolves one image, and the batch has {x.type.shape[0]}"
    if int(layer.attributes.get("group", 1)) > 1:
        return "it takes no groups"
    window = of_rows(transposed_window(x.type, w.type, layer.output.type, layer.attributes))
    if {*window.dilations} != {1}:
        return "it takes no dilations"
    if window.input[1] % window.strides[1]:
        return "its output's columns are no multiple of its stride"
    found = [_of_row(layer, window, r) for r in range(min(window.strides[0], window.input[0]))]
    layers = [one for one in found if not isinstance(one, str)]
    return layers if len(layers) == len(found) else _first_reason(found)


def of_one_row(layer: Layer) -> Layer:
    """A layer of `rows_of` for a row of its output: the image is what its windows lie on, all of
    its rows."""
    x, w, y = layer.input(0), layer.input(1), layer.output
    _, left, _, right = layer.attributes["pads"]
    image = (*x.type.shape[:2], w.type.shape[2], x.type.shape[3])
    return replace(
        layer, inputs=(_of_planes(x, image), *layer.inputs[1:]),
        outputs=(_of_planes(y, (*y.type.shape[:2], 1, y.type.shape[3])),),
        attributes={**layer.attributes, "pads": (0, left, 0, right)},
    )  # fmt: skip


def _of_row(layer: Layer, window: Window, row: int) -> Layer | str:
    """The convolution of the rows `row`, `row` + stride ...; window: as `transposed_window`."""
    x, w, y = layer.input(0), layer.input(1), layer.output
    rows, columns = (
        _taps(phases, window.begin[axis], window.strides[axis], window.kernel[axis])
        for axis, phases in enumerate(([row], [*range(window.strides[1])]))
    )
    grid = -(-(window.input[0] - row) // window.strides[0]), window.input[1] // window.strides[1]
    pads = [-first for first, _ in (rows, columns)]
    for axis, (first, taps) in enumerate((rows, columns)):
        pads.append(grid[axis] + first + taps.shape[1] - 1 - window.output[axis])
    # Rows at the end that none of these meets are no part of their image.
    image = window.output[0] + min(0, pads[2]), window.output[1]
    pads[2] = max(0, pads[2])
    if min(pads) < 0:
        return "a border of its input meets no output"
    assert w.constant is not None
    count = window.strides[1]
    shape = (count * w.type.shape[1], x.type.shape[1], rows[1].shape[1], columns[1].shape[1])
    weights = _spread(w, window.kernel, rows[1], columns[1]).reshape(shape)
    quantization = w.type.quantization
    if quantization is not None and not quantization.per_tensor:
        zeros = np.tile(quantization.zero_point, count)
        scales = np.tile(quantization.scales, count)
        quantization = Quantization.from_arrays(scales, zeros, 0)
    inputs = [
        _of_planes(x, (*x.type.shape[:2], *image)),
        replace(w, type=TensorType(w.type.dtype, shape, quantization), constant=weights),
    ]
    bias = layer.optional(2)
    if bias is not None:
        assert bias.constant is not None
        inputs.append(
            replace(
                bias, type=TensorType(bias.type.dtype, shape[:1]),
                constant=np.tile(bias.constant, count),
            )
        )  # fmt: skip
    kept_ = {k: v for k, v in layer.attributes.items() if k == "activation"}
    return replace(
        layer, node=replace(layer.node, op="Conv"), inputs=tuple(inputs),
        outputs=(_of_planes(y, (1, shape[0], *grid)),), attributes={**kept_, "pads": (*pads,)},
    )  # fmt: skip


def _of_planes(operand: Operand, shape: tuple[int, ...]) -> Operand:
    return replace(operand, type=replace(operand.type, shape=shape, layout=None))


def _taps(phases: Sequence[int], pad: int, stride: int, size: int) -> tuple[int, Array]:
    """Of the outputs g * stride + phase: the first input that one meets, counted from g, and
    [phase, input] the tap that each meets there, -1 where it meets none."""
    firsts, lasts = [], []
    for phase in phases:
        last, tap = divmod(phase + pad, stride)
        firsts.append(last - max(0, (size - 1 - tap) // stride))
        lasts.append(last)
    first = min(firsts)
    inputs = np.arange(first, max(lasts) + 1)
    taps = np.array(phases)[:, None] + pad - stride * inputs
    return first, np.where((taps >= 0) & (taps < size), taps, -1)


def _spread(weights: Operand, kernel: Sequence[int], rows: Array, columns: Array) -> Array:
    """[phase of columns, filter, channel, row, column] of [channel, filter, row, column]: the
    weights that taps meet, and those that mean 0 where there is none."""
    given, type_ = weights.constant, weights.type
    assert given is not None
    zero = 0 if type_.quantization is None else type_.quantization.zero_point[0]
    planes = np.pad(
        given.reshape(*given.shape[:2], *kernel), ((0, 0), (0, 0), (0, 1), (0, 1)),
        constant_values=zero,
    )  # fmt: skip
    met = planes[:, :, rows[0][:, None, None], columns.T[None, :, :]]
    return np.ascontiguousarray(met.transpose(4, 1, 0, 2, 3))

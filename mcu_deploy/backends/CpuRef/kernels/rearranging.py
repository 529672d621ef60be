"""ReverseSequence, MaxUnpool and Col2Im, of tensors in ONNX's order."""

from __future__ import annotations

import math

from mcu_deploy.backends.CpuRef.kernels.base import Kernel, check_moves, render
from mcu_deploy.backends.CpuRef.kernels.whole import whole
from mcu_deploy.backends.CpuRef.kernels.window_any import gathered, tap_index
from mcu_deploy.backends.interface import YES, Layer, Support, Workload, no
from mcu_deploy.backends.kit.loops import counter, plus, times
from mcu_deploy.ir import DType
from mcu_deploy.operators.rearranging import blocks, time_axis, unpooled_shape


def _supports_reverse(layer: Layer) -> Support:
    x, lengths = layer.input(0).type, layer.input(1).type
    axes = {time_axis(layer.call), int(layer.attributes.get("batch_axis", 1))}
    if axes != {0, 1} or x.rank < 2 or x.shape != layer.output.type.shape:
        return no("its time and batch are not the first two axes")
    if lengths.shape != (x.shape[1 - time_axis(layer.call)],) or lengths.dtype is not DType.INT64:
        return no("its lengths are not one int64 a sequence")
    return check_moves(layer, layer.input(0))


def _reverse_sequence(layer: Layer) -> Workload:
    x, time = layer.input(0).type, time_axis(layer.call)
    rows, columns = x.shape[:2]
    block = math.prod(x.shape[2:])
    i, j, k = counter("i", rows), counter("j", columns), counter("k", block)
    t, b = (i, j) if time == 0 else (j, i)
    stride = block * columns if time == 0 else block
    body = render(
        "reverse_sequence.c.j2", i=i, j=j, k=k, t=t, length=f"x1[{plus(b)}]", stride=stride,
        ctype=x.dtype.c_type,
        base=plus(times(b, block if time == 0 else block * columns), k),
    )  # fmt: skip
    return whole(layer, body)


def _supports_unpool(layer: Layer) -> Support:
    x, indices = layer.input(0), layer.input(1).type
    if indices.shape != x.type.shape or indices.dtype is not DType.INT64:
        return no("its indices are not one int64 an element")
    if x.type.rank < 3 or layer.output.type.rank != x.type.rank:
        return no("its shapes do not fit together")
    return check_moves(layer, x)


def _max_unpool(layer: Layer) -> Workload:
    shape, y = unpooled_shape(layer.call), layer.output.type
    axes, stride = [], 1
    for size, whole_size in reversed(list(zip(shape, y.shape, strict=True))):
        axes.append((size, whole_size, stride))
        stride *= whole_size
    body = render(
        "max_unpool.c.j2", bytes=y.bytes, i=counter("i", layer.input(0).type.elements),
        limit=math.prod(shape), axes=axes, same=shape == y.shape,
    )  # fmt: skip
    return whole(layer, body, reads=(0, 1), headers=("string.h",))


def _supports_col2im(layer: Layer) -> Support:
    x, y = layer.input(0).type, layer.output.type
    if any(layer.input(k).constant is None for k in (1, 2)):
        return no("its shapes are computed at run time")
    if x.dtype is not y.dtype or not x.dtype.is_float or x.rank != 3:
        return no(f"it does not sum {x} to {y}")
    geometry = blocks(layer.call)
    kernel, count = math.prod(geometry.kernel), math.prod(geometry.output)
    fits = x.shape == (y.shape[0], y.shape[1] * kernel, count) and y.shape[2:] == geometry.input
    return YES if fits else no("its shapes do not fit together")


def _col2im(layer: Layer) -> Workload:
    """Each element of the image gathers what the blocks have for it."""
    y, geometry = layer.output.type, blocks(layer.call)
    found, count = gathered(geometry), math.prod(geometry.output)
    m, kernel = counter("m", y.shape[1]), math.prod(geometry.kernel)
    place = times(plus(times(m, kernel), tap_index(geometry, found.taps)), count)
    body = render(
        "conv_any.c.j2", n=counter("n", y.shape[0]), m=m, c=counter("c", 1), w=found, start="0",
        ctype=y.dtype.c_type, product=f"x0[{plus(place, found.place)}]", clamp="",
        size=y.shape[1] * kernel * count,
    )  # fmt: skip
    return whole(layer, body, reads=(0,))


KERNELS = (
    Kernel("ReverseSequence", _supports_reverse, _reverse_sequence),
    Kernel("MaxUnpool", _supports_unpool, _max_unpool),
    Kernel("Col2Im", _supports_col2im, _col2im),
)

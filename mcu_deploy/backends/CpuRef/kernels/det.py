"""Det: elimination with pivots, in a copy of the matrix in scratch memory."""

from __future__ import annotations

import math

from mcu_deploy.backends.CpuRef.kernels.base import Kernel, render
from mcu_deploy.backends.CpuRef.kernels.whole import whole
from mcu_deploy.backends.interface import YES, Layer, Support, Workload, no
from mcu_deploy.backends.kit.loops import counter


def _supports(layer: Layer) -> Support:
    x, y = layer.input(0).type, layer.output.type
    if not x.dtype.is_float or y.dtype is not x.dtype:
        return no(f"it computes floats, not {x}")
    fits = x.rank >= 2 and x.shape[-1] == x.shape[-2] > 0
    fits = fits and y.elements == math.prod(x.shape[:-2])
    return YES if fits else no("its shapes do not fit together")


def _create(layer: Layer) -> Workload:
    x = layer.input(0).type
    size = x.shape[-1]
    body = render(
        "det.c.j2", n=counter("n", math.prod(x.shape[:-2])), size=size, ctype=x.dtype.c_type,
        bytes=size * size * x.dtype.bytes, absolute="fabsf" if x.dtype.bytes == 4 else "fabs",
    )  # fmt: skip
    return whole(
        layer, body, headers=("math.h", "string.h"), scratch=x.dtype.c_type,
        scratch_bytes=size * size * x.dtype.bytes,
    )  # fmt: skip


KERNELS = (Kernel("Det", _supports, _create),)

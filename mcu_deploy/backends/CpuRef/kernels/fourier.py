"""DFT of float32: each frequency is a sum over the signal, by a table of one turn.

Order of the sums: along the signal. The angle goes on by the frequency and is taken back by a whole
turn, so that it is exact.
"""

from __future__ import annotations

import math

from mcu_deploy.backends.CpuRef.kernels.base import Kernel, render
from mcu_deploy.backends.CpuRef.kernels.whole import whole
from mcu_deploy.backends.interface import YES, Constant, Layer, Support, Workload, no
from mcu_deploy.backends.kit.literals import float_literal
from mcu_deploy.backends.kit.loops import counter
from mcu_deploy.ir import DType
from mcu_deploy.operators.fourier import transform


def _supports(layer: Layer) -> Support:
    x, y = layer.input(0), layer.output.type
    if any(o is not None and o.constant is None for o in layer.inputs[1:]):
        return no("its length or its axis is computed at run time")
    if x.type.dtype is not DType.FLOAT32 or x.constant is not None:
        return no(f"it transforms a float32 tensor that is no constant, not {x.type}")
    if x.type.rank < 2 or x.type.shape[-1] not in (1, 2) or y.rank != x.type.rank:
        return no("its last axis is not that of real and imaginary parts")
    t = transform(layer.call)
    others = [a for a in range(y.rank - 1) if a != t.axis]
    fits = t.axis < y.rank - 1 and [x.type.shape[a] for a in others] == [y.shape[a] for a in others]
    one = 1 if t.inverse and t.onesided else 2
    return YES if fits and y.shape[-1] == one and t.length else no("its shapes do not fit together")


def _create(layer: Layer) -> Workload:
    x, y, t = layer.input(0).type, layer.output.type, transform(layer.call)
    parts = x.shape[-1]
    inner = math.prod(x.shape[t.axis + 1 : -1])
    real = t.inverse and t.onesided
    # Of a real signal the other half of the frequencies mirrors the first one.
    half = t.given if not real else min(t.given, t.length // 2 + 1)
    body = render(
        "dft.c.j2", o=counter("o", math.prod(x.shape[: t.axis])), j=counter("j", inner),
        f=counter("f", y.shape[t.axis]), k=counter("k", half), length=t.length, inner=inner,
        given=x.shape[t.axis], count=y.shape[t.axis], complex=parts == 2, parts=parts,
        sign="+" if t.inverse else "-", other="-" if t.inverse else "+", real=real,
        scale=float_literal(1 / t.length) if t.inverse else "",
        last=t.length // 2 if t.length % 2 == 0 else -1,
    )  # fmt: skip
    tables = [Constant(*pair) for pair in zip(("cosine", "sine"), t.table, strict=True)]
    is_even = parts == 1 and real
    return whole(layer, body, reads=(0,), constants=tables[:1] if is_even else tables)


KERNELS = (Kernel("DFT", _supports, _create),)

"""Softmax: in floats, or on 8 bits with a table of exp and integer sums; and
LogSoftmax in float32.
"""

from __future__ import annotations

import numpy as np

from mcu_deploy.arithmetic import exponential_table
from mcu_deploy.backends.CpuRef.kernels.base import Kernel, check_types, compute, render
from mcu_deploy.backends.interface import YES, Constant, Layer, Support, Workload, no
from mcu_deploy.backends.kit import overlap
from mcu_deploy.backends.kit.c_functions import EXPONENTIAL, QUANTIZE
from mcu_deploy.backends.kit.requantization import output_quantization
from mcu_deploy.backends.kit.stems import stem
from mcu_deploy.ir import DType
from mcu_deploy.operators.normalization import softmax_extent


def _supports(layer: Layer) -> Support:
    if softmax_extent(layer.call)[1] > 1 << 23:
        return no("its axis is longer than 2^23")
    if layer.input(0).type.dtype is layer.output.type.dtype is DType.FLOAT64:
        return YES
    return check_types(layer, layer.input(0), layer.output)


def _supports_log(layer: Layer) -> Support:
    x, y = layer.input(0).type, layer.output.type
    return YES if x.dtype is y.dtype is DType.FLOAT32 else no(f"it computes float32, not {x}")


def _create(layer: Layer) -> Workload:
    x, y = layer.input(0), layer.output
    outer, size, inner = softmax_extent(layer.call)
    values: dict[str, object] = {
        "outer": outer, "size": size, "inner": inner, "ctype": x.type.dtype.c_type,
    }  # fmt: skip
    # Columns behind a column that is written are not yet read: they start before its end.
    elements = overlap.strided((outer, inner, size), (size * inner, 1, inner))
    in_place = overlap.in_place(layer, elements, written=elements)
    if not y.type.is_quantized:
        dtype = y.type.dtype
        is_float = dtype is DType.FLOAT32
        values["exponential"] = "$exponential" if is_float else "exp"
        values["zero"] = "0.0F" if is_float else "0.0"
        kind = "softmax" if layer.op == "Softmax" else "log_softmax"
        name, body = stem(kind, dtype.value, size), render(f"{kind}_float.c.j2", **values)
        helpers, headers = EXPONENTIAL[:1] if is_float else (), ("math.h", "string.h")
        return compute(layer, name, body, (), helpers, headers, in_place)
    out = output_quantization(layer)
    table, _ = exponential_table(x.type.scaling.scale[0], size)
    table = np.trim_zeros(table, "b")
    values |= {"store": out.store, "scale": out.scale, "entries": table.size}
    return compute(
        layer, stem("softmax", x.type.dtype.value, size), render("softmax_table.c.j2", **values),
        (Constant("exponential", table),), (QUANTIZE,), in_place=in_place,
    )  # fmt: skip


KERNELS = (Kernel("Softmax", _supports, _create), Kernel("LogSoftmax", _supports_log, _create))

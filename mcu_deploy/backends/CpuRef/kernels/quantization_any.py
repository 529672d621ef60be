"""QuantizeLinear and DequantizeLinear by scales that are computed when the network runs, along an
axis, or of blocks; and to and from narrow types."""

from __future__ import annotations

import math

import numpy as np

from mcu_deploy.backends.CpuRef.kernels.base import render
from mcu_deploy.backends.CpuRef.kernels.whole import whole
from mcu_deploy.backends.interface import YES, Layer, Support, Workload, no
from mcu_deploy.backends.kit.c_functions import QUANTIZE
from mcu_deploy.backends.kit.loops import counter, plus, times
from mcu_deploy.backends.kit.narrow import read, write
from mcu_deploy.ir import DType
from mcu_deploy.operators.quantization import block_of, has_blocks

_INTEGERS = (DType.INT8, DType.UINT8, DType.INT16, DType.UINT16)


def supports(layer: Layer) -> Support:
    """Whether it converts between float32 and integers, by scales that fit the tensor."""
    quantizes = layer.op == "QuantizeLinear"
    x, scale, y = layer.input(0).type, layer.input(1).type, layer.output.type
    real, integer = (x, y) if quantizes else (y, x)
    known = (
        integer.dtype in _INTEGERS
        or (integer.dtype is DType.INT32 and not quantizes)
        or integer.dtype.is_narrow
    )
    if real.dtype is not DType.FLOAT32 or scale.dtype is not DType.FLOAT32 or not known:
        return no(f"it converts between float32 and 8 or 16 bits, not {real} and {integer}")
    zero = layer.optional(2)
    if zero is not None:
        if zero.type.shape != scale.shape or zero.type.dtype is not integer.dtype.wide:
            return no("its zero points do not fit its scales")
        # ONNX has none but 0 for int32.
        is_zero = zero.constant is not None and not np.any(zero.constant)
        if integer.dtype is DType.INT32 and not is_zero:
            return no("it has a zero point for int32")
        if integer.dtype.wide is DType.FLOAT32:
            return no(f"it has a zero point for {integer.dtype.value}")
    axis = int(layer.attributes.get("axis", 1))
    if scale.elements != 1 and not -x.rank <= axis < x.rank:
        return no(f"it has no axis {axis}")
    if has_blocks(layer.call):
        wanted = [*x.shape]
        wanted[axis] = -(-x.shape[axis] // block_of(layer.call))
        fits = scale.shape == tuple(wanted)
    else:
        fits = scale.elements == 1 or scale.elements == x.shape[axis]
    return YES if fits else no("it has not one scale a slice or block")


def create(layer: Layer) -> Workload:
    """One element after another."""
    x, scale, y = layer.input(0).type, layer.input(1).type, layer.output.type
    axis = int(layer.attributes.get("axis", 1)) % max(x.rank, 1) if scale.elements > 1 else 0
    shape = x.shape if scale.elements > 1 else (x.elements,)
    inner = math.prod(shape[axis + 1 :])
    o, a, j = (
        counter(name, count)
        for name, count in (("o", math.prod(shape[:axis])), ("a", shape[axis]), ("j", inner))
    )
    if has_blocks(layer.call):
        block = block_of(layer.call)
        blocks = -(-shape[axis] // block)
        within = times(f"({a} / {block})" if block > 1 else a, inner) if a else ""
        place = plus(times(o, blocks * inner), within, j)
    else:
        place = plus(a) if scale.elements > 1 else "0"
    zero = layer.optional(2)
    values = {
        "o": o, "a": a, "j": j, "scale": f"x1[{place}]", "ctype": y.dtype.c_type,
        "zero": "" if zero is None else f"x2[{place}]", "quantizes": layer.op == "QuantizeLinear",
    }  # fmt: skip
    at = plus(times(o, shape[axis] * inner), times(a, inner), j)
    if y.dtype.is_narrow:
        return _to_narrow(layer, values, at)
    if x.dtype.is_narrow:
        element = read(x.dtype, "x0", at)
        real = element.text if element.ctype == "float" else f"(float){element.text}"
        body = render("quantize_any.c.j2", **values, stored=f"*y0++ = {real} * {values['scale']};")
        return whole(layer, body, helpers=element.helpers)
    low, high = y.dtype.range if layer.op == "QuantizeLinear" else (0, 0)
    body = render("quantize_any.c.j2", **values, low=low, high=high, stored="")
    return whole(layer, body, helpers=(QUANTIZE,) if layer.op == "QuantizeLinear" else ())


def _to_narrow(layer: Layer, values: dict[str, object], at: str) -> Workload:
    """QuantizeLinear to a float, which has no zero point, or to integers of fewer than 8 bits."""
    dtype, quotient = layer.output.type.dtype, f"*x0++ / {values['scale']}"
    if dtype.wide is DType.FLOAT32:
        saturate = bool(layer.attributes.get("saturate", 1))
        # ONNX adds the zero point, 0, which leaves no -0.
        stored = write(dtype, "y0", at, f"{quotient} + 0.0F", saturate)
        body = render("quantize_any.c.j2", **values, stored=stored.text)
        return whole(layer, body, helpers=stored.helpers)
    low, high = dtype.range
    bounds = f"{low}.0F, {high}.0F"
    if values["zero"]:
        bounds = f"(float)({low} - zero), (float)({high} - zero)"
    stored = write(
        dtype, "y0", at, f"$quantize({quotient}, {bounds}){' + zero' if values['zero'] else ''}"
    )
    body = render("quantize_any.c.j2", **values, stored=stored.text)
    return whole(layer, body, helpers=(QUANTIZE, *stored.helpers))

"""What a layer makes of two bytes, asked of the oracle: sums and products of two tensors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.interface import Layer
from mcu_deploy.backends.quantized.layers import clamp_refusal, types_refusal
from mcu_deploy.ir import TensorType
from mcu_deploy.operators import Call, find
from mcu_deploy.operators.base import evaluate


def refusal(layer: Layer, verb: str, least: int) -> str:
    """Why no kernel does to the operands of a layer what the verb says, a clause; empty where one
    might. least: elements that it takes at a time."""
    operands, y = [layer.input(k) for k in (0, 1)], layer.output.type
    if all(o.constant is not None for o in operands):
        return f"it {verb} tensors that are computed, at least one"
    types = [y, *(o.type for o in operands)]
    if reason := types_refusal(*types):
        return reason
    return f"there are less than {least} elements" if y.elements < least else clamp_refusal(layer)


def tried(domain: str, call: Call) -> tuple[Array, Array, Array]:
    """All pairs of bytes, uint8 as int8 less 128, and the element that the oracle makes of each."""
    size = (256, 256)
    types = [TensorType(t.dtype, size, t.quantization) for t in (call.type(0), call.type(1))]
    a, b = np.meshgrid(*(np.arange(t.dtype.range[0], 256 + t.dtype.range[0]) for t in types))
    result = TensorType(call.results[0].dtype, size, call.results[0].quantization)
    operator = find(domain, call.op)
    assert operator is not None
    values = tuple(v.astype(t.dtype.numpy) for v, t in zip((a, b), types, strict=True))
    every = replace(call, values=values, types=tuple(types), results=(result,))
    wanted = evaluate(operator, every)[0].astype(np.int64)
    signed = [v - (t.dtype.range[0] + 128) for v, t in zip((a, b), types, strict=True)]
    return signed[0], signed[1], wanted

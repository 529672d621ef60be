"""Reductions of nothing: every output has the value that the operator gives then."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mcu_deploy.backends.CpuRef.kernels.base import render
from mcu_deploy.backends.CpuRef.kernels.whole import whole
from mcu_deploy.backends.interface import YES, Layer, Support, Workload, no
from mcu_deploy.backends.kit.literals import float_literal
from mcu_deploy.backends.kit.loops import counter
from mcu_deploy.operators import find
from mcu_deploy.operators.base import evaluate


def supports(layer: Layer) -> Support:
    """Whether the reduction is of tensors that stand for themselves."""
    x, y = layer.input(0).type, layer.output.type
    same = x.dtype is y.dtype and not x.is_quantized and not y.is_quantized
    return YES if same else no(f"it does not reduce {x} to {y}")


def create(layer: Layer) -> Workload:
    """The oracle's value, which all outputs have."""
    operator, x = find(layer.domain, layer.op), layer.input(0).type
    assert operator is not None
    values = (np.zeros(x.shape, x.dtype.numpy), *layer.call.values[1:])
    (result,) = evaluate(operator, replace(layer.call, values=values))
    value = result.reshape(-1)[0]
    body = render("empty.c.j2", i=counter("i", layer.output.type.elements), value=_literal(value))
    return whole(layer, body, reads=(0,))


def _literal(value: np.generic) -> str:
    number = value.item()
    if isinstance(number, float):
        return float_literal(number)
    return str(int(number))

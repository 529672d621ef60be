"""Functions of one byte, each a table of the oracle's 256 answers."""

from __future__ import annotations

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.interface import Layer
from mcu_deploy.backends.quantized.layers import BYTES
from mcu_deploy.operators import find, label, registry
from mcu_deploy.operators.base import of_elements

OPERATORS = (
    *(label(o.domain, o.name) for o in registry().values() if o.elementwise or o.broadcasts),
    "tflite::Requantize",
)


def computed(layer: Layer) -> int | None:
    """Which input the function is of: the only one that is no constant number."""
    there = [k for k, operand in enumerate(layer.inputs) if operand is not None]
    tensors = [k for k in there if layer.input(k).constant is None]
    numbers = [k for k in there if k not in tensors and layer.input(k).type.elements == 1]
    return tensors[0] if len(tensors) == 1 and len(tensors) + len(numbers) == len(there) else None


def refusal(layer: Layer) -> str:
    """Why the kernel does not compute a function, a clause; empty where it may."""
    which, y = computed(layer), layer.output.type
    if which is None:
        return ""
    x = layer.input(which).type
    for type_ in (x, y):
        if type_.dtype not in BYTES:
            return f"it computes int8 and uint8, not {type_}"
    if any(t.quantization is not None and not t.quantization.per_tensor for t in (x, y)):
        return "it makes tables of tensors with one scale"
    if x.shape != y.shape or len(layer.outputs) != 1 or not y.elements:
        return "it makes tables of functions of one element"
    return ""


def table_of(layer: Layer, which: int) -> Array:
    """uint8 [256]: the answers to the bytes 0 to 255 for an input, as they lie in memory."""
    operator = find(layer.domain, layer.op)
    assert operator is not None
    every = np.arange(256, dtype=np.uint8).view(layer.input(which).type.dtype.numpy)
    return of_elements(operator, layer.call, {which: every}).view(np.uint8)

"""Float32 to int8 or uint8 and back, without a float: QuantizeLinear, DequantizeLinear, and
TFLite's Quantize.

To a byte a float is compared with the 255 from which on the oracle gives the next element, in eight
steps: exact for all floats, as a larger one gives no lower element. The bits of floats are in their
order as words where those of negative ones are turned. NaN then lies at both ends, and the oracle
makes the lowest element of it: what is added puts NaN above infinity below -infinity.

Back a byte has one of 256 floats.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.ArmMul.rounding import is_armv6m
from mcu_deploy.backends.ArmMul.workloads import KIT, RunCost, proposal
from mcu_deploy.backends.interface import Constant, Layer, LayoutRule, Proposal, SubgraphView
from mcu_deploy.backends.kit import overlap
from mcu_deploy.backends.kit.arguments import Prototype, signature
from mcu_deploy.backends.quantized.conversions import conversion
from mcu_deploy.ir import DType
from mcu_deploy.operators import find
from mcu_deploy.operators.base import of_elements

OPERATORS = ("QuantizeLinear", "DequantizeLinear", "tflite::Quantize")

_SIGN = 1 << 31
_ADDED = _SIGN + (1 << 23) - 1  # there are so many NaN of a sign
_STEPS = (128, 64, 32, 16, 8, 4, 2, 1)


class _Model(NamedTuple):
    """Cycles of a call, of an element, and what int8 adds to it; words that an element loads, and
    bytes of the function. Counted in QEMU."""

    call: float
    element: float
    signed: float
    loads: int
    code: int


# By whether it is of Armv6-M, and quantizes.
_MODELS = {
    (False, True): _Model(20, 51, 1, len(_STEPS), 126),
    (False, False): _Model(20, 8, 2, 1, 38),
    (True, True): _Model(20, 57, 2, len(_STEPS), 148),
    (True, False): _Model(20, 12, 1, 1, 40),
}


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A conversion by itself."""
    read = conversion(node)
    if isinstance(read, str):
        return read
    if not 0 < read.how.scale[0] < math.inf:
        return "its scale is not above 0 and finite"
    elements, dtype = read.integer.elements, read.integer.dtype
    if read.quantizes:
        word, table = "quantize", Constant("thresholds", thresholds(node))
    else:
        every = np.arange(dtype.range[0], dtype.range[1] + 1).astype(dtype.numpy)
        word, table = "dequantize", Constant("reals", _answers(node, every))
    body = KIT.render(
        f"{word}.c.j2", low=dtype.range[0], added=_ADDED, steps=_STEPS, ctype=dtype.c_type
    )
    of = _MODELS[is_armv6m(node.target), read.quantizes]
    cycles = of.call + elements * (of.element + (of.signed if dtype is DType.INT8 else 0))

    def give(made: Layer) -> Prototype:
        return signature(made, (table,)).numbers({"count": elements})

    made = proposal(
        view, node, f"{word}_{dtype.value}", body, give,
        work=RunCost(cycles, elements * of.loads),
        flash=table.value.nbytes, code={body: of.code}, title=word, layout=LayoutRule.SAME,
        in_place=overlap.in_place(node, np.arange(elements)),
    )  # fmt: skip
    return [made]


def thresholds(node: Layer) -> Array:
    """uint32 [255]: of each element but the lowest, the first float that gives it or a higher one,
    as a word in the order of floats: found by halving what lies between NaN and infinity."""
    low, high = node.output.type.dtype.range
    wanted = np.arange(low + 1, high + 1)
    below, reached = np.zeros(wanted.size, np.int64), np.full(wanted.size, (1 << 32) - 1)
    for _ in range(32):
        middle = (below + reached) >> 1
        is_reached = _answers(node, _floats(middle)) >= wanted
        below, reached = np.where(is_reached, below, middle), np.where(is_reached, middle, reached)
    return reached.astype(np.uint32)


def _floats(words: Array) -> Array:
    """The floats that words in their order stand for."""
    ordered = words.astype(np.uint32) - np.uint32(_ADDED)
    return np.where(ordered < _SIGN, ordered, ordered ^ np.uint32(_SIGN - 1)).view(np.float32)


def _answers(node: Layer, values: Array) -> Array:
    """What the oracle makes of elements."""
    operator = find(node.domain, node.op)
    assert operator is not None
    return of_elements(operator, node.call, {0: values})

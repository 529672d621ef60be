"""Float32 to 8 bits without a float: QuantizeLinear and TFLite's Quantize.

An element only rises with the number that it is made of, and so do the bits of float32, but for
the sign. So a tree has with which bits each of the 255 elements above the lowest one begins, as the
contract has it, and eight comparisons find a number's place among them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.ArmMul.rounding import is_armv6m
from mcu_deploy.backends.ArmMul.workloads import KIT, RunCost, proposal
from mcu_deploy.backends.interface import Constant, Layer, LayoutRule, Proposal, SubgraphView
from mcu_deploy.backends.kit import overlap
from mcu_deploy.backends.kit.arguments import Prototype, signature
from mcu_deploy.backends.quantized.layers import BYTES
from mcu_deploy.ir import DType
from mcu_deploy.operators import lookup
from mcu_deploy.operators.base import evaluate
from mcu_deploy.operators.quantization import call_quantization

OPERATORS = ("QuantizeLinear", "tflite::Quantize")

_INFINITY = 0x7F800000
_DEPTH = 8


class _Model(NamedTuple):
    """Cycles of a call and of an element; bytes of the function. Counted in QEMU and Renode."""

    call: float
    element: float
    code: int


_M3 = _Model(40, 62, 132)
_M0_PLUS = _Model(70, 78, 212)


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A conversion by itself."""
    y = node.output.type
    if reason := _refusal(node):
        return reason
    begins = Constant("begins", _tree(_begins(node)))
    body = KIT.render(
        "quantization.c.j2", y_ctype=y.dtype.c_type, low=y.dtype.range[0],
        no_number=int(_quantized(node, np.array([np.nan], np.float32))[0]),
    )  # fmt: skip
    of = _M0_PLUS if is_armv6m(node.target) else _M3

    def give(layer: Layer) -> Prototype:
        return signature(layer, (begins,)).numbers({"elements": y.elements})

    return [
        proposal(
            view, node, f"quantize_{y.dtype.value}", body, give,
            work=RunCost(of.call + y.elements * of.element, _DEPTH * y.elements),
            flash=begins.value.nbytes, code={body: of.code}, title="quantize by bits",
            layout=LayoutRule.SAME,
            in_place=overlap.in_place(node, np.arange(y.elements)),
        )
    ]  # fmt: skip


def _refusal(node: Layer) -> str:
    """Why the kernel does not compute a layer, a clause; empty where it does."""
    x, y = node.input(0).type, node.output.type
    if x.dtype is not DType.FLOAT32 or y.dtype not in BYTES:
        return f"it makes int8 or uint8 of float32, not {y} of {x}"
    if node.input(0).constant is not None or not y.elements:
        return "it converts tensors that are computed"
    if any(o is not None and o.constant is None for o in node.inputs[1:]):
        return "its scale is computed at run time"
    how = y.scaling if node.domain else call_quantization(node.call, y.rank)
    return "" if how.per_tensor else "it converts tensors with one scale"


def _quantized(node: Layer, x: Array) -> Array:
    """What the contract makes of numbers."""
    given, (made,) = node.call, node.call.results
    call = replace(
        given, values=(x, *given.values[1:]), results=(replace(made, shape=x.shape),),
        types=(replace(given.type(0), shape=x.shape), *given.types[1:]),
    )  # fmt: skip
    (found,) = evaluate(lookup(node.domain, node.op), call)
    return np.asarray(found)


def _begins(node: Layer) -> Array:
    """int64 [255]: the least bits, in the order of the numbers, with which each element begins."""
    low, high = node.output.type.dtype.range
    wanted = np.arange(low + 1, high + 1)
    below = np.full(wanted.shape, ~_INFINITY - 1)
    found = np.full(wanted.shape, _INFINITY + 1)  # no number has it
    while (found - below > 1).any():
        middle = (below + found) // 2
        bits = np.where(middle < 0, middle ^ 0x7FFFFFFF, middle)
        numbers = bits.astype(np.int32).view(np.float32)
        is_there = (middle <= _INFINITY) & (_quantized(node, numbers) >= wanted)
        found, below = np.where(is_there, middle, found), np.where(is_there, below, middle)
    return found


def _tree(begins: Array) -> Array:
    """uint32 [256], of which the first is no node: the middle, at its place 2 k and 2 k + 1 what is
    in the middle of those before and behind it, and so on."""
    found = np.zeros(1 << _DEPTH, np.int64)
    for depth in range(_DEPTH):
        step = 1 << _DEPTH - depth
        found[1 << depth : 2 << depth] = begins[step // 2 - 1 :: step]
    return (found + (1 << 31)).astype(np.uint32)

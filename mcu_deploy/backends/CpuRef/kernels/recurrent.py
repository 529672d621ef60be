"""LSTM, GRU and RNN in float32, sequence by sequence: a row of W and of R for each gate and unit.

Order of the sums: from the bias (W's and R's added when the model is compiled), along the input,
along the hidden state. Weights of 8 bits, of the domain "mcu": the products of each row of W and of
R are summed by themselves, multiplied by the row's scale, and added.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.CpuRef.kernels.base import Kernel, call, helper
from mcu_deploy.backends.floats.recurrent import (
    GateProducts,
    are_computed,
    bias_of,
    bias_rows,
    given_as,
    made,
    supports,
)
from mcu_deploy.backends.interface import Constant, Layer, Workload
from mcu_deploy.backends.kit.arguments import Prototype
from mcu_deploy.backends.kit.loops import plus
from mcu_deploy.operators import recurrent
from mcu_deploy.operators.recurrent import GATES, Recurrence, recurrence

# Of weights of float32 and of 8 bits, as `_from_x` and `_from_h` call them.
_PRODUCTS, _PRODUCTS_OF_BYTES = (
    helper("products.c.j2", of_bytes=of_bytes) for of_bytes in (False, True)
)

# The scales of weights of 8 bits, and whose they are.
_SCALES = (("x_scale", recurrent.W), ("h_scale", recurrent.R))


def create(layer: Layer) -> Workload:
    """The workload of a recurrent node."""
    r = recurrence(layer.call)
    packs, weights8 = are_computed(layer), layer.domain == "mcu"

    def give(given: Prototype) -> None:
        if packs:
            for name, index in (("w", recurrent.W), ("r", recurrent.R), ("both", recurrent.BIAS)):
                given_as(given, name, index)
        else:
            given.array(Constant("weights", _packed(layer)), Constant("bias", bias_of(layer, r)))
        if weights8:
            given.array(*(Constant(name, _scales(layer, r, index)) for name, index in _SCALES))

    kind, helper_ = "float32", _PRODUCTS
    if weights8:
        kind, helper_ = "weights8", _PRODUCTS_OF_BYTES
    gates = (2 if r.op == "GRU" and r.linear_before_reset else GATES[r.op]) * r.hidden
    values = {
        "w_ctype": "int8_t" if weights8 else "float",
        "from_x": partial(_from_x, r, weights8), "from_h": partial(_from_h, r, weights8),
    }  # fmt: skip
    products = GateProducts(kind, give, (helper_,), gates, _packed_size(r) if packs else 0, values)
    node = made(layer, r, products)
    return call(
        node.stem, node.body, node.given, node.helpers, node.headers, node.in_place,
        node.scratch_bytes,
    )  # fmt: skip


def _packed_size(r: Recurrence) -> int:
    """The floats of packed weights and biases."""
    return r.directions * (r.rows * (r.inputs + r.hidden) + bias_rows(r))


def _packed(layer: Layer) -> Array:
    """For each direction and gate unit, the row of W and behind it the row of R."""
    return np.concatenate([layer.input(k).value for k in (recurrent.W, recurrent.R)], axis=2)


def _scales(layer: Layer, r: Recurrence, index: int) -> Array:
    """Of each row of W or of R, in each direction."""
    scales = layer.input(index).type.scaling.scales
    return np.ascontiguousarray(np.broadcast_to(scales, (r.directions, r.rows)))


def _from_x(r: Recurrence, weights8: bool, start: str, number: str) -> str:
    """C for what a row of W adds to a sum. number: that of the row."""
    if weights8:
        return f"{start} + x_scale[{number}] * $products_of_bytes(row, at, {r.inputs})"
    return f"$add_products({start}, row, at, {r.inputs})"


def _from_h(r: Recurrence, weights8: bool, start: str, number: str, state: str) -> str:
    """C for what a row of R adds to a sum."""
    row = plus("row", r.inputs)
    if weights8:
        return f"{start} + h_scale[{number}] * $products_of_bytes({row}, {state}, {r.hidden})"
    return f"$add_products({start}, {row}, {state}, {r.hidden})"


KERNELS = tuple(Kernel(op, supports, create, domain=of) for op in GATES for of in ("", "mcu"))

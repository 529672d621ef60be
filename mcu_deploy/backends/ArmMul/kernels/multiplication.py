"""Products of two tensors of 8 bits, in integers: those of quantized/products.py, which are tried
on all pairs of bytes, by a product of 64 bits. On Armv6-M that is a call of the C library."""

from __future__ import annotations

from collections.abc import Sequence

from mcu_deploy.backends.ArmMul import walked
from mcu_deploy.backends.ArmMul.rounding import is_armv6m
from mcu_deploy.backends.ArmMul.walked import ElementFormula, Formulas, WalkPrices
from mcu_deploy.backends.interface import Layer, Proposal, SubgraphView
from mcu_deploy.backends.quantized import layers
from mcu_deploy.backends.quantized.products import Scaling, solve
from mcu_deploy.backends.quantized.walks import Walk

OPERATORS = ("Mul", "tflite::Mul")

_M3 = WalkPrices(40, 14, 18, 16, 1, 80, 32)
_M0_PLUS = WalkPrices(40, 20, 92, 86, 3, 144, 48)


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A product by itself, with its clamp."""

    def formulas(layer: Layer) -> Formulas | None:
        scaling = solve(layer.domain, layer.call)
        return None if scaling is None else lambda walk: _formula(node, scaling, walk)

    of = _M0_PLUS if is_armv6m(node.target) else _M3
    return walked.propose(view, node, "multiplies", of, formulas)


def _formula(node: Layer, scaling: Scaling, walk: Walk) -> ElementFormula:
    first, second = walk.ordered("ab")
    zeros = [node.input(k).type.scaling.zero_point[0] for k in (0, 1)]
    addend = scaling.addend - (layers.clamp(node)[0] << scaling.shift)
    numbers = {"a_zero": zeros[0], "b_zero": zeros[1], "scale": scaling.scale, "addend": addend}
    product = f"({first}[i] - {first}_zero) * "
    product += "kept" if walk.is_fixed else f"({second}[i] - {second}_zero)"
    if scaling.is_twice:
        product = f"2 * {product}"
        high = "(int32_t)(((int64_t)product * scale + 2147483648) >> 32) - (product < 0)"
    else:
        product, numbers = f"{product} + move", {**numbers, "move": scaling.move}
        high = "(int32_t)((int64_t)product * scale >> 32)"
    shifted = f"({high} + addend) >> {scaling.shift}" if scaling.shift else f"{high} + addend"
    steps = {"product": product, "sum": shifted}
    return ElementFormula(numbers, f"{second}[0] - {second}_zero", steps)

"""Which layers lose the accuracy: each by itself in float32, or between tensors of int16, and what
that gains and costs.

Of recurrent layers in float32 that is their weights alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mcu_deploy.operators import recurrent
from mcu_deploy.operators.recurrent import GATES
from mcu_deploy.output.progress import counted
from mcu_deploy.quantizing.choosing import Recipe, Trials
from mcu_deploy.quantizing.integers import LAYERS
from mcu_deploy.quantizing.net import Net
from mcu_deploy.quantizing.preparing import output_axis
from mcu_deploy.quantizing.weights_only import recurrent_layers

# Of what float32 gains: with so much of it int16 is preferred.
_MOST = 0.5


@dataclass(frozen=True)
class Sensitivity:
    """A layer: its node's name, its operator, its multiply-accumulates, the bytes that its weights
    take more in float32. sqnr: in dB, with this layer alone in float32; gain: over all in int8.
    sqnr_16, gain_16: the same with int16 around it alone; None where nothing around it can be that.
    """

    name: str
    op: str
    macs: int
    more_bytes: int
    sqnr: float
    gain: float
    sqnr_16: float | None = None
    gain_16: float | None = None

    @property
    def prefers_16_bits(self) -> bool:
        """Whether int16, which is computed in integers, gains most of what float32 does."""
        return self.gain_16 is not None and self.gain_16 > 0 and self.gain_16 >= _MOST * self.gain

    @property
    def gain_a_mac(self) -> float:
        """Of the way that it prefers."""
        gain = self.gain_16 if self.prefers_16_bits and self.gain_16 is not None else self.gain
        return gain / max(1, self.macs)


def sensitivities(
    trials: Trials, recipe: Recipe, has_int16: bool = False
) -> tuple[Sensitivity, ...]:
    """Of all layers with weights, the cheapest first: by what is gained for a MAC.

    has_int16: whether the net's opset has tensors of int16.
    """
    whole = trials.score(recipe)
    found = []
    for node in counted("layers, one at a time", layers(trials.net)):
        op, macs, more = _costs(trials.net, node)
        sqnr = trials.score(replace(recipe, in_float=(*recipe.in_float, node)))
        wide = replace(recipe, in_16_bits=(*recipe.in_16_bits, node))
        others: tuple[float, ...] = ()
        if has_int16 and trials.wide(wide) != trials.wide(recipe):
            others = trials.score(wide), trials.score(wide) - whole
        found.append(Sensitivity(node, op, macs, more, sqnr, sqnr - whole, *others))
    return tuple(sorted(found, key=lambda s: -s.gain_a_mac))


def layers(net: Net) -> list[str]:
    """The names of the nodes that have weights."""
    with_bytes = {node.name for node in recurrent_layers(net)}
    return [
        node.name
        for node in net.nodes
        if node.name in with_bytes
        or (node.op_type in LAYERS and len(node.input) > 1 and node.input[1] in net.constants)
    ]


def _costs(net: Net, name: str) -> tuple[str, int, int]:
    node = next(n for n in net.nodes if n.name == name)
    weights = net.constants[node.input[1]]
    if node.op_type in GATES:
        size = weights.size + net.constants[node.input[recurrent.R]].size
        steps = (net.shape(node.input[0]) or ())[:2]
        return node.op_type, int(np.prod(steps)) * size, size * (4 - 1)
    result = net.shape(node.output[0]) or ()
    if node.op_type == "MatMul":
        each = weights.shape[0]
    elif node.op_type == "Gemm":
        each = weights.shape[1 - output_axis(node)]
    else:
        each = int(np.prod(weights.shape[1:]))
    return node.op_type, int(np.prod(result)) * each, weights.size * (4 - 1)


def with_more_bits(
    trials: Trials, recipe: Recipe, table: Sequence[Sensitivity]
) -> Iterator[tuple[Recipe, float]]:
    """The recipe with more and more layers in int16 or float32, as they prefer, the cheapest first;
    then with these in float32 too; and its mean SQNR in dB. Layers alone in which nothing is gained
    come last."""
    order = sorted(table, key=lambda s: s.gain_a_mac <= 0)
    wide, real = recipe.in_16_bits, recipe.in_float
    yield recipe, trials.score(recipe)
    for layer in order:
        if layer.prefers_16_bits:
            wide = (*wide, layer.name)
        else:
            real = (*real, layer.name)
        more = replace(recipe, in_16_bits=wide, in_float=real)
        yield more, trials.score(more)
    for layer in order:
        if layer.prefers_16_bits:
            real = (*real, layer.name)
            wide = tuple(name for name in wide if name != layer.name)
            more = replace(recipe, in_16_bits=wide, in_float=real)
            yield more, trials.score(more)

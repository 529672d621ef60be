"""Which layers lose the accuracy: each kept in float32 by itself, and what that gains and costs.

Of recurrent layers that is their weights alone.
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


@dataclass(frozen=True)
class Sensitivity:
    """A layer: its node's name, its operator, its multiply-accumulates, the bytes that its weights
    take more in float32. sqnr: in dB, with this layer alone in float32; gain: over all in int8."""

    name: str
    op: str
    macs: int
    more_bytes: int
    sqnr: float
    gain: float

    @property
    def gain_a_mac(self) -> float:
        return self.gain / max(1, self.macs)


def sensitivities(trials: Trials, recipe: Recipe) -> tuple[Sensitivity, ...]:
    """Of all layers with weights, the cheapest first: by what is gained for a MAC in float32."""
    whole = trials.score(recipe)
    found = []
    for node in counted("layers in float32, one at a time", layers(trials.net)):
        op, macs, more = _costs(trials.net, node)
        sqnr = trials.score(replace(recipe, in_float=(*recipe.in_float, node)))
        found.append(Sensitivity(node, op, macs, more, sqnr, sqnr - whole))
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


def kept_in_float(
    trials: Trials, recipe: Recipe, table: Sequence[Sensitivity]
) -> Iterator[tuple[Recipe, float]]:
    """The recipe with more and more layers in float32, the cheapest first, and its mean SQNR in dB.
    Layers alone in which nothing is gained come last."""
    order = [s for s in table if s.gain > 0] + [s for s in table if s.gain <= 0]
    yield recipe, trials.score(recipe)
    for count in range(1, len(order) + 1):
        names = tuple(s.name for s in order[:count])
        more = replace(recipe, in_float=(*recipe.in_float, *names))
        yield more, trials.score(more)

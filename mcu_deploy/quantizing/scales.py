"""Dense layers with one scale for all outputs, where scales of their own cost more than they bring.

A kernel holds a multiplier and an addend for each output that has a scale of its own: for a dense
layer of a hundred inputs that is a twelfth of its weights, for a convolution next to nothing.
"""

from __future__ import annotations

from dataclasses import replace

from mcu_deploy.output.progress import tell
from mcu_deploy.quantizing.choosing import Recipe, Trials
from mcu_deploy.quantizing.net import Net
from mcu_deploy.quantizing.preparing import output_axis

_BYTES = 8
_WORTH = 4096  # bytes of all dense layers: of fewer none is taken
_SHARE = 0.02  # of the weights: where it is less no more are taken
_MOST_LOSS = 1.5  # dB


def fewer(trials: Trials, recipe: Recipe) -> Recipe:
    """The recipe with one scale in those dense layers that lose least for a byte, as long as the
    model stays better than by min-max with a scale an output."""
    outputs = _dense_outputs(trials.net)
    weights = sum(
        trials.net.constants[n.input[1]].size for n in trials.net.nodes
        if len(n.input) > 1 and n.input[1] in trials.net.constants
    )  # fmt: skip
    left = _BYTES * sum(outputs.values())
    if left < _WORTH or left < _SHARE * weights:
        return recipe
    whole = trials.score(recipe)
    least = max(whole - _MOST_LOSS, trials.score(Recipe()))

    def lost(name: str) -> float:
        tell(f"one scale in {name}")
        return (whole - trials.score(replace(recipe, one_scale=(name,)))) / outputs[name]

    for name in sorted(outputs, key=lost):
        more = replace(recipe, one_scale=(*recipe.one_scale, name))
        if left < _SHARE * weights:
            break
        if trials.score(more) >= least:
            recipe, left = more, left - _BYTES * outputs[name]
    return recipe


def _dense_outputs(net: Net) -> dict[str, int]:
    """The number of outputs of each dense layer, by its name."""
    found = {}
    for node in net.nodes:
        weights = net.constant(node.input[1]) if len(node.input) > 1 else None
        if weights is not None and node.op_type in ("Gemm", "MatMul"):
            axis = output_axis(node) if node.op_type == "Gemm" else weights.ndim - 1
            found[node.name] = int(weights.shape[axis])
    return found

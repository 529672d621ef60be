"""Gathers and scatters."""

from __future__ import annotations

import math
from collections.abc import Mapping

from mcu_deploy.backends.CpuRef.costs.work import Fit, Rule, Work, behind, elements, number_kind
from mcu_deploy.backends.interface import Layer
from mcu_deploy.operators.selection import gather_axis

# "gather" is by constant indices. Elements of 1, 4 and 8 bytes, indices of 32 and 64 bits, two
# shapes, the first and the last axis, rows and single elements.
FITS: Mapping[str, Fit] = {
    "gather": Fit((4.8,), 0.19, 0.55),  # 14 layers
    "gather computed": Fit((14, 2), 0.05, 0.14),  # 29 layers
    "gather elements": Fit((17.4,), 0.10, 0.26),  # 32 layers
    "gather points": Fit((4.3, 10.5, 6), 0.04, 0.29),  # 24 layers
    "scatter elements": Fit((0.8, 15.4), 0.10, 0.27),  # 16 layers
    "scatter elements float64": Fit((11, 0), 0.03, 0.04),  # 4 layers
    "scatter elements reduced": Fit((1.2, 17.1), 0.09, 0.24),  # 12 layers
    "scatter points": Fit((0.5, 11, 4.2), 0.02, 0.05),  # 16 layers
    "scatter points float64": Fit((0.6, 8.9, 76.1), 0.02, 0.05),  # 8 layers
    "scatter points reduced": Fit((0.7, 10.2, 7.5), 0.10, 0.29),  # 24 layers
}


def _gather(layer: Layer) -> Work:
    """Coefficients: for each element; of computed indices, or from a constant, each look-up too."""
    x, count = layer.input(0), elements(layer)
    if x.constant is None and layer.input(1).constant is not None:
        return Work("gather", (count,))
    block = behind(x.type.shape, gather_axis(layer.call))
    return Work("gather computed", (count, count // block))


def _gather_elements(layer: Layer) -> Work:
    """Coefficient: for each element."""
    return Work("gather elements", (elements(layer),))


def _gather_nd(layer: Layer) -> Work:
    """Coefficients: for each element, each row of indices, each index."""
    indices = layer.input(1).type
    rows = math.prod(indices.shape[:-1])
    return Work("gather points", (elements(layer), rows, rows * indices.shape[-1]))


def _scatter_elements(layer: Layer) -> Work:
    """Coefficients: for each byte that is copied, each update."""
    updates = layer.input(2).type.elements
    return Work(f"scatter elements{_reduced(layer)}", (layer.output.type.bytes, updates))


def _scatter_nd(layer: Layer) -> Work:
    """Coefficients: for each byte that is copied, each index, each update."""
    indices, updates = layer.input(1).type.elements, layer.input(2).type.elements
    counts = (layer.output.type.bytes, indices, updates)
    return Work(f"scatter points{_reduced(layer)}", counts)


def _reduced(layer: Layer) -> str:
    """What an update is computed with costs little, but of float64."""
    if layer.attributes.get("reduction", "none") == "none":
        return ""
    return " float64" if number_kind(layer.output.type) == "float64" else " reduced"


RULES: Mapping[tuple[str, str], Rule] = {
    ("", "Gather"): _gather,
    ("", "GatherElements"): _gather_elements,
    ("", "GatherND"): _gather_nd,
    ("", "ScatterElements"): _scatter_elements,
    ("", "Scatter"): _scatter_elements,
    ("", "ScatterND"): _scatter_nd,
}

"""Copies of all elements, or of some, to other places; and tensors made of little."""

from __future__ import annotations

import math
from collections.abc import Mapping

from mcu_deploy.backends.CpuRef.costs.work import (
    Fit,
    Rule,
    Work,
    behind,
    number_kind,
    per_element,
    per_element_of,
    view,
)
from mcu_deploy.backends.interface import Layer
from mcu_deploy.operators.expansion import one_hot_axis

# The model pack's, and two shapes of elements of 1, 4 and 8 bytes.
FITS: Mapping[str, Fit] = {
    "EyeLike": Fit((7.8,), 0.14, 0.21),  # 8 layers
    "OneHot float32": Fit((14.8, 271.8), 0.01, 0.03),  # 16 layers
    "OneHot float64": Fit((178.1, 345.2), 0.00, 0.02),  # 16 layers
    "OneHot int": Fit((12.3, 0), 0.07, 0.12),  # 14 layers
    "OneHot int64": Fit((19, 0), 0.10, 0.26),  # 16 layers
    "Range float32": Fit((10.2,), 0.01, 0.02),  # 2 layers
    "Range float64": Fit((146.6,), 0.01, 0.01),  # 2 layers
    "Range int": Fit((8.1,), 0.01, 0.01),  # 2 layers
    "Range int64": Fit((16,), 0.00, 0.01),  # 2 layers
    "Trilu": Fit((10.9,), 0.13, 0.26),  # 15 layers
    "copy": Fit((4.7,), 0.11, 0.29),  # 28 layers
    "fill": Fit((3.2,), 0.05, 0.08),  # 6 layers
    "memcpy": Fit((0.5, 18.4), 0.06, 0.57),  # 61 layers
    "pad": Fit((10.7,), 0.28, 0.62),  # 14 layers
    "reorder": Fit((4.6,), 0.13, 0.42),  # 96 layers
    "resize": Fit((8.8,), 0.06, 0.15),  # 8 layers
    "slice": Fit((5.2,), 0.16, 0.34),  # 14 layers
}


def _concat(layer: Layer) -> Work:
    """Coefficients: for each byte, each block that is copied."""
    y = layer.output.type
    axis = int(layer.attributes["axis"]) % y.rank
    blocks = len(layer.inputs) * math.prod(y.shape[:axis])
    return Work("memcpy", (y.bytes, blocks))


def _one_hot(layer: Layer) -> Work:
    """Coefficients: for each element, each index that is read.

    An index is read once where its places lie one behind the other, and C's rules of aliasing say
    that what is stored there leaves it as it is; else it is read for each element.
    """
    indices, y = layer.input(0).type, layer.output.type
    in_a_row = behind(y.shape, one_hot_axis(layer.call)) == 1
    distinct = y.dtype.bytes > 1 and y.dtype is not indices.dtype
    reads = indices.elements if in_a_row and distinct else y.elements
    return Work(f"OneHot {number_kind(indices)}", (y.elements, reads))


RULES: Mapping[tuple[str, str], Rule] = {
    **{("", op): view for op in ("Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose")},
    **{("", op): per_element("copy") for op in ("Expand", "Tile")},
    **{("", op): per_element("slice") for op in ("Slice", "Split")},
    **{("", op): per_element(op) for op in ("EyeLike", "Trilu")},
    ("", "Concat"): _concat,
    ("", "ConstantOfShape"): per_element("fill"),
    ("", "OneHot"): _one_hot,
    ("", "Pad"): per_element("pad"),
    ("", "Range"): per_element_of("Range"),
    ("", "Resize"): per_element("resize"),
    ("mcu", "Reorder"): per_element("reorder"),
}

"""What CpuRef's kernels cost: cycles by their families' formulas (`cycles`), and bytes."""

from __future__ import annotations

import numpy as np

from mcu_deploy.arithmetic import exponential_table
from mcu_deploy.backends.CpuRef.cycles import cycles
from mcu_deploy.backends.CpuRef.kernels import trees
from mcu_deploy.backends.CpuRef.waits import waits
from mcu_deploy.backends.interface import Costs, Layer
from mcu_deploy.operators import label
from mcu_deploy.operators.normalization import softmax_extent
from mcu_deploy.operators.tflite_softmax import terms
from mcu_deploy.operators.tflite_softmax16 import exponentials, reciprocals

# Bytes of a function for a Cortex-M4, as gcc makes it for the quantized models of MLPerf Tiny; the
# middle of what it is for different shapes.
_CODE = {"Conv": 320, "tflite::Softmax": 400, "Softmax": 200}
_FUNCTION = 160


def estimate(layer: Layer) -> Costs:
    """The costs of a layer. flash: the bytes of the constants that it reads, of the factors that
    are made of its weights' scales, and of the table of a Softmax."""
    taken = cycles(layer)
    waited = waits(layer, taken) if taken else 0
    constants = [o.type for o in layer.inputs if o is not None and o.constant is not None]
    scales = (4 * t.quantization.scales.size for t in constants[:1] if t.quantization is not None)
    name = label(layer.domain, layer.op)
    code = next((size for op, size in _CODE.items() if name.endswith(op)), _FUNCTION)
    return Costs(
        layer.macs,
        cycles=round(taken + waited),
        flash=sum(t.bytes for t in constants) + sum(scales) + _table(layer),
        code=code if taken else 0,
        waits=round(waited),
    )


def _table(layer: Layer) -> int:
    """The bytes of the tables of trees, and of those that a Softmax has."""
    if layer.op == "TreeEnsemble":
        found = trees.tables(layer)
        return 0 if found is None else found.bytes
    if layer.op == "Softmax16":
        return 2 * (exponentials().size + reciprocals().size)
    x = layer.input(0).type
    if layer.op != "Softmax" or not x.is_quantized:
        return 0
    if layer.domain:
        return 4 * terms(layer.call).size
    table, _ = exponential_table(x.scaling.scale[0], softmax_extent(layer.call)[1])
    return 4 * np.trim_zeros(table, "b").size

"""A convolution and the pool behind it, a strip of rows at a time: the convolution's output, often
a network's largest tensor, never exists as a whole. Rows that no window reads are not computed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mcu_deploy.backends.ArmDsp.kernels import convolution, pools, tables
from mcu_deploy.backends.ArmDsp.kernels.convolution_strips import (
    OtherLayer,
    Strips,
    body_of,
    kernel_of_rows,
    stem_of,
)
from mcu_deploy.backends.ArmDsp.workloads import ID, called, driver
from mcu_deploy.backends.interface import Constant, InPlace, Layer, Proposal, SubgraphView
from mcu_deploy.backends.isa.dsp import pool_code
from mcu_deploy.backends.isa.dsp.frames import numbers
from mcu_deploy.backends.quantized import pool_layer, pool_rounding
from mcu_deploy.backends.quantized.chains import fused, reader
from mcu_deploy.backends.quantized.layers import read
from mcu_deploy.operators import label

OPERATORS = ("Conv", "tflite::Conv")
_CODE_BYTES = 200  # of the C around the assembler


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A convolution with the pool that alone reads it."""
    before = kernel_of_rows(read(node))
    if before is None:
        return ""
    between = tables.middle(view, node)
    last = reader(view, between.layer)
    if last is None or label(last.domain, last.op) not in pools.OPERATORS:
        return ""
    pool = pool_layer.read(last)
    if isinstance(pool, str) or pool.window.padded:
        return ""
    rounding = pool_rounding.rounding_of(pool, last)
    strips = Strips.of(before, OtherLayer(pool, pool.scratch_bytes), is_equal=True)
    if isinstance(rounding, str) or strips is None or strips.scratch_bytes >= pool.x.bytes:
        return ""
    convolved = convolution.assemble(before)
    pooled = pool_code.assemble(pool.of_rows(strips.held, strips.rows), rounding)
    stems = stem_of(before, convolved), f"{pool.stem}_rows_{pooled.digest[:8]}_dsp"
    constants = (
        Constant("weights", np.concatenate([numbers(before), before.product.pack()])),
        Constant("more_weights", pools.pack(pool, rounding)),
        *between.constants,
    )
    body = body_of(strips, between, None, stems)
    rows = pooled.time(before.layer.target)
    part = view.part([*between.nodes, last.node.id])
    names = "conv{}x{}".format(*before.layer.window.kernel), pool.title
    made = driver(
        part, "conv_pool_strips_dsp", (body, _CODE_BYTES), constants,
        [
            called(stems[0], before.layer.x, before.layer.y, convolved),
            called(stems[1], pool.x, pool.y, pooled, "constants", strips.count),
            *between.called,
        ],
        f"{between.titled(*names)} in strips",
        replacement=fused(part, "ConvolutionPool", ID),
        macs=before.layer.pixels * before.product.filters * before.layer.weights[0].size,
        cycles=strips.cycles_before + strips.count * rows + between.cycles,
        scratch_bytes=strips.scratch_bytes,
        in_place=[InPlace(0, 0, strips.distance)],
    )  # fmt: skip
    return [made]

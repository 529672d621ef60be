"""Fully connected layers of int8: a row of activations with constant weights, 4 outputs at a time.

A row is widened once, to int16 in the scratch. 4 sums, 4 words of activations, 4 of weights and
the two pointers fill all 14 registers. A word of weights is two taps of two outputs, as in a 1x1
convolution (tile.py): SMLAD of the word sums 256 * odd + even, SMLAD of the word through
SXTB16 sums even, and their difference is 256 times the odd output's sum.

The code is of no depth and no count of outputs: both stand before the weights. Eight taps are a
block; 16 blocks stand one behind the other, or fewer where loops must be short, and the first time
in a group of outputs the code is entered so far inside that the rest comes out even. What a group
needs besides its sums lies behind the activations, where the pointer to these ends up by itself. It
is written there when a row has been widened, so that the row may lie in the scratch's second half,
if nothing needs it any more.

Sums of long rows leave the 24 bits that an odd output's has in such a word. They are taken apart in
the middle too, and what the odd output has so far waits in the FPU.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mcu_deploy.backends.ArmDsp.workloads import CHANNELS_LAST, proposal
from mcu_deploy.backends.interface import (
    Constant,
    InPlace,
    Layer,
    LayoutRule,
    Proposal,
    SubgraphView,
    Target,
    layer_of,
)
from mcu_deploy.backends.isa.dsp.dense_row import assemble
from mcu_deploy.backends.isa.dsp.widening import rest_offset
from mcu_deploy.backends.isa.models import MODELS
from mcu_deploy.backends.kit import overlap
from mcu_deploy.backends.quantized.dense import (
    BLOCKS,
    OUTPUTS,
    TAPS,
    Dense,
    RowProduct,
    is_of_rows,
    read,
    refusal,
    row_product,
)
from mcu_deploy.backends.quantized.loops import loop_bytes
from mcu_deploy.operators import label

OPERATORS = ("Gemm", "MatMul", "tflite::FullyConnected", "Conv", "tflite::Conv")

# Bytes of a block, all of whose instructions are wide; of one with wide words; and what a block has
# more that widens its taps.
BLOCK_CODE, _WIDE_BLOCK_CODE, _WIDENING = 4 * 27, 4 * 21, 4 * 4
# Bytes behind the activations: output pointer, its end, where the blocks are entered, the scales of
# all.
_TAIL = 28
# The long form must save so many cycles for each byte of its code.
_WORTH = 1


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """Blocks in a loop, and 16 of them unrolled, or as many as may be, where the dense layers
    together are worth it."""
    layer = read(node)
    if isinstance(layer, str):
        return layer
    if reason := refusal(layer):
        return reason
    products = [row_product(layer)]
    if layer.may_be_direct:
        products.append(replace(products[0], layer=replace(layer, is_direct=True)))
    found: list[Proposal] = []
    for product in products:
        most = unrolled_blocks(product, loop_bytes(node.target))
        # Of those that cost the same cycles the first is taken: the code that others need anyway.
        unrolled = (most, 1) if most > 1 and _pays(view, node, most) else (1,)
        found += [_proposal(view, node, replace(product, unrolled=n)) for n in unrolled]
    return found


def block_code(layer: Dense) -> int:
    """The bytes of a block."""
    return (_WIDE_BLOCK_CODE if layer.is_wide else BLOCK_CODE) + _WIDENING * layer.is_direct


def unrolled_blocks(product: RowProduct, most_bytes: int | None) -> int:
    """How many blocks stand one behind the other, so that the whole function has no more than
    most_bytes: a row's widening, which runs once, would else take lines of the weights' loop."""
    if most_bytes is None:
        return BLOCKS
    # What follows where a long row is taken apart is a multiple of BLOCKS.
    counts = (16, 8, 4, 2) if product.layer.is_long else range(BLOCKS, 1, -1)
    for count in counts:
        is_near = count * block_code(product.layer) < most_bytes
        if is_near and assemble(replace(product, unrolled=count)).bytes <= most_bytes:
            return count
    return 1


def enters(target: Target, unrolled: int) -> bool:
    """Whether the blocks are entered by an address. A single one need not be: it is where code of
    several cores is to be the same, but not where lists are to be split, as places that jumps by an
    address go to are counted in bytes."""
    model = MODELS.get(target.core)
    ordering = model.ordering if model else None
    return unrolled > 1 or ordering is None or not ordering.pairs


def _pays(view: SubgraphView, node: Layer, unrolled: int) -> bool:
    """Whether the unrolled blocks save enough, in all layers of the view that could share them."""
    blocks = 0
    for other in view.nodes:
        if label(other.domain, other.op) in OPERATORS:
            layer = layer_of(view, other, node.target)
            if other.op != "Conv" or is_of_rows(layer):
                blocks += layer.macs // (TAPS * OUTPUTS)
    return blocks * 5 >= _WORTH * unrolled * BLOCK_CODE


def _proposal(view: SubgraphView, node: Layer, product: RowProduct) -> Proposal:
    layer, is_unrolled = product.layer, product.unrolled > 1
    outputs, taps = layer.weights.shape
    stem = "dense" + "_direct" * layer.is_direct + "_wide" * layer.is_wide
    stem += "_long" * layer.is_long + "_unrolled" * is_unrolled + "_dsp"
    # A row is read before it is written.
    rows = layer.rows - 1 if outputs > taps else 1
    distance = rows * (outputs - taps) if layer.rows > 1 else -layer.x.bytes
    in_place = [InPlace(0, 0, max(distance, -layer.x.bytes))]
    if layer.is_direct:
        in_place = in_place if layer.groups == 1 else []
    else:
        in_place.append(InPlace(0, None, max(scratch_distance(layer), -layer.x.bytes)))
    return proposal(
        view.part([node.node.id]), node.target, stem,
        assemble(product, enters(node.target, product.unrolled)),
        [Constant("weights", product.pack(block_code(layer)))],
        "dense" + ", unrolled" * is_unrolled + ", wide weights" * layer.is_wide
        + ", bytes as they lie" * layer.is_direct,
        macs=layer.rows * outputs * taps,
        scratch_bytes=_TAIL + (0 if layer.is_direct else product.row_bytes),
        in_place=in_place,
        layouts=CHANNELS_LAST if node.op == "Conv" else (LayoutRule.NATURAL,),
    )  # fmt: skip


def scratch_distance(layer: Dense) -> int:
    """How far the scratch must start before the input, as `InPlace` has it. The writes of the first
    row are followed by the lowest reads."""
    taps = layer.x.shape[-1]
    whole, end = taps // TAPS * TAPS, 2 * TAPS * layer.blocks
    ends = np.arange(2 * TAPS, 2 * whole + 1, 2 * TAPS)
    rest = [2 * whole + rest_offset(n) + 2 for n in range(taps - whole)]
    after = taps if layer.rows > 1 else overlap.NOTHING  # the next row
    return overlap.distance(
        np.array([*ends, *rest, end + _TAIL]),
        np.r_[0:whole:TAPS, whole:taps, overlap.NOTHING, after],
    )

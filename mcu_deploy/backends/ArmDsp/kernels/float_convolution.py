"""Convolutions and fully connected layers of float32, with weights of float32 or of int8: some
pixels times some filters.

Any kernel, stride, dilation, padding, groups and number of channels. Sums begin with the bias, of
weights of int8 with 0, and go along the rows of the kernel, its columns and the channels.
"""

from __future__ import annotations

from collections.abc import Sequence

from mcu_deploy.backends.ArmDsp.workloads import CHANNELS_LAST, proposal
from mcu_deploy.backends.floats.layers import Product, read
from mcu_deploy.backends.floats.tiles import packed, said
from mcu_deploy.backends.interface import Constant, Layer, Proposal, SubgraphView, Target
from mcu_deploy.backends.isa import Assembly
from mcu_deploy.backends.isa.dsp.float_tiles import FloatTiles, plan_of
from mcu_deploy.backends.isa.window_rows import LONGEST_SIDE, SCRATCH_BYTES, description
from mcu_deploy.backends.isa.window_tiles import TilePlan
from mcu_deploy.backends.isa.workloads import NATURAL
from mcu_deploy.backends.kit import overlap

OPERATORS = ("Conv", "Gemm", "MatMul")


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A convolution, or rows times a constant matrix."""
    if node.target.mve:  # which has vectors of floats
        return ""
    product = read(node)
    if isinstance(product, str):
        return product
    if product.is_depthwise:
        return ""
    if not node.target.fpu:
        return f"it computes in float32, which this {node.target.core} has no FPU for"
    rows, columns = product.window.kernel
    if product.window.padded_axes[0] and rows > LONGEST_SIDE:
        return f"its kernel has more than {LONGEST_SIDE} rows, some of which lie outside"
    code, plan = quickest(product, node.target)
    stem, title = f"dense_{product.depth}x{product.filters}", "dense"
    if node.op == "Conv":
        title = f"conv{rows}x{columns}"
        stem = f"{title}_{product.channels}x{product.filters}"
    return [proposal(
        view.part([node.node.id]), node.target, f"{stem}_{product.kind}", code,
        lambda: [Constant("weights", packed(product, plan.vectors, 1))],
        f"{title}, {product.title}",
        macs=node.macs, constant_bytes=plan.stream_bytes, scratch_bytes=SCRATCH_BYTES,
        in_place=overlap.fact(node, 0, plan.demand),
        layouts=CHANNELS_LAST if node.op == "Conv" else NATURAL,
    )]  # fmt: skip


def quickest(product: Product, target: Target) -> tuple[Assembly, TilePlan]:
    """The kernel whose products are rounded by themselves, or that whose are not: a core may take
    longer for either."""
    made = [assemble(product, is_fused=is_fused) for is_fused in (False, True)]
    return min(made, key=lambda one: one[0].time(target))


def assemble(product: Product, *, is_fused: bool) -> tuple[Assembly, TilePlan]:
    """The kernel: image, output, the stream of weights, scratch."""
    plan, code = plan_of(product, is_fused=is_fused), Assembly()
    first, last = plan.vectors[0], plan.vectors[-1]
    rounded = "added without being rounded" if is_fused else "rounded and added"
    start, stream = said(product, "f")
    code.note(f"y[p][f] = clamp({start} window[p][k] * w[f][k]), float32; k: row, column,")
    code.note(f"channel, in this order, each product {rounded}; what lies outside of the image is")
    code.note("left out. x: [row][column][channel], y: [p][f].")
    code.note(
        f"weights, of {first} filters at a time{f', at last of {last}' * (last < first)}: {stream}"
    )
    code.note(
        f"{description()} In place: the windows of a tile are read for some filters, whose outputs "
        "are written, then for the next ones."
    )
    FloatTiles(code, plan, is_fused=is_fused).assemble()
    return code, plan

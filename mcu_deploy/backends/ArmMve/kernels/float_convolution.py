"""Convolutions and fully connected layers of float32, with weights of float32 or of int8: some
pixels times four filters.

Any kernel, stride, dilation, padding, groups and number of channels. Sums begin with the bias, of
weights of int8 with 0, and go along the rows of the kernel, its columns and the channels, each
product added with one rounding.
"""

from __future__ import annotations

from collections.abc import Sequence

from mcu_deploy.backends.ArmMve.workloads import CHANNELS_LAST, NATURAL, assembly, proposal
from mcu_deploy.backends.floats.layers import Product, read
from mcu_deploy.backends.floats.tiles import packed, said
from mcu_deploy.backends.interface import Constant, Layer, Proposal, SubgraphView
from mcu_deploy.backends.isa import Assembly
from mcu_deploy.backends.isa.mve.float_tiles import Tiles, plan_of
from mcu_deploy.backends.isa.mve.float_weights import LANES
from mcu_deploy.backends.isa.window_rows import LONGEST_SIDE, SCRATCH_BYTES, description
from mcu_deploy.backends.isa.window_tiles import TilePlan
from mcu_deploy.backends.kit import overlap

OPERATORS = ("Conv", "Gemm", "MatMul")


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A convolution, or rows times a constant matrix."""
    product = read(node)
    if isinstance(product, str):
        return product
    if product.is_depthwise:
        return ""
    window = product.window
    if window.padded_axes[0] and window.kernel[0] > LONGEST_SIDE:
        return f"its kernel has more than {LONGEST_SIDE} rows, some of which lie outside"
    plan = plan_of(product)
    rows, columns = window.kernel
    stem, title = f"dense_{product.depth}x{product.filters}", "dense"
    if node.op == "Conv":
        title = f"conv{rows}x{columns}"
        stem = f"{title}_{product.channels}x{product.filters}"
    return [
        proposal(
            view.part([node.node.id]), node.target, f"{stem}_{product.kind}_mve", assemble(plan),
            lambda: (Constant("weights", packed(product, plan.vectors, LANES)),),
            f"{title}, vectors of {product.title}",
            macs=node.macs, constant_bytes=plan.stream_bytes, scratch_bytes=SCRATCH_BYTES,
            in_place=overlap.fact(node, 0, plan.demand),
            layouts=CHANNELS_LAST if node.op == "Conv" else NATURAL,
        )
    ]  # fmt: skip


def assemble(plan: TilePlan) -> Assembly:
    """The kernel: image, output, the stream of weights, scratch."""
    code = assembly()
    _describe(code, plan.product)
    Tiles(code, plan).assemble()
    return code


def _describe(code: Assembly, product: Product) -> None:
    start, stream = said(product, "f")
    code.note(f"y[p][f] = clamp({start} window[p][k] * w[f][k]), float32; k: row, column,")
    code.note("channel, in this order, each product added with one rounding; what lies outside of")
    code.note("the image is left out. x: [row][column][channel], y: [p][f].")
    code.note(f"weights, of some filters at a time, of which four are a vector: {stream}")
    code.note(
        f"{description()} In place: the windows of a tile are read for some filters, whose outputs "
        "are written, then for the next ones."
    )

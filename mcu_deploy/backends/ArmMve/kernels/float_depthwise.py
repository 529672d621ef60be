"""Depthwise convolutions of float32, with weights of float32 or of int8: some pixels times four
channels. Any kernel, stride, dilation, padding and number of channels; sums go along the rows of
the kernel, and of some columns at a time along these, each product added with one rounding."""

from __future__ import annotations

from collections.abc import Sequence

from mcu_deploy.backends.ArmMve.workloads import CHANNELS_LAST, assembly, proposal
from mcu_deploy.backends.floats.layers import Product, read
from mcu_deploy.backends.floats.tiles import packed_by_channels, said
from mcu_deploy.backends.interface import Constant, Layer, LayoutRule, Proposal, SubgraphView
from mcu_deploy.backends.isa import Assembly
from mcu_deploy.backends.isa.mve.float_channels import Depthwise, sizes_of
from mcu_deploy.backends.isa.mve.float_weights import LANES
from mcu_deploy.backends.isa.window_rows import LONGEST_SIDE, SCRATCH_BYTES, description
from mcu_deploy.backends.kit import overlap

OPERATORS = ("Conv",)

_MOST_PIXELS = 6


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A depthwise convolution by itself."""
    product = read(node)
    if isinstance(product, str):
        return product
    if not product.is_depthwise:
        return ""
    rows, columns = product.window.kernel
    if rows > LONGEST_SIDE and product.window.padded_axes[0]:
        return f"its kernel has more than {LONGEST_SIDE} rows, some of which lie outside"
    title = f"depthwise{rows}x{columns}"
    stem = f"{title}_{product.channels}_{product.kind}_mve"
    return [proposal_of(view, node, product, stem, f"{title}, vectors of {product.title}")]


def proposal_of(
    view: SubgraphView, node: Layer, product: Product, stem: str, title: str, operand: int = 0,
    layouts: tuple[LayoutRule, ...] = CHANNELS_LAST,
) -> Proposal:  # fmt: skip
    """A layer that is such a convolution of one of its operands."""
    code, kernel = assemble(product)
    weights = packed_by_channels(product, LANES)
    return proposal(
        view.part([node.node.id]), node.target, stem, code, (Constant("weights", weights),), title,
        macs=node.macs, constant_bytes=weights.nbytes, scratch_bytes=SCRATCH_BYTES,
        in_place=overlap.fact(node, operand, kernel.demand), layouts=layouts,
        operands={"x": operand},
    )  # fmt: skip


def assemble(product: Product) -> tuple[Assembly, Depthwise]:
    """The kernel: image, output, the stream of weights, scratch."""
    code, window = assembly(), product.window
    start, stream = said(product, "c")
    code.note(f"y[p][c] = clamp({start} window[p][k][c] * w[k][c]), float32; each product")
    code.note("is added with one rounding, and what lies outside of the image is left out.")
    code.note("x: [row][column][channel], y: [p][c].")
    code.note(f"weights, of four channels: {stream}")
    code.note(
        f"{description()} In place: the windows of a tile are read for some channels, whose "
        "outputs are written, then for the next ones."
    )
    sizes = sizes_of(window, _MOST_PIXELS, has_weights=True)
    has_bytes = product.scales is not None
    kernel = Depthwise(
        code, window, product.channels, sizes, product.clamp, has_bytes=has_bytes
    )  # fmt: skip
    kernel.assemble()
    return code, kernel

"""Depthwise convolutions of float32, with weights of float32 or of int8: some pixels times two
channels. Any kernel, stride, dilation, padding and number of channels; sums go along the rows of
the kernel, in each along the columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace

from mcu_deploy.backends.ArmDsp.workloads import CHANNELS_LAST, proposal
from mcu_deploy.backends.floats.layers import Product, read
from mcu_deploy.backends.floats.tiles import block_bytes, said
from mcu_deploy.backends.interface import Constant, Layer, Proposal, SubgraphView
from mcu_deploy.backends.isa import Assembly
from mcu_deploy.backends.isa.dsp.float_depthwise import LANES, FloatDepthwise, firsts, packed
from mcu_deploy.backends.isa.window_rows import LONGEST_SIDE, SCRATCH_BYTES, description
from mcu_deploy.backends.kit import overlap
from mcu_deploy.operators.windows import Window

OPERATORS = ("Conv",)


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A depthwise convolution by itself."""
    if int(node.attributes.get("group", 1)) == 1 or node.target.mve:  # which has vectors of floats
        return ""
    found = read(node)
    if isinstance(found, str):
        return found
    if not found.is_depthwise:
        return ""
    if not node.target.fpu:
        return f"it computes in float32, which this {node.target.core} has no FPU for"
    product = along_a_row(found)
    rows, columns = product.window.kernel
    if rows > LONGEST_SIDE and product.window.padded_axes[0]:
        return f"its kernel has more than {LONGEST_SIDE} rows, some of which lie outside"
    # What a core takes longer for: a product that is rounded by itself, or one that is not.
    made = [assemble(product, is_fused=is_fused) for is_fused in (False, True)]
    code, kernel = min(made, key=lambda one: one[0].time(node.target))
    title = f"depthwise{rows}x{columns}"
    return [proposal(
        view.part([node.node.id]), node.target, f"{title}_{product.channels}_{product.kind}",
        code, lambda: [Constant("weights", packed(product))], f"{title}, {product.title}",
        macs=node.macs, constant_bytes=packed_bytes(product), scratch_bytes=SCRATCH_BYTES,
        in_place=overlap.fact(node, 0, kernel.demand), layouts=CHANNELS_LAST,
    )]  # fmt: skip


def along_a_row(product: Product) -> Product:
    """An image of one column is one of one row, in the same memory."""
    window = product.window
    if window.input[1] > 1 or window.output[1] > 1:
        return product
    turned = {field.name: getattr(window, field.name)[::-1] for field in fields(Window)}
    return replace(product, weights=product.weights.swapaxes(2, 3), window=Window(**turned))


def packed_bytes(product: Product) -> int:
    """Of the stream."""
    return len(firsts(product.channels)) * block_bytes(product, LANES)


def assemble(product: Product, *, is_fused: bool) -> tuple[Assembly, FloatDepthwise]:
    """The kernel: image, output, the stream of weights, scratch."""
    code = Assembly()
    rounded = "is added without being rounded" if is_fused else "is rounded and added"
    start, stream = said(product, "c")
    code.note(f"y[p][c] = clamp({start} window[p][k][c] * w[k][c]), float32; each product")
    code.note(f"{rounded}, and what lies outside of the image is left out.")
    code.note("x: [row][column][channel], y: [p][c].")
    code.note(
        f"weights, of each two channels: {stream} Of an odd number of channels the last two are "
        "the last pair, so one of them is in two pairs."
    )
    code.note(
        f"{description()} In place: the windows of a tile are read for two channels, whose "
        "outputs are written, then for the next ones."
    )
    kernel = FloatDepthwise(code, product, is_fused=is_fused)
    kernel.assemble()
    return code, kernel

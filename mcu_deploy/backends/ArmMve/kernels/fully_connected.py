"""Fully connected layers: a row times eight filters; of several rows of int8 two, as pixels."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext

from mcu_deploy.backends.ArmMve.kernels import pointwise
from mcu_deploy.backends.ArmMve.workloads import CHANNELS_LAST, NATURAL, assembly, proposal
from mcu_deploy.backends.interface import Constant, InPlace, Layer, Proposal, SubgraphView
from mcu_deploy.backends.isa import Assembly, Kind
from mcu_deploy.backends.isa.mve.rounding import RowRounding
from mcu_deploy.backends.isa.mve.row import Row
from mcu_deploy.backends.quantized.dense import read
from mcu_deploy.backends.quantized.layers import bytes_refusal
from mcu_deploy.backends.quantized.vector_dense import FILTERS, VectorDense
from mcu_deploy.ir import DType

OPERATORS = ("Gemm", "MatMul", "tflite::FullyConnected", "Conv", "tflite::Conv")


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A row, or rows. Of a convolution too: one whose kernel is as large as the image, or of a
    pixel."""
    layer = read(node)
    if isinstance(layer, str):
        return layer
    if reason := bytes_refusal(layer):
        return reason
    outputs, taps = layer.weights.shape
    if not layer.rows * outputs * taps:
        return "there is nothing to compute"
    if layer.rows > 1 and layer.x.dtype is DType.UINT8:
        return "it takes one row of uint8"
    if layer.rows > 1:
        weights = layer.weights.reshape(outputs, 1, taps)
        pixels = pointwise.Pixels.of(layer, weights, layer.rows)
        stem = f"dense_rows_{taps}x{outputs}_mve"
        return [pointwise.proposal(view, node, pixels, stem, "dense rows, vectors")]
    made = VectorDense(layer, layer.weights.reshape(outputs, 1, taps))
    return [
        proposal(
            view.part([node.node.id]), node.target, "dense_mve", assemble(made),
            lambda: (Constant("weights", made.pack()),), "dense, vectors",
            macs=outputs * taps, constant_bytes=made.stream_bytes,
            scratch_bytes=4 * FILTERS * (made.pairs // made.parts), in_place=[in_place(made)],
            layouts=CHANNELS_LAST if node.op == "Conv" else NATURAL,
        )
    ]  # fmt: skip


def in_place(product: VectorDense) -> InPlace:
    """A part is written when its row has been read."""
    written = product.filters // product.parts * (product.parts - 1)  # that more reads follow
    return InPlace(0, 0, written or -product.layer.x.bytes)


def assemble(product: VectorDense) -> Assembly:
    """The kernel: x, y, the packed stream, scratch."""
    code = assembly()
    x, y, weights, scratch = code.arguments("x y weights scratch")
    stream = code.register("stream", region="weights")
    sums = code.register("sums", region="sums")
    row, row_bytes, left = code.registers("row row_bytes pairs_left")
    kept = code.registers(
        "kept_y kept_sums kept_groups parts_left", "s28", "s29", "s30", "s31", kind=Kind.SINGLE
    )
    output, groups, parts = code.registers("output groups parts")
    for line in product.formula("y[f]", "x[k] * w[f][k]"):
        code.note(line)
    for line in product.description():
        code.note(line)
    code.note("scratch: the sums of a part.")
    code.vmov(kept[0], y)
    code.vmov(kept[1], scratch)
    code.mov(row, x)
    code.mov(stream, weights)
    for register in (row_bytes, parts, left, groups):
        code.ldr(register, stream.after(4))
    code.vmov(kept[2], groups)
    if not product.last:
        code.vmov(kept[3], parts)
    if product.rest:
        count = code.register("bytes_left")
        code.mov(count, product.rest)
        code.vctp_8(count)
    code.reads(product.stream_bytes)
    eight = Row(code, product, row, row_bytes, stream, sums)
    eight.begin()
    # Where groups have a rest there is one part.
    with nullcontext() if product.last else code.repeat(product.parts):
        code.note("Eight filters.")
        code.vmov(sums, kept[1])
        with code.repeat(product.pairs // product.parts):
            eight.assemble()
            code.subs(left, left, 1)
        for register, of in zip((output, sums, groups), kept, strict=False):
            code.vmov(register, of)
        rounding = RowRounding(code, product, sums, stream, output, groups)
        if not product.has_common_factor:
            rounding.begin()
        rounding.assemble()
        if not product.last:
            code.note("The next part.")
            code.vmov(kept[0], output)
            code.vmov(parts, kept[3])
            code.vmov(groups, kept[2])
            code.add(left, groups, groups)
            code.subs(parts, parts, 1)
            code.vmov(kept[3], parts)
    return code

"""A 3x3 depthwise convolution and the 1x1 convolution behind it, as one layer."""

from __future__ import annotations

from collections.abc import Sequence

from mcu_deploy.backends.ArmDsp.kernels import depthwise, pointwise
from mcu_deploy.backends.ArmDsp.workloads import ID, called, driver
from mcu_deploy.backends.interface import Constant, Layer, Proposal, SubgraphView
from mcu_deploy.backends.quantized.chains import followed, fused
from mcu_deploy.backends.quantized.layers import Convolution, read

OPERATORS = ("Conv", "tflite::Conv")
_DRIVER_BYTES = 40


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A depthwise convolution with the 1x1 convolution that alone reads it."""
    before = read(node)
    if isinstance(before, str):
        return before
    if not before.is_depthwise or depthwise.refusal(before):
        return ""
    found = followed(view, node)
    if found is None or not found[0].is_pixelwise or pointwise.refusal(found[0]):
        return ""
    behind, part = found
    kernel = depthwise.Kernel.of(before, depthwise.may_be_late(view, before, node.target))
    return [_proposal(part, kernel, behind, is_double) for is_double in pointwise.ways(behind)]


def _proposal(
    part: SubgraphView, kernel: depthwise.Kernel, behind: Convolution, is_double: bool
) -> Proposal:
    channels, filters = behind.x.shape[1], behind.y.shape[1]
    pixels = pointwise.kernel(behind, is_double)
    product, code = pixels.product, pixels.code
    ctype = behind.x.dtype.c_type
    stem = f"depthwise3x3_conv1x1_{channels}x{filters}_dsp"
    behind_stem = f"conv1x1_{channels}x{filters}_dsp"
    scratch = max(kernel.scratch_bytes, pixels.scratch_bytes)
    # What is between the two lies at the end of the output, which follows it and never catches up.
    ahead = behind.pixels * (filters - channels)
    middle = f"y + {ahead}" if ahead else "y"
    if ahead < 0 or ahead % 4:
        scratch = -(-scratch // 4) * 4
        middle = f"scratch + {scratch}"
        scratch += behind.x.bytes
    body = (
        f"{{\n    {ctype} *const middle = ({ctype} *)({middle});\n"
        f"    ${kernel.stem}(x, middle, taps, scratch);\n"
        f"    ${behind_stem}(middle, y, weights, scratch);\n}}"
    )
    return driver(
        part, stem, (body, _DRIVER_BYTES),
        lambda: [kernel.taps(), Constant("weights", product.pack())],
        [kernel.called(), called(behind_stem, behind.x, behind.y, code)],
        f"depthwise3x3 + {pointwise.title(is_double)}",
        replacement=fused(part, "DepthwisePointwise", ID),
        macs=behind.pixels * channels * (9 + filters),
        cycles=kernel.cycles + code.time(behind.target),
        constant_bytes=kernel.constant_bytes + product.constant_bytes,
        scratch_bytes=scratch,
        in_place=kernel.in_place if middle == "y" else (),
    )  # fmt: skip

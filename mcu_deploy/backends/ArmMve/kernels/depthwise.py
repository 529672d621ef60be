"""Depthwise convolution of int8 and uint8 over strips: any kernel, stride, dilation and padding."""

from __future__ import annotations

from collections.abc import Sequence

from mcu_deploy.backends.ArmMve.workloads import CHANNELS_LAST, assembly, proposal
from mcu_deploy.backends.interface import Constant, InPlace, Layer, Proposal, SubgraphView
from mcu_deploy.backends.isa import Assembly
from mcu_deploy.backends.isa.mve.strips import Depthwise, scratch_bytes
from mcu_deploy.backends.quantized.layers import Convolution, bytes_refusal, read
from mcu_deploy.backends.quantized.strips import Strips

OPERATORS = ("Conv", "tflite::Conv")

# Of strips, where RAM is dear: each band begins the channels anew.
_LEAST_BAND_BYTES = 1536


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A depthwise convolution by itself."""
    layer = read(node)
    if isinstance(layer, str):
        return layer
    if not layer.is_depthwise:
        return ""
    if reason := refusal(layer):
        return reason
    strips = Strips(layer)
    found = [_proposal(view, node, strips)]
    if strips.may_be_any:
        shared = _proposal(view, node, Strips(layer, is_any=True))
        # A function of its own is worth it where it spares a cycle a byte.
        (own,) = found
        spared = (shared.price.costs.cycles or 0) - (own.price.costs.cycles or 0)
        found = [shared, own] if spared > sum(own.price.code.values()) else [shared]
    less = Strips(layer, band_bytes=_LEAST_BAND_BYTES)
    if less.held < strips.held:
        found.append(_proposal(view, node, less))
    return found


def _proposal(view: SubgraphView, node: Layer, strips: Strips) -> Proposal:
    rows, columns = strips.layer.window.kernel
    return proposal(
        view.part([node.node.id]), node.target,
        f"depthwise{rows}x{columns}_{'any' if strips.is_any else strips.channels}_mve",
        assemble(strips), lambda: (Constant("stream", strips.pack()),),
        f"depthwise{rows}x{columns}, strips{_kind(strips)}",
        macs=node.macs, constant_bytes=strips.stream_bytes, scratch_bytes=scratch_bytes(strips),
        in_place=[InPlace(0, 0, exactly=True)] if strips.may_lie_on_input else (),
        layouts=CHANNELS_LAST,
    )  # fmt: skip


def _kind(strips: Strips) -> str:
    return " of any channels" if strips.is_any else f", {strips.bands} bands" * (strips.bands > 1)


def refusal(layer: Convolution) -> str:
    """Why the kernel does not compute a depthwise convolution, a clause; empty where it does."""
    if layer.x.shape[0] != 1:
        return "of depthwise convolutions it takes those of one image"
    if layer.weights.shape[0] != layer.x.shape[1]:
        return "of depthwise convolutions it takes one filter a channel"
    return bytes_refusal(layer)


def assemble(strips: Strips) -> Assembly:
    """The kernel: pixels, output, the packed stream, scratch."""
    code = assembly()
    describe(code, strips)
    Depthwise(code, strips).assemble()
    return code


def describe(code: Assembly, strips: Strips) -> None:
    """What stands over a kernel."""
    x = "w[k][l][c] * x[i'][j'][c]"
    if (fixed := strips.fixed) is None:
        code.note("y[i][j][c] = sat(round(float(sum) * factor[c]) + zero), with sum = bias[c] +")
        code.note(f"sum of {x}, both floats rounded to nearest.")
    else:
        code.note("y[i][j][c] = sat((sum * factor[c] >> 31 >> shift[c]) + zero), with sum =")
        code.note(f"bias[c] + sum of {x}; what is shifted is rounded to nearest,")
        code.note(f"ties first up, then {fixed.ties}.")
    code.note("x and y: [row][column][channel].")
    code.note(
        "scratch: words of the kernel, 16 zero points, offsets; then strips, [two columns][16 "
        "channels] of words, each two by two pixels."
    )
    code.note(
        f"stream: {'how many channels, ' if strips.is_any else ''}offsets of a window's words, and "
        f"of four outputs; then of each channel bias, factor{'' if fixed is None else ', -shift'} "
        f"({'float32' if fixed is None else 'int32'}), and for each 16 bytes of a window the "
        f"weights of {'its first output' if strips.is_shared else 'each output'}."
    )
    if strips.is_clipped:
        code.note("In a bias are the bits of the float 2**23: sums below 0 are the least element.")

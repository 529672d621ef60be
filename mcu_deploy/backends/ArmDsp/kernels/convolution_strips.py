"""Two convolutions, and the sum with what the first one reads, a strip of rows at a time.

What is between the two never exists as a whole: the scratch holds the rows that some output rows
need, and those that the next strip needs too stay in it. In a residual block the second's rows are
written over these, and the sum follows the first convolution through its input: the output may lie
on that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol, Self

import numpy as np

from mcu_deploy.backends.ArmDsp import pairs
from mcu_deploy.backends.ArmDsp.kernels import addition, convolution, tables
from mcu_deploy.backends.ArmDsp.workloads import ID, KIT, called, driver
from mcu_deploy.backends.interface import Constant, InPlace, Layer, Proposal, SubgraphView
from mcu_deploy.backends.isa import Assembly
from mcu_deploy.backends.isa.dsp.frames import Kernel, numbers
from mcu_deploy.backends.isa.dsp.gather import SharedGather
from mcu_deploy.backends.quantized.chains import fused, reader
from mcu_deploy.backends.quantized.layers import Convolution, read
from mcu_deploy.backends.quantized.tiles import Tiles
from mcu_deploy.backends.quantized.walks import Walk
from mcu_deploy.ir import TensorType
from mcu_deploy.operators import label
from mcu_deploy.operators.windows import Window

OPERATORS = ("Conv", "tflite::Conv")
_STRIP_BYTES = 8192
_STRIP_CYCLES = 700  # of the C of a strip, and of what the kernels begin with
_CODE_BYTES = 240


class Image(Protocol):
    """Of what convolves or pools one."""

    @property
    def window(self) -> Window: ...

    @property
    def x(self) -> TensorType: ...

    @property
    def y(self) -> TensorType: ...


class Rows(Protocol):
    """What computes some rows of an output."""

    @property
    def layer(self) -> Image: ...

    @property
    def scratch_bytes(self) -> int: ...


class OtherLayer(NamedTuple):
    """A layer that is no `Kernel`."""

    layer: Image
    scratch_bytes: int


class SumLayer(NamedTuple):
    """The layer that adds the first convolution's input to the second's output, or subtracts it.
    is_first: whether that input is its first operand."""

    layer: Layer
    scaling: addition.Scaling
    walk: Walk
    code: Assembly
    is_first: bool

    @property
    def stem(self) -> str:
        return addition.stem_of(self.layer, self.scaling.shift, self.walk)


@dataclass(frozen=True, eq=False)
class Strips:
    """How many output rows a strip has, the last one at most, and what lies in the scratch."""

    before: Rows
    behind: Rows
    rows: int
    is_added: bool = False

    @classmethod
    def of(
        cls, before: Rows, behind: Rows, is_added: bool = False, is_equal: bool = False, **more: Any
    ) -> Self | None:
        """The tallest strips that are small, of equal ones if they have to be or some are half as
        tall; None where there is but one."""
        height = behind.layer.window.output[0]
        sizes = [n for n in range(1, height) if height % n == 0 or not is_equal]
        found = [cls(before, behind, rows, is_added, **more) for rows in sizes]
        usable = [s for s in found if s.kept >= 0 and all(a < b for a, b in s._made())]
        most = min(_STRIP_BYTES, behind.layer.x.bytes // 2)
        small = [s for s in usable if s.scratch_bytes <= most] or usable[:1]
        equal = [s for s in small if height % s.rows == 0 and 2 * s.rows >= small[-1].rows]
        return equal[-1] if equal else small[-1] if small else None

    @property
    def stride(self) -> int:
        return self.behind.layer.window.strides[0]

    @property
    def above(self) -> int:
        return self.behind.layer.window.begin[0]

    @property
    def kept(self) -> int:
        """Rows of what is between that the next strip needs, too."""
        window = self.behind.layer.window
        return (window.kernel[0] - 1) * window.dilations[0] + 1 - self.stride

    @property
    def held(self) -> int:
        """Rows of what is between."""
        return self.rows * self.stride + self.kept

    @property
    def row_bytes(self) -> int:
        return self.behind.layer.window.input[1] * self.behind.layer.x.shape[1]

    @property
    def written(self) -> int:
        """Bytes of an output row."""
        return self.behind.layer.window.output[1] * self.behind.layer.y.shape[1]

    @property
    def count(self) -> int:
        return -(-self.behind.layer.window.output[0] // self.rows)

    def _made(self) -> list[tuple[int, int]]:
        """Of each strip the rows of what is between that it makes: first, and behind the last."""
        height, most = self.behind.layer.window.output[0], self.behind.layer.window.input[0]
        ends = [min(height, (n + 1) * self.rows) for n in range(self.count)]
        until = [min(most, end * self.stride + self.kept - self.above) for end in ends]
        return list(zip([0, *until], until, strict=False))

    @property
    def gap(self) -> int:
        """In front of the strip, where the second's rows begin that are written over it: they reach
        neither what it still reads nor what the next strip needs."""
        if not self.is_added:
            return 0
        assert isinstance(self.behind, Kernel)
        layer = self.behind.layer
        window = layer.window
        strip = replace(
            window, begin=(0, window.begin[1]), end=(0, window.end[1]),
            input=(self.held, window.input[1]), output=(self.rows, window.output[1]),
        )  # fmt: skip
        x = replace(layer.x, shape=(*layer.x.shape[:2], *strip.input))
        distance = Tiles(replace(layer, window=strip, x=x), self.behind.is_shared).distance()
        over = self.rows * (self.written - self.stride * self.row_bytes)
        return -(-max(0, distance, over) // 16) * 16

    @property
    def work(self) -> int:
        return -(-(self.gap + self.held * self.row_bytes) // 16) * 16

    @property
    def scratch_bytes(self) -> int:
        return self.work + max(self.before.scratch_bytes, self.behind.scratch_bytes)

    @property
    def distance(self) -> int:
        """As `InPlace` has it: a strip's rows are written when those of what is between are made,
        and added element by element."""
        layer = self.before.layer
        window, read = layer.window, layer.window.input[1] * layer.x.shape[1]
        distance = 0 if self.is_added else -layer.x.bytes
        for strip, (_, until) in enumerate(self._made()[:-1]):
            row = max(0, until * window.strides[0] - window.begin[0])
            lowest = min(read * row, layer.x.bytes)
            end = (strip + 1) * self.rows * self.written
            distance = max(distance, end - (min(lowest, end) if self.is_added else lowest))
        return distance

    @property
    def cycles(self) -> float:
        assert isinstance(self.behind, Kernel)
        height = self.behind.layer.window.output[0]
        ends = [(n, min(height, n + self.rows)) for n in range(0, height, self.rows)]
        return self.cycles_before + _cycles(self.behind, ends)

    @property
    def cycles_before(self) -> float:
        """All but those of what is behind."""
        assert isinstance(self.before, Kernel)
        moved = self.count * (_STRIP_CYCLES + self.kept * self.row_bytes // 2)
        return moved + _cycles(self.before, self._made())


def _cycles(kernel: Kernel, strips: Sequence[tuple[int, int]]) -> float:
    """Of the rows of each strip: tiles of three outputs begin anew."""
    columns = kernel.layer.window.output[1]
    tiles = sum(-(-(end - begin) * columns // 3) for begin, end in strips)
    more = 1.0 if kernel.is_shared else max(1.0, tiles / kernel.tiles.count)
    return convolution.assemble(kernel).time(kernel.layer.target) * more


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A convolution with the one that alone reads it, and with their sum with its input."""
    before = kernel_of_rows(read(node))
    if before is None:
        return ""
    between = tables.middle(view, node)
    second = reader(view, between.layer)
    behind = None if second is None else kernel_of_rows(read(second))
    if second is None or behind is None:
        return ""
    sum_ = _sum(view, node, second)
    strips = Strips.of(before, behind, sum_ is not None)
    if strips is None or strips.scratch_bytes >= behind.layer.x.bytes:
        return ""
    nodes = [*between.nodes, second.node.id, *([sum_.layer.node.id] if sum_ else [])]
    return [_proposal(view.part(nodes), strips, between, sum_)]


def kernel_of_rows(layer: Convolution | str) -> Kernel | None:
    """The quickest that computes some rows of a layer; by wide weights, which take twice the flash,
    only where there is no other."""
    if isinstance(layer, str) or layer.is_depthwise or layer.groups > 1:
        return None
    if convolution.refusal(layer):
        return None
    is_shared = not SharedGather.refusal(layer) and _is_quicker_shared(layer)
    kernels = [Kernel(layer, is_shared=True, is_of_rows=True)] if is_shared else []
    kernels += [Kernel(layer, is_wide, is_of_rows=True) for is_wide in (False, True)]
    kernel = next((kernel for kernel in kernels if not kernel.product.refusal()), None)
    return kernel and convolution.fitting(kernel)


def _is_quicker_shared(layer: Convolution) -> bool:
    """Whether sharing columns is quicker, as for all rows, whose kernels are priced anyway."""
    kernels = [Kernel(layer, is_shared=is_shared) for is_shared in (True, False)]
    if any(kernel.product.refusal() for kernel in kernels):
        return True
    fitting = [convolution.fitting(kernel) for kernel in kernels]
    shared, other = (convolution.assemble(kernel).time(layer.target) for kernel in fitting)
    return shared <= other


def _sum(view: SubgraphView, first: Layer, second: Layer) -> SumLayer | None:
    edge, x = second.output.edge, first.input(0)
    layer = reader(view, second)
    if layer is None:
        return None
    if label(layer.domain, layer.op) not in addition.OPERATORS:
        return None
    edges = [operand.edge for operand in layer.inputs if operand is not None]
    shape = x.type.shape
    if {*edges} != {edge, x.edge} or shape != second.output.type.shape:
        return None
    # Words of eight elements are added: a row of the output has whole ones.
    if shape[1] * shape[-1] % 8:
        return None
    scaling = None if addition.refusal(layer) else addition.solve(layer.domain, layer.call)
    if scaling is None:
        return None
    types, walk = [layer.input(k).type for k in (0, 1)], Walk(layer.output.type.elements)
    code = addition.assemble(types, layer.output.type, scaling.shift, walk)
    return SumLayer(layer, scaling, walk, code, edges[0] == x.edge)


def _proposal(
    part: SubgraphView, strips: Strips, between: tables.Middle, sum_: SumLayer | None
) -> Proposal:
    assert isinstance(strips.before, Kernel) and isinstance(strips.behind, Kernel)
    kernels = (strips.before, strips.behind)
    assembled = [convolution.assemble(kernel) for kernel in kernels]
    stems = [stem_of(*pair) for pair in zip(kernels, assembled, strict=True)]
    streams = [np.concatenate([numbers(k), k.product.pack()]) for k in kernels]
    constants = [Constant("weights", streams[0]), Constant("more_weights", streams[1])]
    calls = [
        called(stem, kernel.layer.x, kernel.layer.y, code)
        for kernel, code, stem in zip(kernels, assembled, stems, strict=True)
    ]
    constants += between.constants
    title = between.titled(*("conv{}x{}".format(*k.layer.window.kernel) for k in kernels))
    if sum_ is not None:
        constants.append(_constants(strips, sum_))
        calls.append(pairs.called(sum_.layer, sum_.stem, sum_.code, sum_.walk))
        title += f" + {sum_.layer.op.lower()}"
    stem = "_".join(("conv_conv", *([sum_.layer.op.lower()] if sum_ else []), "strips_dsp"))
    body = body_of(strips, between, sum_, stems)
    added = sum_.code.time(sum_.layer.target) if sum_ else 0
    return driver(
        part, stem, (body, _CODE_BYTES), constants, [*calls, *between.called],
        f"{title} in strips",
        replacement=fused(part, "ConvolutionStrips", ID),
        macs=sum(k.layer.pixels * k.product.filters * k.layer.weights[0].size for k in kernels),
        cycles=strips.cycles + added + between.cycles,
        scratch_bytes=strips.scratch_bytes,
        in_place=[InPlace(0, 0, strips.distance)],
    )  # fmt: skip


def stem_of(kernel: Kernel, code: Assembly) -> str:
    """A name that functions of different code do not share."""
    rows, columns = kernel.layer.window.kernel
    return f"conv{rows}x{columns}_rows_{code.digest[:8]}_dsp"


def _constants(strips: Strips, sum_: SumLayer) -> Constant:
    """For a strip, and for the last one where that has fewer rows."""
    height = strips.behind.layer.window.output[0]
    rows = dict.fromkeys((strips.rows, height - (strips.count - 1) * strips.rows))
    sets = [addition.constants_of(sum_.scaling, Walk(n * strips.written)).value for n in rows]
    return Constant("constants", np.concatenate(sets))


def body_of(
    strips: Strips,
    between: tables.Middle,
    sum_: SumLayer | None,
    stems: Sequence[str],
    constants: Sequence[str] = ("weights", "more_weights"),
    asked: str = "",
) -> str:
    """The driver. stems, constants: of both kernels. asked: C that asks the first one for the rows
    from `made` to `until`, where it takes no range of rows; then the second one takes strips with
    zero points around the image."""
    before, behind = strips.before.layer, strips.behind.layer
    row, moved, step = strips.row_bytes, strips.rows * strips.stride, before.window.strides[0]
    made = [_sum_of(step, name, -before.window.begin[0]) for name in ("made", "until")]
    last = [_sum_of(strips.stride, name, -strips.above) for name in ("first", "last")]
    return KIT.render(
        "strips.c.j2",
        between_call=between.call("next", f"{row} * (until - made)"),
        strips=strips, row=row, written=strips.written, stems=stems, constants=constants,
        sum=sum_, into=before.x.dtype.c_type, middle=behind.x.dtype.c_type,
        convolved=behind.y.dtype.c_type,
        out_of=(sum_.layer.output.type if sum_ else behind.y).dtype.c_type,
        height=behind.window.output[0], between=behind.window.input[0],
        wanted=_sum_of(strips.stride, "last", strips.kept - strips.above),
        asked=asked, made=made, last=last if isinstance(strips.behind, Kernel) else None,
        zero=behind.x.scaling.zero_point[0] if asked else None,
        read=step * before.window.input[1] * before.x.shape[1],
        move="memcpy" if strips.kept <= moved else "memmove", moved=moved,
    )  # fmt: skip


def _sum_of(factor: int, name: str, addend: int) -> str:
    """C of a multiple of a variable and a number."""
    multiple = name if factor == 1 else f"{factor} * {name}"
    return f"{multiple} {'-' if addend < 0 else '+'} {abs(addend)}" if addend else multiple

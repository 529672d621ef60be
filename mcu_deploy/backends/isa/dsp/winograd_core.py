"""The assembler of Winograd's convolution: windows are transformed, multiplied, and put together.

Two filters times three windows are 6 sums; with 3 activations, 3 words of weights and two pointers
they fill all 14 registers. Of the 16 positions of a window the sums are not kept: of each row of
positions the middle two come first, then their sum and difference are what the outer two begin
with; so are sum and difference of the middle rows for the outer rows. What waits is in the FPU's
registers, a cycle away. Activations and weights lie in the order of that schedule, so that both
pointers only run forward.
"""

from __future__ import annotations

from collections.abc import Sequence

from mcu_deploy.backends.isa import Assembly, Kind, Label, Register
from mcu_deploy.backends.isa.dsp import winograd_windows as windows
from mcu_deploy.backends.isa.dsp.rounding import round_filters, round_otherwise, to_next
from mcu_deploy.backends.isa.dsp.tile import Sums, WordStep, join, multiply, numbered
from mcu_deploy.backends.isa.dsp.winograd_windows import (
    AT,
    FRAME,
    LEFT,
    NUMBERS,
    ROWS,
    TARGETS,
    Coverage,
    Shape,
    Windows,
)
from mcu_deploy.backends.quantized.tile_shapes import PIXELS

# The sums are so many times the convolution's.
LANES_LOG2 = 2
LANES = 1 << LANES_LOG2
_PIXELS = ("upper left", "upper right", "lower left", "lower right")

# Where a pixel's late sums are looked for, where sums are scaled, and where they are elements.
_Labels = tuple[Label, Label, Label]


class _Tile:
    """The registers of two filters and three windows.

    stream: where biases, weights and scales are read; position: V of the windows at one; v, u: of
    that two channels of each, and words of weights. held: six sums that waited in the FPU's
    registers, where difference, above and below are six each, two in a register: of a row's middle
    columns the difference; of the middle rows the sum, for the left and the right pixels above, and
    the difference, for those below. targets: in the frame, where the addresses in target are. In S
    registers, begin: of the stream; resumed: where it goes on behind late sums.
    """

    def __init__(self, code: Assembly, shape: Shape, coverage: Coverage, names: Windows) -> None:
        self.code, self.shape, self.coverage, self.names = code, shape, coverage, names
        self.stream, self.position, self.targets = code.registers("stream position targets")
        self.sums = Sums.of(code)
        self.biases = code.registers("even_bias odd_bias")
        self.scales = code.registers("even_scale even_addend odd_scale odd_addend")
        self.v = numbered(code, "v", PIXELS.rows)
        self.u = numbered(code, "u", PIXELS.words)
        self.held = numbered(code, "held", PIXELS.rows * PIXELS.filters)
        self.target = code.registers("target0 target1 target2")
        self.difference, *waiting = (
            code.registers(" ".join(f"{name}{n}" for n in range(3)), kind=Kind.DOUBLE)
            for name in ("difference", "above_left", "above_right", "below_left", "below_right")
        )
        self.above, self.below = waiting[:2], waiting[2:]
        self.begin, self.resumed = code.registers("stream_begin resumed", kind=Kind.SINGLE)


def assemble(shape: Shape, coverage: Coverage) -> Assembly:
    """The kernel: image, output, numbers and packed stream, scratch.

    y[p][f] = sat(round(factor[f] * (bias[f] + sum of w[f][t] x[p][t])) + zero), where 4 times the
    sum of four pixels is A' (sum over channels of U V) A. The stream and the scratch are as
    `_describe` says. Three windows are read before their outputs are written, so y may lie on x as
    far as no window that comes is written over (`Winograd.distance`).
    """
    code = Assembly()
    tile = _Tile(code, shape, coverage, names := Windows(code))
    frame, left, groups = names.frame, *code.registers("filters_left groups_left")
    describe(code, shape)
    begin(code, names, tile.begin)
    with code.repeat(coverage.groups):
        code.reads(2 * len(windows.POSITIONS) * shape.channels * shape.filters)
        code.add(names.into, frame, FRAME)
        windows.transform(code, shape, coverage, names)
        code.mov(left, shape.filters // 2)
        code.str(left, frame[LEFT])
        code.vmov(tile.stream, tile.begin)
        code.add(tile.position, frame, FRAME)
        _products(tile)
        code.vmov(frame, names.kept)
        code.ldr(groups, names.number("groups"))
        code.subs(groups, groups, 1)
        code.str(groups, names.number("groups"))
    return code


def begin(code: Assembly, names: Windows, kept: Register) -> None:
    """The numbers go to the frame; the stream behind them is kept."""
    x, y, weights, scratch = code.arguments("x y weights scratch")
    at, address = code.registers("numbers address")
    numbers = code.registers("number0 number1 number2 number3 number4 number5")
    code.vmov(names.kept, scratch)
    code.add(at, scratch, AT["groups"])
    for _ in range(len(NUMBERS) // len(numbers)):
        code.ldmia(weights.moving, numbers)
        code.stmia(at.moving, numbers)
    code.vmov(kept, weights)
    code.mov(names.frame, scratch)
    for name, base in (("source", x), ("target", y)):
        code.ldr(address, names.number(name))
        code.add(address, address, base)
        code.str(address, names.number(name))


def describe(code: Assembly, shape: Shape) -> None:
    code.note(
        "y[p][f] = sat(round(factor[f] * (bias[f] + sum of w[f][t] x[p][t])) + zero), of pixels p, "
        "filters f and 3x3 taps t, by Winograd's F(2x2, 3x3): 4 times the sums of 2x2 pixels are "
        "A' M A, M the sum over channels of U V, element by element, where U = 2G w (2G)' and, of "
        "a window d of 4x4 pixels, V = B' d B."
    )
    code.note("A' = 1 1 1 0, 0 1 -1 -1; B' = 1 0 -1 0, 0 1 1 0, 0 -1 1 0, 0 1 0 -1;")
    code.note("2G = 2 0 0, 1 1 1, 1 -1 1, 0 0 2, row by row.")
    code.note(
        "x and y: [row][column][channel]. weights: numbers of the layer, a word each, as the frame "
        "has them from `groups` on; then, of each two filters, f and the next one, g:"
    )
    code.note("4 bias[f]; 4 bias[g];")
    code.note(
        "of each position and each two channels a word of U[f] and one of U[g], in halves, -U "
        "where either the row or the column is 3. Rows are 1, 2, 0, 3, of each the columns 1, 2, "
        "0, 3; of four channels 0 and 2, then 1 and 3;"
    )
    code.note(
        "scale[f], addend[f], scale[g], addend[g]: (4 sum scale >> 32) + addend, shifted, is "
        "rounded as it has to be, for which the biases are a little moved."
    )
    if shape.rounds_twice:
        code.note(
            "Where there are no such integers: the multiplier of f, 0, that of g, and from bit 0 "
            "on the shifts of f and g, a byte each, and the zero point."
        )
    else:
        code.note(
            "If addend[f] is 0, three more for each sum that is rounded too late: 0 or 1 for f or "
            "g, 4 times the sum, addend[f], again 0 but for the last."
            + " Or 2: no integers round f and g; of the four words the first and the third are "
            "factors, the last one is the zero point." * (not shape.is_solved)
        )
    numbers = ", ".join(NUMBERS)
    if shape.together:
        chunks = f", {shape.chunks} chunks of channels" * (shape.chunks > 1)
        code.note(
            "scratch: the frame, a word each: six that no pass needs; pairs of filters that are "
            f"left; {numbers}. Then, of each window of a pass, where the second pixel of its "
            f"output is, and of the row below; V: of each position{chunks}, each three windows and "
            f"each two channels, as above, a word of each; of each position{chunks} and each "
            "window the sums of f and g; a patch of 4x4 pixels."
        )
        code.note(
            f"In place: the windows of a pass, {3 * shape.together}, are read before their outputs "
            "are written."
        )
        return
    code.note(
        "scratch: the frame, a word each: of each window where the second pixel of its output is; "
        f"the same of the row below; pairs of filters that are left; {numbers}. Then V "
        "of three windows: of each position and each two channels, as above, a word of each; a "
        "patch of 4x4 pixels."
    )
    code.note("In place: three windows are read before their outputs are written.")


def _products(tile: _Tile) -> None:
    """All filters, of the windows at `position` and the stream."""
    code, shape = tile.code, tile.shape
    after = code.label()
    labels: list[_Labels] = []
    pixels = iter(range(4))
    sums, held, stream = tile.sums.all, tile.held, tile.stream
    left = code.register("filters_left")
    code.note("Two filters: products of 16 positions, which give four outputs of each window.")
    with code.repeat(shape.filters // 2):
        code.ldmia(stream.moving, tile.biases)
        for row in ROWS:
            code.note(f"Row {row}, columns 1 and 2: their sum and difference.")
            _multiply(tile, tile.biases if row == 1 else (None, None))
            _keep(code, tile.difference, sums)
            _multiply(tile)
            _take(code, held, tile.difference)
            # a - b is 2 a - (a + b).
            for a, b in zip(sums, held, strict=True):
                code.rsb(b, a, b.lsl(1))
            _keep(code, tile.difference, held)
            for column, (above, below) in enumerate(zip(tile.above, tile.below, strict=True)):
                code.note(f"Row {row}, column {3 if column else 0}.")
                if column:
                    _take(code, sums, tile.difference)
                if row in (0, 3):
                    _take(code, held, below if row else above)
                    for a, b in zip(sums, held, strict=True):
                        code.add(a, a, b)
                _multiply(tile)
                if row == 2:
                    code.note("Of rows 1 and 2 the difference, for below, and the sum, for above.")
                    _take(code, held, above)
                    _add_and_subtract(code, sums, held)
                    _keep(code, below, held)
                if row in (1, 2):
                    _keep(code, above, sums)
                else:
                    labels.append(_round(tile, pixel := next(pixels)))
                    _store(tile, pixel)
        code.sub(tile.position, tile.position, shape.transformed_bytes)
        code.ldr(left, tile.targets[LEFT - TARGETS[1]])
        code.subs(left, left, 1)
        code.str(left, tile.targets[LEFT - TARGETS[1]])
    code.b(after)
    _slowly(tile, labels)
    code.place(after)


def _left(shape: Shape, pixel: int) -> int:
    """Bytes of the stream in front of scales and addends when a pixel is rounded."""
    return (5, 4, 1, 0)[pixel] * 4 * shape.channels


def _slowly(tile: _Tile, labels: Sequence[_Labels]) -> None:
    """Two filters without an addend (see `Pair`), for each pixel; but for the last one the stream
    goes back."""
    code, shape, unsolved_pairs = tile.code, tile.shape, tile.coverage.unsolved
    in_common, number = code.label(), code.register("pixel")
    for pixel, (slow, scale, _) in enumerate(labels):
        code.place(slow)
        unsolved = None if shape.is_solved else code.label()
        if not shape.rounds_twice:
            _late(tile, pixel, scale, unsolved)
        if unsolved is not None:
            with code.times(unsolved_pairs):
                code.place(unsolved)
                _back(tile, pixel)
                code.mov(number, pixel)
                if pixel < 3:
                    code.b(in_common)
    if shape.is_solved:
        return
    with code.times(4 * unsolved_pairs):
        code.place(in_common)
        code.note("No integers round these filters.")
        kept = code.register("pixel_kept", kind=Kind.SINGLE)
        if shape.rounds_twice:
            code.vmov(kept, number)
        lanes = LANES, LANES
        round_otherwise(code, shape.saturate, tile.sums, tile.scales, lanes, shape.rounds_twice)
        if shape.rounds_twice:
            code.vmov(number, kept)
        to = [ready for _, _, ready in labels]
        code.cmp(number, 1)
        code.blo(to[0])
        code.beq(to[1])
        code.cmp(number, 3)
        code.blo(to[2])
        code.b(to[3])


def _late(tile: _Tile, pixel: int, scale: Label, unsolved: Label | None) -> None:
    """Late sums of one pixel, by the words behind the scales."""
    code, late = tile.code, tile.coverage.late
    if left := _left(tile.shape, pixel):
        with code.times(late):
            code.vmov(tile.resumed, tile.stream)
            code.add(tile.stream, tile.stream, left + 16)

    def go_on() -> None:
        _back(tile, pixel)
        code.b(scale)

    lanes, addend = (LANES, LANES), tile.scales[1]
    to_next(code, tile.sums, tile.stream, addend, lanes, late, go_on, unsolved)


def _back(tile: _Tile, pixel: int) -> None:
    """The stream, to where it was before `_late`."""
    if _left(tile.shape, pixel) and not tile.shape.rounds_twice:
        tile.code.vmov(tile.stream, tile.resumed)


def _multiply(tile: _Tile, biases: Sequence[Register | None] = ()) -> None:
    """The six sums of one position of three windows and two filters. biases: of both filters, with
    which they begin, from 0 where one is None; they go on if there are none."""
    steps = [
        WordStep([of], tile.v, side == 0, biases[side : side + 1] if pair == 0 else ())
        for pair in range(tile.shape.channels // 2) for side, of in enumerate(tile.sums)
    ]  # fmt: skip
    multiply(tile.code, tile.position, tile.stream, steps, tile.u)


def _keep(code: Assembly, kept: Sequence[Register], six: Sequence[Register]) -> None:
    for n, two in enumerate(kept):
        code.vmov(two, six[2 * n], six[2 * n + 1])


def _take(code: Assembly, six: Sequence[Register], kept: Sequence[Register]) -> None:
    for n, two in enumerate(kept):
        code.vmov(six[2 * n], six[2 * n + 1], two)


def _add_and_subtract(code: Assembly, sums: Sequence[Register], held: Sequence[Register]) -> None:
    """What is held minus the sums, to what is held; their sum, to the sums."""
    for a, b in zip(sums, held, strict=True):
        code.sub(b, b, a)
    for a, b in zip(sums, held, strict=True):
        code.add(a, b, a.lsl(1))


def _round(tile: _Tile, pixel: int) -> _Labels:
    """The sums to elements."""
    code, shape, even_addend = tile.code, tile.shape, tile.scales[1]
    slow, scale, ready = (code.label() for _ in range(3))
    code.note(f"Each window's {_PIXELS[pixel]} output: scaled, shifted, saturated.")
    if left := _left(shape, pixel):
        at = code.register("scales")
        code.add(at, tile.stream, left)
        code.ldmia(at, tile.scales)
    else:
        code.ldmia(tile.stream.moving, tile.scales)
    code.cmp(even_addend, 0)
    code.beq(slow)
    code.place(scale)
    round_filters(code, shape.saturate, tile.sums, tile.scales, (shape.shift, shape.shift))
    code.place(ready)
    return slow, scale, ready


def _store(tile: _Tile, pixel: int) -> None:
    """Two filters of three windows. Behind a window's right pixels their addresses move on."""
    code = tile.code
    join(code, tile.sums, "window")
    code.vmov(tile.targets, tile.names.kept)
    if pixel > 1:
        code.add(tile.targets, tile.targets, TARGETS[1])
    code.ldmia(tile.targets, tile.target)
    for even, target in zip(tile.sums.even, tile.target, strict=True):
        code.strh(even, target.after(2) if pixel % 2 else target[-tile.shape.filters])
    if pixel % 2:
        code.stmia(tile.targets, tile.target)

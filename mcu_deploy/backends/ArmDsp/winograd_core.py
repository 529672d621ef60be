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
from dataclasses import dataclass
from enum import Enum, auto

from mcu_deploy.backends.ArmDsp.six_sums_text import EVEN, ODD, round_in_float, round_twice, to_next
from mcu_deploy.backends.isa import Assembly

_ROWS = (1, 2, 0, 3)  # the order of the schedule, of columns too
POSITIONS = tuple((row, column) for row in _ROWS for column in _ROWS)
# The sums are so many times the convolution's.
LANES_LOG2 = 2
LANES = 1 << LANES_LOG2
# Of four channels, as SXTB16 widens them.
ORDER = (0, 2, 1, 3)

_SUMS, _OTHERS = (*EVEN, *ODD), tuple(f"r{n}" for n in range(6, 12))
_X, _W = ("r6", "r7", "r8"), ("r9", "r10", "r11")
# Six values each, in d registers; s0 and s1 are for two addresses.
_DIFFERENCE, _ABOVE, _BELOW = 1, (4, 7), (10, 13)
_FREE = _ABOVE[0]  # when outputs are rounded

# The frame, at s0: the addresses of the second pixel of each window's output, and of the one below
# it, how many pairs of filters are left, the layer's numbers.
NUMBERS = (
    "groups", "source", "column", "row", "target", "last column", "last row", "wrap",
    "target wrap", "first column", "pitch", "target pitch", "three pitches", "columns inside",
    "rows inside", "width", "height", "zeros",
)  # fmt: skip
_TARGETS, _LEFT = (0, 12), 24
_AT = {name: 28 + 4 * index for index, name in enumerate(NUMBERS)}
FRAME = 28 + 4 * len(NUMBERS)  # its bytes, behind which the transformed windows lie


# Where a pixel's late sums are looked for, where sums are scaled, and where they are elements.
_Labels = tuple[str, str, str]


class _Start(Enum):
    """What sums begin with."""

    ZERO = auto()
    BIAS = auto()  # in r2 and r5
    SUMS = auto()


@dataclass(frozen=True)
class Shape:
    """What a function is made for. shift: of the scaled sums; extend: the instruction that widens
    bytes 0 and 2 of the input; saturate: SSAT or USAT; rounds_twice: as TFLite does; is_solved:
    whether code knows that integers round all filters (`Product.is_solved`)."""

    channels: int
    filters: int
    shift: int
    extend: str
    saturate: str
    rounds_twice: bool
    is_solved: bool

    @property
    def position_bytes(self) -> int:
        """Of three windows, at one position."""
        return 6 * self.channels

    @property
    def transformed_bytes(self) -> int:
        return len(POSITIONS) * self.position_bytes

    @property
    def patch_bytes(self) -> int:
        return 16 * self.channels


@dataclass(frozen=True)
class Coverage:
    """How often what is run. groups: of three windows; windows: without those that fill the last
    group; border: of these leave the image, and have so many rows and columns inside in the mean;
    width: of the output; late, unsolved: sums and pairs of
    filters of a group (`Pair`)."""

    groups: int
    windows: int
    border: int
    width: int
    border_rows: float
    border_columns: float
    late: float
    unsolved: float


def assemble(shape: Shape, coverage: Coverage) -> Assembly:
    """The kernel. r0: the image, r1: output, r2: numbers and packed stream, r3: scratch.

    s0: the frame; s1: the stream.
    """
    code = Assembly()
    code.note("s0: the state, with the layer's numbers; s1: the weights.")
    code("vmov s0, r3", f"add lr, r3, #{_AT['groups']}")
    for _ in range(len(NUMBERS) // 6):
        code("ldmia r2!, {r4-r9}", "stmia lr!, {r4-r9}")
    code("vmov s1, r2", "mov r12, r3")
    for name, base in (("source", "r0"), ("target", "r1")):
        code(f"ldr r4, {_number(name)}", f"add r4, r4, {base}", f"str r4, {_number(name)}")
    done = code.label()
    with code.repeat(coverage.groups):
        code.note("Three windows of 4x4 pixels, transformed: two channels a word, of all three.")
        code(f"add lr, r12, #{FRAME}")
        _windows(code, shape, coverage)
        code(f"mov r4, #{shape.filters // 2}", f"str r4, [r12, #{_LEFT}]")
        code("vmov lr, s1", f"add r12, r12, #{FRAME}")
        _products(code, shape, coverage)
        code("vmov r12, s0", f"ldr r4, {_number('groups')}")
        code("subs r4, r4, #1", f"str r4, {_number('groups')}")
    code.place(done)
    return code


def _number(name: str) -> str:
    """Of the frame at r12."""
    return f"[r12, #{_AT[name]}]"


def _windows(code: Assembly, shape: Shape, coverage: Coverage) -> None:
    """Transforms three windows to lr, of the frame at r12, where it is afterwards."""
    channels, filters = shape.channels, shape.filters
    patched, ready, at_end, store, stay, after = (code.label() for _ in range(6))
    border = coverage.border / coverage.windows
    ends = 2 / (coverage.width + coverage.width % 2)
    with code.repeat(3):
        code(f"add r10, r12, #{_AT['source']}", "ldmia r10, {r0-r3}")
        code(f"str r3, [lr, #{_TARGETS[0] - FRAME}]", f"ldr r4, {_number('target pitch')}")
        code("add r3, r3, r4", f"str r3, [lr, #{_TARGETS[1] - FRAME}]")
        code(f"ldr r4, {_number('columns inside')}", f"ldr r5, {_number('rows inside')}")
        code("cmp r1, r4", "it lo", "cmplo r2, r5", f"bhs {patched}f")
        with code.times(1 - border):
            code(f"ldr r4, {_number('pitch')}", f"ldr r5, {_number('three pitches')}")
            code("vmov s2, s3, r4, r5", "mov r12, r0")
        code.place(ready)
        code(f"add r4, r12, #{channels}", "vmov s4, r4")
        with code.repeat(channels // 4):
            _transform(code, shape)
            code("add r12, r12, #4", "vmov r6, s4", "cmp r12, r6")
        code(f"sub lr, lr, #{shape.position_bytes - 4}", "vmov r12, s0")
        code(f"add r11, r12, #{_AT['source']}", "ldmia r11, {r0-r10}")
        code("cmp r1, r4", f"beq {at_end}f")
        with code.times(1 - ends):
            code("add r1, r1, #2", f"add r0, r0, #{2 * channels}", f"add r3, r3, #{2 * filters}")
            code("cmp r1, r4", "ittt gt", "subgt r1, r1, #1", f"subgt r0, r0, #{channels}")
            code(f"subgt r3, r3, #{filters}")
        code.place(store)
        code("stmia r11, {r0-r3}")
        code.place(stay)
        code(f"add r4, r12, #{FRAME + 12}", "cmp lr, r4")
    code(f"b {after}f")
    with code.times(3 * ends):
        # The next row of windows. Behind the last one of all it comes again, for nobody.
        code.place(at_end)
        code("cmp r2, r5", f"beq {stay}b")
        code("mov r1, r8", "add r2, r2, #2", "add r0, r0, r6", "add r3, r3, r7", "cmp r2, r5")
        code("ittt gt", "subgt r2, r2, #1", "subgt r0, r0, r9", "subgt r3, r3, r10")
        code(f"b {store}b")
    code.place(patched)
    with code.times(3 * border):
        _patch(code, shape, coverage)
        code(f"b {ready}b")
    code.place(after)


def _patch(code: Assembly, shape: Shape, coverage: Coverage) -> None:
    """Copies a window that begins at r0, in the column r1 and the row r2, to its patch: r12."""
    pixel = shape.channels
    unit, data = (16, "{r9-r12}") if pixel % 16 == 0 else (4, "{r9}")
    code.note("A window that leaves the image is copied, with the zero point around it.")
    copied = round(coverage.border_columns * pixel / unit)
    nothing, skipped = code.label(), code.label()
    code(f"movw r8, #{FRAME + shape.transformed_bytes}", "add r8, r12, r8")
    code(f"ldr r4, {_number('zeros')}", "mov r5, r4", "mov r6, r4", "mov r7, r4", "mov r9, r8")
    code(f"add r10, r8, #{shape.patch_bytes}")
    with code.repeat(shape.patch_bytes // 16):
        code("stmia r9!, {r4-r7}", "cmp r9, r10")
    # The columns from r5 on are inside, r3 bytes of them.
    code("rsb r5, r1, #0", "bic r5, r5, r5, asr #31", f"ldr r3, {_number('width')}")
    code("sub r3, r3, r1", "cmp r3, #4", "it gt", "movgt r3, #4", "subs r3, r3, r5")
    code(f"ble {nothing}f", f"mov r4, #{pixel}", "mul r3, r3, r4", "mul r5, r5, r4")
    code("add r0, r0, r5", "add r1, r8, r5")
    code("add r6, r2, #4", "vmov s2, r6", f"ldr r4, {_number('pitch')}")
    code(f"ldr r5, {_number('height')}")
    with code.repeat(4):
        code("cmp r2, r5", f"bhs {skipped}f")
        with code.times(coverage.border_rows / 4):
            code("mov r6, r3", "mov r7, r0", "mov r8, r1")
            with code.repeat(max(1, copied)):
                code(f"ldmia r7!, {data}" if unit == 16 else "ldr r9, [r7], #4")
                code(f"stmia r8!, {data}" if unit == 16 else "str r9, [r8], #4")
                code(f"subs r6, r6, #{unit}")
        code.place(skipped)
        code("add r0, r0, r4", f"add r1, r1, #{4 * pixel}", "add r2, r2, #1")
        code("vmov r6, s2", "cmp r2, r6")
    code.place(nothing)
    code("vmov r12, s0", f"movw r8, #{FRAME + shape.transformed_bytes}", "add r12, r12, r8")
    code(f"mov r4, #{4 * pixel}", f"mov r5, #{12 * pixel}", "vmov d1, r4, r5")


def _transform(code: Assembly, shape: Shape) -> None:
    """Four channels of the window at r12, whose rows are s2 bytes apart (s3: three times that), to
    lr, two channels in a word."""
    of = {position: index * shape.position_bytes for index, position in enumerate(POSITIONS)}
    for half in ("", ", ror #8"):
        code("vmov r4, s2", "add r11, r12, r4")
        _widen(code, shape, half, "r11", 0)
        code("add r11, r11, r4")
        _widen(code, shape, half, "r11", 4)
        at = 0
        for row in _ROWS:
            if row == 3:
                code("vmov r11, s3", "add r11, r12, r11")
            if row in (0, 3):
                _widen(code, shape, half, "r11" if row else "r12", 8)
            for n in range(4):
                code({
                    0: f"ssub16 r{8 + n}, r{8 + n}, r{4 + n}",
                    1: f"sadd16 r{8 + n}, r{n}, r{4 + n}",
                    2: f"ssub16 r{8 + n}, r{4 + n}, r{n}",
                    3: f"ssub16 r{8 + n}, r{n}, r{8 + n}",
                }[row])  # fmt: skip
            first = min(of[row, column] for column in range(4))
            if first - at > 4095 - 4 * shape.position_bytes:
                code(f"add lr, lr, #{first - at}")
                at = first
            code("ssub16 r8, r8, r10", f"str r8, [lr, #{of[row, 0] - at}]")
            code("sadd16 r8, r9, r10", f"str r8, [lr, #{of[row, 1] - at}]")
            code("ssub16 r10, r10, r9", f"str r10, [lr, #{of[row, 2] - at}]")
            code("ssub16 r9, r9, r11", f"str r9, [lr, #{of[row, 3] - at}]")
        code(f"sub lr, lr, #{at - 12}" if at > 12 else f"add lr, lr, #{12 - at}")


def _widen(code: Assembly, shape: Shape, half: str, row: str, first: int) -> None:
    """Two channels of a row's four pixels, to registers from `first` on."""
    code(*(f"ldr r{first + n}, [{row}, #{n * shape.channels}]" for n in range(4)))
    code(*(f"{shape.extend} r{first + n}, r{first + n}{half}" for n in range(4)))


def _products(code: Assembly, shape: Shape, coverage: Coverage) -> None:
    """All filters, of the windows at r12 and the stream at lr."""
    after = code.label()
    labels: list[_Labels] = []
    pixels = iter(range(4))
    code.note("Two filters: products of 16 positions, which give four outputs of each window.")
    with code.repeat(shape.filters // 2):
        code("ldmia lr!, {r2, r5}")
        for row in _ROWS:
            _multiply(code, shape, _Start.BIAS if row == 1 else _Start.ZERO)
            _put(code, _DIFFERENCE, _SUMS)
            _multiply(code, shape, _Start.SUMS)
            _take(code, _DIFFERENCE, _OTHERS)
            # a - b is 2 a - (a + b).
            code(*(f"rsb {b}, {a}, {b}, lsl #1" for a, b in zip(_SUMS, _OTHERS, strict=True)))
            _put(code, _DIFFERENCE, _OTHERS)
            for column, (above, below) in enumerate(zip(_ABOVE, _BELOW, strict=True)):
                if column:
                    _take(code, _DIFFERENCE, _SUMS)
                if row in (0, 3):
                    _take(code, below if row else above, _OTHERS)
                    code(*(f"add {a}, {a}, {b}" for a, b in zip(_SUMS, _OTHERS, strict=True)))
                _multiply(code, shape, _Start.SUMS)
                if row == 2:
                    _take(code, above, _OTHERS)
                    _add_and_subtract(code)
                    _put(code, below, _OTHERS)
                if row in (1, 2):
                    _put(code, above, _SUMS)
                else:
                    labels.append(_round(code, shape, pixel := next(pixels)))
                    _store(code, shape, pixel)
        code(f"sub r12, r12, #{shape.transformed_bytes}")
        code(f"ldr r10, [r9, #{_LEFT - _TARGETS[1]}]", "subs r10, r10, #1")
        code(f"str r10, [r9, #{_LEFT - _TARGETS[1]}]")
    code(f"b {after}f")
    _slowly(code, shape, coverage, labels)
    code.place(after)


def _left(shape: Shape, pixel: int) -> int:
    """Bytes of the stream in front of scales and addends when a pixel is rounded."""
    return (5, 4, 1, 0)[pixel] * 4 * shape.channels


def _slowly(code: Assembly, shape: Shape, coverage: Coverage, labels: Sequence[_Labels]) -> None:
    """Two filters without an addend (see `Pair`), for each pixel; but for the last one the stream
    goes back."""
    in_common = code.label()
    for pixel, (slow, scale, _) in enumerate(labels):
        code.place(slow)
        back, unsolved = [], "" if shape.is_solved else code.label()
        if not shape.rounds_twice:
            if left := _left(shape, pixel):
                with code.times(coverage.late):
                    code(f"vmov s{2 * _FREE}, lr", f"add lr, lr, #{left + 16}")
                back = [f"vmov lr, s{2 * _FREE}"]
            to_next(code, (LANES, LANES), coverage.late, (*back, f"b {scale}b"), unsolved)
        if unsolved:
            with code.times(coverage.unsolved):
                code.place(unsolved)
                code(*back, f"mov r11, #{pixel}", *([f"b {in_common}f"] if pixel < 3 else []))
    if shape.is_solved:
        return
    with code.times(4 * coverage.unsolved):
        code.place(in_common)
        code("mov r7, r6")
        if shape.rounds_twice:
            code(f"vmov s{2 * _FREE}, r11")
            round_twice(code, shape.saturate, (LANES_LOG2, LANES_LOG2))
            code(f"vmov r11, s{2 * _FREE}")
        else:
            round_in_float(code, shape.saturate, _FREE)
        to = [ready for _, _, ready in labels]
        code("cmp r11, #1", f"blo {to[0]}b", f"beq {to[1]}b", "cmp r11, #3")
        code(f"blo {to[2]}b", f"b {to[3]}b")


def _multiply(code: Assembly, shape: Shape, start: _Start) -> None:
    """The six sums of one position of three windows and two filters."""
    words = [(pair, sums) for pair in range(shape.channels // 2) for sums in (EVEN, ODD)]
    for first in range(0, len(words), 3):
        taken = words[first : first + 3]
        names = ", ".join(_W[: len(taken)])
        code(f"ldmia lr!, {{{names}}}" if len(taken) > 1 else f"ldr {names}, [lr], #4")
        for word, (pair, sums) in zip(_W, taken, strict=False):
            if sums is EVEN:
                code("ldmia r12!, {r6-r8}")
            for acc, x in zip(sums, _X, strict=True):
                if pair == 0 and start is _Start.ZERO:
                    code(f"smuad {acc}, {word}, {x}")
                else:
                    begin = sums[2] if pair == 0 and start is _Start.BIAS else acc
                    code(f"smlad {acc}, {word}, {x}, {begin}")


def _put(code: Assembly, d: int, registers: tuple[str, ...]) -> None:
    code(*(f"vmov d{d + n // 2}, {registers[n]}, {registers[n + 1]}" for n in (0, 2, 4)))


def _take(code: Assembly, d: int, registers: tuple[str, ...]) -> None:
    code(*(f"vmov {registers[n]}, {registers[n + 1]}, d{d + n // 2}" for n in (0, 2, 4)))


def _add_and_subtract(code: Assembly) -> None:
    """The others minus the sums, to the others; their sum, to the sums."""
    code(*(f"sub {b}, {b}, {a}" for a, b in zip(_SUMS, _OTHERS, strict=True)))
    code(*(f"add {a}, {b}, {a}, lsl #1" for a, b in zip(_SUMS, _OTHERS, strict=True)))


def _round(code: Assembly, shape: Shape, pixel: int) -> _Labels:
    """The sums to elements."""
    slow, scale, ready = (code.label() for _ in range(3))
    code.note(f"Output {pixel} of each window: scaled, shifted, saturated.")
    if left := _left(shape, pixel):
        code(f"add r6, lr, #{left}", "ldmia r6, {r6-r9}")
    else:
        code("ldmia lr!, {r6-r9}")
    code("cmp r7, #0", f"beq {slow}f")
    code.place(scale)
    for sums, factor, addend in ((EVEN, "r6", "r7"), (ODD, "r8", "r9")):
        code(*(f"smmla {acc}, {acc}, {factor}, {addend}" for acc in sums))
        code(*(f"{shape.saturate} {acc}, #8, {acc}, asr #{shape.shift}" for acc in sums))
    code.place(ready)
    return slow, scale, ready


def _store(code: Assembly, shape: Shape, pixel: int) -> None:
    """Two filters of three windows. Behind a window's right pixels their addresses move on."""
    code(*(f"bfi {even}, {odd}, #8, #8" for even, odd in zip(EVEN, ODD, strict=True)))
    code("vmov r9, s0")
    if pixel > 1:
        code(f"add r9, r9, #{_TARGETS[1]}")
    code("ldmia r9, {r6-r8}")
    if pixel % 2:
        code(*(f"strh {acc}, [{at}], #2" for acc, at in zip(EVEN, _X, strict=True)))
        code("stmia r9, {r6-r8}")
    else:
        code(*(f"strh r{n}, [r{6 + n}, #-{shape.filters}]" for n in range(3)))

"""The windows of Winograd's convolution: three at a time are transformed, V = B' d B of 4x4 pixels.

Windows lie two pixels apart, in rows; the last of a row and the last row are where the output ends.
Where the next one is stays in a frame at the scratch's begin, with the numbers of the layer. A
window that leaves the image is copied to a patch first, with the zero point around it.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass

from mcu_deploy.backends.isa import Assembly, Kind, Memory, Register
from mcu_deploy.backends.isa.dsp.patches import copy_window

ROWS = (1, 2, 0, 3)  # of V, in the order of the schedule; of columns too
POSITIONS = tuple((row, column) for row in ROWS for column in ROWS)
# Of four channels, as SXTB16 widens them.
ORDER = (0, 2, 1, 3)

# The frame: of each window the addresses of the second pixel of its output, and of the one below
# it; how many pairs of filters are left; the layer's numbers.
NUMBERS = (
    "groups", "source", "column", "row", "target", "last column", "last row", "wrap",
    "target wrap", "first column", "pitch", "target pitch", "three pitches", "columns inside",
    "rows inside", "width", "height", "zeros",
)  # fmt: skip
TARGETS, LEFT = (0, 12), 24
AT = {name: 28 + 4 * index for index, name in enumerate(NUMBERS)}
FRAME = 28 + 4 * len(NUMBERS)  # its bytes, behind which the transformed windows lie
# Of a window in a pass of several groups: the two addresses, which lie behind the frame then; and
# the sums of three windows at a position.
TARGET_BYTES, WAITING_BYTES = 8, 24


@dataclass(frozen=True)
class Shape:
    """What a function is made for. shift: of the scaled sums; extend: the instruction that widens
    bytes 0 and 2 of the input; saturate: SSAT or USAT; rounds_twice: as TFLite does; is_solved:
    whether code knows that integers round all filters (`DenseProduct.is_solved`). together: so many
    groups of three windows are a pass of winograd_groups.py, which multiplies the channels of a
    position in so many chunks, and of each in so many rounds; 0 where there are no passes."""

    channels: int
    filters: int
    shift: int
    extend: str
    saturate: str
    rounds_twice: bool
    is_solved: bool
    together: int = 0
    chunks: int = 1
    rounds: int = 1

    @property
    def pairs(self) -> int:
        """Of channels, in a chunk."""
        return self.channels // 2 // self.chunks

    @property
    def step_bytes(self) -> int:
        """Of the windows of a pass, a chunk at one position."""
        return 12 * self.pairs * max(1, self.together)

    @property
    def position_bytes(self) -> int:
        return self.chunks * self.step_bytes

    @property
    def transformed_bytes(self) -> int:
        return len(POSITIONS) * self.position_bytes

    @property
    def waiting_bytes(self) -> int:
        """Of the sums of a pass."""
        return len(POSITIONS) * self.chunks * self.together * WAITING_BYTES

    @property
    def windows_at(self) -> int:
        """Where the transformed windows lie in the scratch, behind which there are the sums and the
        patch."""
        return FRAME + 3 * self.together * TARGET_BYTES

    @property
    def waiting_at(self) -> int:
        return self.windows_at + self.transformed_bytes

    @property
    def patch_at(self) -> int:
        return self.waiting_at + self.waiting_bytes

    @property
    def scratch_bytes(self) -> int:
        return self.patch_at + self.patch_bytes

    @property
    def patch_bytes(self) -> int:
        return 16 * self.channels


@dataclass(frozen=True)
class Coverage:
    """How often what is run. groups: of three windows; passes: of groups; windows: without those
    that fill the last group; border: of these leave the image, and have so many rows and columns
    inside in the mean; width: of the output; late, unsolved: sums and pairs of filters of a group
    (`Pair`)."""

    groups: int
    passes: int
    windows: int
    border: int
    width: int
    border_rows: float
    border_columns: float
    late: float
    unsolved: float


class Windows:
    """The registers of windows.

    frame: its address, and where the FPU keeps it; into: where V of a window goes. source: its
    first byte, in the image or in the patch, then its next channels; column, row: where in the
    image it begins; target: the second pixel of its output. pitch, three_pitches: bytes from a row
    to the next one, and from the first to the last one. targets, stop: in S registers, where the
    next addresses of outputs go and where V of a group's last window ends, where there are passes.
    channels_end: of all chunks. x1, x2, outer: the window's pixels in the
    rows 1, 2, and 0 or 3; t: a row of B' d; v: an element of V.
    """

    def __init__(self, code: Assembly, is_grouped: bool = False) -> None:
        self.is_grouped = is_grouped
        self.targets, self.stop, self.channels_end = code.registers(
            "targets_kept group_end channels_end", kind=Kind.SINGLE
        )
        self.frame, self.into = code.registers("frame into")
        self.kept = code.register("frame_kept", kind=Kind.SINGLE)
        self.source, self.column, self.row, self.target = code.registers("source column row target")
        self.pitch, self.three_pitches = code.registers("pitch three_pitches")
        self.pitches = code.register("pitches", kind=Kind.DOUBLE)
        self.kept_pitches = self.pitches.halves
        self.end = code.register("end_kept", kind=Kind.SINGLE)
        self.line, self.v = code.registers("line v")
        self.x1, self.x2, self.outer, self.t = (
            code.registers(" ".join(f"{name}{n}" for n in range(4)))
            for name in ("x1", "x2", "outer", "t")
        )

    def number(self, name: str) -> Memory:
        """Of the frame."""
        return self.frame[AT[name]]


def transform(code: Assembly, shape: Shape, coverage: Coverage, names: Windows) -> None:
    """Three windows, to `into`, which is FRAME behind the frame where there are no passes; that is
    lost and found again."""
    channels, filters = shape.channels, shape.filters
    source, column, row, target = here = (names.source, names.column, names.row, names.target)
    into, frame, number = names.into, names.frame, names.number
    patched, ready, at_end, store, stay, after = (code.label() for _ in range(6))
    border = coverage.border / coverage.windows
    ends = 2 / (coverage.width + coverage.width % 2)
    state, columns, rows = code.registers("state columns_inside rows_inside")
    into_end, targets = code.registers("into_end targets")
    last_column, last_row, wrap, target_wrap, first_column, target_pitch = code.registers(
        "last_column last_row wrap target_wrap first_column target_pitch"
    )
    code.note("Three windows of 4x4 pixels to V = B' d B: two channels a word, of all three.")
    if names.is_grouped:
        code.add(into_end, into, 12)
        code.vmov(names.stop, into_end)
    with code.repeat(3):
        code.add(state, frame, AT["source"])
        code.ldmia(state, here)
        if names.is_grouped:
            code.ldr(target_pitch, number("target pitch"))
            code.vmov(targets, names.targets)
            code.add(target_pitch, target_pitch, target)
            code.strd(target, target_pitch, targets.after(TARGET_BYTES))
            code.vmov(names.targets, targets)
        else:
            code.str(target, into[TARGETS[0] - FRAME])
            code.ldr(target_pitch, number("target pitch"))
            code.add(target, target, target_pitch)
            code.str(target, into[TARGETS[1] - FRAME])
        code.ldr(columns, number("columns inside"))
        code.ldr(rows, number("rows inside"))
        code.cmp(column, columns)
        code.it("lo")
        code.cmplo(row, rows)
        code.bhs(patched)
        with code.times(1 - border):
            code.ldr(names.pitch, number("pitch"))
            code.ldr(names.three_pitches, number("three pitches"))
            code.vmov(*names.kept_pitches, names.pitch, names.three_pitches)
        code.place(ready)
        _channels(code, shape, names)
        code.vmov(frame, names.kept)
        code.add(state, frame, AT["source"])
        moves = last_column, last_row, wrap, target_wrap, first_column, names.pitch, target_pitch
        code.ldmia(state, [*here, *moves])
        code.cmp(column, last_column)
        code.beq(at_end)
        with code.times(1 - ends):
            code.add(column, column, 2)
            code.add(source, source, 2 * channels)
            code.add(target, target, 2 * filters)
            code.cmp(column, last_column)
            code.ittt("gt")
            code.subgt(column, column, 1)
            code.subgt(source, source, channels)
            code.subgt(target, target, filters)
        code.place(store)
        code.stmia(state, here)
        code.place(stay)
        if names.is_grouped:
            code.vmov(into_end, names.stop)
        else:
            code.add(into_end, frame, FRAME + 12)
        code.cmp(into, into_end)
    code.b(after)
    with code.times(3 * ends):
        code.note("The next row of windows. Behind the last one of all it comes again, for nobody.")
        code.place(at_end)
        code.cmp(row, last_row)
        code.beq(stay)
        code.mov(column, first_column)
        code.add(row, row, 2)
        code.add(source, source, wrap)
        code.add(target, target, target_wrap)
        code.cmp(row, last_row)
        code.ittt("gt")
        code.subgt(row, row, 1)
        code.subgt(source, source, names.pitch)
        code.subgt(target, target, target_pitch)
        code.b(store)
    code.place(patched)
    with code.times(3 * border):
        _patch(code, shape, coverage, names)
        code.b(ready)
    code.place(after)


def _channels(code: Assembly, shape: Shape, names: Windows) -> None:
    """V of one window, behind which `into` is where that of the next one goes."""
    source, into, end = names.source, names.into, code.register("channels_end")
    if shape.chunks > 1:
        code.add(end, source, shape.channels)
        code.vmov(names.channels_end, end)
    of_chunk = 12 * shape.pairs
    with code.repeat(shape.chunks) if shape.chunks > 1 else nullcontext():
        code.add(end, source, 2 * shape.pairs)
        code.vmov(names.end, end)
        with code.repeat(shape.pairs // 2):
            _four_channels(code, shape, names)
            code.add(source, source, 4)
            code.vmov(end, names.end)
            code.cmp(source, end)
        if shape.chunks > 1:
            if shape.step_bytes > of_chunk:
                code.add(into, into, shape.step_bytes - of_chunk)
            code.vmov(end, names.channels_end)
            code.cmp(source, end)
    code.note("To the next window, two columns on, or at the end of the row to the next row.")
    code.sub(into, into, (shape.position_bytes if shape.chunks > 1 else of_chunk) - 4)


def _patch(code: Assembly, shape: Shape, coverage: Coverage, names: Windows) -> None:
    """Copies the window at `source` to the patch, which is the window then."""
    pixel, at_patch, patch = shape.channels, shape.patch_at, code.register("patch")
    unit = 16 if pixel % 16 == 0 else 4
    code.note("A window that leaves the image is copied, with the zero point around it.")
    code.movw(patch, at_patch)
    code.add(patch, names.frame, patch)
    numbers: dict[str, Memory | int] = {
        **{name: names.number(name) for name in ("zeros", "width", "height")},
        "down the image": names.number("pitch"), "row of a patch": 4 * pixel,
        "patch": shape.patch_bytes, "span": 4, "rows": 4, "channels": pixel,
    }  # fmt: skip
    # Of the rows and columns of a window so many are inside.
    width = coverage.border_rows / 4 * coverage.border_columns * pixel / unit
    place = names.source, names.column, names.row
    copy_window(code, place, patch, numbers, unit, (shape.patch_bytes, width, 4))
    code.vmov(names.frame, names.kept)
    code.movw(patch, at_patch)
    code.add(names.source, names.frame, patch)
    code.mov(names.pitch, 4 * pixel)
    code.mov(names.three_pitches, 12 * pixel)
    code.vmov(names.pitches, names.pitch, names.three_pitches)


def _four_channels(code: Assembly, shape: Shape, names: Windows) -> None:
    """V of four channels of the window, two in a word, to `into`, which moves on."""
    of = {position: index * shape.position_bytes for index, position in enumerate(POSITIONS)}
    x1, x2, outer, t = names.x1, names.x2, names.outer, names.t
    into, line, v = names.into, names.line, names.v
    pitch, three_pitches = names.kept_pitches
    for is_odd in (False, True):
        code.note(f"Of four channels {'1 and 3' if is_odd else '0 and 2'}.")
        code.vmov(names.pitch, pitch)
        code.add(line, names.source, names.pitch)
        _widen(code, shape, line, x1, is_odd)
        code.add(line, line, names.pitch)
        _widen(code, shape, line, x2, is_odd)
        at = 0
        for row in ROWS:
            if row == 3:
                code.vmov(line, three_pitches)
                code.add(line, names.source, line)
            if row in (0, 3):
                _widen(code, shape, line if row else names.source, outer, is_odd)
            code.note(f"Row {row} of V.")
            for n in range(4):
                if row == 1:
                    code.sadd16(t[n], x1[n], x2[n])
                else:
                    less = {0: (outer, x2), 2: (x2, x1), 3: (x1, outer)}[row]
                    code.ssub16(t[n], less[0][n], less[1][n])
            first = min(of[row, column] for column in range(4))
            if first - at > 4095 - 4 * shape.position_bytes:
                code.add(into, into, first - at)
                at = first
            code.ssub16(v, t[0], t[2])
            code.str(v, into[of[row, 0] - at])
            code.sadd16(v, t[1], t[2])
            code.str(v, into[of[row, 1] - at])
            code.ssub16(v, t[2], t[1])
            code.str(v, into[of[row, 2] - at])
            code.ssub16(v, t[1], t[3])
            code.str(v, into[of[row, 3] - at])
        code.offset(into, 12 - at, v)


def _widen(
    code: Assembly, shape: Shape, line: Register, into: Sequence[Register], is_odd: bool
) -> None:
    """The channels 0 and 2 of a row's four pixels, or 1 and 3."""
    for n, pixel in enumerate(into):
        code.ldr(pixel, line[n * shape.channels])
    for pixel in into:
        getattr(code, shape.extend)(pixel, pixel.ror(8) if is_odd else pixel)

"""Filling the planes of depthwise kernels: four channels of an image become lines of int16."""

from __future__ import annotations

from collections.abc import Callable

from mcu_deploy.backends.isa import Assembly, Kind, Register
from mcu_deploy.backends.isa.dsp.fours import Fours
from mcu_deploy.backends.quantized.layers import Convolution
from mcu_deploy.backends.quantized.lines import LANES, PAIR, REACH, BareLines, Lines

PIXEL_BYTES = 4  # of the words in front of the taps
MOST_UNROLLED = 6  # pairs of pixels


def unrolled(count: int, most: int = MOST_UNROLLED) -> tuple[int, int]:
    """(steps of an iteration, iterations) for a loop of up to `count` steps, of which `most` are
    unrolled."""
    if count <= most:
        return count, 1 if count else 0
    steps = max(range(min(4, most), most + 1), key=lambda n: (-(count % n), n))
    return steps, count // steps


class Gathering:
    """The registers of what fills planes, and how it begins.

    pixels: the next one, four channels of it; planes: where it goes. minus_zero: twice the zero
    point's opposite; pixel_bytes: to the next one, where the stream says it. left, right: two
    pixels, of two pairs; amount: nothing's for long.
    """

    def __init__(self, code: Assembly, layer: Convolution, fours: Fours) -> None:
        self.pixels, self.planes = fours.pixels, fours.planes
        self.minus_zero, self.end, self.amount, self.pixel_bytes = code.registers(
            "minus_zero end amount pixel_bytes"
        )
        self.line_end = code.register("line_end", kind=Kind.SINGLE)
        self._planes_end = fours.planes_end
        self.left, self.right = code.registers("left0 left1"), code.registers("right0 right1")
        self._channels01, self._channels23 = code.registers("channels01 channels23")
        self._channels = code.registers("channel0 channel1 channel2 channel3")
        self._code, self._layer = code, layer
        code.number(self.minus_zero, (-layer.zero_points[0] & 0xFFFF) * 0x10001)

    def widen(self, pair: int = 0) -> None:
        """Two pixels to the planes."""
        code, left, right = self._code, self.left[pair], self.right[pair]
        low, high = self._channels01, self._channels23
        add = getattr(code, self._layer.extend_and_add)
        code.pkhbt(low, left, right.lsl(16))
        code.pkhtb(high, right, left.asr(16))
        words = (low, low.ror(8), high, high.ror(8))
        for channel, word in zip(self._channels, words, strict=True):
            add(channel, self.minus_zero, word)
        code.stmia(self.planes.moving, self._channels)

    def nothing(self, pixel: Register) -> None:
        """A pixel that the image does not have."""
        self._code.number(pixel, (self._layer.zero_points[0] & 0xFF) * 0x1010101)

    def compare(self) -> None:
        """Whether the planes are full."""
        self._code.vmov(self.end, self._planes_end)
        self._code.cmp(self.planes, self.end)

    def pairs(self, pairs: int, some: Callable[[int], None], most: int = MOST_UNROLLED) -> None:
        """So many pairs of a line, by `some` of fewer, in a loop if they are more than `most`."""
        code = self._code
        steps, times = unrolled(pairs, most)
        if times > 1:
            code.offset(self.end, PAIR * steps * times, self.end, self.planes)
            code.vmov(self.line_end, self.end)
            with code.repeat(times):
                some(steps)
                code.vmov(self.end, self.line_end)
                code.cmp(self.planes, self.end)
        some(pairs - steps * times if times > 1 else pairs)


def gather(
    code: Assembly, layer: Convolution, lines: BareLines, fours: Fours, most: int = MOST_UNROLLED
) -> None:
    """Lines of four channels to their planes. most: pairs of pixels that are unrolled.

    A pair of pixels is two words of four bytes, and becomes four words of two int16.
    """
    pitch, line_pitch = lines.pitch[0]
    pairs = lines.input[1] // 2
    to = Gathering(code, layer, fours)
    line_end = code.register("line_end")

    def some(count: int) -> None:
        """So many pairs, two at a time."""
        for first in range(0, count, 2):
            both = range(min(2, count - first))
            for n in both:
                at = 2 * (first + n) * pitch
                code.ldr(to.left[n], to.pixels[at])
                code.ldr(to.right[n], to.pixels[at + pitch])
            for n in both:
                to.widen(n)

    in_reach = max(1, (REACH // pitch + 1) // 2)
    steps, times = unrolled(pairs, most)
    if steps > in_reach:
        steps = next(n for n in range(in_reach, 0, -1) if pairs % n == 0 or n == 1)
        times = pairs // steps
    with code.repeat(lines.input[0] / lines.bands):
        taken = 0
        if times > 1:
            code.add(line_end, to.planes, PAIR * steps * times)
            with code.repeat(times):
                some(steps)
                code.offset(to.pixels, 2 * steps * pitch, to.amount)
                code.cmp(to.planes, line_end)
            taken = 2 * steps * times * pitch
        else:
            some(steps)
        # the pairs that the loop leaves, and a last pixel alone
        for pixel in range(2 * steps * times, lines.input[1], 2):
            offset = pixel * pitch - taken
            if offset + pitch > REACH:
                code.offset(to.pixels, offset, to.amount)
                taken, offset = taken + offset, 0
            code.ldr(to.left[0], to.pixels[offset])
            if pixel + 1 < lines.input[1]:
                code.ldr(to.right[0], to.pixels[offset + pitch])
            else:
                to.nothing(to.right[0])
            to.widen()
        if line_pitch != taken:
            code.offset(to.pixels, line_pitch - taken, to.amount)
        to.compare()


def gather_any(
    code: Assembly, layer: Convolution, lines: Lines, fours: Fours, most: int = MOST_UNROLLED
) -> None:
    """As `gather`, of any number of channels, which the stream says, and with the padding that
    lines of the planes have.

    Layers of two or three channels are taken byte by byte: a word would end behind the image.
    """
    padding, taken = (0, lines.input[1]) if lines.is_bare else (lines.before[1], lines.taken)
    to = Gathering(code, layer, fours)
    pixel_bytes, between, element = to.pixel_bytes, *code.registers("between element")
    kept = code.register("between_lines", kind=Kind.SINGLE)
    code.vmov(to.end, fours.numbers)
    if lines.is_bare:  # lines follow each other
        code.ldr(pixel_bytes, to.end[0])
    else:
        code.ldrd(pixel_bytes, between, to.end[4 * PIXEL_BYTES])
        code.vmov(kept, between)

    def pair(*are_there: bool) -> None:
        """Two pixels of the planes, of which the image may lack one."""
        channels = layer.x.shape[1]
        if channels < LANES:
            load = code.ldrsb if layer.extend == "sxtb16" else code.ldrb
            for half in (half for half in (0, 1) if are_there[half]):
                for lane in range(channels):
                    load(element, to.pixels[lane])
                    code.add(element, element, to.minus_zero)
                    code.strh(element, to.planes[4 * lane + 2 * half])
                code.add(to.pixels, to.pixels, pixel_bytes)
            code.add(to.planes, to.planes, PAIR)
            return
        both = (to.left[0], to.right[0])
        there = [pixel for pixel, is_there in zip(both, are_there, strict=True) if is_there]
        for n, pixel in enumerate(there):
            code.ldr(pixel, to.pixels[pixel_bytes] if n else to.pixels[0])
        code.add(to.pixels, to.pixels, pixel_bytes.lsl(1) if len(there) == 2 else pixel_bytes)
        for pixel in both:
            if pixel not in there:
                to.nothing(pixel)
        to.widen()

    def some(count: int) -> None:
        for _ in range(count):
            pair(True, True)

    first, leads = divmod(padding, 2)
    pairs, last = divmod(taken - leads, 2)
    with code.repeat(lines.input[0] / lines.bands):
        code.offset(to.planes, PAIR * first, to.amount)
        if leads:
            pair(False, True)
        to.pairs(pairs, some, most)
        if last:
            pair(True, False)
        behind = lines.line_bytes - PAIR * (first + leads + pairs + last)
        code.offset(to.planes, behind, to.amount)
        if not lines.is_bare:
            code.vmov(between, kept)
            code.add(to.pixels, to.pixels, between)
        to.compare()


def unstage(code: Assembly, lines: BareLines, fours: Fours) -> None:
    """A band's outputs, from behind the planes to `y`, which is behind them then."""
    y, (staged, end, channels) = fours.y, code.registers("staged end channels")
    outputs = code.registers("y0 y1 y2 y3")
    count = lines.band * lines.output[1]
    code.note("The band's outputs, to where they belong.")
    code.vmov(channels, fours.numbers)
    code.ldr(channels, channels[0])
    code.vmov(staged, fours.planes_begin)
    code.offset(staged, lines.plane_bytes, end)

    def some(count: int) -> None:
        if count > 1:
            code.ldmia(staged.moving, outputs[:count])
        elif count:
            code.ldr(outputs[0], staged[0])
        for output in outputs[:count]:
            code.str(output, y[0])
            code.add(y, y, channels)

    if count >= 8:
        code.offset(end, LANES * (count - count % 4), end, staged)
        with code.repeat(count // 4):
            some(4)
            code.cmp(staged, end)
        some(count % 4)
    else:
        some(count // 2)
        some(count - count // 2)

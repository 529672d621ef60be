"""A window over any number of axes, of tensors in ONNX's order: the loops, and what they index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mcu_deploy.backends.kit.loops import Counter, counters, plus, times
from mcu_deploy.operators.windows import Window


@dataclass(frozen=True)
class Loops:
    """outputs, taps: the variables of the loops. lines: declarations of the positions in the input
    along the axes where they may lie outside of it. inside: C for whether they do not, empty where
    they never do. positions: C for them, by axis. place: C for the element in a plane of the input.
    """

    outputs: tuple[Counter, ...]
    taps: tuple[Counter, ...]
    lines: tuple[str, ...]
    inside: str
    positions: tuple[str, ...]
    place: str


def loops(geometry: Window) -> Loops:
    """The loops of a window that slides over the input."""
    outputs, taps = counters("o", geometry.output), counters("k", geometry.kernel)
    positions = [
        plus(times(o, stride), times(k, dilation), -begin)
        for o, k, stride, dilation, begin in zip(
            outputs, taps, geometry.strides, geometry.dilations, geometry.begin, strict=True
        )
    ]
    lines, inside, named, place = [], [], [], ""
    for axis, (at, size) in enumerate(zip(positions, geometry.input, strict=True)):
        if geometry.padded_axes[axis]:
            lines.append(f"const int32_t at{axis} = {at};")
            inside += [f"at{axis} >= 0", f"at{axis} < {size}"]
            at = f"at{axis}"
        named.append(at)
        place = plus(times(place, size), at)
    return Loops(outputs, taps, tuple(lines), " && ".join(inside), tuple(named), place)


def gathered(geometry: Window) -> Loops:
    """The loops over what a window reads as it slides: each gathers the positions of the window
    that reach it. Input and output of the geometry are those of the window."""
    outputs, taps = counters("o", geometry.input), counters("k", geometry.kernel)
    lines, inside, named, place = [], [], [], ""
    for axis, (o, k) in enumerate(zip(outputs, taps, strict=True)):
        stride, size = geometry.strides[axis], geometry.output[axis]
        up = plus(o, times(times(k, geometry.dilations[axis]), -1), geometry.begin[axis])
        name = f"at{axis}"
        if stride == 1:
            lines.append(f"const int32_t {name} = {up};")
            inside.append(f"{name} >= 0")
        else:
            lines.append(f"const int32_t up{axis} = {up};")
            lines.append(f"const int32_t {name} = up{axis} / {stride};")
            inside += [f"up{axis} >= 0", f"up{axis} % {stride} == 0"]
        inside.append(f"{name} < {size}")
        named.append(name)
        place = plus(times(place, size), name)
    return Loops(outputs, taps, tuple(lines), " && ".join(inside), tuple(named), place)


def tap_index(geometry: Window, taps: Sequence[Counter]) -> str:
    """C for the place of a tap in the kernel."""
    place = ""
    for tap, size in zip(taps, geometry.kernel, strict=True):
        place = plus(times(place, size), tap)
    return place

"""What kernels are called: the operation, its window, its shape, its steps, its type."""

from __future__ import annotations

from collections.abc import Iterable

from mcu_deploy.backends.kit.strides import Plane


def stem(word: str, kind: str, *extents: int, window: Plane | None = None) -> str:
    """As in conv3x3_8x16_s2_int8: 8 channels to 16, a stride of 2.

    Of strides and dilations those are said that are not 1, and not what follows from the rest: a
    stride over one output, or over what a pool has covered.
    """
    if window is None:
        return "_".join(filter(None, (word, _by(extents), kind)))
    axes = range(2)
    strides = [window.stride[a] if window.output[a] > 1 else 1 for a in axes]
    if "pool" in word and window.stride == window.kernel:
        strides = [1]
    dilations = [window.dilation[a] if window.kernel[a] > 1 else 1 for a in axes]
    steps = [
        f"{letter}{values[0] if len({*values}) == 1 else _by(values)}"
        for letter, values in (("s", strides), ("d", dilations))
        if {*values} != {1}
    ]
    return "_".join([f"{word}{_by(window.kernel)}", _by(extents), *steps, kind])


def sizes(shape: Iterable[int]) -> tuple[int, ...]:
    """What a name tells of a shape: the axes of more than one element."""
    return tuple(size for size in shape if size != 1)


def _by(numbers: Iterable[int]) -> str:
    return "x".join(map(str, numbers))

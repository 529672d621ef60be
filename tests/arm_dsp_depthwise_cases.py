"""Depthwise convolutions for ArmDsp of other kernels than 3x3, and of other strides."""

from __future__ import annotations

from arm_dsp_convolutions import Case

_NONE = (0, 0, 0, 0)
_BYTES = ("uint8", "uint8")


def _case(
    channels: int, size: tuple[int, ...], kernel: tuple[int, ...],
    strides: tuple[int, ...] = (1, 1), pads: tuple[int, ...] | None = None,
    dilations: tuple[int, ...] = (1, 1), filters: int = 1, **more: object,
) -> Case:  # fmt: skip
    """pads: None for those that leave the size as it is."""
    spans = [(k - 1) * d for k, d in zip(kernel, dilations, strict=True)]
    begin = [span // 2 for span in spans]
    same = (*begin, *(span - b for span, b in zip(spans, begin, strict=True)))
    return Case(
        (channels, *size), channels * filters, kernel, strides,
        same if pads is None else pads, dilations, group=channels, **more,  # type: ignore[arg-type]
    )  # fmt: skip


TAKEN = (
    _case(4, (8, 10), (5, 5), zeros=(-128, -128)),
    _case(8, (9, 7), (7, 7), zeros=(127, 3), scale=2),
    _case(16, (12, 16), (5, 5), (2, 2), (1, 1, 2, 2), dtypes=_BYTES, zeros=(200, 17)),
    _case(8, (4, 5), (7, 7), weights=(-128, 127), zeros=(-128, 0), scale=6),
    _case(64, (5, 6), (5, 5), (2, 2), weights=(-128, 0, 127), zeros=(127, -128)),
    _case(17, (6, 5), (3, 5), dtypes=_BYTES, zeros=(0, 255)),
    _case(7, (5, 9), (5, 3), (1, 2), (2, 0, 2, 1), dtypes=("uint8", "int8"), zeros=(255, 0)),
    _case(3, (7, 6), (3, 3), (1, 1), dtypes=_BYTES, zeros=(9, 3)),
    _case(2, (8, 8), (5, 5), (2, 2), zeros=(-128, 1)),
    _case(5, (9, 9), (3, 3), (1, 1), None, (2, 2)),
    _case(8, (11, 13), (3, 3), (2, 1), (3, 2, 3, 4), (3, 2), zeros=(4, 4)),
    _case(4, (13, 11), (3, 3), (3, 3), (1, 1, 1, 1), dtypes=("int8", "uint8"), zeros=(-3, 0)),
    _case(4, (10, 10), (2, 2), (2, 2), _NONE),
    _case(12, (6, 7), (2, 2), (1, 1), (0, 0, 1, 1), weights=(-127, 127)),
    _case(8, (30, 1), (9, 1), (1, 1), _NONE, zeros=(-128, -128)),
    _case(40, (9, 1), (9, 1), (1, 1), _NONE, scale=0.3),
    _case(4, (1, 50), (1, 13), zeros=(11, 4)),
    _case(8, (1, 21), (1, 4), (1, 3), (0, 2, 0, 1)),
    _case(4, (40, 30), (5, 5), zeros=(7, -7)),
    _case(4, (30, 80), (7, 7), (2, 1), (3, 3, 2, 3), scale=0.2),
    _case(6, (31, 40), (3, 5), (3, 3), (0, 2, 0, 2)),
    _case(4, (7, 6), (3, 3), filters=2, scale=0.5),
    _case(3, (6, 5), (3, 5), (2, 2), (1, 2, 1, 2), filters=3, zeros=(-100, 0)),
    _case(9, (32, 33), (5, 1), filters=2, dtypes=_BYTES, zeros=(128, 128)),
    _case(40, (31,), (9,), (1,), (8, 0), (1,), zeros=(-128, 5)),
    _case(6, (21,), (3,), (2,), (1, 1), (1,), filters=2, dtypes=_BYTES, zeros=(128, 0)),
    _case(8, (25,), (5,), (1,), (8, 8), (4,)),
    _case(4, (5, 5), (5, 5), scale=1e-3),
    _case(4, (5, 5), (5, 5), scale=1e-7, zeros=(0, 127)),
    _case(4, (5, 5), (5, 5), scale=3e3, zeros=(0, -128)),
)
REFUSED = {
    _case(4, (5, 5), (5, 5), batch=2): "it convolves one image, and the batch has 2",
    _case(4, (4, 4), (3, 3), pads=(3, 3, 3, 3)): "its padding is as wide as its kernel",
}

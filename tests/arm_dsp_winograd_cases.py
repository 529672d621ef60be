"""3x3 convolutions for Winograd's transform: odd sizes, pads, ends of the range."""

from __future__ import annotations

from arm_dsp_convolutions import BLOCK, Case

_NONE = (0, 0, 0, 0)
_BYTES = ("uint8", "uint8")
TAKEN = (
    BLOCK,
    Case((4, 2, 2), 2, zeros=(-128, 127)),
    Case((4, 7, 5), 4, zeros=(127, -128)),
    Case((4, 4, 9), 2, pads=_NONE, weights=(-128, 127)),
    Case((4, 5, 5), 6, pads=(2, 2, 2, 2), dtypes=_BYTES, zeros=(255, 0)),
    Case((8, 6, 8), 4, weights=(-128,), zeros=(127, 0), scale=4),
    Case((8, 9, 9), 8, pads=_NONE, dtypes=("int8", "uint8"), zeros=(0, 255)),
    Case((8, 7, 4), 2, pads=(0, 1, 1, 0), dtypes=("uint8", "int8"), zeros=(200, 17)),
    Case((8, 4, 5), 4, scale=1e-3),
    Case((8, 5, 4), 4, scale=1e-7, zeros=(0, 127)),
    Case((8, 4, 4), 4, scale=200, zeros=(0, 100)),
    Case((8, 4, 4), 4, scale=3e3, zeros=(0, -128)),
    Case((12, 5, 6), 6, weights=(127,), zeros=(-128, 0), scale=40),
    Case((16, 3, 11), 6, weights=(-128, -1, 127), dtypes=_BYTES, zeros=(0, 255)),
    Case((20, 4, 3), 130, pads=(1, 0, 0, 1)),
    Case((32, 5, 7), 4, weights=(-128, 127), zeros=(-128, -128)),
    Case((56, 2, 6), 2, zeros=(3, 3)),
    Case((64, 4, 4), 8, zeros=(-128, -128)),
)
REFUSED = {
    Case((4, 5, 5), 4, strides=(2, 2)): "it takes kernels of 3x3 with a stride of 1",
    Case((4, 5, 5), 4, dilations=(2, 1)): "it takes kernels of 3x3 with a stride of 1",
    Case((4, 5, 5), 4, (1, 3), pads=_NONE): "it takes kernels of 3x3 with a stride of 1",
    Case((6, 5, 5), 4): "it takes channels by 4 and filters by 2, not 6 and 4",
    Case((4, 5, 5), 3): "it takes channels by 4 and filters by 2, not 4 and 3",
    Case((68, 3, 3), 2): "it has offsets for 64 channels and 254 filters, not 68 and 2",
    Case((4, 3, 5), 2, pads=_NONE): "it takes outputs by 2x2",
}

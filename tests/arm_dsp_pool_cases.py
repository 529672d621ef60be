"""Pools for ArmDsp: of many windows, with ties and without, at the ends of the range."""

from __future__ import annotations

from dataclasses import dataclass

from quantized_layers import LayersModel, Quantized, side_by_side


@dataclass(frozen=True)
class Pool:
    """zeros: the zero points of input and output; scale: of the output, against the input's."""

    op: str
    channels: int
    plane: tuple[int, ...]
    kernel: tuple[int, ...]
    strides: tuple[int, ...] = (1, 1)
    zeros: tuple[int, int] = (-128, -128)
    scale: float = 1.0
    dtype: str = "int8"
    batch: int = 1
    pads: tuple[int, ...] = (0, 0, 0, 0)
    counts_padding: bool = False
    ceil_mode: int = 0

    def add(self, model: LayersModel, name: str) -> None:
        x_scale = 0.0231
        shape = (self.batch, self.channels, *self.plane)
        x = model.input(shape, Quantized(x_scale, self.zeros[0], self.dtype))
        options = {"ceil_mode": self.ceil_mode}
        if self.counts_padding:
            options["count_include_pad"] = 1
        y = model.node(
            self.op, [x], name, kernel_shape=self.kernel, strides=self.strides, pads=self.pads,
            **options,
        )  # fmt: skip
        model.output(y, Quantized(x_scale * self.scale, self.zeros[1], self.dtype))


# Whose instructions are asserted: of the keyword spotting and image classification models.
ODD = Pool("AveragePool", 64, (25, 5), (25, 5))
EVEN = Pool("AveragePool", 64, (8, 8), (8, 8))
LARGEST = Pool("MaxPool", 32, (16, 16), (2, 2), (2, 2), zeros=(0, 0))
LARGE = Pool("AveragePool", 16, (32, 32), (32, 32))  # whose sums need words
PADDED = Pool("MaxPool", 16, (16, 16), (3, 3), (2, 2), zeros=(0, 0), pads=(1, 1, 1, 1))
UNEVEN = Pool("MaxPool", 6, (24, 24), (2, 2), (2, 2), zeros=(0, 0))  # as in LeNet
_ONE = (1, 1, 1, 1)
PADDED_AVERAGE = Pool("AveragePool", 16, (16, 16), (3, 3), pads=_ONE)
PADDED_AVERAGES = (
    PADDED_AVERAGE,
    Pool("AveragePool", 16, (9, 7), (3, 3), (2, 2), pads=_ONE, counts_padding=True),
    Pool("AveragePool", 4, (4, 4), (3, 3), pads=_ONE, zeros=(127, -128), scale=0.3),
    Pool("AveragePool", 28, (7, 5), (2, 4), (2, 1), zeros=(3, 200), dtype="uint8",
         pads=(0, 2, 1, 3)),
    Pool("AveragePool", 36, (5, 6), (5, 5), zeros=(255, 0), dtype="uint8", pads=(2, 2, 2, 2),
         counts_padding=True, batch=2),
    Pool("AveragePool", 8, (5, 4), (3, 2), zeros=(0, 9), scale=1.7, pads=(1, 1, 0, 0), batch=2),
    Pool("AveragePool", 12, (20, 18), (16, 16), (4, 2), zeros=(-128, 127), pads=(8, 4, 6, 7)),
    Pool("AveragePool", 8, (15, 17), (16, 16), (3, 5), zeros=(127, 0), pads=(3, 3, 4, 4),
         counts_padding=True, scale=0.6),
    Pool("AveragePool", 20, (21,), (5,), (2,), zeros=(-128, -128), pads=(2, 2)),
    Pool("AveragePool", 8, (6, 7), (3, 3), (2, 3), zeros=(-9, 40), ceil_mode=1),
)  # fmt: skip
# Channels behind whole words.
ENDS = (
    Pool("MaxPool", 17, (6, 5), (2, 2), (2, 2), zeros=(0, 0)),
    Pool("MaxPool", 35, (5, 5), (3, 3), (1, 2), zeros=(9, 9), dtype="uint8", pads=_ONE, batch=2),
)
TAKEN = (
    ODD,
    EVEN,
    LARGEST,
    LARGE,
    Pool("AveragePool", 20, (17, 17), (17, 17), zeros=(-128, 3), scale=0.2),
    Pool("AveragePool", 4, (26, 20), (24, 14), (2, 6), zeros=(127, 127)),
    Pool("AveragePool", 8, (19, 27), (19, 27), zeros=(0, 255), dtype="uint8", batch=2),
    Pool("AveragePool", 4, (64, 64), (64, 64), zeros=(-1, 1), scale=0.7),
    Pool("AveragePool", 256, (3, 3), (3, 3), zeros=(5, 17)),
    Pool("AveragePool", 4, (2, 2), (1, 1), zeros=(127, -128), scale=0.3),
    Pool("AveragePool", 20, (6, 8), (2, 2), (2, 2), zeros=(-3, -3)),
    Pool("AveragePool", 12, (7, 9), (3, 2), (2, 3), zeros=(-7, 9), scale=1.7),
    Pool("AveragePool", 16, (16, 16), (16, 16), zeros=(0, 0)),
    Pool("AveragePool", 28, (8, 7), (8, 7), zeros=(128, 255), dtype="uint8", scale=0.6),
    Pool("AveragePool", 8, (5, 4), (4, 3), dtype="uint8", zeros=(0, 0), batch=2),
    Pool("AveragePool", 8, (4, 6), (2, 6), zeros=(127, 127)),
    Pool("MaxPool", 4, (3, 3), (3, 3), zeros=(0, 0)),
    Pool("MaxPool", 28, (7, 6), (3, 2), (2, 2), zeros=(0, 0)),
    Pool("MaxPool", 12, (5, 5), (2, 2), (1, 1), zeros=(9, 9), dtype="uint8", batch=2),
    Pool("MaxPool", 16, (9, 3), (4, 3), (3, 1), zeros=(0, 0)),
    PADDED,
    Pool("MaxPool", 36, (7, 5), (3, 3), zeros=(0, 0), pads=(1, 1, 1, 1), batch=2),
    Pool("MaxPool", 4, (5, 7), (2, 2), (2, 2), zeros=(9, 9), dtype="uint8", pads=(0, 0, 1, 1)),
    Pool("AveragePool", 128, (30,), (30,), (1,), zeros=(-128, -128), scale=0.4, pads=(0, 0)),
    Pool("MaxPool", 12, (11,), (3,), (2,), zeros=(0, 0), pads=(1, 1)),
    Pool("MaxPool", 8, (4, 2), (5, 4), (2, 3), zeros=(0, 0), pads=(3, 2, 4, 1)),
    *PADDED_AVERAGES,
    UNEVEN,
    Pool("MaxPool", 5, (5, 4), (2, 2), (2, 2), zeros=(0, 0), dtype="uint8"),
    Pool("MaxPool", 7, (5, 5), (3, 3), (2, 2), zeros=(0, 0), pads=_ONE),
    Pool("MaxPool", 15, (4, 5), (2, 3), (1, 2), zeros=(-3, -3), batch=2),
    *ENDS,
    Pool("MaxPool", 30, (9, 4), (9, 4), zeros=(0, 0)),
)
_BY = "it takes channels by 4, of maxima 4 and more, and there are"
REFUSED = {
    Pool("AveragePool", 6, (4, 4), (2, 2)): f"{_BY} 6",
    Pool("MaxPool", 3, (4, 4), (2, 2)): f"{_BY} 3",
    Pool("AveragePool", 4, (6, 6), (3, 3), (2, 2), counts_padding=True, ceil_mode=1): (
        "a window of it leaves the padding"
    ),
    Pool("AveragePool", 4, (20, 20), (17, 17), pads=_ONE): (
        "it averages 256 elements at most where some are padding, not 289"
    ),
    Pool("AveragePool", 4, (64, 65), (64, 65)): "it averages 4096 elements at most, not 4160",
    Pool("MaxPool", 4, (2, 19), (2, 17), zeros=(0, 0)): (
        "it takes windows of 16 columns at most, or of all the input"
    ),
}


# Its layers are called by the numbers of the cases.
model = side_by_side(lambda case, made, n: case.add(made, f"pool{n}"))

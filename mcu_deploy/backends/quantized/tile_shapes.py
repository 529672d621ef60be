"""Which tiles there is room for: filters times rows of sums in the registers of a core.

Filters are given: two of many rows, as that is what a narrow word of weights holds and what layers
have a multiple of; four of a single row, as then every word of weights is read for one product. Of
rows there are as many as fit, for each word of weights serves them all.
"""

from __future__ import annotations

from typing import NamedTuple

CORE = 14  # registers of a core that a kernel has, r0 to r12 and lr
_POINTERS = 2  # to what is read of the rows, and to the weights


class TileShape(NamedTuple):
    """rows, filters: of the sums; of_row: words that are read of each row; words: of weights that
    are held at once, with what is made of them."""

    rows: int
    filters: int
    of_row: int
    words: int

    @property
    def registers(self) -> int:
        """That it fills."""
        return _POINTERS + self.rows * (self.filters + self.of_row) + self.words


def tile_shape(
    registers: int, filters: int, of_row: int = 1, least_words: int = 1,
    most_rows: int | None = None, most_words: int | None = None,
) -> TileShape:  # fmt: skip
    """The tile with the most rows of so many filters. least_words: without which nothing is
    multiplied; most_words: those of a block, more of which do not save a load. Raises ValueError
    where no row fits."""
    room = registers - _POINTERS
    fits = (room - least_words) // (filters + of_row)
    rows = fits if most_rows is None else min(fits, most_rows)
    if rows < 1:
        raise ValueError(f"{registers} registers have no room for a row of {filters} filters")
    left = room - rows * (filters + of_row)
    return TileShape(rows, filters, of_row, left if most_words is None else min(left, most_words))


# Pixels, or windows, of a convolution. A word of weights is loaded for all of them.
PIXELS = tile_shape(CORE, filters=2)
# Columns of a matrix; filters are rows of the other one, whose bytes are a word each and are
# widened to another.
COLUMNS = tile_shape(CORE, filters=2, least_words=3)
# The row of a fully connected layer: eight taps, for each two filters four words of weights.
ROW = tile_shape(CORE, filters=4, of_row=4, most_rows=1, most_words=8)
# A step of an LSTM, whose filters are the gates of a unit: four taps. That leaves two registers.
STEP = tile_shape(CORE, filters=4, of_row=2, most_rows=1, most_words=4)

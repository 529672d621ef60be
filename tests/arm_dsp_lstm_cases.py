"""TFLite's int8 LSTM for ArmDsp: sizes around a block of four, batches, clips, wide cell states."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from operators.tflite_lstm_file import Lstm, write

TAKEN = (
    Lstm(30, time_major=True, batch=3, steps=5, clip=0.5),
    Lstm(31, inputs=45, hidden=37, steps=9, weights=0.001, cell=2.0**-9),
    Lstm(32, batch=2, h=(0.004, -128)),
    Lstm(33, steps=20, weights=0.05, clip=10.0),  # a clip beyond int16
    Lstm(34, cell=2.0**-15),
    Lstm(35, steps=30, weights=0.05, cell=2.0**-9),
    Lstm(36, 1, 1, 1, 1, h=(0.02, 127)),
    Lstm(37, inputs=4, hidden=8, h=(0.0078, 0), x=(0.02, -128)),
    Lstm(40, x=(0.3, 5), weights=0.3),  # sums that are shifted to the left
    Lstm(38, batch=2, inputs=34, hidden=36, steps=3),
)
# Sums that would be shifted out of 31 bits.
LEFT = Lstm(39, x=(300.0, 5), weights=3.0)
# Sums of weights that leave 24 bits.
WIDE = Lstm(41, inputs=1200, hidden=1, steps=1)


def model(case: Lstm, folder: Path) -> Path:
    """The model, and samples beside it: random, and the ends of the range."""
    path = folder / f"lstm_{case.seed}.tflite"
    path.write_bytes(write(case))
    shape = case.shape
    ends = np.random.default_rng(case.seed).choice([-128, 127], shape)
    given = [case.given(), ends, np.full(shape, -128), np.full(shape, 127)]
    np.savez(path.with_suffix(".npz"), x=np.stack(given).astype(np.int8))
    return path

"""The eight MLPerf Tiny models, the nine boards, and which of them fit together."""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np

from mcu_deploy.boards import load_board
from mcu_deploy.compiled import Network
from mcu_deploy.compiler import compile_model

INT8 = ("mlperf_kws_int8", "mlperf_vww_int8", "mlperf_ic_int8", "mlperf_ad_int8")
FLOAT32 = ("mlperf_kws_f32", "mlperf_vww_f32", "mlperf_ic_f32", "mlperf_ad_f32")
MODELS = (*INT8, *FLOAT32)
BOARDS = (
    "host", "mps2-an385", "mps2-an386", "mps2-an500", "mps2-an505", "mps2-an521", "mps3-an547",
    "netduinoplus2", "stm32f746",
)  # fmt: skip

# What does not fit, the memory that is too small, and a word of the sentence that says so.
DOES_NOT_FIT = {
    ("stm32f746", "mlperf_ad_f32"): "flash",
    ("netduinoplus2", "mlperf_ad_f32"): "flash",
    ("netduinoplus2", "mlperf_vww_f32"): "ram",
    ("netduinoplus2", "mlperf_ic_f32"): "ram",
}


@functools.cache
def compiled(path: Path, board: str, name: str) -> Network:
    """A network as a build without options has it, one for all tests that only look at it."""
    return compile_model(path, load_board(board), name=name)


def first_samples(recorded: Path, count: int, folder: Path) -> Path:
    """A file of the first of recorded samples."""
    path = folder / f"{recorded.parent.name}.npz"
    arrays = np.load(recorded)
    np.savez(path, **{name: arrays[name][:count] for name in arrays if name.startswith("in")})
    return path

"""The kit's own C functions, as helpers: `$quantize` in a body calls the first of them."""

from __future__ import annotations

from pathlib import Path

from mcu_deploy.backends.kit.c_files import helper, helpers

_FOLDER = Path(__file__).parent

# Rounds to nearest, ties to even, without the C library and without touching FPSCR.
QUANTIZE = helper(_FOLDER, "c/quantize.c")
# TFLite's: times a 31-bit integer, shifted, rounded twice.
MULTIPLY = helper(_FOLDER, "c/multiply_quantized.c")
# The same of a sum of 64 bits: times a 15-bit integer, shifted, rounded once.
MULTIPLY_WIDE = helper(_FOLDER, "c/multiply_wide.c")
CLAMP = helper(_FOLDER, "c/clamp.c")
ROUND_AWAY = helper(_FOLDER, "c/round_away.c")
# e^x and tanh of float32, the first of which the second calls.
EXPONENTIAL = helpers(_FOLDER, "c/exponential.c")
RECIPROCAL = helper(_FOLDER, "c/reciprocal.c")
# Of TFLite's integer LSTM: its table's values, sigmoid and tanh.
LSTM = helpers(_FOLDER, "c/lstm.c")
# A function of int16, between the entries of a table.
LOOKED_UP = helper(_FOLDER, "c/looked_up.c")

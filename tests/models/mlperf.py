"""The eight MLPerf Tiny models, the nine boards, and which of them fit together."""

from __future__ import annotations

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

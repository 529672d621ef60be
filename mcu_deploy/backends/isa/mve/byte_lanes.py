"""Bytes on their way into words and out of halfwords, as their type says."""

from __future__ import annotations

from collections.abc import Callable

from mcu_deploy.backends.isa import Assembly
from mcu_deploy.ir import DType


def load(code: Assembly, dtype: DType) -> Callable[..., None]:
    """What loads four bytes as words of the same value: of a vector and a place."""
    return code.vldrb_s32 if dtype is DType.INT8 else code.vldrb_u32


def saturate(code: Assembly, dtype: DType, is_odd: bool = False) -> Callable[..., None]:
    """What makes bytes of the nearest value of halfwords, every even or every odd one: of a vector,
    and one of halfwords."""
    if is_odd:
        return code.vqmovnt_s16 if dtype is DType.INT8 else code.vqmovunt_s16
    return code.vqmovnb_s16 if dtype is DType.INT8 else code.vqmovunb_s16

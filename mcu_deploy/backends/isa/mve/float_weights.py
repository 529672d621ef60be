"""How kernels read a stream of weights for vectors of floats (floats/tiles.py): float32 behind the
biases that sums begin with, or int8, whose sums begin with 0, then scales and biases."""

from __future__ import annotations

from collections.abc import Sequence

from mcu_deploy.backends.floats.layers import BYTES
from mcu_deploy.backends.isa import Assembly, Register

LANES = 4
VECTOR = LANES * BYTES


def begin(code: Assembly, first: Register, stream: Register, *, has_bytes: bool) -> None:
    """What a sum of each lane begins with."""
    if has_bytes:
        code.vmov_i32(first, 0)
    else:
        code.vldrw_u32(first, stream.after(VECTOR))


def load(code: Assembly, into: Register, stream: Register, *, has_bytes: bool) -> None:
    """The next weight of each lane, as a float."""
    if has_bytes:
        code.vldrb_s32(into, stream.after(LANES))
        code.vcvt_f32_s32(into, into)
    else:
        code.vldrw_u32(into, stream.after(VECTOR))


def scale(code: Assembly, sums: Sequence[Register], stream: Register, vector: Register) -> None:
    """Sums of weights of int8 are multiplied by the scales, and get the biases. vector: free."""
    for operation in (code.vmul_f32, code.vadd_f32):
        code.vldrw_u32(vector, stream.after(VECTOR))
        for one in sums:
            operation(one, one, vector)

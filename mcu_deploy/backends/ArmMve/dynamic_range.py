"""How a tensor of float32 becomes int8 by what it holds when the network runs, in vectors: as
isa/dsp/dynamic_range.py does."""

from __future__ import annotations

from mcu_deploy.backends.ArmMve.elements import Steps, run
from mcu_deploy.backends.ArmMve.workloads import assembly
from mcu_deploy.backends.isa import Assembly, Kind
from mcu_deploy.backends.isa.mve import byte_lanes
from mcu_deploy.ir import DType

_LANES, _BYTES = 4, 16
_UNROLLED = 8


def extent(elements: int, has_zero: bool) -> Assembly:
    """The kernel: x, float32; ends; elements. ends[0] and ends[1] become the least and the largest
    of x[i] and 0; of an input without a zero point ends[0] becomes the largest magnitude."""
    code = assembly()
    found = "the least and the largest of all x[i] and 0" if has_zero else "the largest |x[i]|"
    code.note(f"ends: {found}.")
    x, ends, count = code.arguments("x ends elements")
    low, high = code.registers("low high")
    values = code.register("values", kind=Kind.VECTOR)
    code.mov(low, 0)
    code.mov(high, 0)
    code.note("As integers bits are in the order of positive floats, without a sign in that of")
    code.note("negative magnitudes, behind all positive ones.")
    with code.counted(-(-elements // _LANES), count, 128 // _LANES):
        code.vldrw_u32(values, x.after(_BYTES))
        code.vmaxv_s32(high, values)
        code.vmaxv_u32(low, values)
    if has_zero:
        code.note("Without a negative one the least is 0.")
        code.cmp(low, 0)
        code.it("ge")
        code.movge(low, 0)
        code.strd(low, high, ends[0])
        return code
    code.bic(low, low, 0x8000_0000)
    code.cmp(low, high)
    code.it("lo")
    code.movlo(low, high)
    code.str(low, ends[0])
    return code


def integers(elements: int, has_zero: bool) -> Assembly:
    """The kernel: x, float32; y, int8; numbers, float32: another, zero point, factor; elements.

    y[i] = sat(round(zero + x[i] * factor)), ties away from zero.
    """
    code = assembly()
    zero_plus = "zero + " * has_zero
    code.note(f"y[i] = sat(round({zero_plus}x[i] * factor)), ties away from zero.")
    code.note("numbers: another, zero, factor.")
    x, y, numbers, count = code.arguments("x y numbers elements")
    zero, factor = code.registers("zero factor")
    values = code.registers("value0 value1 value2", kind=Kind.VECTOR)
    code.ldr(factor, numbers[8])
    if has_zero:
        code.ldr(zero, numbers[4])
    narrow = byte_lanes.saturate(code, DType.INT8)

    def steps(n: int) -> Steps:
        v = values[n % 3]
        adds = ((6, lambda: code.vadd_f32(v, v, zero)),) if has_zero else ()
        return (
            (0, lambda: code.vldrw_u32(v, x.after(_BYTES))),
            (3, lambda: code.vmul_f32(v, v, factor)),
            *adds,
            (9, lambda: code.vcvta_s32_f32(v, v)),
            (12, lambda: code.vqmovnb_s32(v, v)),
            (14, lambda: narrow(v, v)),
            (17, lambda: code.vstrb_32(v, y.after(_LANES))),
        )

    run(code, count, elements, _LANES, _UNROLLED, 7, steps)
    return code

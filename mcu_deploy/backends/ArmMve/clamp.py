"""The clamp of a layer's output in vectors, for isa/clamps.py."""

from __future__ import annotations

from collections.abc import Sequence

from mcu_deploy.backends.ArmMve.workloads import assembly
from mcu_deploy.backends.isa import Assembly, Kind
from mcu_deploy.ir import DType

_LANES = 16


def assemble(dtype: DType, elements: int, bounds: Sequence[str]) -> Assembly:
    """The pass, of no count of elements: these, their count, then a word for each bound.

    y[i] = min(max(y[i], low), high), in place.
    """
    code = assembly()
    y, count, *limits = code.arguments(" ".join(("y", "elements", *bounds)))
    vector = code.register("vector", kind=Kind.VECTOR)
    formula = "y[i]"
    for bound in bounds:
        formula = f"{'max' if bound == 'low' else 'min'}({formula}, {bound})"
    code.note(f"y[i] = {formula}. {' and '.join(bounds)}: the bound in each byte of a word;")
    code.note("elements: how many y has, in place.")
    kept = [code.register(f"{bound}_bytes", kind=Kind.VECTOR) for bound in bounds]
    for of_bound, limit in zip(kept, limits, strict=True):
        code.vdup_32(of_bound, limit)
    greatest, least = (
        (code.vmax_s8, code.vmin_s8) if dtype is DType.INT8 else (code.vmax_u8, code.vmin_u8)
    )  # fmt: skip
    with code.counted(-(-elements // _LANES), count, 8):
        code.vldrb_u8(vector, y[0])
        for bound, of_bound in zip(bounds, kept, strict=True):
            (greatest if bound == "low" else least)(vector, vector, of_bound)
        code.vstrb_8(vector, y.after(_LANES))
    return code

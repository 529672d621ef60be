"""Reductions in the element type: all of integers and float64, and those that no scale maps."""

from __future__ import annotations

import math
from dataclasses import dataclass

from mcu_deploy.backends.CpuRef.kernels import integers
from mcu_deploy.backends.CpuRef.kernels.base import compute, render
from mcu_deploy.backends.CpuRef.kernels.pointwise import narrow
from mcu_deploy.backends.interface import YES, InPlace, Layer, Support, Workload, no
from mcu_deploy.backends.kit import overlap
from mcu_deploy.backends.kit.stems import stem
from mcu_deploy.backends.kit.strides import Loops
from mcu_deploy.ir import DType
from mcu_deploy.operators.reduction import reduced_axes

# The reductions that are computed here for every element type.
OWN = (
    "ReduceProd", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSum", "ReduceLogSumExp",
)  # fmt: skip

# Those whose results are no integers.
_ROOTS = ("ReduceL2", "ReduceLogSum", "ReduceLogSumExp")


@dataclass(frozen=True)
class ReductionLoops:
    """Loops over the outputs, inside of them loops over what is reduced to one.

    element: C for the element of x that is read; first: for the first of an output; count: how many
    there are of each.
    """

    outer: Loops
    inner: Loops
    element: str
    first: str
    count: int

    def stem(self, word: str, dtype: DType) -> str:
        """What a kernel with these loops is called."""
        return stem(word, dtype.value, *self.outer.extents, *self.inner.extents)


@dataclass(frozen=True)
class _Fold:
    """C of a fold: its first value, what it becomes with the element `a`, and what is stored."""

    ctype: str
    first: str
    step: str
    result: str


def is_fold(layer: Layer) -> bool:
    """Whether a reduction is one of a type that stands for itself."""
    x = layer.input(0).type
    plain = x.quantization is None and x.dtype is not DType.FLOAT32
    return layer.op in OWN or (plain and layer.output.type.quantization is None)


def supports(layer: Layer) -> Support:
    """Whether the element type is one that the operator is computed in."""
    x, y = layer.input(0).type, layer.output.type
    extreme = layer.op in ("ReduceMax", "ReduceMin")
    known = x.dtype.is_float or (x.dtype.is_integer and layer.op not in _ROOTS)
    if x.dtype is not y.dtype or x.is_quantized or not (known or extreme):
        return no(f"it does not reduce {x} to {y}")
    axes = reduced_axes(layer.call)
    if y.elements != math.prod(size for axis, size in enumerate(x.shape) if axis not in axes):
        return no("its shapes do not fit together")
    return YES


def create(layer: Layer, loops: ReductionLoops) -> Workload:
    """One result after another, its elements in the order of their indices."""
    dtype = layer.input(0).type.dtype
    body = render(
        "fold.c.j2", outer=loops.outer.extents, inner=loops.inner.extents, ctype=dtype.c_type,
        element=loops.element, start=loops.first, fold=_fold(layer.op, dtype, loops),
        shifted=layer.op == "ReduceLogSumExp",
    )  # fmt: skip
    name = loops.stem(f"reduce_{layer.op[6:].lower()}", dtype)
    in_place: tuple[InPlace, ...] = ()
    if layer.op != "ReduceLogSumExp":  # which reads everything twice
        lowest = overlap.strided(loops.outer.extents, loops.outer.steps[0])
        in_place = overlap.in_place(layer, lowest)
    headers = ("math.h",) if dtype.is_float else ()
    return compute(layer, name, body, headers=headers, in_place=in_place)


def _fold(op: str, dtype: DType, loops: ReductionLoops) -> _Fold:
    if op in ("ReduceMax", "ReduceMin"):
        nan = " || total != total" if dtype.is_float else ""
        keep = f"total {'>=' if op == 'ReduceMax' else '<='} a{nan}"
        result = narrow(dtype, f"{keep} ? total : a")
        return _Fold(dtype.c_type, loops.first, f"total = {result};", "total")
    if dtype.is_integer:
        return _integer_fold(op, dtype, loops.count)
    suffix = "f" if dtype is DType.FLOAT32 else ""
    steps = {
        "ReduceProd": "total *= a;",
        "ReduceL1": f"total += fabs{suffix}(a);",
        "ReduceL2": "total += a * a;",
        "ReduceSumSquare": "total += a * a;",
        "ReduceLogSumExp": f"total += exp{suffix}(a - shift);",
    }
    results = {
        "ReduceL2": f"sqrt{suffix}(total)",
        "ReduceLogSum": f"log{suffix}(total)",
        "ReduceLogSumExp": f"log{suffix}(total) + shift",
        "ReduceMean": f"total / ({dtype.c_type}){loops.count}",
    }
    first = "1" if op == "ReduceProd" else "0"
    return _Fold(dtype.c_type, first, steps.get(op, "total += a;"), results.get(op, "total"))


def _integer_fold(op: str, dtype: DType, count: int) -> _Fold:
    """Without sign, so that it wraps around."""
    wide, total = integers.unsigned(dtype), f"({dtype.c_type})total"
    steps = {
        "ReduceProd": f"total *= ({wide})a;",
        "ReduceL1": f"total += ({wide})({integers.unary('Abs', dtype)});",
        "ReduceSumSquare": f"total += ({wide})a * ({wide})a;",
    }
    if op == "ReduceMean":
        total = f"({dtype.c_type})({total} / ({dtype.c_type}){count})"
    first = "1" if op == "ReduceProd" else "0"
    return _Fold(wide, first, steps.get(op, f"total += ({wide})a;"), total)

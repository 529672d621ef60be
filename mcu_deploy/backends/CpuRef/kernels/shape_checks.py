"""Values that shapes depend on, computed at run time: where they contradict them the run ends."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from mcu_deploy.backends.CpuRef.kernels import integers
from mcu_deploy.backends.CpuRef.kernels.base import Kernel
from mcu_deploy.backends.interface import STATUS, Layer, Support, Workload, no
from mcu_deploy.backends.kit.arguments import Prototype
from mcu_deploy.ir import DType
from mcu_deploy.operators.shapes import Shape, squeezed, unsqueezed

# Clauses of C, each of which holds where the values contradict the shape. None: they always do.
Clauses = list[str] | None


def is_at_run_time(layer: Layer) -> bool:
    """Whether a value that the output's shape depends on is computed when the network runs."""
    index = _OPERAND.get(layer.op, (None, "", None))[0]
    indices = (0, 1, 2) if layer.op == "Range" else () if index is None else (index,)
    given = [layer.optional(k) for k in indices]
    return any(operand is not None and operand.constant is None for operand in given)


def checking(kernel: Kernel) -> Kernel:
    """The kernel, which checks the value that its output's shape depends on."""

    def supports(layer: Layer) -> Support:
        support = kernel.supports(layer)
        never = support and is_at_run_time(layer) and _clauses(layer) is None
        return (
            no("its operand has no value that gives the shape that is declared")
            if never
            else support
        )

    return replace(
        kernel, supports=supports, create=lambda layer: _checked(layer, kernel.made(layer)),
        may_refuse=True,
    )  # fmt: skip


def _checked(layer: Layer, made: Workload) -> Workload:
    """The workload behind the check of its operand; itself where the operand is a constant."""
    clauses = _clauses(layer) if is_at_run_time(layer) else []
    if not clauses:
        return made
    index, name, _ = _OPERAND[layer.op]
    given = Prototype(layer, made.constants).input(index, name)
    assert made.function is not None
    function = replace(
        made.function,
        parameters=(*made.function.parameters, *given.parameters),
        body=refusing(clauses, made.function.body),
        result=STATUS,
    )
    return replace(
        made, function=function, arguments=(*made.arguments, *given.arguments),
        constants=tuple(given.constants),
        headers=(*made.headers, "math.h") if any("ceil(" in c for c in clauses) else made.headers,
    )  # fmt: skip


def refusing(clauses: list[str], body: str, lines: Sequence[str] = ()) -> str:
    """A body that returns an error where a clause holds, and MCU_OK at its end.

    lines: declarations that the clauses need.
    """
    test = " ||\n        ".join(clauses)
    rest = body.strip().removeprefix("{").removesuffix("}").strip("\n")
    check = f"    if ({test}) {{\n        return MCU_ERROR_OPERAND;\n    }}"
    declared = "".join(f"    {line}\n" for line in lines)
    return f"{{\n{declared}{check}\n{rest}\n    return MCU_OK;\n}}"


def _clauses(layer: Layer) -> Clauses:
    return _OPERAND[layer.op][2](layer)


def _count(layer: Layer, index: int) -> int:
    return layer.input(index).type.elements


def _constant_of_shape(layer: Layer) -> Clauses:
    shape = layer.output.type.shape
    if _count(layer, 0) != len(shape):
        return None
    return [f"shape[{k}] != {size}" for k, size in enumerate(shape)]


def _reshape(layer: Layer) -> Clauses:
    x, y = layer.input(0).type, layer.output.type.shape
    if _count(layer, 1) != len(y) or x.elements != math.prod(y):
        return None
    copies = not layer.attributes.get("allowzero", 0)
    found = []
    for k, size in enumerate(y):
        known = math.prod(y[:k] + y[k + 1 :])
        allowed = [size] if size or not copies else []
        allowed += [-1] if known or not size else []
        allowed += [0] if copies and k < x.rank and x.shape[k] == size else []
        refused = [f"shape[{k}] != {value}" for value in allowed]
        if not refused:
            return None
        found.append(refused[0] if len(refused) == 1 else f"({' && '.join(refused)})")
    if len(y) > 1:
        found.append(" + ".join(f"(shape[{k}] == -1)" for k in range(len(y))) + " > 1")
    return found


def _expand(layer: Layer) -> Clauses:
    x, y, count = layer.input(0).type.shape, layer.output.type.shape, _count(layer, 1)
    if len(y) != max(len(x), count):
        return None
    found = []
    for axis, size in enumerate(y):
        k, own = axis - len(y) + count, axis - len(y) + len(x)
        given = 1 if own < 0 else x[own]
        if given not in (1, size) or (k < 0 and given != size):
            return None
        if k >= 0:
            either = given == size and size != 1
            found.append(
                f"(shape[{k}] != 1 && shape[{k}] != {size})" if either else f"shape[{k}] != {size}"
            )
    return found


def _tile(layer: Layer) -> Clauses:
    x, y = layer.input(0).type.shape, layer.output.type.shape
    if len(x) != len(y) or _count(layer, 1) != len(y) or 0 in x:
        return None
    if any(new % old for old, new in zip(x, y, strict=True)):
        return None
    pairs = enumerate(zip(x, y, strict=True))
    return [f"repeats[{k}] != {new // old}" for k, (old, new) in pairs]


def _squeeze(layer: Layer) -> Clauses:
    shape = layer.input(0).type.shape
    return _sets(layer, len(shape), lambda axes: squeezed(shape, axes))


def _unsqueeze(layer: Layer) -> Clauses:
    shape = layer.input(0).type.shape
    return _sets(layer, layer.output.type.rank, lambda axes: unsqueezed(shape, axes))


def _sets(layer: Layer, rank: int, gives: Callable[[tuple[int, ...]], Shape]) -> Clauses:
    """The sets of axes that give the declared shape, as bits."""
    count = _count(layer, 1)
    fitting = []
    for axes in combinations(range(rank), count):
        try:
            fits = gives(axes) == layer.output.type.shape
        except ValueError:
            fits = False
        if fits:
            fitting.append(sum(1 << axis for axis in axes))
    if not fitting or not count:
        return [] if fitting else None
    found = [f"axes[{k}] < -{rank} || axes[{k}] >= {rank}" for k in range(count)]
    each = [f"1U << (axes[{k}] < 0 ? axes[{k}] + {rank} : axes[{k}])" for k in range(count)]
    given = f"({each[0]})" if count == 1 else "(" + " | ".join(f"({bit})" for bit in each) + ")"
    others = " && ".join(f"{given} != {bits}" for bits in fitting)
    return [*found, others if len(fitting) == 1 else f"({others})"]


def _range(layer: Layer) -> Clauses:
    """x0: the start, x1: the step. Of integers the count is that of the steps that fit between."""
    dtype, count = layer.output.type.dtype, layer.output.type.elements
    start, delta, end = "x0[0]", "x1[0]", "limit[0]"
    if not dtype.is_integer:
        steps = f"ceil((double)({end} - {start}) / (double){delta})"
        # NaN, which is no count, fails every comparison.
        fits = f"{steps} == {count}.0" if count else f"{steps} <= 0.0"
        return [f"!({fits})"]
    wide = integers.unsigned(DType.INT64)
    up = f"(({wide}){end} - ({wide}){start} - 1U) / ({wide}){delta} + 1U"
    down = f"(({wide}){start} - ({wide}){end} - 1U) / (0U - ({wide}){delta}) + 1U"
    steps = f"({delta} > 0 ? ({end} > {start} ? {up} : 0U) : ({start} > {end} ? {down} : 0U))"
    return [f"{delta} == 0", f"{steps} != {count}U"]


def _one_hot(layer: Layer) -> Clauses:
    depth, y = layer.input(1).type, layer.output.type
    axis = int(layer.attributes.get("axis", -1)) % y.rank
    if depth.elements != 1:
        return None
    size = y.shape[axis]
    if depth.dtype.is_float:  # rounded towards zero
        return [f"!(depth[0] >= {size} && depth[0] < {size + 1})"]
    return [f"depth[0] != {size}"]


# For each operator the input, its name in C, and what contradicts the declared shape.
_OPERAND: Mapping[str, tuple[int, str, Callable[[Layer], Clauses]]] = {
    "ConstantOfShape": (0, "shape", _constant_of_shape),
    "Expand": (1, "shape", _expand),
    "OneHot": (1, "depth", _one_hot),
    "Range": (1, "limit", _range),
    "Reshape": (1, "shape", _reshape),
    "Squeeze": (1, "axes", _squeeze),
    "Tile": (1, "repeats", _tile),
    "Unsqueeze": (1, "axes", _unsqueeze),
}

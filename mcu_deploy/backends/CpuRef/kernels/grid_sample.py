"""GridSample of float32: the taps of a position are found once, and read in every channel."""

from __future__ import annotations

import math

from mcu_deploy.backends.CpuRef.kernels.base import Kernel, helper, render
from mcu_deploy.backends.CpuRef.kernels.whole import whole
from mcu_deploy.backends.interface import YES, CFunction, Layer, Support, Workload, no
from mcu_deploy.backends.kit.literals import float_literal
from mcu_deploy.backends.kit.loops import counter, plus
from mcu_deploy.ir import DType
from mcu_deploy.operators.grid_sample import (
    MARGIN,
    aligns,
    mode_of,
    moves_to_border,
    padding_of,
)

_TAPS = {"nearest": 1, "linear": 2, "cubic": 4}

_REFLECT = helper("reflect.c.j2")


def _supports(layer: Layer) -> Support:
    x, grid, y = layer.input(0).type, layer.input(1).type, layer.output.type
    for type_ in (x, grid, y):
        if type_.dtype is not DType.FLOAT32:
            return no(f"it computes float32, not {type_}")
    if mode_of(layer.call) not in _TAPS:
        return no(f"its mode is {mode_of(layer.call)!r}; of these there are {', '.join(_TAPS)}")
    if padding_of(layer.call) not in ("zeros", "border", "reflection"):
        return no(f"it does not know the padding {padding_of(layer.call)!r}")
    rank = x.rank - 2
    fits = rank >= 1 and grid.rank == x.rank and grid.shape[-1] == rank and x.elements > 0
    fits &= y.shape == (*x.shape[:2], *grid.shape[1:-1]) and grid.shape[0] == x.shape[0]
    return YES if fits else no("its shapes do not fit together")


def _taps(layer: Layer) -> CFunction:
    """What finds the elements that one number of the grid points to, and their weights."""
    mode, padding = mode_of(layer.call), padding_of(layer.call)
    return helper(
        "grid_taps.c.j2", mode=mode, padding=padding, aligns=aligns(layer.call), beyond=MARGIN,
        moves=moves_to_border(layer.call), margin=float_literal(-MARGIN), count=_TAPS[mode],
    )  # fmt: skip


def _create(layer: Layer) -> Workload:
    x, mode, padding = layer.input(0).type, mode_of(layer.call), padding_of(layer.call)
    spatial = x.shape[2:]
    taps = [counter(f"k{k}", _TAPS[mode]) for k in range(len(spatial))]
    places = [f"place{k}[{plus(tap)}]" for k, tap in enumerate(taps)]
    points = math.prod(layer.output.type.shape[2:])
    body = render(
        "grid_sample.c.j2", count=_TAPS[mode], n=counter("n", x.shape[0]),
        p=counter("p", points), c=counter("c", x.shape[1]), taps=taps, sizes=spatial,
        strides=[math.prod(spatial[k + 1 :]) for k in range(len(spatial))],
        weights=" * ".join(f"weight{k}[{plus(tap)}]" for k, tap in enumerate(taps)),
        places=" + ".join(places), channels=x.shape[1], plane=math.prod(spatial), points=points,
        inside=" && ".join(f"{place} >= 0" for place in places) if padding == "zeros" else "",
    )  # fmt: skip
    helpers = (_REFLECT,) if padding == "reflection" else ()
    return whole(layer, body, headers=("math.h",), helpers=(*helpers, _taps(layer)))


KERNELS = (Kernel("GridSample", _supports, _create),)

"""MaxRoiPool of float32: the largest element of each bin."""

from __future__ import annotations

from mcu_deploy.backends.CpuRef.kernels.base import Kernel, helper, render
from mcu_deploy.backends.CpuRef.kernels.whole import whole
from mcu_deploy.backends.interface import YES, Layer, Support, Workload, no
from mcu_deploy.backends.kit.literals import float_literal
from mcu_deploy.backends.kit.loops import counter
from mcu_deploy.ir import DType
from mcu_deploy.operators.max_roi_pool import FARTHEST

_EDGE, _INSIDE = helper("roi_edge.c.j2", farthest=FARTHEST), helper("roi_inside.c.j2")


def _supports(layer: Layer) -> Support:
    x, rois, y = layer.input(0).type, layer.input(1).type, layer.output.type
    for type_ in (x, rois, y):
        if type_.dtype is not DType.FLOAT32:
            return no(f"it computes float32, not {type_}")
    fits = x.rank == y.rank == 4 and x.elements > 0 and rois.shape == (y.shape[0], 5)
    return YES if fits and y.shape[1] == x.shape[1] else no("its shapes do not fit together")


def _create(layer: Layer) -> Workload:
    x, y = layer.input(0).type, layer.output.type
    body = render(
        "max_roi_pool.c.j2", r=counter("r", y.shape[0]), c=counter("c", x.shape[1]),
        i=counter("i", y.shape[2]), j=counter("j", y.shape[3]), bins=y.shape[2:],
        sizes=x.shape[2:], batch=x.shape[0], channels=x.shape[1],
        scale=float_literal(layer.attributes.get("spatial_scale", 1.0)),
    )  # fmt: skip
    return whole(layer, body, headers=("math.h",), helpers=(_EDGE, _INSIDE))


KERNELS = (Kernel("MaxRoiPool", _supports, _create),)

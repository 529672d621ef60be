"""RoiAlign of float32: each bin's samples, one after another."""

from __future__ import annotations

from mcu_deploy.backends.CpuRef.kernels.base import Kernel, helper, render
from mcu_deploy.backends.CpuRef.kernels.whole import whole
from mcu_deploy.backends.interface import YES, Layer, Support, Workload, no
from mcu_deploy.backends.kit.literals import float_literal
from mcu_deploy.backends.kit.loops import counter
from mcu_deploy.ir import DType
from mcu_deploy.operators.roi_align import MOST_SAMPLES, offset_of, samples_of

_TAPS = helper("roi_taps.c.j2")


def _supports(layer: Layer) -> Support:
    x, rois, batches, y = *(layer.input(k).type for k in range(3)), layer.output.type
    for type_ in (x, rois, y):
        if type_.dtype is not DType.FLOAT32:
            return no(f"it computes float32, not {type_}")
    if batches.dtype is not DType.INT64:
        return no("its batch indices are no int64")
    if layer.attributes.get("mode", "avg") not in ("avg", "max"):
        return no(f"it does not know the mode {layer.attributes['mode']!r}")
    fits = x.rank == 4 and x.elements > 0 and rois.rank == 2 and rois.shape[1] == 4
    fits &= batches.shape == rois.shape[:1] == y.shape[:1] and y.shape[1] == x.shape[1]
    return YES if fits else no("its shapes do not fit together")


def _create(layer: Layer) -> Workload:
    x, y = layer.input(0).type, layer.output.type
    height, width = x.shape[2:]
    offset = offset_of(layer.call)
    body = render(
        "roi_align.c.j2", r=counter("r", y.shape[0]), c=counter("c", x.shape[1]),
        i=counter("i", y.shape[2]), j=counter("j", y.shape[3]), bins=y.shape[2:],
        batch=x.shape[0], channels=x.shape[1], height=height, width=width,
        scale=float_literal(layer.attributes.get("spatial_scale", 1.0)), offset=offset,
        samples=samples_of(layer.call), most=MOST_SAMPLES,
        is_max=layer.attributes.get("mode", "avg") == "max",
    )  # fmt: skip
    return whole(layer, body, headers=("math.h",), helpers=(_TAPS,))


KERNELS = (Kernel("RoiAlign", _supports, _create),)

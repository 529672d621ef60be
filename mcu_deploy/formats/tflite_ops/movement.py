"""What moves elements and changes none: RESHAPE and its kin, TRANSPOSE, CONCATENATION, PAD,
RESIZE_NEAREST_NEIGHBOR. They are ONNX's operators for every type."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import tflite

from mcu_deploy.arithmetic.tflite import round_half_away
from mcu_deploy.formats.tflite_graph import NCHW, OPSET, GraphBuilder
from mcu_deploy.formats.tflite_operation import Operation, TfliteTensor
from mcu_deploy.formats.tflite_ops import DOMAIN
from mcu_deploy.formats.tflite_ops.activations import fused_activation, is_float
from mcu_deploy.ir import DType, EdgeId
from mcu_deploy.operators import Call
from mcu_deploy.operators.selection import nearest_positions

# Positions in 1 / 2**10 then fit into int32, and those of elements into int16.
_LARGEST_IMAGE = 1 << 15


def _reshape(operation: Operation, graph: GraphBuilder) -> None:
    """The output's shape is in the file; the input or option with a shape is not looked at."""
    operation.require_alike(operation.input(0), operation.output)
    if operation.input(0).type.elements != operation.output.type.elements:
        raise operation.damaged("its output has not as many elements as its input")
    graph.add_reshape(operation, graph.read(operation.input(0)), operation.output)


def _transpose(operation: Operation, graph: GraphBuilder) -> None:
    operation.require_alike(operation.input(0), operation.output)
    perm = tuple(int(a) for a in operation.constant(1).reshape(-1))
    edge = graph.read(operation.input(0))
    graph.add(operation, "Transpose", [edge], operation.output, {"perm": perm})


def _concatenation(operation: Operation, graph: GraphBuilder) -> None:
    options = operation.options(tflite.ConcatenationOptions)
    if fused_activation(operation, options.FusedActivationFunction()) != (-np.inf, np.inf):
        raise operation.unsupported(
            "has a fused activation", "Convert the model with that as an operator."
        )
    parts, y = operation.given, operation.output
    edges, axis = [graph.read(part) for part in parts], int(options.Axis())
    if {(t.type.dtype, t.type.is_quantized) for t in (*parts, y)} == {(DType.UINT8, True)}:
        edges = [
            _rescaled(operation, graph, part, edge) for part, edge in zip(parts, edges, strict=True)
        ]
    else:
        operation.require_alike(*parts, y)
    graph.add(operation, "Concat", edges, y, {"axis": axis})


def _rescaled(
    operation: Operation, graph: GraphBuilder, part: TfliteTensor, edge: EdgeId
) -> EdgeId:
    """A part in the steps of the whole, as LiteRT has it of uint8 alone."""
    type_ = replace(part.type, quantization=operation.output.type.quantization)
    if type_ == part.type:
        return edge
    found = graph.edge(f"{part.name} rescaled", type_)
    graph.add(operation, "Rescale", [edge], found, domain=DOMAIN)
    return found


def _pad(operation: Operation, graph: GraphBuilder) -> None:
    """PAD fills with the zero point, PADV2 with a constant of the tensor's own type."""
    operation.require_alike(operation.input(0), operation.output)
    x, y = operation.input(0), operation.output
    amounts = operation.constant(1)
    if amounts.shape != (x.type.rank, 2) or (amounts.size and amounts.min() < 0):
        raise operation.damaged(f"its pads have the shape {list(amounts.shape)}")
    pads = np.concatenate([amounts[:, 0], amounts[:, 1]]).astype(np.int64)
    if operation.optional(2) is not None:
        fill = operation.constant(2).reshape(-1)[:1].astype(x.type.dtype.numpy)
    else:
        quantization = x.type.quantization
        zero = 0 if quantization is None else quantization.zero_point[0]
        fill = np.array([zero], x.type.dtype.numpy)
    inputs = [
        graph.read(x),
        graph.constant(f"{y.name} pads", pads),
        graph.constant(f"{y.name} fill", fill.reshape(())),
    ]
    graph.add(operation, "Pad", inputs, y)


def _densify(operation: Operation, graph: GraphBuilder) -> None:
    """Of a computed tensor, which it refuses: of a constant the file's reader has done it."""
    operation.constant(0)


def _require_images(operation: Operation) -> None:
    """The input and output differ in nothing but their rows and columns."""
    x, y = operation.input(0).type, operation.output.type
    if x.rank != 4 or y.rank != 4 or not x.elements or not y.elements:
        raise operation.damaged("its input or output has not four axes with elements")
    if (x.shape[0], x.shape[3]) != (y.shape[0], y.shape[3]):
        raise operation.damaged("its output has another batch or other channels than its input")


def _resize_nearest(operation: Operation, graph: GraphBuilder) -> None:
    """ONNX's Resize where it picks the same elements, else one Gather an axis."""
    operation.require_alike(operation.input(0), operation.output)
    options = operation.options(tflite.ResizeNearestNeighborOptions)
    x, y = operation.input(0), operation.output
    _require_images(operation)
    corners, centers = bool(options.AlignCorners()), bool(options.HalfPixelCenters())
    picked = {a: _nearest(x.type.shape[a], y.type.shape[a], corners, centers) for a in (1, 2)}
    scales = np.array([n / s for s, n in zip(x.type.shape, y.type.shape, strict=True)], np.float32)
    attributes = {
        "mode": "nearest",
        "nearest_mode": "round_prefer_ceil" if corners else "floor",
        "coordinate_transformation_mode": "align_corners"
        if corners
        else ("tf_half_pixel_for_nn" if centers else "asymmetric"),
    }
    call = Call("Resize", attributes, (None, None, scales), (x.type,) * 3, (y.type,), OPSET)
    edge = graph.read(x)
    if all(nearest_positions(call)[axis] == picked[axis] for axis in picked):
        roi = graph.constant(f"{y.name} roi", np.zeros(0, np.float32))
        inputs = [edge, roi, graph.constant(f"{y.name} scales", scales)]
        graph.add(operation, "Resize", inputs, y, attributes)
        return
    shape = (x.type.shape[0], y.type.shape[1], *x.type.shape[2:])
    rows = graph.edge(f"{y.name} rows", replace(x.type, shape=shape))
    positions = [graph.integers(f"{y.name} positions", picked[axis]) for axis in (1, 2)]
    graph.add(operation, "Gather", [edge, positions[0]], rows, {"axis": 1})
    graph.add(operation, "Gather", [rows, positions[1]], y, {"axis": 2})


def _resize_bilinear(operation: Operation, graph: GraphBuilder) -> None:
    options = operation.options(tflite.ResizeBilinearOptions)
    x, y = operation.input(0), operation.output
    _require_images(operation)
    if not is_float(operation, x, y, wide=True):
        operation.require_alike(x, y)
        ways = {
            "align_corners": int(options.AlignCorners()),
            "half_pixel_centers": int(options.HalfPixelCenters()),
        }
        if all(ways.values()):
            raise operation.unsupported(
                f"resizes {x.type}, and by corners and centers both",
                "TFLite-Micro computes it by one of the two.",
            )
        if max(*x.type.shape[1:3], *y.type.shape[1:3]) >= _LARGEST_IMAGE:
            raise operation.unsupported(
                f"resizes {x.type}", f"It takes fewer than {_LARGEST_IMAGE} rows and columns."
            )
        graph.add(operation, "ResizeBilinear", [graph.read(x, NCHW)], y, ways, DOMAIN, NCHW)
        return
    way = "half_pixel" if options.HalfPixelCenters() else "asymmetric"
    attributes = {
        "mode": "linear",
        "coordinate_transformation_mode": "align_corners" if options.AlignCorners() else way,
    }
    sizes = graph.integers(f"{y.name} sizes", y.type.shape)
    inputs = [graph.read(x), None, None, sizes]
    graph.add(operation, "Resize", inputs, y, attributes, "mcu")


def _blocks(spreads: bool, table: type[Any]) -> Any:
    """SPACE_TO_DEPTH and DEPTH_TO_SPACE: a block's place is outermost in the channels."""

    def convert(operation: Operation, graph: GraphBuilder) -> None:
        x, y = operation.input(0), operation.output
        operation.require_alike(x, y)
        size = int(operation.options(table).BlockSize())
        plane = x if not spreads else y
        fits = size > 0 and x.type.rank == y.type.rank == 4 and x.type.elements == y.type.elements
        batch, height, width, channels = (*plane.type.shape, *(1,) * 4)[:4]
        if not fits or height % size or width % size or batch != x.type.shape[0]:
            raise operation.damaged(f"its blocks of {size} do not fit its input and output")
        rows, columns = height // size, width // size
        if spreads:
            split, order = (batch, rows, columns, size, size, channels), (0, 1, 3, 2, 4, 5)
        else:
            split, order = (batch, rows, size, columns, size, channels), (0, 1, 3, 2, 4, 5)
        apart = graph.reshaped(operation, graph.read(x), split)
        type_ = replace(x.type, shape=tuple(split[axis] for axis in order))
        moved = graph.edge(f"{y.name} moved", type_)
        graph.add(operation, "Transpose", [apart], moved, {"perm": order})
        graph.add_reshape(operation, moved, y)

    return convert


def _nearest(size: int, new: int, corners: bool, centers: bool) -> tuple[int, ...]:
    """The positions that TFLite picks along an axis, computed in float32 (GetNearestNeighbor)."""
    if corners and new > 1:
        scale = np.float32(size - 1) / np.float32(new - 1)
    else:
        scale = np.float32(size) / np.float32(new)
    at = (np.arange(new, dtype=np.float32) + np.float32(0.5 if centers else 0.0)) * scale
    whole = round_half_away(at) if corners else np.floor(at)
    return tuple(int(p) for p in np.clip(whole, 0, size - 1))


CONVERTERS = {
    "RESHAPE": _reshape,
    "SQUEEZE": _reshape,
    "EXPAND_DIMS": _reshape,
    "TRANSPOSE": _transpose,
    "CONCATENATION": _concatenation,
    "PAD": _pad,
    "PADV2": _pad,
    "RESIZE_NEAREST_NEIGHBOR": _resize_nearest,
    "RESIZE_BILINEAR": _resize_bilinear,
    "DENSIFY": _densify,
    "SPACE_TO_DEPTH": _blocks(False, tflite.SpaceToDepthOptions),
    "DEPTH_TO_SPACE": _blocks(True, tflite.DepthToSpaceOptions),
}

"""The cases of test_tflite_detection.py: one TFLite_Detection_PostProcess a file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from flatbuffers import flexbuffers
from tflite_models import Array, Operator, Tensor, constant, write

RECORDED = Path(__file__).with_name("detection_recorded.npz")
OUTPUTS = ("boxes", "classes", "scores", "count")
_BOXES = 30
_OPTIONS = {
    "max_detections": 10, "max_classes_per_detection": 1, "num_classes": 3,
    "nms_score_threshold": 0.25, "nms_iou_threshold": 0.4,
    "y_scale": 10.0, "x_scale": 9.0, "h_scale": 5.0, "w_scale": 4.0,
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A file, by the name that a failure bears, and its inputs."""

    name: str
    content: bytes
    inputs: tuple[Array, ...]


def file(options: dict[str, Any], quantized: bool = False, classes: int = 4) -> bytes:
    """Encodings of five columns and scores are inputs, the anchors overlap."""
    rng = np.random.default_rng(2)
    anchors = rng.uniform([0, 0, 0.2, 0.2], [1, 1, 0.5, 0.5], (_BOXES, 4)).astype(np.float32)
    kind = "UINT8" if quantized else "FLOAT32"
    given = [Tensor("encodings", (1, _BOXES, 5), kind, (0.05,) * quantized, (120,) * quantized)]
    given += [Tensor("each", (1, _BOXES, classes), kind, (1 / 256,) * quantized, (0,) * quantized)]
    place = constant("anchors", anchors)
    if quantized:
        stored = np.rint(anchors * 200).astype(np.uint8)
        place = Tensor("anchors", stored.shape, "UINT8", (0.005,), (0,), value=stored)
    names = [t.name for t in (*given, place)]
    operator = Operator(
        "CUSTOM", tuple(names), OUTPUTS, custom="TFLite_Detection_PostProcess",
        custom_options=bytes(flexbuffers.Dumps(_OPTIONS | options)),
    )  # fmt: skip
    return write([*given, place, *map(Tensor, OUTPUTS)], [operator], names[:2], OUTPUTS)


def cases() -> Iterator[Case]:
    """A class a box and many; scores that are equal; fewer boxes than there is room for."""
    rng = np.random.default_rng(3)
    for name, options, quantized, classes in (
        ("the best class", {}, False, 4),
        ("without a background", {"max_detections": 40}, True, 3),
        ("each class", {"use_regular_nms": True, "detections_per_class": 4}, False, 4),
        ("all of each class", {"use_regular_nms": True, "max_detections": 99}, True, 3),
    ):
        shapes = (1, _BOXES, 5), (1, _BOXES, classes)
        if quantized:
            given = [rng.integers(0, 256, shape, np.uint8) for shape in shapes]
        else:
            given = [
                rng.normal(0, 3, shapes[0]).astype(np.float32),
                (rng.integers(0, 17, shapes[1]) / 16).astype(np.float32),
            ]
        yield Case(name, file(options, quantized, classes), tuple(given))

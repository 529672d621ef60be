"""The end of TFLite's detectors: the boxes, classes and scores that LiteRT gives, in its order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from network_programs import Array
from operators.detection_cases import OUTPUTS, RECORDED, cases, file
from operators.lab import compile_files, run_on_host

from mcu_deploy import formats
from mcu_deploy.errors import McuDeployError


def _check(name: str, found: list[Array]) -> None:
    with np.load(RECORDED) as recorded:
        for output, values in zip(OUTPUTS, found, strict=True):
            wanted = recorded[f"{name} {output}"]
            assert values.shape == wanted.shape
            same = np.allclose if output == "boxes" else np.array_equal
            assert same(values, wanted), f"{name}: {output}"


@pytest.mark.needs_host_gcc
def test_boxes_are_those_of_litert(tmp_path: Path) -> None:
    items = compile_files(cases(), tmp_path)
    for item, device in zip(items, run_on_host(items, tmp_path), strict=True):
        _check(item.case.name, item.expected)
        _check(item.case.name, device)


@pytest.mark.parametrize(
    ("options", "classes", "told"),
    [
        ({"max_classes_per_detection": 2}, 4, "gives several classes of a box"),
        ({"max_detections": 0}, 4, "its numbers of boxes, thresholds or scales are none"),
        ({}, 5, "its inputs do not fit together"),
    ],
)
def test_what_is_refused(options: dict[str, Any], classes: int, told: str, tmp_path: Path) -> None:
    path = tmp_path / "m.tflite"
    path.write_bytes(file(options, classes=classes))
    with pytest.raises(McuDeployError, match=told):
        formats.load(path)

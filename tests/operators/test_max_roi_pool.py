"""MaxRoiPool: device, oracle and onnxruntime."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from network_programs import SANITIZERS
from onnx import helper
from operators.lab import Case, check_cases, compile_case, make_model, run_on_host

PLAIN = [[0, 1, 2, 9, 7], [1, 0, 0, 11, 8], [0, 3.4, 2.5, 3.6, 2.5], [1, 5, 6, 2, 1]]
OUTSIDE = [[0, -4, -3, 20, 5], [1, 8, 7, 30, 30], [0, 14, 2, 20, 5]]


def _case(name: str, rois: list[list[float]], pooled: tuple[int, int], scale: float) -> Case:
    node = helper.make_node(
        "MaxRoiPool", ["x", "rois"], ["y"], pooled_shape=list(pooled), spatial_scale=scale
    )
    types = {"x": ("float32", (2, 3, 9, 12)), "rois": ("float32", (len(rois), 5))}
    x = np.random.default_rng(5).standard_normal((2, 3, 9, 12)).astype(np.float32)
    model = make_model([node], types, {"y": ("float32", None)}, {}, 17)
    return Case(name, model, (x, np.array(rois, np.float32)))


def _cases() -> Iterator[Case]:
    for pooled in ((1, 1), (2, 3), (5, 4)):
        yield _case(f"plain {pooled}", PLAIN, pooled, 1.0)
        yield _case(f"outside {pooled}", OUTSIDE, pooled, 1.0)
    yield _case("scaled", (np.array(PLAIN) * [1, 3, 3, 3, 3]).tolist(), (3, 2), 1 / 3)


@pytest.mark.needs_host_gcc
def test_regions_are_those_of_onnxruntime(tmp_path: Path) -> None:
    check_cases(list(_cases()), tmp_path)


@pytest.mark.needs_host_gcc
def test_what_no_region_can_be_reads_nothing_beyond_the_image(tmp_path: Path) -> None:
    """Batches and edges are computed: any number, and none, is there."""
    far, none = 3e38, float("nan")
    rois = [[9, 0, 0, 3, 3], [-2, 0, 0, 3, 3], [none, 0, 0, 3, 3], [0, -far, -far, far, far],
            [0, far, far, -far, -far], [1, none, 0, 3, none]]  # fmt: skip
    compiled = compile_case(_case("hostile", rois, (2, 2), 1.0), tmp_path, 0)
    (outputs,) = run_on_host([compiled], tmp_path, SANITIZERS)
    np.testing.assert_array_equal(outputs[0], compiled.expected[0])

"""Every layer that CpuRef computes belongs to a family that was measured."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from operators.node_tests import node_tests
from operators.test_node_tests import listed

from mcu_deploy import formats, passes
from mcu_deploy.backends.CpuRef import costs
from mcu_deploy.backends.CpuRef.kernels import find
from mcu_deploy.backends.interface import layer_of
from mcu_deploy.errors import McuDeployError


@pytest.mark.matrix
def test_the_layers_of_onnxs_node_tests_are_of_measured_families(tmp_path: Path) -> None:
    """Of those that load as they are; the others want what they are given as constants."""
    names, path = set(listed()), tmp_path / "model.onnx"
    counted = 0
    for test in node_tests():
        if test.name not in names or test.expanded:
            continue
        onnx.save(test.model, path)
        try:
            graph = passes.run(formats.load(path))
        except McuDeployError:
            continue
        for node in graph.nodes:
            layer = layer_of(graph, node)
            work = costs.work_of(layer)
            kernel = find(layer.domain, layer.op)
            if work == costs.VIEW or kernel is None or not kernel.supports(layer).supported:
                continue
            counted += 1
            assert work.family in costs.FITS, f"{test.name}: {layer.op} is {work.family!r}"
            coefficients = costs.FITS[work.family].coefficients
            assert len(work.counts) == len(coefficients), work.family
    assert counted > 300

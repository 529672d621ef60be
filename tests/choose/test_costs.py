"""CpuRef's estimates against what an emulator counts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sampling import examples

from mcu_deploy import formats, passes, resources
from mcu_deploy.api.building import build
from mcu_deploy.api.folder import open_folder
from mcu_deploy.api.profiling import profile
from mcu_deploy.backends.CpuRef import CpuRef, costs
from mcu_deploy.backends.CpuRef.kernels import names
from mcu_deploy.backends.interface import Costs, Layer, layer_of
from mcu_deploy.choose.strategies import cost
from mcu_deploy.ir import DType, GraphEditor, TensorType
from mcu_deploy.operators import label
from mcu_deploy.operators.windows import count_taps, window

KWS = resources.examples() / "kws" / "model.onnx"


def _layer(
    op: str,
    shape: Sequence[int],
    result: Sequence[int],
    weights: Sequence[int] | None = None,
    domain: str = "",
    **attributes: Any,
) -> Layer:
    """A float32 layer with one computed input, and weights where a shape of them is given."""
    editor = GraphEditor.empty("net")
    inputs = [editor.add_edge("x", TensorType(DType.FLOAT32, tuple(shape)))]
    editor.inputs = inputs[:]
    if weights is not None:
        type_ = TensorType(DType.FLOAT32, tuple(weights))
        inputs.append(editor.add_constant("w", np.ones(type_.shape, np.float32), type_))
    y = editor.add_edge("y", TensorType(DType.FLOAT32, tuple(result)))
    editor.add_node(op, inputs, [y], "layer", attributes, domain)
    editor.outputs = [y]
    graph = editor.finish(opset=17)
    return layer_of(graph, next(graph.nodes))


@pytest.mark.needs_arm_gcc
@pytest.mark.needs_qemu
def test_the_example_costs_what_was_estimated(tmp_path: Path) -> None:
    built = build(KWS, "mps2-an386", tmp_path / "kws", name="kws")
    counted = profile(open_folder(tmp_path / "kws"))
    steps = built.networks[0].network.plan.steps
    assert len(steps) == len(counted.layers) > 10
    total = 0
    for step, measured in zip(steps, counted.layers, strict=True):
        layer = step.choice.layer
        instructions = costs.estimate(layer).instructions
        assert instructions is not None
        allowed = costs.FITS[costs.work_of(layer).family].worst
        assert abs(instructions / measured.cost - 1) <= allowed, f"{layer.op} {layer.name}"
        total += instructions
    assert abs(total / counted.total - 1) < 0.25


def test_every_kernel_has_a_cost_of_its_own() -> None:
    """Looked up on layers before layouts are assigned, as the partitioner asks."""
    graph = passes.run(formats.load(KWS))
    for node in graph.nodes:
        layer = layer_of(graph, node)
        work = costs.work_of(layer)
        assert work == costs.VIEW or work.family in costs.FITS, node.op
        assert CpuRef().estimate(layer) == costs.estimate(layer)
    for family, fit in costs.FITS.items():
        assert 0 <= fit.median <= fit.worst and min(fit.coefficients) >= 0, family
    ruled = {label(*key) for key in costs.RULES if key[0] != "mcu"}
    assert ruled == set(names())


def test_a_convolution_counts_its_taps_weights_and_macs() -> None:
    layer = _layer("Conv", (1, 3, 4, 4), (1, 2, 4, 4), (2, 3, 3, 3), pads=(1, 1, 1, 1))
    # 4x4 positions, of whose 9 taps 100 in 144 lie inside; 10 kernel rows a column
    work = costs.work_of(layer)
    assert work == costs.Work("conv float32", (2 * 3 * 100, 2 * 10 * 4))
    per_mac, per_row = costs.FITS["conv float32"].coefficients
    expected = round(600 * per_mac + 80 * per_row)
    assert costs.estimate(layer) == Costs(macs=2 * 27 * 16, instructions=expected, flash=2 * 27 * 4)


@pytest.mark.parametrize(
    ("group", "weights", "family"),
    [(1, (6, 6, 1, 1), "pointwise"), (6, (6, 1, 3, 3), "depthwise"), (2, (6, 3, 3, 3), "grouped")],
)
def test_kinds_of_convolutions(group: int, weights: tuple[int, ...], family: str) -> None:
    size = 9 - weights[2]
    layer = _layer("Conv", (1, 6, 8, 8), (1, 6, size, size), weights, group=group)
    assert costs.work_of(layer).family == f"{family} float32"


def test_what_moves_nothing_costs_nothing() -> None:
    assert costs.estimate(_layer("Flatten", (1, 4, 4), (1, 16))).instructions == 0
    assert costs.estimate(_layer("Identity", (1, 4, 4), (1, 4, 4))).instructions == 0
    assert costs.estimate(_layer("Relu", (0, 4), (0, 4))).instructions == 0


def test_a_conversion_costs_what_the_strategy_counts() -> None:
    layer = _layer("Reorder", (1, 10, 10, 10), (1, 10, 10, 10), domain="mcu")
    instructions = costs.estimate(layer).instructions
    assert instructions is not None
    assert round(instructions / 1000) == cost.CONVERSION


def test_what_nobody_measured_costs_something_for_each_element() -> None:
    assert costs.estimate(_layer("Strange", (1, 5), (1, 7))).instructions == 7 * costs.OTHER


@given(
    st.integers(1, 9), st.integers(1, 5), st.integers(1, 4), st.integers(1, 3),
    st.integers(0, 5), st.integers(0, 5),
)  # fmt: skip
@settings(max_examples=examples(200), deadline=None)
def test_taps_are_those_inside_of_the_input(
    size: int, kernel: int, stride: int, dilation: int, before: int, after: int
) -> None:
    positions = (size + before + after - (kernel - 1) * dilation - 1) // stride + 1
    if positions < 1:
        return
    attributes = {"strides": (stride, 1), "dilations": (dilation, 1), "pads": (before, 0, after, 0)}
    geometry = window(attributes, (size, 3), (positions, 2), (kernel, 2))
    assert costs.taps(geometry, 2) == count_taps(geometry).sum()
    assert costs.taps(geometry, 1) * 2 == count_taps(geometry).sum()

"""CpuRef's estimates against what an emulator counts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mcu_deploy import resources
from mcu_deploy.api.building import build
from mcu_deploy.api.folder import open_folder
from mcu_deploy.api.profiling import profile
from mcu_deploy.backends.CpuRef import CpuRef, costs, cycles, window_cycles
from mcu_deploy.backends.CpuRef.kernels import names
from mcu_deploy.backends.interface import Costs, Layer, Unit, layer_of
from mcu_deploy.choose.strategies import cost
from mcu_deploy.ir import DType, GraphEditor, TensorType
from mcu_deploy.options import Options

KWS = resources.examples() / "kws" / "model.onnx"


def _layer(
    op: str,
    shape: Sequence[int],
    result: Sequence[int],
    weights: Sequence[int] | None = None,
    domain: str = "",
    dtype: DType = DType.FLOAT32,
    **attributes: Any,
) -> Layer:
    """A layer with one computed input, and weights where a shape of them is given."""
    editor = GraphEditor.empty("net")
    inputs = [editor.add_edge("x", TensorType(dtype, tuple(shape)))]
    editor.inputs = inputs[:]
    if weights is not None:
        type_ = TensorType(DType.FLOAT32, tuple(weights))
        inputs.append(editor.add_constant("w", np.ones(type_.shape, np.float32), type_))
    y = editor.add_edge("y", TensorType(dtype, tuple(result)))
    editor.add_node(op, inputs, [y], "layer", attributes, domain)
    editor.outputs = [y]
    graph = editor.finish(opset=17)
    return layer_of(graph, next(graph.nodes))


@pytest.mark.matrix
@pytest.mark.needs_arm_gcc
@pytest.mark.needs_qemu
def test_the_example_costs_what_was_estimated(tmp_path: Path) -> None:
    """An instruction takes from 1 to 2 modelled cycles, and the estimates are somewhat off."""
    options = Options(backends=("CpuRef",))
    built = build(KWS, "mps2-an386", tmp_path / "kws", name="kws", options=options)
    counted = profile(open_folder(tmp_path / "kws"))
    steps = built.networks[0].network.plan.steps
    assert len(steps) == len(counted.layers) > 10
    cycles = [step.choice.workload.costs.cycles or 0 for step in steps]
    for step, modelled, measured in zip(steps, cycles, counted.layers, strict=True):
        assert 0.8 < modelled / measured.cost < 3, step.choice.layer.op
    assert 1.2 < sum(cycles) / counted.total < 1.8


def test_every_operator_of_the_formulas_has_a_kernel() -> None:
    known = {name.rpartition("::")[2] for name in (*names(), "mcu::Reorder")}
    assert {*cycles._FORMULAS, *cycles._ELEMENT, *cycles._INTEGER, *cycles._TFLITE} <= known


def test_a_layer_counts_the_taps_that_lie_inside_of_its_input() -> None:
    padded = _layer("Conv", (1, 3, 4, 4), (1, 2, 4, 4), (2, 3, 3, 3), pads=(1, 1, 1, 1))
    each = window_cycles._CONVOLUTION["float"][1]
    # 10 of 12 rows of taps, and 10 of 12 columns, for each of 4 rows and columns
    taken = 2 * 16 * each.outputs + 2 * 10 * 4 * each.rows + 2 * 10 * 10 * 3 * each.macs
    code = costs._CODE["Conv"]
    expected = Costs(2 * 27 * 16, None, round(taken + 20), 2 * 27 * 4, code=code)
    assert costs.estimate(padded) == expected == CpuRef().estimate(padded)
    depthwise = _layer("Conv", (1, 6, 8, 8), (1, 6, 6, 6), (6, 1, 3, 3), group=6)
    each = window_cycles._DEPTHWISE["float"][0]
    taken = 6 * 36 * (each.outputs + 3 * each.rows + 9 * each.taps)
    assert costs.estimate(depthwise).cycles == round(taken + 20)


def test_a_longer_axis_and_a_larger_window_cost_more() -> None:
    def pool(size: int) -> int:
        shape = (1, 2, 12 // size, 12 // size)
        layer = _layer(
            "MaxPool", (1, 2, 12, 12), shape, kernel_shape=(size,) * 2, strides=(size,) * 2
        )
        return costs.estimate(layer).cycles or 0

    assert 0 < pool(3) < 2 * pool(2)
    reduced = [
        costs.estimate(_layer("ReduceMax", (4, n), (4, 1), axes=(1,))).cycles for n in (9, 90)
    ]
    assert 0 < 8 * (reduced[0] or 0) < (reduced[1] or 0)


def test_what_no_register_holds_costs_more() -> None:
    def taken(dtype: DType) -> int:
        return costs.estimate(_layer("Add", (9,), (9,), dtype=dtype)).cycles or 0

    assert taken(DType.FLOAT64) > taken(DType.INT64) > taken(DType.INT32)


def test_what_moves_nothing_costs_nothing() -> None:
    assert costs.estimate(_layer("Flatten", (1, 4, 4), (1, 16))).cycles == 0
    assert costs.estimate(_layer("Identity", (1, 4, 4), (1, 4, 4))).cycles == 0
    for op, shape, options in (
        ("Relu", (0, 4), {}),
        ("Gather", (4, 0), {"axis": 0}),
        ("Softmax", (4, 0), {}),
        ("Expand", (4, 0), {}),
    ):
        layer = _layer(op, shape, shape, shape if op == "Gather" else None, **options)
        assert costs.estimate(layer).cycles == 0


def test_a_conversion_costs_what_the_strategy_counts() -> None:
    layer = _layer("Reorder", (1, 10, 10, 10), (1, 10, 10, 10), domain="mcu")
    expected = 1000 * cost.CONVERSION[Unit.CYCLES]
    assert costs.estimate(layer).cycles == pytest.approx(expected, rel=0.15)


def test_what_nobody_measured_costs_something_for_each_element() -> None:
    assert (costs.estimate(_layer("Strange", (1, 5), (1, 7))).cycles or 0) > 7

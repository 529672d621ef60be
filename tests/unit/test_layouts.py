"""Layouts: transposes vanish, outputs keep their order, and no value changes."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest
from graph_cases import (
    SOME_MODELS,
    Net,
    laid_out,
    loadable,
    planned,
    preference,
    random_inputs,
    random_net,
)
from hypothesis import given
from hypothesis import strategies as st
from operators.lab import Case, Compiled, check_device, run_on_host
from sampling import dear, first
from sanitizers import SANITIZED

from mcu_deploy import choose, codegen, formats, interpreter, passes
from mcu_deploy.boards import load_board
from mcu_deploy.choose.target import target_of
from mcu_deploy.compiled import Network
from mcu_deploy.errors import UnsupportedError
from mcu_deploy.ir import Graph, verify
from mcu_deploy.options import Options
from mcu_deploy.selection import Selection


def called(graph: Graph) -> list[str]:
    """The operators that cost instructions, in order."""
    _, choices, _ = planned(graph)
    return [c.layer.op for c in choices if not c.workload.is_view]


@pytest.mark.parametrize(
    "name", ["mlperf_ic_int8", "mlperf_ic_f32", "mlperf_vww_int8", "mlperf_kws_int8"]
)
def test_transposes_of_converted_models_vanish(models_dir: Path, name: str) -> None:
    graph = passes.run(formats.load(models_dir / name / "model.onnx"))
    assert not {"Transpose", "Reorder"} & set(called(graph))


@pytest.mark.parametrize("name", ["torch_digits_cnn", "mnist8_zoo_f32"])
def test_channel_first_models_are_reordered_before_they_are_flattened(
    models_dir: Path, name: str
) -> None:
    """(N, C, H, W) with H, W > 1 goes through channel-last convolutions into a Reshape."""
    ops = called(passes.run(formats.load(models_dir / name / "model.onnx")))
    assert ops.count("Reorder") == 1
    assert max(i for i, op in enumerate(ops) if op in ("Conv", "MaxPool")) < ops.index("Reorder")


@pytest.mark.parametrize("names", first([SOME_MODELS, None]), ids=["some", "all"])
def test_inputs_and_outputs_of_all_models_keep_the_natural_order(
    models_dir: Path, names: Sequence[str] | None
) -> None:
    seen = 0
    for name, imported in loadable(models_dir, names):
        graph = passes.run(imported)
        try:
            after = laid_out(graph)
        except UnsupportedError:
            continue
        seen += 1
        verify(after)
        assert after.inputs == graph.inputs, name
        for old, new in zip(
            (*graph.inputs, *graph.outputs), (*after.inputs, *after.outputs), strict=True
        ):
            assert after.type(new).layout is None, name
            assert after.type(new).shape == graph.type(old).shape, name
            assert after.edge_name(new) == graph.edge_name(old), name
    assert seen == len(names) if names else seen >= 25


def test_a_transpose_is_a_view() -> None:
    """Of its input in another order: the graph's output then needs a copy, an inner reader not."""
    net = Net()
    x = net.input(2, 3)
    assert called(net.finish(net.op("Transpose", [x], (3, 2), perm=(1, 0)))) == ["Reorder"]
    net = Net()
    x = net.input(1, 6, 6, 2)
    y = net.op("Transpose", [x], (1, 2, 6, 6), perm=(0, 3, 1, 2))
    z = net.op("GlobalAveragePool", [y], (1, 2, 1, 1))
    assert called(net.finish(z)) == ["GlobalAveragePool"]


def test_two_readers_of_one_order_share_its_copy() -> None:
    net = Net()
    x = net.input(1, 3, 4, 4)
    one = net.op("GlobalAveragePool", [x], (1, 3, 1, 1))
    two = net.op("GlobalMaxPool", [x], (1, 3, 1, 1))
    ops = called(net.finish(one, two))
    assert ops == ["Reorder", "GlobalAveragePool", "GlobalMaxPool"]
    net = Net()
    y = net.op("Transpose", [net.input(2, 3)], (3, 2), perm=(1, 0))
    graph = laid_out(net.finish(y, net.op("Reshape", [y, net.constant(np.array([6]))], (6,)), y))
    assert [n.op for n in graph.nodes].count("Reorder") == 1
    assert graph.outputs[0] == graph.outputs[2]


def test_the_largest_operand_is_not_copied() -> None:
    """A gate in natural order follows the feature map, whichever is named first."""
    for swap in (False, True):
        net = Net()
        x = net.input(1, 6, 6, 4)
        shape = net.constant(np.array([1, 4, 1, 1]))
        gate = net.op("Reshape", [net.input(1, 4), shape], (1, 4, 1, 1))
        large = net.op("Transpose", [x], (1, 4, 6, 6), perm=(0, 3, 1, 2))
        scaled = net.op("Mul", [large, gate] if swap else [gate, large], (1, 4, 6, 6))
        result = net.op("GlobalAveragePool", [scaled], (1, 4, 1, 1))
        assert called(net.finish(result)) == ["Mul", "GlobalAveragePool"]


def test_a_constant_output_is_copied_once() -> None:
    net = Net()
    y = net.op("Relu", [net.input(4)], (4,))
    c = net.constant(np.arange(3, dtype=np.float32))
    before = net.finish(y, c, c)
    after = laid_out(before)
    verify(after)
    assert [n.op for n in after.nodes] == ["Relu", "Identity"]
    values = random_inputs(before)
    for old, new in zip(
        interpreter.run(before, values), interpreter.run(after, values), strict=True
    ):
        assert np.array_equal(old, new)


@given(st.data())
@dear(200)
def test_layouts_change_no_value(data: st.DataObject) -> None:
    before = random_net(lambda low, high: data.draw(st.integers(low, high)))
    verify(before)
    after = laid_out(before)
    verify(after)
    values = random_inputs(before)
    for old, new in zip(
        interpreter.run(before, values), interpreter.run(after, values), strict=True
    ):
        assert np.array_equal(old, new)


@pytest.mark.needs_host_gcc
@pytest.mark.parametrize("networks", first([6, 60]))
def test_compiled_random_networks_are_the_interpreter(networks: int, tmp_path: Path) -> None:
    """Wired at random, laid out, planned and compiled: all in one process."""
    compiled = [
        compiled_net(random_net(random.Random(seed).randint), f"r{seed}")
        for seed in range(networks)
    ]
    results = run_on_host(compiled, tmp_path, SANITIZED)
    for item, device in zip(compiled, results, strict=True):
        check_device(item, device)


def compiled_net(graph: Graph, name: str) -> Compiled:
    """A graph behind the stages from the partitioner to the C source, with inputs for it."""
    backends = preference()
    graph, assignment = choose.assign(graph, backends)
    after, choices, memory = planned(graph)
    sources = codegen.generate(after, memory, name, "gcc", "array")
    network = Network(
        name=name, model=Path(name), target=target_of(load_board("host"), Options()),
        options=Options(),
        source_tensors={}, graph=after, assignment=assignment, selection=Selection(choices),
        plan=memory, sources=sources,
    )  # fmt: skip
    return Compiled(Case(name, onnx.ModelProto(), tuple(random_inputs(graph))), network)

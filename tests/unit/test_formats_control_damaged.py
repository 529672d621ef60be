"""Control flow in damaged and odd ONNX files: a sentence or a graph, never a traceback."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import onnx
import pytest
from control_cases import BOOL, FLOAT, INT, graph_of, load, node
from onnx import helper
from sampling import examples, first

from mcu_deploy import formats, passes
from mcu_deploy.errors import McuDeployError, ModelError
from mcu_deploy.ir import verify


def conditional(then: onnx.GraphProto, other: onnx.GraphProto, shape: list[int]) -> onnx.GraphProto:
    return graph_of(
        [node("If", "c", "y", then_branch=then, else_branch=other)],
        {"c": (BOOL, shape), "x": (FLOAT, [2, 3])}, {"y": (FLOAT, [2, 3])},
    )  # fmt: skip


def test_graphs_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    fine = graph_of([node("Neg", "x", "t")], {}, {"t": (FLOAT, [2, 3])})
    wide = graph_of([node("Concat", "x x", "e", axis=0)], {}, {"e": (FLOAT, [4, 3])})
    lost = graph_of([node("Neg", "nowhere", "e")], {}, {"e": (FLOAT, [2, 3])})
    two = graph_of([node("Neg", "x", "e")], {}, {"e": (FLOAT, [2, 3]), "x": (FLOAT, [2, 3])})
    for other in (wide, lost, two):
        with pytest.raises(McuDeployError):
            load(conditional(fine, other, []), tmp_path)
    with pytest.raises(ModelError, match="its condition is not one value"):
        load(conditional(fine, fine, [2]), tmp_path)


def test_what_a_loop_carries_must_keep_its_shape(tmp_path: Path) -> None:
    body = graph_of(
        [node("Identity", "go", "again"), node("Concat", "state state", "next", axis=0)],
        {"i": (INT, []), "go": (BOOL, []), "state": (FLOAT, None)},
        {"again": (BOOL, None), "next": (FLOAT, None)},
    )
    graph = graph_of(
        [node("Loop", "count go x", "y", body=body)],
        {"count": (INT, []), "go": (BOOL, []), "x": (FLOAT, [2, 3])}, {"y": (FLOAT, None)},
    )  # fmt: skip
    with pytest.raises(ModelError, match=r"carries changes: float32\[2,3\] and float32\[4,3\]"):
        load(graph, tmp_path)


def test_an_unknown_operator_inside_is_named(tmp_path: Path) -> None:
    fine = graph_of([node("Neg", "x", "t")], {}, {"t": (FLOAT, [2, 3])})
    odd = graph_of([node("Mystery", "x", "t")], {}, {"t": (FLOAT, [2, 3])})
    with pytest.raises(ModelError, match="Mystery 'Mystery_0': ONNX's opset 17 does not"):
        load(conditional(fine, odd, []), tmp_path)


def test_a_graph_that_is_missing_is_named(tmp_path: Path) -> None:
    body = graph_of([node("Neg", "s", "t")], {"s": (FLOAT, [3])}, {"t": (FLOAT, [3])})
    scan = node("Scan", "x", "y", body=body, num_scan_inputs=2)
    graph = graph_of([scan], {"x": (FLOAT, [2, 3])}, {"y": (FLOAT, [2, 3])})
    with pytest.raises(McuDeployError):
        load(graph, tmp_path)


def small_loop() -> onnx.ModelProto:
    """A Loop of three trips with an If inside, and a Scan over what it collects."""
    then = graph_of([node("Add", "s step", "t")], {}, {"t": (FLOAT, None)}, name="then")
    other = graph_of([node("Sub", "s step", "e")], {}, {"e": (FLOAT, None)}, name="else")
    body = graph_of(
        [node("Identity", "go", "again"), node("Cast", "i", "f", to=BOOL),
         node("If", "f", "n", then_branch=then, else_branch=other), node("Neg", "n", "c")],
        {"i": (INT, []), "go": (BOOL, []), "s": (FLOAT, None)},
        {"again": (BOOL, None), "n": (FLOAT, None), "c": (FLOAT, None)}, name="body",
    )  # fmt: skip
    running = graph_of(
        [node("Add", "a b", "c"), node("Identity", "c", "d")],
        {"a": (FLOAT, [4]), "b": (FLOAT, [4])}, {"c": (FLOAT, None), "d": (FLOAT, None)},
        name="running",
    )  # fmt: skip
    graph = graph_of(
        [node("Relu", "x", "step"), node("Loop", "three yes x", "last all", body=body),
         node("Scan", "last all", "sum y", body=running, num_scan_inputs=1)],
        {"x": (FLOAT, [4])}, {"y": (FLOAT, None)},
        {"three": np.int64(3), "yes": np.array(True)},
    )  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def loads(path: Path, raw: bytes) -> bool:
    """Whether a file can be read; then its graph is sound, simplified too."""
    path.write_bytes(raw)
    try:
        graph = formats.load(path)
        verify(graph)
        verify(passes.run(graph))
    except McuDeployError as error:
        assert len(str(error).split()) > 5
        return False
    return True


@pytest.mark.parametrize("seed", first(range(4)))
def test_flipped_bytes(tmp_path: Path, seed: int) -> None:
    raw, rng = small_loop().SerializeToString(), random.Random(seed)
    assert loads(tmp_path / "m.onnx", raw)
    for _ in range(examples(120, 20)):
        damaged = bytearray(raw)
        for _ in range(rng.randint(1, 3)):
            damaged[rng.randrange(len(raw))] = rng.randrange(256)
        loads(tmp_path / "m.onnx", bytes(damaged))


def mutate(rng: random.Random, graph: onnx.GraphProto) -> None:
    """One change that keeps the file readable and makes the model odd, perhaps deep inside."""
    held = [a.g for n in graph.node for a in n.attribute if a.HasField("g")]
    if held and rng.random() < 0.6:
        mutate(rng, rng.choice(held))
        return
    chosen = rng.choice(graph.node)
    names = [o for n in graph.node for o in n.output] + ["x", "step", "nowhere", ""]
    kind = rng.randrange(6)
    if kind == 0 and chosen.input:
        chosen.input[rng.randrange(len(chosen.input))] = rng.choice(names)
    elif kind == 1 and chosen.input:
        del chosen.input[rng.randrange(len(chosen.input))]
    elif kind == 2 and len(chosen.output) > 1:
        chosen.output[rng.randrange(len(chosen.output))] = rng.choice(names)
    elif kind == 3 and chosen.attribute:
        del chosen.attribute[rng.randrange(len(chosen.attribute))]
    elif kind == 4 and graph.output:
        graph.output[rng.randrange(len(graph.output))].name = rng.choice(names)
    elif kind == 5:
        listed = rng.choice([graph.input, graph.output])
        if listed:
            del listed[rng.randrange(len(listed))]


@pytest.mark.parametrize("seed", first(range(4)))
def test_models_that_contradict_themselves(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(examples(120, 20)):
        model = small_loop()
        for _ in range(rng.randint(1, 3)):
            mutate(rng, model.graph)
        loads(tmp_path / "m.onnx", model.SerializeToString())

"""The codec: every value arrives as it was sent, and nothing else gets through."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import graph_cases
import numpy as np
import pytest
from dynamic.codec_cases import (
    Blobs,
    Json,
    quantized_conv,
    quantized_layer,
    rich_workload,
    sent,
    spoilt,
)
from sampling import examples, first

from mcu_deploy.backends.c_rules import Nonsense
from mcu_deploy.backends.cost import Costs
from mcu_deploy.backends.CpuRef import CpuRef
from mcu_deploy.backends.interface import (
    LayerCount,
    LayoutRule,
    OptimizationViews,
    RegionManager,
    Substitution,
    Support,
    no,
    yes,
)
from mcu_deploy.backends.layer import HOST, Layer, Target, layer_of
from mcu_deploy.backends.workload import Constant, RegionCall, RegionKind, Workload
from mcu_deploy.dynamic import codec, offers
from mcu_deploy.dynamic.regions import NetworkRegions
from mcu_deploy.ir import Graph, verify, view, view_of_all

M4 = Target("cortex-m4", fpu=True, dsp=True)


def random_nets() -> list[Graph]:
    source = random.Random(5)
    return [graph_cases.laid_out(graph_cases.random_net(source.randint)) for _ in range(12)]


def assert_equal(left: Any, right: Any) -> None:
    """Equality through mappings and arrays, with types."""
    assert type(left) is type(right), (left, right)
    if isinstance(left, np.ndarray):
        assert left.dtype == right.dtype
        np.testing.assert_array_equal(left, right)
    elif isinstance(left, Mapping):
        assert left.keys() == right.keys()
        for key in left:
            assert_equal(left[key], right[key])
    else:
        assert left == right


def assert_same_graph(left: Graph, right: Graph) -> None:
    assert list(left.nodes) == list(right.nodes)
    assert dict(left.topology.edges) == dict(right.topology.edges)
    assert (left.inputs, left.outputs, left.opset) == (right.inputs, right.outputs, right.opset)
    for edge in left.topology.edges:
        assert left.type(edge) == right.type(edge)
        assert_equal(left.constant(edge), right.constant(edge))
    for node in left.nodes:
        assert_equal(dict(left.attributes(node.id)), dict(right.attributes(node.id)))


def test_a_layer_arrives_as_it_was_sent() -> None:
    layer = replace(quantized_layer(), target=M4)
    message, blobs = sent(*codec.encode_layer(layer))
    arrived = codec.decode_layer(message, blobs)
    assert arrived.node == layer.node
    assert (arrived.target, arrived.opset) == (M4, 17)
    for ours, theirs in zip(
        (*layer.inputs, *layer.outputs), (*arrived.inputs, *arrived.outputs), strict=True
    ):
        if ours is None or theirs is None:
            assert ours is theirs
            continue
        assert (ours.edge, ours.type, ours.name) == (theirs.edge, theirs.type, theirs.name)
        assert_equal(ours.constant, theirs.constant)
    expected = dict(layer.attributes) | {"flag": 3}
    assert_equal(dict(arrived.attributes), expected)


def test_layers_and_workloads_of_random_nets_arrive() -> None:
    """CpuRef at the far end makes what it makes here, and all of it passes the checks."""
    backend = CpuRef()
    count = 0
    for graph in random_nets():
        for node in graph.nodes:
            layer = layer_of(graph, node)
            arrived = codec.decode_layer(*sent(*codec.encode_layer(layer, bodies=True)))
            ours, theirs = (workloads_of(backend, each) for each in (layer, arrived))
            decoded = codec.decode_workloads(
                *sent(*codec.encode_workloads(theirs)), layer, NetworkRegions("CpuRef")
            )
            assert_same_workloads(decoded, ours)
            count += len(ours)
    assert count > 40


def workloads_of(backend: CpuRef, layer: Layer) -> tuple[Workload, ...]:
    return backend.create_workload_factory(None).create_workloads(layer.info, layer.descriptor)


def assert_same_workloads(left: tuple[Workload, ...], right: tuple[Workload, ...]) -> None:
    for ours, theirs in zip(left, right, strict=True):
        plain = {"constants": (), "costs": Costs()}
        assert replace(ours, **plain) == replace(theirs, **plain)
        # no bytes of flash and an unknown number of them are one thing on the wire
        assert replace(ours.costs, flash=ours.costs.flash or None) == replace(
            theirs.costs, flash=theirs.costs.flash or None
        )
        for a, b in zip(ours.constants, theirs.constants, strict=True):
            assert (a.stem, a.alignment) == (b.stem, max(b.alignment, b.value.itemsize))
            assert_equal(a.value, b.value)


def test_a_workload_with_everything_arrives() -> None:
    regions = NetworkRegions("Rich")
    message, blobs = sent(*codec.encode_workloads([rich_workload()]))
    decoded = codec.decode_workloads(message, blobs, quantized_layer(), regions)
    assert_same_workloads(decoded, (rich_workload(),))
    assert regions.all == rich_workload().regions


def test_views_arrive_with_their_ids_and_bodies() -> None:
    for graph in random_nets():
        nodes = list(graph.topology.nodes)
        part = view(graph, nodes[: len(nodes) // 2 + 1])
        arrived = codec.decode_view(*sent(*codec.encode_view(part, M4, bodies=True)))
        assert_same_graph(part, arrived)
        for node in part.nodes:
            body, other = part.body(node.id), arrived.body(node.id)
            assert (body is None) == (other is None)
            if body is not None and other is not None:
                assert_same_graph(body, other)
        verify(arrived)


def test_an_array_is_sent_once() -> None:
    graph = quantized_conv()
    _, blobs = codec.encode_view(graph, HOST, bodies=True)
    assert len(blobs) == 2


def test_optimisations_arrive() -> None:
    graph = next(g for g in random_nets() if len(g.topology.nodes) >= 3)
    whole = view_of_all(graph)
    first, second, *rest = graph.topology.nodes
    replaced = whole.part([first])
    views = OptimizationViews(
        (Substitution(replaced, replaced),), (whole.part([second]),), (whole.part(rest),)
    )
    message, blobs = sent(*offers.encode_optimization(views))
    decoded = offers.decode_optimization(message, blobs, whole)
    assert_same_graph(decoded.substitutions[0].replacement, replaced)
    assert [p.node_ids for p in decoded.failed] == [frozenset([second])]
    assert [p.node_ids for p in decoded.untouched] == [frozenset(rest)]
    nothing = {"substitutions": [], "failed": [], "untouched": []}
    assert offers.decode_optimization(nothing, [], whole).untouched == (whole,)


def test_memory_arrives_and_regions_of_one_name_are_one() -> None:
    manager = RegionManager("Rich")
    state = manager.private("state", 8)
    workload = rich_workload()
    assert workload.function is not None
    function = replace(workload.function, parameters=workload.function.parameters[:1])
    manager.acquire = RegionCall(function, (state,), workload.helpers, ("string.h",))
    regions = NetworkRegions("Rich")
    acquire, release = codec.decode_memory(sent(codec.encode_memory(manager))[0], regions)
    assert (acquire, release) == (manager.acquire, None)
    assert regions.region(RegionKind.PRIVATE, "state", 8, 0) == state
    with pytest.raises(Nonsense, match="'state' has 9 bytes, but elsewhere 8"):
        regions.region(RegionKind.PRIVATE, "state", 9, 0)


@pytest.mark.parametrize("support", [*(yes(rule) for rule in LayoutRule), no("it is tired")])
def test_support_arrives(support: Support) -> None:
    assert codec.decode_support(sent(codec.encode_support(support))[0]) == support


def test_counts_counters_options_and_descriptions_arrive() -> None:
    counts = (LayerCount(3, "conv", "Conv", 1000, 2**40, "cycles"),)
    assert codec.decode_counts(sent(codec.encode_counts("net", counts))[0]) == ("net", counts)
    counters = (("hits", -5), ("misses", 2**62))
    assert codec.decode_counters(sent(codec.encode_counters(counters))[0]) == counters
    options = {"speed": "9", "mode": "ü"}
    assert codec.decode_options(sent(codec.encode_options(options))[0]) == options
    described = codec.decode_description(sent(codec.encode_description(CpuRef()))[0])
    assert (described.rank, described.operators) == (1000, CpuRef.operators)
    assert described.bodies


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ((-1, -1, -1, -1), Costs(macs=864)),
        ((0, 0, 0, 0), Costs(macs=864)),
        ((5, 6, 7, 8), Costs(5, 6, 7, 8)),
    ],
)
def test_costs_that_are_not_known(said: tuple[int, ...], meant: Costs) -> None:
    names = ("macs", "instructions", "cycles", "flash")
    message = dict(zip(names, said, strict=True))
    assert codec.decode_costs(message, quantized_layer()) == meant


def test_a_constant_is_aligned_to_its_elements_at_least() -> None:
    workload = replace(rich_workload(), constants=(Constant("wide", np.zeros(2), 4),))
    message, blobs = sent(*codec.encode_workloads([workload]))
    layer, regions = quantized_layer(), NetworkRegions("Rich")
    assert codec.decode_workloads(message, blobs, layer, regions)[0].constants[0].alignment == 8


Decoder = Callable[[Json, Blobs], object]


def decoders() -> dict[str, tuple[tuple[Json, Blobs], Decoder]]:
    """Good messages, and who decodes them."""
    layer, whole = quantized_layer(), view_of_all(quantized_conv())
    optimization = OptimizationViews((Substitution(whole, whole),))
    workload = rich_workload()
    assert workload.function is not None
    manager = RegionManager("Rich")
    function = replace(workload.function, parameters=workload.function.parameters[:1])
    manager.release = RegionCall(function, (manager.private("r", 4),), workload.helpers)
    return {
        "layer": (sent(*codec.encode_layer(layer)), codec.decode_layer),
        "optimization": (
            sent(*offers.encode_optimization(optimization)),
            lambda m, b: offers.decode_optimization(m, b, whole),
        ),
        "workloads": (
            sent(*codec.encode_workloads([workload])),
            lambda m, b: codec.decode_workloads(m, b, layer, NetworkRegions("Rich")),
        ),
        "memory": (
            sent(codec.encode_memory(manager)),
            lambda m, b: codec.decode_memory(m, NetworkRegions("Rich")),
        ),
        "support": (sent(codec.encode_support(no("x"))), lambda m, b: codec.decode_support(m)),
        "costs": (sent(codec.encode_costs(Costs())), lambda m, b: codec.decode_costs(m, layer)),
        "counters": (sent({"counters": [["a", 1]]}), lambda m, b: codec.decode_counters(m)),
        "description": (
            sent(codec.encode_description(CpuRef())),
            lambda m, b: codec.decode_description(m),
        ),
    }


@pytest.mark.parametrize("kind", first([*decoders()], 4))
def test_junk_anywhere_is_nonsense_or_harmless(kind: str) -> None:
    (message, blobs), decode = decoders()[kind]
    decode(message, blobs)
    source, refused = random.Random(kind), 0
    count = examples(1500, 300)
    for _ in range(count):
        try:
            decode(spoilt(message, source), blobs)
        except Nonsense as nonsense:
            assert "\n" not in str(nonsense)
            refused += 1
    assert refused > count // 8

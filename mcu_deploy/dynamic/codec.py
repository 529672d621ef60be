"""What goes over the wire, as the interface's values: each encode_ has its decode_.

A session encodes what it asks and decodes what comes back; a worker for Python packages does the
reverse. Of views `offers.py` speaks. Decoding trusts nothing and raises Nonsense.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mcu_deploy.backends.c_rules import require
from mcu_deploy.backends.cost import Costs
from mcu_deploy.backends.interface import Backend, LayerCount, MemoryManager, Support
from mcu_deploy.backends.layer import Layer, Target, layer_of
from mcu_deploy.backends.workload import RegionCall, Workload
from mcu_deploy.dynamic.forms import (
    CODEC,
    Blobs,
    Json,
    Message,
    NetworkReader,
    decoded,
    encoded,
    member,
    reason,
)
from mcu_deploy.dynamic.graphs import checked, graph_of, part_of
from mcu_deploy.dynamic.memory import MAX_BODIES
from mcu_deploy.dynamic.regions import NetworkRegions, check_name
from mcu_deploy.ir import Graph, SubgraphView
from mcu_deploy.ir.view import view_of_all
from mcu_deploy.records import Reader, Writer


@dataclass(frozen=True)
class Description:
    """What `describe` says of a backend.

    bodies: it sees what fused nodes stand for, unlike a shared object that was built for 1.0.
    """

    rank: int
    cores: tuple[str, ...]
    operators: tuple[str, ...]
    bodies: bool = False


# ---- What a backend says of itself ----


def encode_description(backend: Backend) -> Json:
    description = Description(backend.rank, tuple(backend.cores), tuple(backend.operators), True)
    return dict(encoded(Description, description))


def decode_description(message: Json) -> Description:
    found: Description = decoded(Description, message)
    for what, names in (("cores", found.cores), ("operators", found.operators)):
        for name in names:
            check_name(name, f"one of the {what}")
    return found


def encode_support(support: Support) -> Json:
    return dict(encoded(Support, support))


def decode_support(message: Json) -> Support:
    found: Support = decoded(Support, message)
    if found.supported:
        return replace(found, reason="")
    return Support(False, reason(found.reason))


def encode_options(options: Mapping[str, str]) -> Json:
    """The options that the session has for one backend."""
    return {"options": dict(options)}


def decode_options(message: Json) -> dict[str, str]:
    return dict(decoded(Mapping[str, str], member(message, "options")))


def encode_counts(network: str, counts: Sequence[LayerCount]) -> Json:
    """What was measured of a backend's layers."""
    return {"network": network, "counts": encoded(tuple[LayerCount, ...], counts)}


def decode_counts(message: Json) -> tuple[str, tuple[LayerCount, ...]]:
    counts = decoded(tuple[LayerCount, ...], member(message, "counts"))
    return decoded(str, member(message, "network")), counts


def encode_counters(counters: Iterable[tuple[str, int]]) -> Json:
    """A backend's own counters for the report."""
    return {"counters": encoded(tuple[tuple[str, int], ...], counters)}


def decode_counters(message: Json) -> tuple[tuple[str, int], ...]:
    found: tuple[tuple[str, int], ...] = decoded(
        tuple[tuple[str, int], ...], member(message, "counters")
    )
    for label, _ in found:
        check_name(label, "a counter's name")
    return found


# ---- Layers and views ----


def encode_layer(layer: Layer, *, bodies: bool = False) -> Message:
    """A layer as a graph of one node."""
    return _about(graph_of(layer), layer.target, bodies)


def encode_layers(layers: Sequence[Layer], *, bodies: bool = False) -> Message:
    """The layers that a proposal has become, one at least, each as a graph of one node."""
    writer = Writer()
    graphs = [part_of(graph_of(layer), MAX_BODIES if bodies else 0) for layer in layers]
    sent = CODEC.form(tuple[Graph, ...]).encode(writer, graphs)
    return {"graphs": sent, "target": encoded(Target, layers[0].target)}, writer.blobs


def encode_view(view: Graph, target: Target, *, bodies: bool = False) -> Message:
    """A view, or a whole graph."""
    return _about(view, target, bodies)


def _about(graph: Graph, target: Target, bodies: bool) -> Message:
    writer = Writer()
    sent = CODEC.form(Graph).encode(writer, part_of(graph, MAX_BODIES if bodies else 0))
    return {"graph": sent, "target": encoded(Target, target)}, writer.blobs


def decode_layer(message: Json, blobs: Blobs) -> Layer:
    """The layer of a message. Raises Nonsense."""
    graph = _graph(message, blobs)
    nodes = list(graph.nodes)
    require(len(nodes) == 1, f"a layer has one node, not {len(nodes)}")
    return layer_of(graph, nodes[0], decode_target(message))


def decode_layers(message: Json, blobs: Blobs) -> tuple[Layer, ...]:
    """The layers of a message. Raises Nonsense."""
    graphs = decoded(tuple[Graph, ...], member(message, "graphs"), Reader(blobs))
    target = decode_target(message)
    return tuple(layer_of(checked(g), next(iter(g.nodes)), target) for g in graphs)


def decode_view(message: Json, blobs: Blobs) -> SubgraphView:
    """The view of a message, of all nodes that were sent, with their ids. Raises Nonsense."""
    return view_of_all(_graph(message, blobs))


def decode_target(message: Json) -> Target:
    """What a message's graph is for. Raises Nonsense."""
    found: Target = decoded(Target, member(message, "target"))
    return found


def _graph(message: Json, blobs: Blobs) -> Graph:
    return checked(decoded(Graph, member(message, "graph"), Reader(blobs)))


# ---- Workloads, costs, memory ----


def encode_workloads(workloads: Iterable[Workload]) -> Message:
    """The answer to create_workload."""
    writer = Writer()
    form = CODEC.form(tuple[Workload, ...])
    return {"workloads": form.encode(writer, workloads)}, writer.blobs


def decode_workloads(
    message: Json, blobs: Blobs, layer: Layer, regions: NetworkRegions
) -> tuple[Workload, ...]:
    """The workloads of a layer, one at least. Raises Nonsense."""
    found = _workloads(message, blobs, regions)
    require(len(found) > 0, "there is no workload")
    return tuple(_settled(workload, layer) for workload in found)


def decode_made(
    message: Json, blobs: Blobs, layers: Sequence[Layer], regions: NetworkRegions
) -> tuple[Workload, ...]:
    """The workloads of a proposal's layers, one each. Raises Nonsense."""
    found = _workloads(message, blobs, regions)
    count = f"{len(found)} workloads for {len(layers)} layers"
    require(len(found) == len(layers), f"there are {count}")
    return tuple(map(_settled, found, layers))


def _workloads(message: Json, blobs: Blobs, regions: NetworkRegions) -> tuple[Workload, ...]:
    reader = NetworkReader(blobs, regions)
    found: tuple[Workload, ...] = decoded(
        tuple[Workload, ...], member(message, "workloads"), reader
    )
    return found


def _settled(workload: Workload, layer: Layer) -> Workload:
    for constant in workload.constants:
        require(constant.value.size > 0, f"the constant {constant.stem} is empty")
    constants = tuple(
        replace(c, alignment=max(c.alignment, c.value.itemsize)) for c in workload.constants
    )
    costs = _known(workload.costs, layer, is_view=workload.function is None)
    return replace(workload, constants=constants, costs=costs)


def encode_costs(costs: Costs) -> Json:
    """The answer to estimate."""
    return dict(encoded(Costs, costs))


def decode_costs(message: Any, layer: Layer) -> Costs:
    """Costs of a layer. Negative is not known, and neither is 0."""
    return _known(decoded(Costs, message), layer)


def _known(costs: Costs, layer: Layer, *, is_view: bool = False) -> Costs:
    """What computes nothing may cost nothing."""
    lowest = 0 if is_view else 1
    values = (costs.macs, costs.instructions, costs.cycles, costs.flash)
    macs, instructions, cycles, flash = (
        value if value is not None and value >= lowest else None for value in values
    )
    macs = layer.macs if macs is None else macs
    return Costs(macs, instructions, cycles, flash, costs.known, max(0, costs.code))


def encode_memory(manager: MemoryManager | None) -> Json:
    """The answer to memory."""
    acquire = None if manager is None else manager.acquire
    release = None if manager is None else manager.release
    form = RegionCall | None
    return {"acquire": encoded(form, acquire), "release": encoded(form, release)}


def decode_memory(
    message: Json, regions: NetworkRegions
) -> tuple[RegionCall | None, RegionCall | None]:
    """What is called at the begin of every run, and at an instance's end. Raises Nonsense."""
    form, reader = RegionCall | None, NetworkReader((), regions)
    acquire = decoded(form, member(message, "acquire"), reader)
    return acquire, decoded(form, member(message, "release"), reader)


# ---- What a .pmx file keeps ----

# What is saved is the network's: interface.py's save_data and load_data do not speak of a target.
_NO_TARGET = Target("", fpu=False)


def encode_own(view: Graph, *, bodies: bool = False) -> Message:
    """A backend's nodes of a network that is saved or loaded."""
    return _about(view, _NO_TARGET, bodies)


def encode_saved(data: bytes | None) -> Message:
    """The answer to save_data: the bytes, if there are some, are its blob."""
    return {}, [] if data is None else [memoryview(data)]


def decode_saved(blobs: Blobs) -> bytes | None:
    """What is to be saved. Raises Nonsense."""
    require(len(blobs) <= 1, f"{len(blobs)} data in place of one")
    return bytes(blobs[0]) if blobs else None

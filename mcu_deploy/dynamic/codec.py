"""What goes over the wire, as the interface's values: each encode_ has its decode_.

Values become JSON by the rules of `mcu_deploy.records`; `arguments` and `answers`, which stand
between JSON and C, keep them too. A session encodes what it asks and decodes what comes back; a
worker for Python packages does the reverse. Decoding trusts nothing and raises Nonsense.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from mcu_deploy.backends.c_rules import Nonsense, require
from mcu_deploy.backends.cost import Costs
from mcu_deploy.backends.interface import (
    Backend,
    LayerCount,
    LayoutRule,
    Make,
    MemoryManager,
    OptimizationViews,
    Price,
    Proposal,
    Proposals,
    Substitution,
    Support,
)
from mcu_deploy.backends.layer import Layer, Target, layer_of
from mcu_deploy.backends.workload import Region, RegionCall, RegionKind, Workload
from mcu_deploy.dynamic.graphs import checked, graph_of, part_of, with_singles
from mcu_deploy.dynamic.memory import MAX_BODIES
from mcu_deploy.dynamic.regions import NetworkRegions, check_name
from mcu_deploy.errors import one_line
from mcu_deploy.ir import Graph, NodeId, SubgraphView
from mcu_deploy.ir.graph import Topology
from mcu_deploy.ir.view import view_of_all
from mcu_deploy.records import Codec, Form, Malformed, Reader, Writer, nodes_form

Json = dict[str, Any]
Blobs = Sequence[bytes | bytearray | memoryview]
Message = tuple[Json, list[memoryview]]


@dataclass(frozen=True)
class Description:
    """What `describe` says of a backend.

    bodies: it sees what fused nodes stand for, unlike a shared object that was built for 1.0.
    """

    rank: int
    cores: tuple[str, ...]
    operators: tuple[str, ...]
    bodies: bool = False


@dataclass(frozen=True)
class _Region:
    """A region as it is asked for; the session gives it its number."""

    name: str
    bytes: int
    kind: RegionKind = RegionKind.PRIVATE
    number: int | None = None


@dataclass(frozen=True)
class _Substitution:
    nodes: tuple[NodeId, ...]
    replacement: Graph


@dataclass(frozen=True)
class _Optimization:
    """OptimizationViews, whose parts are told by their nodes."""

    substitutions: tuple[_Substitution, ...]
    failed: tuple[tuple[NodeId, ...], ...]
    untouched: tuple[tuple[NodeId, ...], ...]


@dataclass(frozen=True)
class _Proposal:
    """Proposal, whose part is told by its nodes, and what makes it by a key."""

    key: int
    nodes: tuple[NodeId, ...]
    price: Price
    replacement: Graph | None
    layouts: tuple[LayoutRule, ...]
    title: str
    only_for: str


@dataclass(frozen=True)
class _Proposals:
    proposals: tuple[_Proposal, ...]
    refused: Mapping[NodeId, str]


class _NetworkReader(Reader):
    """Reads what is about a network's regions."""

    def __init__(self, blobs: Blobs, regions: NetworkRegions) -> None:
        super().__init__(blobs)
        self.regions = regions


def _made() -> Codec:
    codec = Codec(whole=True)
    region = codec.record(_Region)

    def encode_region(writer: Any, value: Region) -> Any:
        return region.encode(writer, _Region(value.name, value.bytes, value.kind, value.number))

    def decode_region(reader: _NetworkReader, value: Any) -> Region:
        asked: _Region = region.decode(reader, value)
        return reader.regions.region(asked.kind, asked.name, asked.bytes, asked.number)

    codec.special |= {
        (Topology, "nodes"): nodes_form(codec),
        Region: Form(encode_region, decode_region),
        # Whatever it says, it is of the backend that was asked.
        (Workload, "backend"): Form(lambda _, value: "", lambda reader, _: reader.regions.backend),
    }
    return codec


_CODEC = _made()


def _encoded(hint: Any, value: Any) -> Any:
    return _CODEC.form(hint).encode(Writer(), value)


@contextmanager
def _understanding() -> Iterator[None]:
    try:
        yield
    except Malformed as error:
        raise Nonsense(str(error)) from None


def _decoded(hint: Any, value: Any, reader: Reader | None = None) -> Any:
    with _understanding():
        return _CODEC.form(hint).decode(reader or Reader(), value)


def _member(message: Any, key: str) -> Any:
    require(isinstance(message, dict) and key in message, f"{key} is missing")
    return message[key]


# ---- What a backend says of itself ----


def encode_description(backend: Backend) -> Json:
    description = Description(backend.rank, tuple(backend.cores), tuple(backend.operators), True)
    return dict(_encoded(Description, description))


def decode_description(message: Json) -> Description:
    found: Description = _decoded(Description, message)
    for what, names in (("cores", found.cores), ("operators", found.operators)):
        for name in names:
            check_name(name, f"one of the {what}")
    return found


def encode_support(support: Support) -> Json:
    return dict(_encoded(Support, support))


def decode_support(message: Json) -> Support:
    found: Support = _decoded(Support, message)
    if found.supported:
        return replace(found, reason="")
    return Support(False, _reason(found.reason))


def encode_options(options: Mapping[str, str]) -> Json:
    """The options that the session has for one backend."""
    return {"options": dict(options)}


def decode_options(message: Json) -> dict[str, str]:
    return dict(_decoded(Mapping[str, str], _member(message, "options")))


def encode_counts(network: str, counts: Sequence[LayerCount]) -> Json:
    """What was measured of a backend's layers."""
    return {"network": network, "counts": _encoded(tuple[LayerCount, ...], counts)}


def decode_counts(message: Json) -> tuple[str, tuple[LayerCount, ...]]:
    counts = _decoded(tuple[LayerCount, ...], _member(message, "counts"))
    return _decoded(str, _member(message, "network")), counts


def encode_counters(counters: Iterable[tuple[str, int]]) -> Json:
    """A backend's own counters for the report."""
    return {"counters": _encoded(tuple[tuple[str, int], ...], counters)}


def decode_counters(message: Json) -> tuple[tuple[str, int], ...]:
    found: tuple[tuple[str, int], ...] = _decoded(
        tuple[tuple[str, int], ...], _member(message, "counters")
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
    sent = _CODEC.form(tuple[Graph, ...]).encode(writer, graphs)
    return {"graphs": sent, "target": _encoded(Target, layers[0].target)}, writer.blobs


def encode_view(view: Graph, target: Target, *, bodies: bool = False) -> Message:
    """A view, or a whole graph."""
    return _about(view, target, bodies)


def _about(graph: Graph, target: Target, bodies: bool) -> Message:
    writer = Writer()
    sent = _CODEC.form(Graph).encode(writer, part_of(graph, MAX_BODIES if bodies else 0))
    return {"graph": sent, "target": _encoded(Target, target)}, writer.blobs


def decode_layer(message: Json, blobs: Blobs) -> Layer:
    """The layer of a message. Raises Nonsense."""
    graph = _graph(message, blobs)
    nodes = list(graph.nodes)
    require(len(nodes) == 1, f"a layer has one node, not {len(nodes)}")
    return layer_of(graph, nodes[0], decode_target(message))


def decode_layers(message: Json, blobs: Blobs) -> tuple[Layer, ...]:
    """The layers of a message. Raises Nonsense."""
    graphs = _decoded(tuple[Graph, ...], _member(message, "graphs"), Reader(blobs))
    target = decode_target(message)
    return tuple(layer_of(checked(g), next(iter(g.nodes)), target) for g in graphs)


def decode_view(message: Json, blobs: Blobs) -> SubgraphView:
    """The view of a message, of all nodes that were sent, with their ids. Raises Nonsense."""
    return view_of_all(_graph(message, blobs))


def decode_target(message: Json) -> Target:
    """What a message's graph is for. Raises Nonsense."""
    found: Target = _decoded(Target, _member(message, "target"))
    return found


def _graph(message: Json, blobs: Blobs) -> Graph:
    return checked(_decoded(Graph, _member(message, "graph"), Reader(blobs)))


# ---- Workloads, costs, memory ----


def encode_workloads(workloads: Iterable[Workload]) -> Message:
    """The answer to create_workload."""
    writer = Writer()
    form = _CODEC.form(tuple[Workload, ...])
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
    reader = _NetworkReader(blobs, regions)
    found: tuple[Workload, ...] = _decoded(
        tuple[Workload, ...], _member(message, "workloads"), reader
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
    return dict(_encoded(Costs, costs))


def decode_costs(message: Any, layer: Layer) -> Costs:
    """Costs of a layer. Negative is not known, and neither is 0."""
    return _known(_decoded(Costs, message), layer)


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
    return {"acquire": _encoded(form, acquire), "release": _encoded(form, release)}


def decode_memory(
    message: Json, regions: NetworkRegions
) -> tuple[RegionCall | None, RegionCall | None]:
    """What is called at the begin of every run, and at an instance's end. Raises Nonsense."""
    form, reader = RegionCall | None, _NetworkReader((), regions)
    acquire = _decoded(form, _member(message, "acquire"), reader)
    return acquire, _decoded(form, _member(message, "release"), reader)


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


# ---- What is proposed of a view ----


def encode_proposals(answer: Proposals, keys: Iterable[int]) -> Message:
    """What a backend proposes, with a key for each."""
    sent = tuple(
        _Proposal(
            key, tuple(p.part.topology.nodes), p.price,
            None if p.replacement is None else part_of(p.replacement), tuple(p.layouts),
            p.title, p.only_for,
        )
        for key, p in zip(keys, answer.proposals, strict=True)
    )  # fmt: skip
    writer = Writer()
    return _CODEC.form(_Proposals).encode(writer, _Proposals(sent, answer.refused)), writer.blobs


def decode_proposals(
    message: Json, blobs: Blobs, view: SubgraphView, make: Callable[[int], Make]
) -> Proposals:
    """What is proposed of `view`; make: of a key what makes the proposal. Whether it makes sense
    is checked as that of all backends is (`backends.offer_check`)."""
    found: _Proposals = _decoded(_Proposals, message, Reader(blobs))

    def proposal(sent: _Proposal) -> Proposal:
        for node in sent.nodes:
            require(node in view.topology.nodes, f"node {node} is not in the view")
        part, graph = view.part(sent.nodes), sent.replacement
        return Proposal(
            part, sent.price, make(sent.key),
            None if graph is None else with_singles(checked(graph, part.opset)),
            sent.layouts, one_line(sent.title), sent.only_for,
        )  # fmt: skip

    refused = {node: _reason(reason) for node, reason in found.refused.items()}
    return Proposals(tuple(map(proposal, found.proposals)), refused)


def _reason(said: str) -> str:
    return one_line(said).rstrip(".") or "it gives no reason"


# ---- What became of a view ----


def encode_optimization(views: OptimizationViews) -> Message:
    """What became of a view; replacements bring their bodies."""
    sent = _Optimization(
        tuple(
            _Substitution(tuple(s.substitutable.topology.nodes), part_of(s.replacement))
            for s in views.substitutions
        ),
        tuple(tuple(part.topology.nodes) for part in views.failed),
        tuple(tuple(part.topology.nodes) for part in views.untouched),
    )
    writer = Writer()
    return _CODEC.form(_Optimization).encode(writer, sent), writer.blobs


def decode_optimization(message: Json, blobs: Blobs, view: SubgraphView) -> OptimizationViews:
    """What became of `view`. Each of its nodes must be in exactly one part."""
    found: _Optimization = _decoded(_Optimization, message, Reader(blobs))
    seen: set[NodeId] = set()

    def part(nodes: tuple[NodeId, ...]) -> SubgraphView:
        require(len(nodes) > 0, "a part has no nodes")
        for node in nodes:
            require(node in view.topology.nodes, f"node {node} is not in the view")
            require(node not in seen, f"node {node} is in two parts")
            seen.add(node)
        return view.part(nodes)

    views = OptimizationViews(
        tuple(_substitution(part(s.nodes), s.replacement) for s in found.substitutions),
        tuple(part(nodes) for nodes in found.failed),
        tuple(part(nodes) for nodes in found.untouched),
    )
    if not seen:
        return OptimizationViews(untouched=(view,))
    missing = sorted(set(view.topology.nodes) - seen)
    require(not missing, f"the nodes {missing[:5]} are in no part")
    return views


def _substitution(part: SubgraphView, replacement: Graph) -> Substitution:
    replacement = with_singles(checked(replacement, part.opset))
    for what, theirs, ours in (
        ("input", replacement.inputs, part.inputs),
        ("output", replacement.outputs, part.outputs),
    ):
        require(
            len(theirs) == len(ours),
            f"a replacement has {len(theirs)} {what}s, but the nodes {len(ours)}",
        )
        for index, (their, our) in enumerate(zip(theirs, ours, strict=True)):
            a, b = replacement.type(their), part.type(our)
            require(
                (a.dtype, a.shape, a.quantization) == (b.dtype, b.shape, b.quantization),
                f"{what} {index} of a replacement is {a}, but that of the nodes {b}",
            )
    return Substitution(part, replacement)

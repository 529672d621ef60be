"""The content of a .pmx file: a compiled model, and what its backends saved."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from mcu_deploy.backends.interface import Backend, Target
from mcu_deploy.backends.layer import Layer
from mcu_deploy.choose import Assignment
from mcu_deploy.choose.model import Rejection
from mcu_deploy.compiled import CompiledModel
from mcu_deploy.ir import Graph, Node, NodeId, Quantization
from mcu_deploy.ir.graph import GraphData, Topology
from mcu_deploy.plan.managers import CONFIGURATIONS, Configuration
from mcu_deploy.plan.model import Step
from mcu_deploy.pmx import assignments, constants, graphs
from mcu_deploy.pmx.backends import BackendData
from mcu_deploy.pmx.checks import check
from mcu_deploy.pmx.constants import Constant
from mcu_deploy.pmx.context import SHARED, ModelReader, ModelWriter, SerializationContext, shared
from mcu_deploy.pmx.damage import reading
from mcu_deploy.pmx.reordered import reorders
from mcu_deploy.records import Codec, EdgeRef, NodeRef, Reader, Writer, integer, nodes_form
from mcu_deploy.records.blobs import decode_array, encode_array
from mcu_deploy.records.form import PLAIN, text
from mcu_deploy.schema import Clause, Form, listed, tabled
from mcu_deploy.selection import Choice, Selection, choices_within
from mcu_deploy.version import VERSION


@dataclass(frozen=True)
class Saved:
    """What a .pmx file holds."""

    model: CompiledModel
    data: tuple[BackendData, ...] = ()


# ---- Saving ----


def encode(
    model: CompiledModel, data: Sequence[BackendData] = (), *, compress: bool = False
) -> tuple[Any, bytes]:
    """The tree and the data of a file. Equal models give equal ones.

    compress: each constant by itself, as far as it becomes smaller. Raises UnsupportedError for an
    attribute that the format has no words for.
    """
    own = assignments.of_graph(model.assignment, model.graph)
    writer = ModelWriter(SerializationContext(model.graph, model.source_tensors))
    tree = {
        "producer": f"mcu-deploy {VERSION}",
        "model": _MODEL.encode(writer, replace(model, assignment=own)),
        "backend_data": _BACKEND_DATA.encode(writer, tuple(data)),
    }
    used = {
        cls.__name__: [form.encode(writer, value) for value in writer.shared[cls]]
        for cls, form in _RECORDS.items()
    }
    places, stored = constants.store(list(writer.constants), reorders(writer.arrays), compress)
    return {**tree, "shared": used, "constants": _PLACES.encode(Writer(), places)}, stored


# ---- Loading ----


def decode(tree: Any, data: memoryview | bytes, path: Path) -> Saved:
    """What a content holds. path: of the file, for messages.

    Raises ModelError where it makes no sense, whatever is in it.
    """
    with reading(path):
        places: Sequence[Constant] = _PLACES.decode(Reader(), _member(tree, "constants"))
        reader = ModelReader(path, constants.restore(places, memoryview(data)))
        used = _member(tree, "shared")
        for cls, form in _RECORDS.items():
            reader.shared[cls] = form.all(reader, listed(_member(used, cls.__name__)))
        model = _model(reader, _member(tree, "model"))
        check(model)
        return Saved(model, _BACKEND_DATA.decode(reader, _member(tree, "backend_data")))


def _model(reader: ModelReader, tree: Any) -> CompiledModel:
    """The model; later fields refer to what earlier ones hold."""
    made: dict[str, Any] = {}
    for name, form in _CODEC.fields(CompiledModel).items():
        value = made[name] = form.decode(reader, _member(tree, name))
        match value:
            case Target():
                reader.target = value
            case Graph():
                graphs.check(value)
                reader.use(value)
            case Assignment():
                assignments.check(value, made["graph"])
            case Selection(choices):
                within = choices_within(choices)
                reader.choices = {choice.layer.node.id: choice for choice in within}
    return CompiledModel(**made)


def _member(tree: Any, name: str) -> Any:
    if name not in tabled(tree):
        raise Clause(f"{name} is missing")
    return tree[name]


# ---- What is written in a way of its own ----


def _referred(node: Callable[[Any], Node], find: Callable[[ModelReader, int], Any]) -> Form:
    """What is told by the id of its node."""
    return Form(
        lambda writer, value: writer.ids.nodes[node(value).id],
        lambda reader, value: find(reader, integer(reader, value)),
    )


def _choice(reader: ModelReader, number: NodeId) -> Choice:
    if number not in reader.choices:
        raise Clause(f"a step computes node {number}, for which there is no workload")
    return reader.choices[number]


def _encode_configuration(writer: Any, value: Configuration) -> list[Any]:
    strategy = next(name for name, known in CONFIGURATIONS.items() if value in known)
    return [strategy, *value.arguments]


def _decode_configuration(reader: Any, value: Any) -> Configuration:
    strategy, *arguments = listed(value)
    for known in CONFIGURATIONS.get(text(reader, strategy), ()):
        if list(known.arguments) == arguments:
            return known
    raise Clause(f"the memory strategy {strategy!r} cannot be set up as it wants")


def _encode_scales(writer: Any, values: Sequence[float]) -> list[float]:
    """The fewest digits from which the same float32 comes back."""
    return [float(str(value)) for value in np.array(values, np.float32)]


def _decode_scales(reader: Any, value: Any) -> tuple[float, ...]:
    with np.errstate(over="ignore"):
        return tuple(np.array(PLAIN[float].all(reader, listed(value)), np.float32).tolist())


def _encode_bytes(writer: Writer, value: bytes) -> list[Any]:
    return encode_array(writer, np.frombuffer(value, np.uint8))


def _decode_bytes(reader: Reader, value: Any) -> bytes:
    return decode_array(reader, value).tobytes()


def _made() -> Codec:
    """The codec of .pmx files: ids are those of the file, and what is shared has a number."""
    integers = PLAIN[int]
    codec = Codec()
    special: dict[Any, Form] = {
        EdgeRef: replace(integers, encode=lambda writer, edge: writer.ids.edges[edge]),
        NodeRef: replace(integers, encode=lambda writer, node: writer.ids.nodes[node]),
        (Topology, "next_node"): replace(integers, encode=lambda writer, _: len(writer.ids.nodes)),
        (Topology, "next_edge"): replace(integers, encode=lambda writer, _: len(writer.ids.edges)),
        (Topology, "nodes"): nodes_form(codec),
        (GraphData, "bodies"): graphs.bodies_form(codec),
        Graph: graphs.graph_form(codec.record(Graph)),
        Layer: _referred(lambda layer: layer.node, ModelReader.layer),
        (Step, "choice"): _referred(lambda choice: choice.layer.node, _choice),
        (Rejection, "node"): _referred(lambda node: node, ModelReader.node),
        Backend: Form(
            lambda writer, backend: backend.id,
            lambda reader, value: assignments.SavedBackend(text(reader, value)),
        ),
        (Quantization, "scale"): Form(_encode_scales, _decode_scales),
        Configuration: Form(_encode_configuration, _decode_configuration),
        bytes: Form(_encode_bytes, _decode_bytes),
        **{cls: shared(cls) for cls in SHARED},
    }
    codec.special |= special
    return codec


_CODEC = _made()
_MODEL = _CODEC.form(CompiledModel)
_BACKEND_DATA = _CODEC.form(tuple[BackendData, ...])
_PLACES = _CODEC.form(tuple[Constant, ...])
_RECORDS = {cls: _CODEC.record(cls) for cls in SHARED}

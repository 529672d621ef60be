"""The content of a .pmx file: a compiled model, and what its backends saved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import flatbuffers
import numpy as np

from mcu_deploy.backends.interface import RegionCall, Support, Target
from mcu_deploy.backends.workload import Argument, CFunction, Region
from mcu_deploy.choose.select import Chosen, Selection, choices_within
from mcu_deploy.compiled import CompiledModel
from mcu_deploy.ir import TensorType
from mcu_deploy.plan import Plan
from mcu_deploy.pmx import assignments, constants, graphs
from mcu_deploy.pmx import pmx_generated as fb
from mcu_deploy.pmx.backends import BackendData
from mcu_deploy.pmx.checked import Content
from mcu_deploy.pmx.checks import check
from mcu_deploy.pmx.context import Reader, SerializationContext, Writer
from mcu_deploy.pmx.damage import Damage, reading
from mcu_deploy.pmx.records import element, record
from mcu_deploy.version import VERSION

_LISTS = {
    TensorType: "Types", CFunction: "Functions", Region: "Regions", Argument: "Arguments",
    Support: "Supports",
}  # fmt: skip


@dataclass(frozen=True)
class Saved:
    """What a .pmx file holds."""

    model: CompiledModel
    data: tuple[BackendData, ...] = ()


# ---- Saving ----


def encode(
    model: CompiledModel, data: Sequence[BackendData] = (), *, compress: bool = False
) -> bytes:
    """The content of a file. Equal models give equal bytes.

    compress: each constant by itself, as far as it becomes smaller. Raises UnsupportedError for an
    attribute that the format has no words for.
    """
    writer = Writer(SerializationContext(model.graph, model.source_tensors))
    made = fb.ModelT()
    made.producer = f"mcu-deploy {VERSION}"
    made.name = writer.number(model.name)
    made.target = record(Target).encode(writer, model.target)
    made.options = record(type(model.options)).encode(writer, model.options)
    made.sourceEdges = [writer.ids.edge(edge) for edge in model.source_tensors]
    made.sourceNames = [writer.number(name) for name in model.source_tensors.values()]
    made.graph = graphs.encode(writer, model.graph)
    made.assignment = assignments.encode(writer, model.graph, model.assignment)
    encode_chosen, _ = element(Chosen)
    made.choices = [encode_chosen(writer, choice) for choice in model.selection.choices]
    made.acquire = [_call(writer, *call) for call in model.selection.acquire]
    made.release = [_call(writer, *call) for call in model.selection.release]
    made.plan = record(Plan).encode(writer, model.plan)
    made.backendData = [_backend_data(writer, item) for item in data]
    lists = writer.lists
    made.types = [record(TensorType).encode(writer, t) for t in lists[TensorType]]
    made.functions = [record(CFunction).encode(writer, f) for f in lists[CFunction]]
    made.regions = [record(Region).encode(writer, r) for r in lists[Region]]
    made.arguments = [record(Argument).encode(writer, a) for a in lists[Argument]]
    made.supports = [record(Support).encode(writer, s) for s in lists[Support]]
    made.texts = list(lists[str])  # the last, as all others have texts
    made.constants = constants.encode(writer, compress)
    builder = flatbuffers.Builder(1 << 16)
    builder.Finish(made.Pack(builder))
    return bytes(builder.Output())


def _call(writer: Writer, backend: str, call: RegionCall) -> fb.BackendCallT:
    made = fb.BackendCallT()
    made.backend = writer.number(backend)
    made.call = record(RegionCall).encode(writer, call)
    return made


def _backend_data(writer: Writer, data: BackendData) -> fb.BackendDataT:
    made = fb.BackendDataT()
    made.backend = writer.number(data.backend)
    made.major, made.minor = data.version
    made.data = np.frombuffer(data.data, np.uint8)
    return made


# ---- Loading ----


def decode(content: bytes | memoryview, path: Path) -> Saved:
    """What a content holds. path: of the file, for messages.

    Raises ModelError where it makes no sense, whatever is in it.
    """
    with reading(path):
        buffer = Content(content)
        table = fb.Model()
        table.Init(buffer, buffer.root)
        saved = _decode(table, path)
        check(saved.model)
        return saved


def _decode(table: fb.Model, path: Path) -> Saved:
    from mcu_deploy.options import Options  # which calls this module

    reader = Reader(path)
    lists = reader.lists
    lists[str] += [table.Texts(i).decode() for i in range(table.TextsLength())]
    for cls, field in _LISTS.items():
        get, count = getattr(table, field), getattr(table, f"{field}Length")()
        lists[cls] += [record(cls).decode(reader, get(i)) for i in range(count)]
    reader.constants += constants.decode(table)
    reader.target = record(Target).decode(reader, _there(table.Target(), "the target"))
    edges = constants.numbers(table.SourceEdgesAsNumpy())
    names = [lists[str][number] for number in constants.numbers(table.SourceNamesAsNumpy())]
    graph = graphs.decode(reader, table.Graph())
    graphs.check(graph)
    reader.use(graph)
    _, decode_chosen = element(Chosen)
    stored = (table.Choices(i) for i in range(table.ChoicesLength()))
    choices = [decode_chosen(reader, item) for item in stored]
    reader.choices = {choice.layer.node.id: choice for choice in choices_within(choices)}
    model = CompiledModel(
        lists[str][table.Name()],
        reader.target,
        record(Options).decode(reader, _there(table.Options(), "how it was made")),
        dict(zip(edges, names, strict=True)),
        graph,
        assignments.decode(reader, table.Assignment(), graph),
        Selection(
            tuple(choices),
            tuple(_decode_call(reader, table.Acquire(i)) for i in range(table.AcquireLength())),
            tuple(_decode_call(reader, table.Release(i)) for i in range(table.ReleaseLength())),
        ),
        record(Plan).decode(reader, _there(table.Plan(), "the plan")),
    )
    data = (table.BackendData(i) for i in range(table.BackendDataLength()))
    return Saved(model, tuple(_decode_data(reader, item) for item in data))


def _there(table: Any, what: str) -> Any:
    if table is None:
        raise Damage(f"{what} is missing")
    return table


def _decode_call(reader: Reader, table: fb.BackendCall) -> tuple[str, RegionCall]:
    call = record(RegionCall).decode(reader, _there(table.Call(), "a call"))
    return reader.lists[str][table.Backend()], call


def _decode_data(reader: Reader, table: fb.BackendData) -> BackendData:
    data = b"" if table.DataIsNone() else bytes(table.DataAsNumpy())
    return BackendData(reader.lists[str][table.Backend()], (table.Major(), table.Minor()), data)

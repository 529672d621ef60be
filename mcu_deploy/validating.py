"""`validate`: the device's outputs against the oracle and a reference, and layer by layer."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from mcu_deploy import interpreter
from mcu_deploy.arrays import Array
from mcu_deploy.codegen.names import shorten
from mcu_deploy.compiler import Network
from mcu_deploy.device import Device
from mcu_deploy.folder import BuildFolder, as_folder
from mcu_deploy.ir import EdgeId
from mcu_deploy.metrics import Metrics, compare
from mcu_deploy.reference import Carried, NoReference, Reference, run_reference
from mcu_deploy.running import Connection, open_device, where
from mcu_deploy.samples import Samples, load_samples, random_samples
from mcu_deploy.session import Session

# Float tensors: relative to the largest magnitude of the reference (DESIGN section 9).
_TOLERANCE = 1e-4


@dataclass(frozen=True)
class LayerDifference:
    """The first place where a layer's output on the device is not the oracle's."""

    sample: int
    layer: int
    short: str
    name: str
    op: str
    tensor: str
    index: tuple[int, ...]
    device: float
    oracle: float
    differing: int
    elements: int

    def __str__(self) -> str:
        return (
            f"layer {self.layer}, {self.short}, {self.op} {shorten(self.name)!r}: "
            f"{self.differing:,} of "
            f"{self.elements:,} values differ in sample {self.sample}, the first at "
            f"{list(self.index)}: device {self.device:g}, oracle {self.oracle:g}"
        )


@dataclass(frozen=True)
class LayerReport:
    """compared: how many tensors were compared in all samples; absent: (tensor, reason)."""

    compared: int
    tensors: tuple[str, ...]
    absent: tuple[tuple[str, str], ...]
    differences: tuple[LayerDifference, ...]


@dataclass(frozen=True)
class Validation:
    """What `validate` found. Bit-exactness is asked of integer outputs, 1e-4 of float ones.

    onnxruntime: against the second opinion that `reference` names, for a TFLite model LiteRT.
    """

    where: str
    samples: int
    origin: str
    outputs: tuple[str, ...]
    oracle: tuple[Metrics, ...]
    integer: tuple[bool, ...]
    onnxruntime: tuple[Metrics, ...] = ()
    reference: str = ""
    stack_used: int = 0
    stack_bound: int | None = None
    layers: LayerReport | None = None
    problems: tuple[str, ...] = field(default=())

    @property
    def passed(self) -> bool:
        return not self.problems


def validate(
    build: BuildFolder | str | Path,
    samples: Samples | str | Path | None = None,
    *,
    model: str | None = None,
    layers: bool = False,
    onnxruntime: bool = True,
    connection: Connection | None = None,
    session: Session | None = None,
) -> Validation:
    """Runs samples (by default four made-up ones) on the device and compares every output.

    build: a build folder. samples: read already, or an .npz file.
    layers: compares every tensor that the build materialises, and names the first layer that
    differs. session: with the backends of the build; needed where they are not found again by
    themselves. Raises DeviceError, UsageError or ToolError with a sentence.
    """
    folder = as_folder(build)
    entry = folder.network(model)
    network = folder.compile_again(entry["name"], session)
    if isinstance(samples, (str, Path)):
        samples = load_samples(samples, network.graph, network.inputs)
    given = samples or random_samples(network.graph, edges=network.inputs)
    chosen = connection or Connection()
    oracle = _run_oracle(network, given)
    with open_device(folder, chosen) as device:
        if entry["states"]:
            device.reset_states(network.name)
        results, used = _infer(device, network, given)
        layer_report = _layers(device, network, given, oracle) if layers else None
    reference: Reference | NoReference | None = None
    if onnxruntime:
        reference = _run_reference(folder, entry, network, given)
    return _judge(folder, network, given, results, oracle, reference, layer_report, used, chosen)


def _run_reference(
    folder: BuildFolder, entry: dict[str, Any], network: Network, samples: Samples
) -> Reference | NoReference:
    """What another program computes of the model that the build kept."""
    if folder.report["options"]["half"] is not None:
        return NoReference("the network is half of the model")
    graph = network.graph
    states = [
        Carried(s.name, graph.edge_name(s.output), s.first(graph))
        for s in network.plan.exposure.states
    ]
    return run_reference(folder.directory / entry["kept_model"], samples.inputs, states)


def _run_oracle(network: Network, samples: Samples) -> list[dict[EdgeId, Array]]:
    """The value of every edge for each sample; states go from sample to sample."""
    states = {state.input: state.first(network.graph) for state in network.plan.exposure.states}
    found = []
    for inputs in samples.inputs:
        given = dict(zip(network.inputs, inputs, strict=True)) | states
        values = interpreter.run_all(network.graph, [given[e] for e in network.graph.inputs])
        states = {s.input: values[s.output] for s in network.plan.exposure.states}
        found.append(values)
    return found


def _infer(device: Device, network: Network, samples: Samples) -> tuple[list[list[Array]], int]:
    results, used = [], 0
    for inputs in samples.inputs:
        for index, value in enumerate(inputs):
            device.write_input(network.name, index, np.ascontiguousarray(value).tobytes())
        used = max(used, device.run(network.name, bare=bool(network.plan.parallel)).stack_used)
        results.append(device.outputs(network.name))
    return results, used


def _judge(
    folder: BuildFolder,
    network: Network,
    samples: Samples,
    results: Sequence[Sequence[Array]],
    oracle: Sequence[dict[EdgeId, Array]],
    reference: Reference | NoReference | None,
    layers: LayerReport | None,
    stack_used: int,
    connection: Connection,
) -> Validation:
    graph = network.graph
    names, against_oracle, against_onnxruntime, integer = [], [], [], []
    problems = []
    for number, edge in enumerate(network.outputs):
        name = graph.edge_name(edge)
        names.append(name)
        ours = [r[number] for r in results]
        metrics = compare(ours, [values[edge] for values in oracle])
        against_oracle.append(metrics)
        integer.append(not graph.type(edge).dtype.is_float)
        if integer[-1] and metrics.equal < 1:
            problems.append(
                f"output {shorten(name)!r} differs from the oracle in "
                f"{1 - metrics.equal:.2%} of its values"
            )
        elif not integer[-1] and not metrics.relative <= _TOLERANCE:
            problems.append(
                f"output {shorten(name)!r} is {metrics.relative:.2g} off the oracle, relative to "
                f"its largest value; {_TOLERANCE:g} is allowed"
            )
        if isinstance(reference, Reference):
            against_onnxruntime.append(compare(ours, [r[number] for r in reference.outputs]))
    if layers is not None and layers.differences:
        problems.append(str(layers.differences[0]))
    bound = folder.report.get("firmware_stack_bytes")
    if bound is not None and stack_used > bound:
        problems.append(f"the stack was {stack_used} bytes deep, its bound is {bound}")
    return Validation(
        where(folder, connection), len(samples), samples.origin, tuple(names),
        tuple(against_oracle), tuple(integer), tuple(against_onnxruntime),
        "" if reference is None else str(reference),
        stack_used, bound, layers, tuple(problems),
    )  # fmt: skip


def _layers(
    device: Device, network: Network, samples: Samples, oracle: Sequence[dict[EdgeId, Array]]
) -> LayerReport:
    differences: list[LayerDifference] = []
    compared = 0
    graph = network.whole_graph
    once = [
        s
        for s, holder in zip(network.plan.steps, network.plan.holders, strict=True)
        if holder is None
    ]
    steps = {step.index: step for step in once}
    for number, inputs in enumerate(samples.inputs):
        for crc in device.layer_crcs(network.name, list(inputs)):
            if crc.layer not in steps:
                continue
            layer = steps[crc.layer].choice.layer
            operand = layer.outputs[crc.output]
            expected = operand.type.to_memory(oracle[number][operand.edge])
            compared += 1
            if zlib.crc32(expected.tobytes()) == crc.crc:
                continue
            raw = device.read_layer_output(network.name, list(inputs), crc.layer, crc.output)
            memory = np.frombuffer(raw, operand.type.dtype.numpy)
            found = _first_difference(
                operand.type.from_memory(memory), oracle[number][operand.edge]
            )
            if found is None:
                continue
            index, count = found
            value = operand.type.from_memory(memory)
            differences.append(
                LayerDifference(
                    number,
                    crc.layer,
                    steps[crc.layer].short,
                    layer.name,
                    layer.op,
                    graph.edge_name(operand.edge),
                    index,
                    float(value[index]),
                    float(oracle[number][operand.edge][index]),
                    count,
                    value.size,
                )
            )
    ordered = sorted(differences, key=lambda d: (d.sample, d.layer))
    tensors = tuple(graph.edge_name(o.edge) for step in once for o in step.choice.layer.outputs)
    inside = [
        (
            graph.edge_name(o.edge),
            f"inside of {graph.node(holder).short}: any number of times a run",
        )
        for step, holder in zip(network.plan.steps, network.plan.holders, strict=True)
        if holder is not None
        for o in step.choice.layer.outputs
    ]
    return LayerReport(compared, tensors, (*absent_tensors(network), *inside), tuple(ordered))


def _first_difference(ours: Array, theirs: Array) -> tuple[tuple[int, ...], int] | None:
    """Where two tensors differ first (index order) and in how many values; None: they agree."""
    if theirs.dtype.kind == "f":
        scale = float(np.abs(theirs).max()) if theirs.size else 0.0
        limit = _TOLERANCE * (scale or 1.0)
        wrong = ~((np.abs(ours - theirs) <= limit) | (ours == theirs))
        wrong &= ~(np.isnan(ours) & np.isnan(theirs))
    else:
        wrong = ours != theirs
    if not wrong.any():
        return None
    first = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
    return tuple(int(i) for i in first), int(wrong.sum())


def absent_tensors(network: Network) -> list[tuple[str, str]]:
    """The source model's tensors that never lie in memory, each with the reason."""
    graph = network.graph
    materialised = {o.edge for s in network.plan.steps for o in s.choice.layer.outputs}
    fused: dict[EdgeId, str] = {}

    def inside(body: Any, owner: str) -> None:
        for node in body.nodes:
            for edge in node.outputs:
                if edge is not None:
                    fused.setdefault(edge, owner)
            inner = body.body(node.id)
            if inner is not None:
                inside(inner, owner)

    controls = {e: n for n in graph.nodes if graph.subgraphs(n.id) for e in n.writes}
    for node in graph.nodes:
        body = graph.body(node.id)
        if body is not None:
            inside(body, f"{node.short} ({shorten(node.name)})")
    absent = []
    for edge, name in network.source_tensors.items():
        if edge in materialised:
            continue
        if edge in controls:
            holder = controls[edge]
            absent.append((name, f"layers of {holder.short} make it: --keep it"))
        elif edge in graph.topology.edges and graph.constant(edge) is None:
            absent.append((name, "the same memory as its source, seen under another shape"))
        elif edge in graph.topology.edges:
            absent.append((name, "a constant"))
        elif edge in fused:
            absent.append((name, f"fused into {fused[edge]}"))
        else:
            absent.append((name, "eliminated: it is a constant, or nothing reads it"))
    return absent

"""A device's layers against the oracle: each is computed from what the device itself read.

So a value that may lie a step away does not count against the layers behind it.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mcu_deploy import interpreter
from mcu_deploy.agreement.rules import Rule, judge_layer
from mcu_deploy.agreement.runs import DeviceRun
from mcu_deploy.compiled import Network
from mcu_deploy.device import Device
from mcu_deploy.errors import shorten
from mcu_deploy.files.arrays import Array
from mcu_deploy.ir import EdgeId
from mcu_deploy.passes.thinning import Removed, removed


@dataclass(frozen=True)
class LayerDifference:
    """The first place where a layer's output on the device is not what the rule asks for."""

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
    rule: Rule

    def __str__(self) -> str:
        return (
            f"layer {self.layer}, {self.short}, {self.op} {shorten(self.name)!r}: "
            f"{self.differing:,} of {self.elements:,} values differ in sample {self.sample}, the "
            f"first at {list(self.index)}: device {self.device:g}, oracle {self.oracle:g}; "
            f"allowed: {self.rule}"
        )


@dataclass(frozen=True)
class LayerComparison:
    """compared: how many tensors were compared in all samples; thinner: (tensor, which of its
    channels are not there); absent: (tensor, reason). left: samples that have other layers, as at
    sizes at which a tensor has an extent of 1."""

    compared: int
    tensors: tuple[str, ...]
    thinner: tuple[tuple[str, Removed], ...]
    absent: tuple[tuple[str, str], ...]
    differences: tuple[LayerDifference, ...]
    left: tuple[int, ...] = ()


def compare_layers(
    device: Device,
    network: Network,
    runs: Sequence[DeviceRun],
    oracle: Sequence[dict[EdgeId, Array]],
) -> LayerComparison:
    """Every tensor that the build materialises, in every sample. oracle: the values of edges."""
    differences: list[LayerDifference] = []
    compared = 0
    left = []
    for number, run in enumerate(runs):
        if _layers(run.network) != _layers(network):
            left.append(number)
            continue
        found = _Sample(device, run.network, number, run, dict(oracle[number]))
        differences += found.differences()
        compared += found.compared
    graph = network.whole_graph
    edges = [o.edge for step in _once(network) for o in step.choice.layer.outputs]
    tensors = tuple(graph.edge_name(edge) for edge in edges)
    gone = [(graph.edge_name(edge), removed(graph, edge)) for edge in edges]
    thinner = tuple((name, what) for name, what in gone if what is not None)
    inside = [
        (
            graph.edge_name(o.edge),
            f"inside of {graph.node(holder).short}: any number of times a run",
        )
        for step, holder in zip(network.plan.steps, network.plan.holders, strict=True)
        if holder is not None
        for o in step.choice.layer.outputs
    ]
    absent = (*absent_tensors(network), *inside)
    return LayerComparison(compared, tensors, thinner, absent, tuple(differences), tuple(left))


def _layers(network: Network) -> list[tuple[str, str]]:
    return [(s.choice.layer.op, s.choice.layer.name) for s in network.plan.steps]


def device_values(
    device: Device, network: Network, number: int, run: DeviceRun, oracle: dict[EdgeId, Array]
) -> tuple[dict[EdgeId, Array], list[LayerDifference]]:
    """What the device holds in a sample in its tensors, by edge; where that is not the oracle's.

    Of inputs and of what layers write once a run it is known by CRC, or read where that differs;
    of other edges it is what the oracle makes of these.
    """
    found = _Sample(device, network, number, run, dict(oracle))
    return found.values, found.differences()


def _once(network: Network) -> list[Any]:
    """The steps that run once a run."""
    pairs = zip(network.plan.steps, network.plan.holders, strict=True)
    return [step for step, holder in pairs if holder is None]


@dataclass
class _Sample:
    """One sample of the device. values: of every edge, the oracle's or, where these differ, the
    device's and what the oracle makes of them."""

    device: Device
    network: Network
    number: int
    run: DeviceRun
    values: dict[EdgeId, Array]
    compared: int = 0

    def differences(self) -> list[LayerDifference]:
        graph, found = self.network.graph, []
        steps = {step.index: step for step in _once(self.network)}
        crcs = {
            steps[c.layer].choice.layer.outputs[c.output].edge: c
            for c in self.run.layers(self.device)
            if c.layer in steps
        }
        self.compared = len(crcs)
        changed: set[EdgeId] = set()
        for node in graph.nodes:
            if changed.intersection(node.reads):
                results = interpreter.run_node(graph, node, self.values)
                self.values.update(zip(node.writes, results, strict=True))
                changed.update(node.writes)
            for edge in node.writes:
                crc, type_, oracle = crcs.get(edge), graph.type(edge), self.values[edge]
                stored = type_.stored(oracle).tobytes()
                if crc is None or (crc.bytes, crc.crc) == (len(stored), zlib.crc32(stored)):
                    continue
                self.run.again(self.device)
                raw = self.device.read_layer_output(
                    self.network.name, self.run.inputs, crc.layer, crc.output
                )
                # Of a place for the largest size the beginning is this one's.
                raw = raw[: len(stored)]
                if raw == stored:
                    continue
                value = type_.from_bytes(raw)
                rule, wrong = judge_layer(graph, node, edge, self.values, value)
                if wrong.any():
                    step = steps[crc.layer]
                    found.append(self._difference(step, edge, value, oracle, wrong, rule))
                self.values[edge] = value
                changed.add(edge)
        return sorted(found, key=lambda d: d.layer)

    def _difference(
        self, step: Any, edge: EdgeId, value: Array, oracle: Array, wrong: Array, rule: Rule
    ) -> LayerDifference:
        index = tuple(int(i) for i in np.unravel_index(int(np.argmax(wrong)), wrong.shape))
        layer = step.choice.layer
        return LayerDifference(
            self.number, step.index, step.short, layer.name, layer.op,
            self.network.graph.edge_name(edge), index, float(value[index]), float(oracle[index]),
            int(wrong.sum()), value.size, rule,
        )  # fmt: skip


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
            absent.append((name, "the memory of its sources, seen otherwise"))
        elif edge in graph.topology.edges:
            absent.append((name, "a constant"))
        elif edge in fused:
            absent.append((name, f"fused into {fused[edge]}"))
        else:
            absent.append((name, "eliminated: it is a constant, or nothing reads it"))
    return absent

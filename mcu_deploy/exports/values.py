"""One sample of a network: what goes in, and what the oracle says comes out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from mcu_deploy import interpreter
from mcu_deploy.agreement.made_up import random_samples
from mcu_deploy.agreement.rules import BITS, SHARE, Rule, rules
from mcu_deploy.compiled import Network
from mcu_deploy.exports.model import Value
from mcu_deploy.files.arrays import Array
from mcu_deploy.files.samples import Samples, load_samples
from mcu_deploy.ir import EdgeId
from mcu_deploy.plan import InSlot


def sample_of(network: Network, data: str | Path | None) -> Samples:
    """The first sample of a file, or a made-up one. UsageError where the file does not fit."""
    if data is None:
        samples = random_samples(network.graph, 1, edges=network.inputs)
        return replace(samples, origin="a made-up sample")
    samples = load_samples(data, network.graph, network.inputs).first(1)
    return replace(samples, origin=origin_of(data))


def origin_of(data: str | Path) -> str:
    """What is said of the first sample of a file."""
    return f"the first sample of {Path(data).name}"


def sample_values(
    network: Network, samples: Samples
) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
    """The inputs and outputs in the first sample, the outputs as the oracle computes them."""
    graph, plan = network.graph, network.plan
    states = {state.input: state.first(graph) for state in plan.exposure.states}
    given = dict(zip(network.inputs, samples.inputs[0], strict=True)) | states
    results = interpreter.run_all(graph, [given[e] for e in graph.inputs])
    known = rules(graph)

    def value(index: int, edge: EdgeId, array: Array, tolerance: float = 0.0) -> Value:
        place = plan.place(edge)
        return Value(
            index, graph.edge_name(edge), graph.type(edge).dtype.c_type, array,
            isinstance(place, InSlot) and place.caller, tolerance,
        )  # fmt: skip

    inputs = (value(i, e, given[e]) for i, e in enumerate(network.inputs))
    outputs = (
        value(i, e, results[e], _tolerance(known.get(e, Rule(BITS)), results[e]))
        for i, e in enumerate(network.outputs)
    )
    return tuple(inputs), tuple(outputs)


def _tolerance(rule: Rule, expected: Array) -> float:
    """How far a value may be from the oracle's (docs/arithmetic.md, "Agreement")."""
    if rule.kind != SHARE:
        return rule.limit
    finite = np.abs(expected[np.isfinite(expected)])
    return rule.limit * (float(finite.max(initial=0.0)) or 1.0)

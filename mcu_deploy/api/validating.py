"""`validate`: the device's outputs against the oracle and a reference, and layer by layer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from mcu_deploy.agreement.counted import with_room
from mcu_deploy.agreement.layers import LayerComparison, compare_layers
from mcu_deploy.agreement.metrics import Metrics, compare
from mcu_deploy.agreement.reference import (
    NamedState,
    NoReference,
    Reference,
    reference_tensors,
    run_reference,
)
from mcu_deploy.agreement.rules import BITS, ONE_STEP, Rule, rules
from mcu_deploy.agreement.runs import run_oracle, run_samples
from mcu_deploy.agreement.second_opinion import Opinion, compare_with
from mcu_deploy.api.folder import AnyFolder, BuildFolder, as_folder
from mcu_deploy.api.running import Connection, open_device, where
from mcu_deploy.api.sized import at_sizes, made_up, samples_in
from mcu_deploy.compiled import Network
from mcu_deploy.errors import ModelError, RequestError, shorten
from mcu_deploy.files.arrays import Array
from mcu_deploy.files.samples import Samples
from mcu_deploy.report import NetworkReport
from mcu_deploy.report.tables import Table, Tabled
from mcu_deploy.session import Session


@dataclass(frozen=True, repr=False)
class Validation(Tabled):
    """What `validate` found.

    rules: what was asked of each output beside the oracle's. onnxruntime: against the second
    opinion that `reference` names, for a TFLite model LiteRT; opinion: that layer by layer, where
    it was asked for or the outputs are too far apart. notes: what explains outputs that are.
    """

    where: str
    samples: int
    origin: str
    outputs: tuple[str, ...]
    oracle: tuple[Metrics, ...]
    rules: tuple[Rule, ...]
    onnxruntime: tuple[Metrics, ...] = ()
    reference: str = ""
    stack_used: int = 0
    stack_bound: int | None = None
    layers: LayerComparison | None = None
    opinion: Opinion | None = None
    notes: tuple[str, ...] = field(default=())
    problems: tuple[str, ...] = field(default=())

    @property
    def passed(self) -> bool:
        return not self.problems

    @property
    def verdict(self) -> str:
        """What the command prints last."""
        if self.problems:
            return "failed"
        return "passed" if self.onnxruntime else "passed against the oracle alone"

    def table(self) -> Table:
        """How far each output is from the oracle's, and from the reference's; the verdict below."""
        rows = []
        for index, output in enumerate(self.outputs):
            against = [("the oracle", self.oracle[index])]
            if self.onnxruntime:
                against.append((self.reference, self.onnxruntime[index]))
            for label, m in against:
                rows.append(
                    (output, label, f"{m.equal:.2%}", f"{m.acc:.2%}", f"{m.rmse:.3g}",
                     f"{m.mae:.3g}", f"{m.cosine:.6f}", f"{m.worst:.3g}")
                )  # fmt: skip
        numbers = ("equal", "ACC", "RMSE", "MAE", "cosine", "worst")
        title = f"{self.samples} samples from {self.origin}"
        columns, notes = ("output", "against", *numbers), (self.verdict, *self.problems)
        return Table(title, columns, tuple(rows), frozenset(numbers), notes)


def validate(
    build: AnyFolder,
    samples: Samples | str | Path | None = None,
    *,
    sizes: Sequence[int] | None = None,
    model: str | None = None,
    layers: bool = False,
    onnxruntime: bool = True,
    connection: Connection | None = None,
    session: Session | None = None,
) -> Validation:
    """Runs samples (by default made-up ones) on the device and compares every output.

    build: a build folder. samples: read already, or an .npz file. sizes: of made-up samples, where
    each run decides a size.
    layers: compares every tensor that the build materialises, and names the first layer that
    differs. session: with the backends of the build; needed where they are not found again by
    themselves. Raises DeviceError, UsageError or ToolError with a sentence.
    """
    folder = as_folder(build)
    entry = folder.network(model)
    network = folder.compile_again(entry.name, session)
    if samples is not None and sizes is not None:
        raise RequestError(
            "Samples have their sizes; --sizes is of made-up ones. Leave one of them out."
        )
    if isinstance(samples, (str, Path)):
        samples = samples_in(samples, network)
    given = samples or made_up(network, sizes)
    each = at_sizes(folder, network, given, session)
    chosen = connection or Connection()
    oracle = run_oracle(each, given)
    with open_device(folder, chosen) as device:
        if entry.states:
            device.reset_states(network.name)
        runs = run_samples(device, each, given, watch=layers)
        verdict = _Verdict(network, [run.outputs for run in runs])
        asked = verdict.ask_oracle(
            [[values[e] for e in at.outputs] for at, values in zip(each, oracle, strict=True)]
        )
        layer_report = None
        if layers or asked:
            layer_report = compare_layers(device, network, runs, oracle)
            verdict.ask_layers(layer_report)
    reference: Reference | NoReference | None = None
    if onnxruntime:
        reference = _run_reference(folder, entry, network, given)
    if isinstance(reference, Reference):
        far = verdict.ask_reference(reference)
        if layers or far is not None:
            opinion = _opinion(folder, entry, each[far or 0], given, far or 0)
            verdict.ask_opinion(reference, opinion, far is not None)
    used = max(run.stack_used for run in runs)
    bound = folder.report.firmware_stack_bytes
    if bound is not None and used > bound:
        verdict.problems.append(f"the stack was {used} bytes deep, its bound is {bound}")
    graph = network.graph
    return Validation(
        where(folder, chosen), len(given), given.origin,
        tuple(graph.edge_name(edge) for edge in network.outputs), tuple(verdict.oracle),
        tuple(verdict.rules), tuple(verdict.reference),
        "" if reference is None else str(reference), used, bound,
        layer_report if layers else None, verdict.opinion, tuple(verdict.notes),
        tuple(verdict.problems),
    )  # fmt: skip


def _run_reference(
    folder: BuildFolder, entry: NetworkReport, network: Network, samples: Samples
) -> Reference | NoReference:
    """What another program computes of the model that the build kept."""
    if folder.report.options.half is not None:
        return NoReference("the network is half of the model")
    model = folder.directory / entry.kept_model
    return run_reference(model, samples.inputs, _carried(network), _names(network))


def _carried(network: Network) -> list[NamedState]:
    """The states that a user asked for. Those of the model itself another program knows."""
    graph, states = network.graph, network.plan.exposure.states
    asked = {request.input for request in network.options.requests.states}
    return [
        *(
            NamedState(s.name, graph.edge_name(s.output), s.first(graph))
            for s in states
            if s.name in asked
        ),
        *(NamedState(n, "", value) for n, value in network.options.constant_values.items()),
    ]


def _names(network: Network) -> list[str]:
    return [network.graph.edge_name(edge) for edge in network.inputs]


def _opinion(
    folder: BuildFolder, entry: NetworkReport, network: Network, samples: Samples, number: int
) -> Opinion:
    """The other program's layers in one sample."""
    model = folder.directory / entry.kept_model
    try:
        given = samples.inputs[: number + 1]
        tensors = reference_tensors(model, given, _carried(network), _names(network))
    except ModelError as error:
        return Opinion(0, (f"none ({error})",), ())
    return compare_with(network.graph, tensors, model.suffix.lower() == ".tflite")


@dataclass
class _Verdict:
    """What was asked, one question after the other, and what came of it. results: the device's."""

    network: Network
    results: Sequence[Sequence[Array]]
    rules: list[Rule] = field(default_factory=list)
    oracle: list[Metrics] = field(default_factory=list)
    reference: list[Metrics] = field(default_factory=list)
    opinion: Opinion | None = None
    notes: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    _open: list[str] = field(default_factory=list)

    def ask_oracle(self, oracle: Sequence[Sequence[Array]]) -> bool:
        """Compares the outputs, [sample][output]; whether only the layers can tell if they are
        right."""
        known = rules(self.network.graph)
        for number, edge in enumerate(self.network.outputs):
            rule = known.get(edge, Rule(BITS))
            ours = [result[number] for result in self.results]
            theirs = [result[number] for result in oracle]
            metrics = compare(ours, theirs)
            self.rules.append(rule)
            self.oracle.append(metrics)
            if not any(rule.broken(a, b).any() for a, b in zip(ours, theirs, strict=True)):
                continue
            said = (
                f"output {shorten(self.network.graph.edge_name(edge))!r} differs from the oracle "
                f"in {1 - metrics.equal:.2%} of its values, by up to {metrics.worst:.3g}; "
                f"allowed: {rule}"
            )
            # Behind a value that may be rounded otherwise, differences may grow.
            (self.problems if rule.kind == BITS else self._open).append(said)
        return bool(self._open)

    def ask_layers(self, layers: LayerComparison) -> None:
        """Takes what the layers say, each computed from the device's own inputs."""
        if layers.differences:
            self.problems += [*self._open, str(layers.differences[0])]
        elif layers.left and self._open:
            left = ", ".join(map(str, layers.left))
            self.problems += [f"{said}; samples {left} have other layers" for said in self._open]
        else:
            why = "each layer is right, computed from the device's own inputs"
            self.notes += [f"{said}; {why}" for said in self._open]

    def ask_reference(self, reference: Reference) -> int | None:
        """Compares the outputs with another program's; the sample in which they are farthest apart
        if that is too far, else None."""
        far: dict[int, float] = {}
        known, outputs = rules(self.network.graph), self.network.outputs
        whole = with_room(self.network.graph, outputs, self.results, reference.outputs)
        for number, edge in enumerate(outputs):
            ours = [result[number] for result in self.results]
            theirs = [result[number] for result in whole]
            self.reference.append(compare(ours, theirs))
            is_float = self.network.graph.type(edge).dtype.is_float
            rule = known.get(edge, Rule(BITS)) if is_float else ONE_STEP
            for sample, (a, b) in enumerate(zip(ours, theirs, strict=True)):
                if rule.broken(a, b).any():
                    apart = np.abs(a.astype(np.float64) - b.astype(np.float64))
                    far[sample] = max(far.get(sample, 0.0), float(np.nanmax(apart)))
        return max(far, key=far.__getitem__) if far else None

    def ask_opinion(self, reference: Reference, opinion: Opinion, is_far: bool) -> None:
        """Takes what the other program's layers say."""
        self.opinion = opinion
        program = reference.program
        apart = max((m.worst for m in self.reference), default=0.0)
        if opinion.disagreements:
            self.problems.append(f"differs from {program}: {opinion.disagreements[0]}")
        elif is_far and opinion.left:
            left = ", ".join(opinion.left[:5])
            self.problems.append(
                f"differs from {program} by up to {apart:.3g}, and not all of its layers can be "
                f"compared: {left}"
            )
        elif any(m.equal < 1 for m in self.reference):
            self.notes.append(
                f"{opinion.compared} layers of the oracle agree with {program}'s, each computed "
                f"from its inputs there; end to end board and {program} are up to {apart:.3g} apart"
            )

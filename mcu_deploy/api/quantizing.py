"""`quantize`: a float32 model becomes one of int8, from samples, and a report says what that costs
(docs/quantize.md)."""

from __future__ import annotations

import io as io_module
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import onnx

from mcu_deploy import formats
from mcu_deploy.api.quantized_costs import QuantizedCost, cost_of, run_on_board
from mcu_deploy.boards import Board, load_board
from mcu_deploy.errors import McuDeployError, RequestError, UsageError
from mcu_deploy.files.arrays import Array
from mcu_deploy.files.samples import SampleFile, open_samples
from mcu_deploy.formats.imported import tell_assumed
from mcu_deploy.operators.recurrent import GATES
from mcu_deploy.options.quantizing import Quantizing
from mcu_deploy.output import require_writable, write_file
from mcu_deploy.output.progress import tell
from mcu_deploy.quantizing import budgets, checking, judging, names, preparing, rounding, scales
from mcu_deploy.quantizing.baseline import onnxruntime_int8
from mcu_deploy.quantizing.borders import with_borders
from mcu_deploy.quantizing.budgets import Budget
from mcu_deploy.quantizing.choosing import Recipe, Trials, choose, parts, thirds
from mcu_deploy.quantizing.net import Net
from mcu_deploy.quantizing.opset import with_more_types
from mcu_deploy.quantizing.oracle import Oracle
from mcu_deploy.quantizing.recurrent_moments import second_moments
from mcu_deploy.quantizing.sensitivity import Sensitivity, sensitivities
from mcu_deploy.quantizing.statistics import SampleShare
from mcu_deploy.quantizing.weights_only import recurrent_layers, weights_only
from mcu_deploy.report.tables import Table, Tabled, number

# The interpreter takes some tenths of a second for a sample, an emulator a second.
_ORACLE_SAMPLES = 32
_BOARD_SAMPLES = 4


@dataclass(frozen=True)
class Accuracy:
    """What computes the model, on how many samples, and how far from the float model's outputs:
    before a Softmax that ends it, but on a board, which has its outputs alone. is_reference: it is
    that model."""

    what: str
    samples: int
    judged: judging.Judged
    is_reference: bool = False


@dataclass(frozen=True)
class Border:
    """An input or output of the new model; scale and zero point None where it is not quantized."""

    name: str
    dtype: str
    scale: float | None
    zero_point: int | None


@dataclass(frozen=True, repr=False)
class Quantized(Tabled):
    """A quantized model, and what is known of it.

    recipe: how it was made; trials: what was tried, with the mean SQNR in dB on samples that took
    no part. borders: inputs, then outputs. costs: on a board, of float32 and of this, where one was
    given. layers_in_float, layers_in_16_bits: names of layers that --budget made so; notes: what
    could not be told.
    """

    path: Path
    bytes: int
    float_bytes: int
    origin: str
    samples: int
    recipe: str
    trials: tuple[tuple[str, float], ...]
    accuracy: tuple[Accuracy, ...]
    borders: tuple[Border, ...]
    costs: tuple[tuple[str, QuantizedCost], ...]
    sensitivity: tuple[Sensitivity, ...]
    layers_in_float: tuple[str, ...]
    layers_in_16_bits: tuple[str, ...]
    kept_out: bool
    notes: tuple[str, ...] = ()

    def table(self) -> Table:
        """A line for each who computes the model."""
        has_classes = any(a.judged.top1 is not None for a in self.accuracy)
        columns = ["computed by", "samples", *(["top-1"] if has_classes else []), "SQNR", "cosine"]
        rows = []
        for each in self.accuracy:
            judged = each.judged
            shown = [] if not has_classes else ["" if judged.top1 is None else f"{judged.top1:.2%}"]
            rows.append((
                each.what, number(each.samples), *shown,
                "" if each.is_reference else " ".join(f"{v:.2f} dB" for v in judged.sqnr),
                "" if each.is_reference else " ".join(f"{v:.6f}" for v in judged.cosine),
            ))  # fmt: skip
        title = f"{self.path}: {self.bytes:,} bytes (float32: {self.float_bytes:,}), {self.recipe}"
        return Table(title, tuple(columns), tuple(rows), frozenset(columns[1:]), self.notes)


def quantize(
    model: str | Path,
    data: str | Path,
    output: str | Path,
    *,
    labels: str | Path | None = None,
    board: str | Path | Board | None = None,
    samples_output: str | Path | None = None,
    shapes: Mapping[str, Sequence[int]] | None = None,
    options: Quantizing | None = None,
) -> Quantized:
    """Quantizes an ONNX model of float32, by the samples in a file, and writes an ONNX file.

    data: an .npz as `run` takes it: in0, in1, ... of float32, the first axis counting samples.
    labels: the class of each sample: an .npy, or the name of an array in `data`; "labels" where
    that is there. board: where bytes and cycles are measured, and the outputs too. samples_output:
    where the samples go as the new model takes them, an .npz. Equal inputs give equal bytes. Raises
    an McuDeployError with a sentence for everything that can go wrong.
    """
    given, target, how = Path(model), Path(output), options or Quantizing()
    if target.suffix.lower() != ".onnx":
        raise UsageError(f"{target} does not end in .onnx, so that `build` would not know it.")
    budget = None if how.budget is None else Budget.parsed(how.budget)
    where = board if board is None or isinstance(board, Board) else load_board(board)
    samples = None if samples_output is None else Path(samples_output)
    if samples is not None and how.weights_only is not None:
        raise UsageError(
            "--weights-only leaves inputs as they are, so that the new model takes the samples "
            "that you have. Leave --samples-output out."
        )
    for result in filter(None, (target, samples)):
        require_writable(result, [given, Path(data)])
    tell("reading the model")
    source, net, assumed = preparing.prepare(given, shapes, decompose=how.weights_only is None)
    tell_assumed(given.name, assumed)
    file = open_samples(data, formats.load(given, shapes))
    classes = checking.classes(file, labels, net)
    if budget is not None:
        budget.require(classes, where)
    tell("reading the samples")
    checking.require_good(file, source)
    kind = "this int16" if how.int16_activations else "this int8"
    job = _Job(source, net, file, classes, where, kind)
    if how.weights_only is not None:
        return job.weights(target, 4 if how.weights_only == "int4" else 8)
    return job.integers(target, how, budget, samples)


@dataclass
class _Job:
    """One call of `quantize`."""

    source: Net
    net: Net
    file: SampleFile
    classes: Array | None
    board: Board | None
    kind: str = "this int8"

    def integers(
        self, target: Path, how: Quantizing, budget: Budget | None, samples_output: Path | None
    ) -> Quantized:
        has_int16, notes = self._with_int16(how, budget)
        wide_borders = how.io in ("int16", "float")
        trials = Trials(self.net, self.file, how.int16_activations, wide_borders)
        own, kept = parts(self.file)
        recipe = scales.fewer(trials, choose(trials))
        table: tuple[Sensitivity, ...] = ()
        if how.sensitivity or budget is not None:
            table = sensitivities(trials, recipe, has_int16)
        if budget is not None:
            recipe = budgets.within(budget, trials, recipe, table, self.classes, self.board)
        tell("writing the model")
        real = rounding.settled(trials.make(recipe, own))
        made = with_borders(real, how.io)
        names.leave(made, self.source, trials.factors(recipe, own))
        content = made.SerializeToString(deterministic=True)
        write_file(target, content)
        notes += [] if len(own) < len(self.file) else [
            "Of so few samples onnxruntime computes each third by a model made without it; "
            "the model itself is made from all."
        ]  # fmt: skip
        notes += _recurrent_notes(self.net, recipe.in_float)
        if how.int16_activations and not trials.wide(recipe):
            more = "" if wide_borders else " --io int16 leaves the layers at the borders 16 bits."
            notes.append(f"No tensor has 16 bits: builds compute no layer so.{more}")
        accuracy = self._accuracy(recipe, target, kept, trials, notes)
        costs = self._costs(target, notes)
        oracle = Oracle(target)
        if samples_output is not None:
            _write_samples(samples_output, oracle, self.file)
        return Quantized(
            target, len(content), len(self.source.model().SerializeToString()),
            str(self.file.path), len(self.file), str(recipe),
            tuple(
                (str(r), s) for r, s in trials.scores.items()
                if not (r.in_float or r.in_16_bits or r.one_scale)
            ),
            accuracy, _borders(oracle), costs, table, recipe.in_float, recipe.in_16_bits,
            len(own) < len(self.file), tuple(notes),
        )  # fmt: skip

    def _with_int16(self, how: Quantizing, budget: Budget | None) -> tuple[bool, list[str]]:
        """Whether tensors of int16 may be tried, for which the net gets a newer opset; notes."""
        if not (how.int16_activations or how.sensitivity or budget is not None):
            return False, []
        try:
            self.net = with_more_types(self.net, "Activations of 16 bits")
        except RequestError as error:
            if how.int16_activations:
                raise
            return False, [f"Layers between tensors of 16 bits were not tried: {error}"]
        return not how.int16_activations, []

    def weights(self, target: Path, bits: int) -> Quantized:
        """Only the weights, of 8 bits or of 4 where there are kernels for these."""
        if bits == 4:
            self.net = with_more_types(self.net, "Weights of 4 bits")
        whole = SampleShare(self.file, frozenset(range(len(self.file))))
        made, count = weights_only(self.net, second_moments(self.net, whole), bits)
        if not any(node.op_type == "DequantizeLinear" for node in made.graph.node):
            raise RequestError(
                "The model has no weights that --weights-only rounds, which are those of Conv, "
                "Gemm, LSTM, GRU, RNN, and of MatMul where they are one matrix. Leave it out."
            )
        content = made.SerializeToString(deterministic=True)
        write_file(target, content)
        wanted = self._wanted(whole)
        found = judging.results(made, judging.judged_names(made), whole)
        notes: list[str] = []
        if bits == 4:
            notes.append(
                f"{count} dense layers have weights of 4 bits; what else has weights, and dense "
                "layers whose inputs no block of 8 divides, has 8."
            )
        labels = self._labels(whole)
        accuracy = (
            Accuracy("float32", len(whole), judging.compare(wanted, wanted, labels), True),
            Accuracy(f"int{bits} weights", len(whole), judging.compare(found, wanted, labels)),
        )
        costs = self._costs(target, notes)
        return Quantized(
            target, len(content), len(self.source.model().SerializeToString()),
            str(self.file.path), len(self.file), f"weights of {bits} bits, all else in float32", (),
            accuracy, _borders(Oracle(target)), costs, (), (), (), False, tuple(notes),
        )  # fmt: skip

    def _accuracy(
        self, recipe: Recipe, target: Path, kept: SampleShare, trials: Trials, notes: list[str]
    ) -> tuple[Accuracy, ...]:
        wanted = trials.wanted(kept)
        rows = [Accuracy("float32", len(kept),
                         judging.compare(wanted, wanted, self._labels(kept)), True)]  # fmt: skip
        tell("onnxruntime's own quantization")
        try:
            usual = self._apart(trials, lambda own: onnxruntime_int8(self.source, own))
            rows.append(replace(usual, what="onnxruntime's int8 (min-max)"))
        except RequestError as error:
            notes.append(f"onnxruntime's own tool cannot quantize this model: {error}")
        found = self._apart(trials, lambda own: rounding.settled(trials.make(recipe, own)))
        rows.append(replace(found, what=f"{self.kind}, by onnxruntime"))
        tell("the device's own arithmetic")
        first = SampleShare(self.file, frozenset(sorted(kept.numbers)[:_ORACLE_SAMPLES]))
        judged = judging.compare(
            Oracle(target).results(first), trials.wanted(first), self._labels(first)
        )
        rows.append(Accuracy(f"{self.kind}, by the device's arithmetic", len(first), judged))
        if self.board is not None and not self.board.is_host:
            tell(f"running on {self.board.name}")
            few = SampleShare(self.file, frozenset(sorted(kept.numbers)[:_BOARD_SAMPLES]))
            outputs = self._wanted(few, whole=True)
            try:
                results = run_on_board(target, self.board, list(few))
            except McuDeployError as error:
                notes.append(f"It does not run on {self.board.name}: {error}")
            else:
                judged = judging.compare(results, outputs, self._labels(few))
                rows.append(Accuracy(f"{self.kind}, on {self.board.name}", len(few), judged))
        return tuple(rows)

    def _apart(self, trials: Trials, make: Callable[[SampleShare], onnx.ModelProto]) -> Accuracy:
        """Models judged on samples that they were not made from: of few samples each third."""
        found: list[Sequence[Array]] = []
        wanted: list[Sequence[Array]] = []
        labels: list[Array] = []
        for own, kept in thirds(self.file):
            model = make(own)
            found += judging.results(model, judging.judged_names(model), kept)
            wanted += trials.wanted(kept)
            classes = self._labels(kept)
            labels += [] if classes is None else [classes]
        judged = judging.compare(found, wanted, np.concatenate(labels) if labels else None)
        return Accuracy("", len(found), judged)

    def _costs(self, target: Path, notes: list[str]) -> tuple[tuple[str, QuantizedCost], ...]:
        if self.board is None:
            return ()
        found = []
        with tempfile.TemporaryDirectory(prefix="mcu-deploy-quantize-") as folder:
            before = Path(folder) / "float.onnx"
            onnx.save(self.source.model(), str(before))
            for what, path in (("float32", before), ("quantized", target)):
                tell(f"building for {self.board.name}: {what}")
                try:
                    found.append((what, cost_of(path, self.board, Path(folder) / what)))
                except McuDeployError as error:
                    notes.append(f"{what} cannot be built for {self.board.name}: {error}")
        return tuple(found)

    def _wanted(self, part: SampleShare, whole: bool = False) -> judging.Results:
        """The float model's answers: before a Softmax that ends it, or (whole) behind it."""
        model = self.source.model()
        ends = [v.name for v in model.graph.output if self.source.is_float(v.name)]
        return judging.results(model, ends if whole else judging.judged_names(model), part)

    def _labels(self, part: SampleShare) -> Array | None:
        return None if self.classes is None else self.classes[sorted(part.numbers)]


def _recurrent_notes(net: Net, in_float: Sequence[str]) -> list[str]:
    """A sentence for each recurrent layer."""
    by_bytes = {node.name for node in recurrent_layers(net)} - set(in_float)
    return [
        f"{node.name} ({node.op_type}) computes in float32, with weights of "
        f"{'8 bits' if node.name in by_bytes else 'float32'}: ONNX has no integer form of it."
        for node in net.nodes if node.op_type in GATES
    ]  # fmt: skip


def _borders(oracle: Oracle) -> tuple[Border, ...]:
    graph = oracle.graph
    found = []
    for edge in (*graph.inputs, *graph.outputs):
        type_, name = graph.type(edge), graph.edge_name(edge)
        if type_.is_quantized:
            scale, zero = float(type_.scaling.scales[0]), int(type_.scaling.zero_point[0])
            found.append(Border(name, type_.dtype.value, scale, zero))
        else:
            found.append(Border(name, type_.dtype.value, None, None))
    return tuple(found)


def _write_samples(path: Path, oracle: Oracle, file: SampleFile) -> None:
    """The samples as the new model takes them, for `validate --data` and `run --input`."""
    taken = [oracle.inputs(sample) for sample in file]
    arrays = {f"in{k}": np.stack(each) for k, each in enumerate(zip(*taken, strict=True))}
    stream = io_module.BytesIO()
    np.savez(stream, **arrays)  # type: ignore[arg-type]
    write_file(path, stream.getvalue())

"""`validate --against`: a quantized network on a device beside the float model that it was made of,
layer by layer (docs/quantize.md)."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import onnx
from google.protobuf.message import DecodeError

from mcu_deploy import formats
from mcu_deploy.agreement.layers import LayerDifference, absent_tensors, device_values
from mcu_deploy.agreement.runs import run_oracle, run_samples
from mcu_deploy.api.building import build
from mcu_deploy.api.folder import BuildFolder, as_folder, folder_for
from mcu_deploy.api.running import Connection, open_device, where
from mcu_deploy.api.several import options_of
from mcu_deploy.compiled import Network
from mcu_deploy.errors import RequestError, UsageError, shorten
from mcu_deploy.files.arrays import Array
from mcu_deploy.files.given import is_file
from mcu_deploy.files.samples import SampleFile, Samples, open_samples
from mcu_deploy.ir import EdgeId
from mcu_deploy.options import LIMIT_DB, Options
from mcu_deploy.output.progress import tell
from mcu_deploy.quantizing import judging, names, preparing
from mcu_deploy.quantizing.distances import Distance, Partner, distances, written
from mcu_deploy.quantizing.net import Net
from mcu_deploy.quantizing.oracle import as_taken
from mcu_deploy.quantizing.statistics import SampleShare
from mcu_deploy.report import NetworkReport, Report
from mcu_deploy.report.tables import Table, Tabled
from mcu_deploy.session import Session

SAMPLES = 8
_BAR_DB = 5.0  # so much is a block of a bar
_LONGEST_BAR = 12
NUMBERS = ("SQNR dB", "lost", "cosine", "worst", "clipped")


@dataclass(frozen=True, repr=False)
class Against(Tabled):
    """A network's tensors beside the float model's, in the order in which they are computed.

    limit: the SQNR in dB below which a layer has parted. of: how many samples the file holds.
    only_here, only_there: (tensor of the network, or of the float model, why it has no partner).
    difference: where the device is not the oracle, the first such layer. unfused: built anew.
    report: of the build that was compared.
    """

    network: str
    where: str
    samples: int
    of: int
    origin: str
    limit: float
    layers: tuple[Distance, ...]
    only_here: tuple[tuple[str, str], ...]
    only_there: tuple[tuple[str, str], ...]
    difference: LayerDifference | None
    built_anew: bool
    report: Report

    @property
    def parted(self) -> Distance | None:
        """The first layer whose SQNR is below the limit."""
        return next((layer for layer in self.layers if layer.sqnr < self.limit), None)

    @property
    def steepest(self) -> Distance | None:
        """The layer that loses most of what it reads has."""
        known = [layer for layer in self.layers if layer.drop is not None]
        return max(known, key=lambda layer: layer.drop or 0.0, default=None)

    @property
    def passed(self) -> bool:
        return self.parted is None and self.difference is None

    @property
    def verdict(self) -> str:
        """Which layer parts from the float model, or loses most."""
        parted, steepest = self.parted, self.steepest
        loses = ""
        if steepest is not None and (steepest.drop or 0.0) > 0:
            loses = f"{_called(steepest)} loses most: {steepest.drop:.1f} dB of what it reads"
        if parted is None:
            said = f"no layer parts from the float model: each has at least {self.limit:g} dB"
            return f"{said}; {loses}" if loses else said
        said = (
            f"{_called(parted)} is the first that parts from the float model: {parted.sqnr:.1f} dB"
        )
        if parted.of.layer is not None and parted.drop is not None:
            said += f", and what it reads has {parted.sqnr + parted.drop:.1f}"
        if parted.clipped > 0:
            said += f"; {parted.clipped:.1%} of its values lie beyond its range"
        return f"{said}; {loses}" if loses and steepest is not parted else said

    def table(self) -> Table:
        """A line for each tensor: how far it is, and as a bar, a block for each 5 dB."""
        rows = []
        for layer in self.layers:
            blocks = int(np.clip(round(layer.sqnr / _BAR_DB), 0, _LONGEST_BAR))
            rows.append((
                layer.of.short, f"{layer.sqnr:.1f}", "\u2588" * blocks,
                "" if layer.drop is None else f"{layer.drop:.1f}", f"{layer.cosine:.5f}",
                f"{layer.worst:.3g}", f"{layer.clipped:.2%}" if layer.clipped else "",
                "parts" if layer is self.parted else "", layer.of.float_tensor.name,
            ))  # fmt: skip
        title = f"{self.network}: {self.samples} of {self.of} samples from {self.origin}"
        columns = ("layer", NUMBERS[0], "", *NUMBERS[1:], " ", "float tensor")
        return Table(title, columns, tuple(rows), frozenset(NUMBERS), (self.verdict,))


def _called(layer: Distance) -> str:
    if layer.of.layer is None:
        return f"the input {shorten(layer.of.tensor)!r}"
    return f"{layer.of.short} ({layer.of.op} {shorten(layer.of.name)!r})"


def validate_against(
    float_model: str | Path,
    build: str | os.PathLike[str],
    samples: str | Path,
    *,
    board: str | Path | None = None,
    model: str | None = None,
    limit: float = LIMIT_DB,
    count: int = SAMPLES,
    connection: Connection | None = None,
    session: Session | None = None,
) -> Against:
    """Runs a quantized network on a device, and says of each layer how far its tensor is from the
    one of the float model that it stands for.

    float_model: an ONNX file of float32. build: a build folder of the quantized model; one that was
    not built with `layers_all` is built anew with it, in a temporary folder. Or the model, with a
    board. samples: those of the float model, an .npz with in0, in1, ... of float32, of which the
    first `count` are run. limit: the SQNR in dB below which a layer has parted. Raises an
    McuDeployError with a sentence for everything that can go wrong.
    """
    if not np.isfinite(limit):
        raise UsageError(f"--limit {limit} is no number of dB; it is {LIMIT_DB:g} by default.")
    chosen = connection or Connection()
    if is_file(Path(build)):
        _require_onnx(Path(build), str(build))
    options = Options(layers_all=True)
    with folder_for(Path(build), board, options=options, session=session) as given:
        entry = given.network(model)
        _require_comparable(given, entry)
        with _unfused(given, entry, chosen, session) as folder:
            job = _Job(Path(float_model), folder, folder.compile_again(entry.name, session))
            return job.run(samples, limit, count, chosen, folder is not given)


def _require_onnx(model: Path, called: str) -> None:
    if model.suffix.lower() != ".onnx":
        raise RequestError(
            f"{called} is no ONNX file, and only these say which tensors of a float model theirs "
            "stand for. Give the build of an .onnx file."
        )


def _require_comparable(folder: BuildFolder, entry: NetworkReport) -> None:
    _require_onnx(Path(entry.kept_model), f"What {folder.directory} was built from")
    if entry.states or folder.report.options.half is not None:
        what = "half of a model" if not entry.states else "a network that carries states"
        raise RequestError(
            f"{folder.directory} holds {what}, which no float model is like. Build the whole "
            "model without."
        )


@contextmanager
def _unfused(
    folder: BuildFolder, entry: NetworkReport, connection: Connection, session: Session | None
) -> Iterator[BuildFolder]:
    """The folder if it has every tensor, else a build of its model that has."""
    if folder.report.options.layers_all:
        yield folder
        return
    if connection.port is not None:
        raise RequestError(
            f"{folder.directory} was built with fusion and reuse, so the board does not have every "
            "tensor. Build it with --layers all, and flash that."
        )
    tell("building without fusion and reuse")
    every = [each.name for each in folder.networks]
    options = replace(options_of(folder.report.options, entry.name, every), layers_all=True)
    with tempfile.TemporaryDirectory(prefix="mcu-deploy-") as directory:
        file = folder.directory / entry.kept_model
        with folder.session(session) as own:
            made = build(
                file, folder.board, directory, name=entry.name, options=options, session=own
            )
            yield as_folder(made)


def _inputs(path: Path) -> dict[str, tuple[int, ...]]:
    """An ONNX file's inputs with their sizes, 0 where one is open; none where it is no such file,
    which is said later."""
    try:
        given = onnx.load(str(path), load_external_data=False).graph.input
        sizes = {v.name: v.type.tensor_type.shape.dim for v in given}
    except (OSError, DecodeError, ValueError):
        return {}
    return {name: tuple(max(0, d.dim_value) for d in dims) for name, dims in sizes.items()}


def _fits(sizes: Sequence[int], shape: Sequence[int]) -> bool:
    """Whether sizes of a file, of which some may be open, are those of a shape."""
    return len(sizes) == len(shape) and all(a in (0, b) for a, b in zip(sizes, shape, strict=True))


def _listed(given: Collection[str]) -> str:
    return ", ".join(shorten(name, 40) for name in sorted(given)[:8]) or "none"


@dataclass(frozen=True)
class _Job:
    """A float model's file and a network with every tensor."""

    float_model: Path
    folder: BuildFolder
    network: Network

    def run(
        self, samples: str | Path, limit: float, count: int, connection: Connection, anew: bool
    ) -> Against:
        source, file = self._float(samples)
        tensors = self._names(source)
        partners, only_here = self._partners(source, tensors)
        part = SampleShare(file, frozenset(range(min(count, len(file)))))
        wanted = self._wanted(source, partners, part)
        values, difference = self._values(source, part, connection)
        found = distances(self.network.graph, partners, values, wanted)
        return Against(
            self.network.name, where(self.folder, connection), len(part), len(file),
            str(file.path), limit, found, only_here,
            self._only_there(source, tensors, partners), difference, anew, self.folder.report,
        )  # fmt: skip

    def _float(self, samples: str | Path) -> tuple[Net, SampleFile]:
        """The float model with its inputs in the network's shapes, and its samples."""
        graph = self.network.graph
        wanted = {graph.edge_name(e): graph.type(e).shape for e in self.network.inputs}
        tell("reading the float model")
        own = _inputs(self.float_model)
        shapes = {name: shape for name, shape in wanted.items() if name in own}
        for name, shape in shapes.items():
            if not _fits(own[name], shape):
                raise RequestError(
                    f"{self._quantized} is not made of {self.float_model}: its input "
                    f"{shorten(name)!r} is {list(shape)}, and {list(own[name])} in that. Give the "
                    "float model that it was quantized from."
                )
        source, _ = preparing.read_float(self.float_model, shapes)
        if set(source.inputs) != set(wanted):
            raise RequestError(
                f"{self._quantized} is not made of {self.float_model}: that has the inputs "
                f"{_listed(source.inputs)}, and this {_listed(wanted)}. Give the float model that "
                "it was quantized from."
            )
        return source, open_samples(samples, formats.load(self.float_model, shapes))

    @property
    def _quantized(self) -> str:
        return f"The network {self.network.name!r}"

    def _names(self, source: Net) -> dict[str, names.FloatTensor]:
        entry = self.folder.network(self.network.name)
        file = self.folder.directory / entry.kept_model
        model = onnx.load(str(file), load_external_data=False)
        return names.read(model, names.tensors_of(source))

    def _partners(
        self, source: Net, tensors: Mapping[str, names.FloatTensor]
    ) -> tuple[list[Partner], tuple[tuple[str, str], ...]]:
        graph = self.network.graph
        partners: list[Partner] = []
        alone: list[tuple[str, str]] = []
        for layer, short, op, name, edge in written(self.network):
            own = graph.edge_name(edge)
            if own not in tensors:
                alone.append((own, "no tensor of the float model is what it stands for"))
                continue
            there, type_ = tensors[own], graph.type(edge)
            if not source.is_float(there.name):
                alone.append((own, "it holds no real numbers"))
            elif source.shape(there.name) != type_.shape:
                shape = source.shape(there.name) or ()
                alone.append(
                    (own, f"it is {list(type_.shape)}, and {list(shape)} in the float model")
                )
            else:
                partners.append(Partner(layer, short, op, name, edge, own, there))
        if not any(partner.layer is not None for partner in partners):
            raise RequestError(
                f"{self._quantized} and {self.float_model} have not one tensor in common, by the "
                "names that `quantize` leaves. Give the float model that it was quantized from; "
                "one that another tool quantized has to keep the names of tensors."
            )
        return partners, tuple(alone)

    def _only_there(
        self, source: Net, tensors: Mapping[str, names.FloatTensor], partners: Sequence[Partner]
    ) -> tuple[tuple[str, str], ...]:
        found = {partner.float_tensor.name for partner in partners}
        reasons = dict(absent_tensors(self.network))
        why = {t.name: reasons[own] for own, t in tensors.items() if own in reasons}
        folded = "no tensor of the network has its values"
        return tuple(
            (name, why.get(name, folded))
            for name in sorted(names.tensors_of(source) - found)
            if source.is_float(name)
        )

    def _wanted(
        self, source: Net, partners: Sequence[Partner], part: SampleShare
    ) -> list[list[Array]]:
        """[sample][partner]: what onnxruntime computes of the float model."""
        tell("the float model")
        asked = [p.float_tensor.name for p in partners if p.float_tensor.name not in source.inputs]
        results = judging.results(source.model(), asked, part)
        found = []
        for number, (inputs, outputs) in enumerate(zip(part, results, strict=True)):
            known = dict(zip(source.inputs, inputs, strict=True)) | dict(
                zip(asked, outputs, strict=True)
            )
            found.append([known[p.float_tensor.name] for p in partners])
            for partner, value in zip(partners, found[-1], strict=True):
                if not np.isfinite(value).all():
                    raise RequestError(
                        f"In sample {number} of {part.file.path} the float model's tensor "
                        f"{shorten(partner.float_tensor.name)!r} holds infinite values or NaN. "
                        "Leave that sample out, or mend the model."
                    )
        return found

    def _values(
        self, source: Net, part: SampleShare, connection: Connection
    ) -> tuple[list[dict[EdgeId, Array]], LayerDifference | None]:
        """[sample]: what lies in the device's tensors; and where that is not the oracle's."""
        network, graph = self.network, self.network.graph
        given = []
        for sample in part:
            known = dict(zip(source.inputs, sample, strict=True))
            pairs = ((edge, known[graph.edge_name(edge)]) for edge in network.inputs)
            given.append(tuple(as_taken(graph, edge, value) for edge, value in pairs))
        taken = Samples(tuple(given), str(part.file.path))
        oracle = run_oracle(network, taken)
        found: list[dict[EdgeId, Array]] = []
        first: LayerDifference | None = None
        with open_device(self.folder, connection) as device:
            runs = run_samples(device, network, taken, watch=True)
            for number, run in enumerate(runs):
                values, differences = device_values(device, network, number, run, oracle[number])
                found.append(values)
                first = first or next(iter(differences), None)
        return found, first

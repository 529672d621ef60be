"""ONNX: from a .onnx file to a graph.

The file is brought to one form before it becomes a graph: functions inlined, quantized operators
in QDQ form, shapes bound and inferred, constant sub-expressions evaluated. That is done in a child
process: onnx ends the process by assertions where a model says what it did not think of.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import onnx
import onnx.inliner
from google.protobuf.message import DecodeError
from onnx import TensorProto

from mcu_deploy.arithmetic import Array
from mcu_deploy.errors import McuDeployError, ModelError
from mcu_deploy.errors.obstacles import Obstacle, refusal, settled, tensors
from mcu_deploy.files.given import is_file
from mcu_deploy.formats.imported import AssumedShape, Imported, checked, known_operators
from mcu_deploy.formats.mistaken import other_kind
from mcu_deploy.formats.onnx_batches import nest_scans
from mcu_deploy.formats.onnx_counts import bound_counts
from mcu_deploy.formats.onnx_early import put_back, set_aside_early
from mcu_deploy.formats.onnx_graph import to_graph
from mcu_deploy.formats.onnx_inference import refused_attributes
from mcu_deploy.formats.onnx_inputs import bind_shapes, bind_values
from mcu_deploy.formats.onnx_older import converted
from mcu_deploy.formats.onnx_operators import opset_of, set_aside_undefined, strangers, text_of
from mcu_deploy.formats.onnx_reasons import SIGNS_OF_DAMAGE, reason
from mcu_deploy.formats.onnx_sequences import take_inputs
from mcu_deploy.formats.onnx_shapes import forget_negative_sizes, forget_shapes, infer_and_fold
from mcu_deploy.formats.onnx_subgraphs import name_outputs, sort_nodes, subgraphs_below
from mcu_deploy.formats.qoperator import to_qdq
from mcu_deploy.processes import contained

SUFFIXES = (".onnx",)
BINDS_INPUTS = True

# Memory for reading a model: a file's content is there several times while onnx works on it.
_ROOM = 1 << 30
_COPIES = 16


def read(
    path: Path, shapes: Mapping[str, Sequence[int]], values: Mapping[str, Array] | None = None
) -> Imported:
    """Reads an ONNX file (opset 7 or later). values: of inputs that become constants. Raises
    ModelError for damaged or dynamic models."""
    with _sentences(path):
        return _read(path, path.read_bytes(), _Bound(shapes, values or {}))


def plain_form(
    path: Path, shapes: Mapping[str, Sequence[int]]
) -> tuple[bytes, tuple[AssumedShape, ...]]:
    """A model file with functions inlined, shapes bound and inferred, constants evaluated, as an
    ONNX file again; and the sizes that were assumed. Raises ModelError as `read` does."""
    with _sentences(path):
        raw = path.read_bytes()
        room = _ROOM + _COPIES * len(raw)
        try:
            plain, assumed, problems, refused = contained.call(
                _plain_form, path, raw, _Bound(shapes, {}), False, False, memory_bytes=room
            )
        except _Invalid as invalid:
            raise invalid.error from None
        if problems or refused:
            raise refusal(refused, problems)
        return plain, assumed


@contextmanager
def _sentences(path: Path) -> Iterator[None]:
    """What goes wrong with a file as a sentence."""
    try:
        yield
    except McuDeployError:
        raise
    except contained.DidNotReturn as ended:
        raise ModelError(
            f"{path} cannot be read: onnx {ended} on the way to its shapes. The model is damaged "
            "or too large for any microcontroller; check it with onnx.checker, and export it again."
        ) from None
    except SIGNS_OF_DAMAGE as error:
        # A file may break ONNX's rules in more ways than the checker knows.
        raise ModelError(
            f"{path} breaks the rules of ONNX ({type(error).__name__}: {reason(error)}). "
            "Check it with onnx.checker, and export it again."
        ) from error


class _Invalid(Exception):
    """What ONNX's checker says of a model: the error for users, and its sentence alone."""

    def __init__(self, error: ModelError, sentence: str) -> None:
        super().__init__(error, sentence)
        self.error, self.sentence = error, sentence


@dataclass(frozen=True)
class _Bound:
    """What is given of inputs: shapes, and values of those that become constants."""

    shapes: Mapping[str, Sequence[int]]
    values: Mapping[str, Array]


def _read(path: Path, raw: bytes, bound: _Bound) -> Imported:
    try:
        return _imported(path, raw, bound)
    except _Invalid as invalid:
        # What else stands against it is told with that, as far as such a model can be read.
        with suppress(McuDeployError, contained.DidNotReturn, *SIGNS_OF_DAMAGE):
            return _imported(path, raw, bound, invalid.sentence)
        raise invalid.error from None


def _imported(path: Path, raw: bytes, bound: _Bound, invalid: str = "") -> Imported:
    """invalid: what the checker says of the model, which is not asked again then."""
    room = _ROOM + _COPIES * len(raw)
    plain, assumed, problems, refused = contained.call(
        _plain_form, path, raw, bound, bool(invalid), True, memory_bytes=room
    )
    model = onnx.load_model_from_string(plain)
    name = text_of(model.graph.name or path.stem)
    read = to_graph(model.graph, name, opset_of(model.opset_import))
    problems = (*([invalid] if invalid else []), *problems)
    return checked(
        read.graph,
        read.parts,
        [*refused, *read.left_out],
        (*problems, *tensors(read.clauses), *read.sentences),
        assumed,
    )


def _plain_form(
    path: Path, raw: bytes, bound: _Bound, is_invalid: bool, counts: bool
) -> tuple[bytes, tuple[AssumedShape, ...], tuple[str, ...], list[Obstacle]]:
    """The model in the form that becomes a graph, as a file; what was assumed; what is wrong, as
    sentences, and with nodes. counts: what has as many elements as its values say gets a bound,
    and is none of ONNX's operators any more; without it, the file is for onnxruntime.
    """
    model = converted(_parse(path, raw), path)
    _load_external_data(model, path)
    sort_nodes(model.graph)
    nest_scans(model)
    set_aside_early(model)
    set_aside_undefined(model)
    if not is_invalid:
        _check(model, path)
    model = _inline_functions(model, path)
    name_outputs(model.graph)
    forget_negative_sizes(model.graph)
    take_inputs(model.graph, {*bound.shapes, *bound.values})
    bind_values(model.graph, bound.values)
    assumed, problems = bind_shapes(model, bound.shapes)
    to_qdq(model)
    strict = not problems and not is_invalid
    told = _infer(model, strict, counts)
    if told and strict:
        # onnxruntime passes by shapes that a file declares of computed tensors and that are others.
        bare = onnx.ModelProto()
        bare.CopyFrom(model)
        forget_shapes(bare.graph)
        if not _infer(bare, strict, counts):
            model, told = bare, ""
    if told:
        problems = (*problems, told)
        with suppress(ModelError):
            infer_and_fold(model, strict=False)
    if not counts:
        put_back(model)
    return model.SerializeToString(), assumed, problems, refused_attributes(model)


def _infer(model: onnx.ModelProto, strict: bool, counts: bool) -> str:
    """Gives the tensors shapes. counts: bounds too. Returns what contradicts itself, a sentence."""
    try:
        infer_and_fold(model, strict)
        while counts and bound_counts(model):
            infer_and_fold(model, strict)
    except ModelError as error:
        return str(error)
    return ""


def data_files(path: Path) -> tuple[Path, ...]:
    """The files beside a model that hold its external tensor data."""
    tensors = _tensors(_parse(path, path.read_bytes()).graph)
    return tuple(dict.fromkeys(path.parent / _location(t) for t in tensors if _location(t)))


def self_contained(path: Path) -> bytes:
    """The model file's bytes; external tensor data is taken into it."""
    raw = path.read_bytes()
    model = _parse(path, raw)
    if not any(t.data_location == TensorProto.EXTERNAL for t in _tensors(model.graph)):
        return raw
    _load_external_data(model, path)
    embedded: bytes = model.SerializeToString(deterministic=True)
    return embedded


def _parse(path: Path, raw: bytes) -> onnx.ModelProto:
    try:
        model = onnx.load_model_from_string(raw)
    except (DecodeError, RuntimeError, ValueError) as error:
        what = other_kind(raw, ".onnx") or (
            f"not a readable ONNX file ({reason(error)}). It is damaged or cut short; copy or "
            "export it again."
        )
        raise ModelError(f"{path} is {what}") from error
    if not model.graph.node and not model.graph.output:
        raise ModelError(
            f"{path} holds no network: it is empty or no ONNX file. Export the model again."
        )
    opset, newest = opset_of(model.opset_import), onnx.defs.onnx_opset_version()
    if opset > newest:
        raise ModelError(
            f"{path} uses ONNX opset {opset}, and the installed onnx package knows "
            f"operators up to opset {newest}. Update onnx, or export to an older opset."
        )
    return model


def _check(model: onnx.ModelProto, path: Path) -> None:
    """ONNX's own checks: required attributes, numbers of inputs, types, order of the nodes."""
    graphs = (model.graph, *subgraphs_below(model.graph))
    for graph in graphs:
        graph.name = graph.name or path.stem  # which onnxruntime does without
    try:
        with _types_filled_in(graphs):
            onnx.checker.check_model(model)
    except (onnx.checker.ValidationError, RuntimeError, ValueError, MemoryError) as error:
        sentence = f"{path} is no valid ONNX model: {reason(error)}. Export the model again."
        told = refusal(settled(strangers(model), known_operators()), [sentence])
        raise _Invalid(told, sentence) from error


@contextmanager
def _types_filled_in(graphs: Sequence[onnx.GraphProto]) -> Iterator[None]:
    """The checker wants a type for each output, and a shape in that and in each input's, which many
    exporters leave out."""
    outputs = [value for graph in graphs for value in graph.output]
    untyped = [value for value in outputs if not value.HasField("type")]
    for value in untyped:
        value.type.tensor_type.elem_type = TensorProto.FLOAT
    bare = [
        v.type.tensor_type
        for v in (*outputs, *(value for graph in graphs for value in graph.input))
        if v.type.HasField("tensor_type") and not v.type.tensor_type.HasField("shape")
    ]
    for tensor_type in bare:
        tensor_type.shape.SetInParent()
    yield
    for tensor_type in bare:
        tensor_type.ClearField("shape")
    for value in untyped:
        value.ClearField("type")


def _load_external_data(model: onnx.ModelProto, path: Path) -> None:
    folder = path.parent.resolve()
    for tensor in _tensors(model.graph):
        if tensor.data_location != TensorProto.EXTERNAL:
            continue
        location = _location(tensor)
        target = (folder / location).resolve()
        if not target.is_relative_to(folder):
            raise ModelError(
                f"{path} keeps the tensor {tensor.name!r} in {location!r}, outside of the model's "
                "own folder; such files are refused. Put the data beside the model."
            )
        if not is_file(target):
            raise ModelError(
                f"{path} keeps the tensor {tensor.name!r} in {location!r}, which does not exist. "
                "Copy the data file beside the model."
            )
        try:
            onnx.external_data_helper.load_external_data_for_tensor(tensor, str(folder))
        except (ValueError, OSError, onnx.checker.ValidationError) as error:
            raise ModelError(
                f"The external data {location!r} of tensor {tensor.name!r} cannot be read "
                f"({reason(error)}). Export the model again."
            ) from error
        tensor.data_location = TensorProto.DEFAULT
        del tensor.external_data[:]


def _location(tensor: onnx.TensorProto) -> str:
    """The file of a tensor's data, as the model names it; empty where that is in the model."""
    if tensor.data_location != TensorProto.EXTERNAL:
        return ""
    return next((e.value for e in tensor.external_data if e.key == "location"), "")


def _tensors(graph: onnx.GraphProto) -> list[onnx.TensorProto]:
    found = []
    for scope in (graph, *subgraphs_below(graph)):
        found += scope.initializer
        for node in scope.node:
            for attribute in node.attribute:
                found += [attribute.t] if attribute.HasField("t") else []
                found += attribute.tensors
    return found


def _inline_functions(model: onnx.ModelProto, path: Path) -> onnx.ModelProto:
    if not model.functions:
        return model
    versions = {text_of(o.domain): o.version for o in model.opset_import}
    for used in (used for function in model.functions for used in function.opset_import):
        # The inliner passes by functions of other versions. Only where all of their operators are
        # the same in both has the checker let them pass.
        used.version = versions.get(text_of(used.domain), used.version)
    try:
        inlined: onnx.ModelProto = onnx.inliner.inline_local_functions(model)
    except (onnx.checker.ValidationError, RuntimeError, ValueError) as error:
        raise ModelError(
            f"The local functions of {path} cannot be inlined: {reason(error)}. Export the model "
            "without them."
        ) from error
    return inlined

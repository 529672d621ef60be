"""Inputs for a network, read from .npz or .npy files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mcu_deploy.errors import RequestError, one_line
from mcu_deploy.files.arrays import Array, ArrayFile, Header
from mcu_deploy.files.given import is_file, why_no_file
from mcu_deploy.ir import EdgeId, Graph, TensorType

_MOST_SAMPLES = 1 << 20
_INPUT = re.compile(r"in[0-9]+")
_ANSWER = re.compile(r"labels|[A-Za-z]\w*[0-9]")


@dataclass(frozen=True)
class Samples:
    """inputs[s][i] is input i of sample s, in the model's shape; where they came from."""

    inputs: tuple[tuple[Array, ...], ...]
    origin: str

    def __len__(self) -> int:
        return len(self.inputs)

    def first(self, count: int | None) -> Samples:
        """The first `count` samples; all for None."""
        return self if count is None else Samples(self.inputs[:count], self.origin)


@dataclass(frozen=True)
class SampleFile:
    """A file of samples that fits a graph, of which nothing was read but headers.

    names: of the arrays for the inputs; types: of the inputs.
    """

    path: Path
    names: tuple[str, ...]
    types: tuple[TensorType, ...]
    count: int

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[tuple[Array, ...]]:
        """Reads the samples one by one: the inputs of each."""
        if not self.names:
            yield ()
            return
        arrays = ArrayFile(self.path)
        rows = (self._rows(arrays, *of) for of in zip(self.names, self.types, strict=True))
        yield from zip(*rows, strict=True)

    def _rows(self, arrays: ArrayFile, name: str, type_: TensorType) -> Iterator[Array]:
        whole = arrays.header(name).shape == type_.shape
        rows = iter([arrays.read(name)]) if whole else arrays.rows(name)
        rows = (row.reshape(type_.shape) for row in rows)
        if type_.dtype.in_files == type_.dtype.numpy:
            return rows
        return (np.ascontiguousarray(row).view(type_.dtype.numpy) for row in rows)


def load_samples(
    path: str | Path,
    graph: Graph,
    edges: Sequence[EdgeId] | None = None,
    types: Sequence[TensorType] | None = None,
) -> Samples:
    """Reads the samples of a file (`open_samples`) for a graph's inputs, or for these of its edges.

    Raises as that does.
    """
    return Samples(tuple(open_samples(path, graph, edges, types)), str(path))


def shape_in(path: str | Path, graph: Graph, edges: Sequence[EdgeId], number: int) -> Sequence[int]:
    """The shape of the array for one of these inputs, given by its place among them. Raises
    UsageError where the file has none."""
    file, arrays = _file(path)
    names = _names(file, arrays, [graph.edge_name(edge) for edge in edges])
    return arrays.header(names[number]).shape


def extent(shape: Sequence[int], rank: int, axis: int) -> int | None:
    """Along an axis of a tensor of so many axes, in the array of one sample, or of several behind
    one another; None of another array."""
    return shape[axis - rank] if len(shape) in (rank, rank + 1) else None


def _file(path: str | Path) -> tuple[Path, ArrayFile]:
    file = Path(path)
    if not is_file(file):
        raise RequestError(f"The samples' file {file} {why_no_file(file)}. Check the path.")
    return file, ArrayFile(file)


def open_samples(
    path: str | Path,
    graph: Graph,
    edges: Sequence[EdgeId] | None = None,
    types: Sequence[TensorType] | None = None,
) -> SampleFile:
    """The samples in a file for a graph's inputs, or for these of its edges; types: of these, where
    they are not the graph's.

    An .npz holds an array an input, named in0, in1, ... or by the inputs' names; an .npy the only
    input. The first axis counts samples, beside the input's own axes or in the place of a first
    one of size 1; an array of the input's own shape is one sample. What else an .npz may hold are
    answers to compare with: a word with a number (out0, ort0), a name of one of the graph's
    tensors, and `labels`. Raises UsageError with a sentence where the file does not fit
    the graph, as where it has an array that is none of these.
    """
    file, arrays = _file(path)
    wanted = graph.inputs if edges is None else edges
    of = [graph.type(edge) for edge in wanted] if types is None else types
    called = [graph.edge_name(edge) for edge in wanted]
    names = _names(file, arrays, called)
    _require_known(file, arrays.names or (), names, graph)
    # All headers before any array: a file that does not fit is refused before it is read.
    rows = zip(map(arrays.header, names), called, of, strict=True)
    counts = {_count(file, *row) for row in rows}
    if len(counts) > 1:
        raise RequestError(f"The inputs in {file} have different numbers of samples: {counts}.")
    count = counts.pop() if counts else 1
    if count > _MOST_SAMPLES:
        raise RequestError(f"{file} holds {count:,} samples; at most {_MOST_SAMPLES:,} can be run.")
    if count == 0:
        raise RequestError(f"{file} holds no sample: its arrays have a first axis of size 0.")
    return SampleFile(file, tuple(names), tuple(of), count)


def _names(file: Path, arrays: ArrayFile, inputs: Sequence[str]) -> Sequence[str]:
    """The names in a file of the arrays for these inputs."""
    if arrays.names is None:
        if len(inputs) != 1:
            raise RequestError(
                f"{file} holds one array, but the model has {len(inputs)} inputs. "
                "Give an .npz with in0, in1, ..."
            )
        return [""]
    found: list[str] = []
    for index, name in enumerate(inputs):
        keys = [k for k in dict.fromkeys((f"in{index}", name)) if k in arrays.names]
        if len(keys) > 1:
            raise RequestError(
                f"{file} has two arrays for input {index}, {keys[0]!r} and {keys[1]!r}; remove one."
            )
        if not keys:
            holds = one_line(", ".join(arrays.names[:30]), 300) or "nothing"
            raise RequestError(
                f"{file} has no array for input {index} ({name!r}); name it in{index}. "
                f"It holds {holds}."
            )
        found += keys
    return found


def _require_known(file: Path, names: Sequence[str], inputs: Sequence[str], graph: Graph) -> None:
    """Raises RequestError for arrays that are neither inputs nor answers."""
    tensors = set(graph.topology.edges.values())
    stray = [
        name
        for name in names
        if name not in inputs
        and (_INPUT.fullmatch(name) or not (name in tensors or _ANSWER.fullmatch(name)))
    ]
    if stray:
        shown = one_line(", ".join(stray[:30]), 300)
        raise RequestError(
            f"{file} has {shown}, and the model has no such input: it has "
            f"{one_line(', '.join(inputs), 300) or 'none'}. Remove what is too many; answers to "
            "compare with are called by a word and a number, as out0, and classes labels."
        )


def _count(file: Path, header: Header, called: str, type_: TensorType) -> int:
    """The number of samples in the array for an input. Raises UsageError where it does not fit."""
    own, first = type_.shape, header.shape[:1]
    fits = [own, first + own, *([first + own[1:]] if own[:1] == (1,) else [])]
    if header.shape not in fits:
        raise RequestError(
            f"{file} has an array of shape {list(header.shape)} for input {called!r}; it must be "
            f"[samples, {', '.join(map(str, type_.shape))}]."
        )
    wanted = type_.dtype.in_files
    if header.dtype != wanted:
        raise RequestError(
            f"{file} has {header.dtype} for input {called!r}, which is {type_.dtype.value}. "
            f"{_conversion(header.dtype, type_)}"
        )
    return 1 if header.shape == type_.shape else header.shape[0]


def _conversion(given: np.dtype[Any], type_: TensorType) -> str:
    """How to make an input's elements of those that are given, a sentence."""
    wanted, quantization = type_.dtype.in_files, type_.quantization
    if wanted != type_.dtype.numpy:
        return (
            "Convert the array; files hold this type's bits, as "
            f"array.view(np.{wanted}) gives them."
        )
    if given == np.uint8 and wanted == np.int8:  # in which 128 to 255 would wrap
        return (
            "Convert the array: of the bytes of an image most often as "
            "(array.astype(np.int16) - 128).astype(np.int8)."
        )
    if given.kind != "f" or quantization is None or not quantization.per_tensor:
        return f"Convert the array: array.astype(np.{wanted})."
    low, high = type_.dtype.range
    zero, scale = quantization.zero_point[0], quantization.scales[0]
    return (
        f"It is quantized, so convert the array: np.clip(np.round(array / {scale!s}) "
        f"{'-' if zero < 0 else '+'} {abs(zero)}, {low}, {high}).astype(np.{wanted})."
    )

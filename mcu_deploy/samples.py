"""Inputs for a network: read from .npz or .npy files, or made up from a seed."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mcu_deploy.errors import UsageError
from mcu_deploy.ir import EdgeId, Graph

Array = npt.NDArray[Any]


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


def load_samples(path: str | Path, graph: Graph, edges: Sequence[EdgeId] | None = None) -> Samples:
    """Reads samples for a graph's inputs, or for these of its edges.

    An .npz holds an array an input, named in0, in1, ... or by the inputs' names; an .npy the only
    input. The first axis counts samples, unless an array has the input's own shape. Raises
    UsageError with a sentence where the file does not fit the graph.
    """
    file = Path(path)
    if not file.is_file():
        raise UsageError(f"The samples' file {file} does not exist.")
    wanted = graph.inputs if edges is None else edges
    arrays = _read(file, graph, wanted)
    stacked = []
    for index, edge in enumerate(wanted):
        type_ = graph.type(edge)
        array = arrays[index]
        if array.shape == type_.shape:
            array = array[None]
        if array.shape[1:] != type_.shape:
            raise UsageError(
                f"{file} has an array of shape {list(array.shape)} for input "
                f"{graph.edge_name(edge)!r}; it must be [samples, "
                f"{', '.join(map(str, type_.shape))}]."
            )
        if array.dtype != type_.dtype.numpy:
            raise UsageError(
                f"{file} has {array.dtype} for input {graph.edge_name(edge)!r}, which is "
                f"{type_.dtype.value}. Convert the array; quantized inputs are given as integers."
            )
        stacked.append(array)
    counts = {len(a) for a in stacked}
    if len(counts) > 1:
        raise UsageError(f"The inputs in {file} have different numbers of samples: {counts}.")
    count = counts.pop() if counts else 1
    if count == 0:
        raise UsageError(f"{file} holds no sample: its arrays have a first axis of size 0.")
    return Samples(tuple(tuple(a[s] for a in stacked) for s in range(count)), str(file))


def _read(file: Path, graph: Graph, edges: Sequence[EdgeId]) -> Sequence[Array]:
    try:
        loaded = np.load(file, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            if len(edges) != 1:
                raise UsageError(
                    f"{file} holds one array, but the model has {len(edges)} inputs. "
                    "Give an .npz with in0, in1, ..."
                )
            return [loaded]
        with loaded:
            found = []
            for index, edge in enumerate(edges):
                name = graph.edge_name(edge)
                key = next((k for k in (f"in{index}", name) if k in loaded.files), None)
                if key is None:
                    raise UsageError(
                        f"{file} has no array for input {index} ({name!r}); name it in{index}. "
                        f"It holds {', '.join(loaded.files) or 'nothing'}."
                    )
                found.append(loaded[key])
            return found
    except (ValueError, OSError, zipfile.BadZipFile, EOFError) as error:
        raise UsageError(f"{file} is no readable .npz or .npy file ({error}).") from error


def random_samples(
    graph: Graph, count: int = 4, seed: int = 0, edges: Sequence[EdgeId] | None = None
) -> Samples:
    """Made-up samples for a graph's inputs, or for these of its edges: integers over their
    whole range, floats from a standard normal.
    """
    generator = np.random.default_rng(seed)

    def one(edge: int) -> Array:
        type_ = graph.type(edge)
        if type_.dtype.is_float:
            return generator.standard_normal(type_.shape).astype(type_.dtype.numpy)
        if not type_.dtype.is_integer:
            return generator.integers(0, 2, type_.shape).astype(type_.dtype.numpy)
        low, high = type_.dtype.range if type_.dtype.bytes == 1 else (0, 100)
        return generator.integers(low, high, type_.shape, dtype=type_.dtype.numpy, endpoint=True)

    wanted = graph.inputs if edges is None else edges
    samples = tuple(tuple(one(e) for e in wanted) for _ in range(count))
    return Samples(samples, f"{count} made-up samples (seed {seed})")

"""What lies in a float model's tensors: ranges, means, histograms, over the samples.

Each sample is run twice by onnxruntime, once for the ends and once for what lies between, and
nothing of it is kept but these. So memory does not grow with their number.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import onnx

from mcu_deploy.agreement import reference
from mcu_deploy.agreement.reference import onnxruntime_session
from mcu_deploy.errors import RequestError
from mcu_deploy.files.arrays import Array
from mcu_deploy.files.samples import SampleFile
from mcu_deploy.formats.onnx_subgraphs import put
from mcu_deploy.quantizing.net import Net

T = TypeVar("T")

BINS = 2048

_ROOM = 2 << 30
_SECONDS = 600
_SECONDS_A_SAMPLE = 10


@dataclass(frozen=True)
class Summary:
    """Of a tensor over samples, in its own unit.

    low, high: the least and the largest element. lows, highs, means: those of each channel, which
    is the second axis (one channel for tensors of fewer axes). counts: how many elements lie in
    each of BINS equal parts of [low, high]. samples: how many there were; at_low, at_high: in how
    many of them the ends are reached.
    """

    low: float
    high: float
    lows: Array
    highs: Array
    means: Array
    counts: Array
    samples: int = 1
    at_low: int = 1
    at_high: int = 1

    @property
    def is_constant(self) -> bool:
        return self.low == self.high


@dataclass(frozen=True)
class SampleShare:
    """Some of the samples of a file, by their numbers."""

    file: SampleFile
    numbers: frozenset[int]

    def __len__(self) -> int:
        return len(self.numbers)

    def __iter__(self) -> Iterator[tuple[Array, ...]]:
        last = max(self.numbers, default=-1)
        for number, inputs in enumerate(self.file):
            if number in self.numbers:
                yield inputs
            if number == last:
                return


def observe(net: Net, part: SampleShare) -> dict[str, Summary]:
    """Of all tensors of float32 that nodes write, and of such inputs.

    Raises RequestError where a tensor becomes infinite or NaN, ModelError where onnxruntime refuses
    the model.
    """
    return apart(_observe, net.model(), part, float_tensors(net), samples=len(part))


def float_tensors(net: Net) -> list[str]:
    """The activations: inputs and what nodes write, of float32."""
    written = [name for node in net.nodes for name in node.output if name]
    return [name for name in (*net.inputs, *written) if net.is_float(name)]


def apart(function: Callable[..., T], *arguments: object, samples: int) -> T:
    """What a function that runs onnxruntime returns, in a process of its own."""
    return reference.apart(
        function, *arguments, memory_bytes=_ROOM,
        cpu_seconds=_SECONDS + _SECONDS_A_SAMPLE * samples,
        failed=lambda why: RequestError(
            f"onnxruntime, which runs the model on the samples, {why}. Check that it runs there."
        ),
    )  # fmt: skip


def with_outputs(model: onnx.ModelProto, names: Sequence[str]) -> bytes:
    """The model with these tensors as its outputs, and no others."""
    made = copy.deepcopy(model)
    put(made.graph.output, (onnx.ValueInfoProto(name=name) for name in names))
    return bytes(made.SerializeToString())


def _observe(model: onnx.ModelProto, part: SampleShare, names: Sequence[str]) -> dict[str, Summary]:
    inputs = [v.name for v in model.graph.input]
    written = [name for name in names if name not in inputs]
    session = onnxruntime_session(with_outputs(model, written))

    def tensors() -> Iterator[tuple[int, Mapping[str, Array]]]:
        for number, given in zip(sorted(part.numbers), part, strict=True):
            feed = dict(zip(inputs, given, strict=True))
            found = dict(zip(written, session.run(None, feed), strict=True)) if written else {}
            yield number, {name: (found if name in found else feed)[name] for name in names}

    ends: dict[str, _Ends] = {name: _Ends() for name in names}
    for number, values in tensors():
        for name, value in values.items():
            ends[name].take(value, name, number)
    counts = {name: np.zeros(BINS, np.int64) for name in names}
    for _, values in tensors():
        for name, value in values.items():
            counts[name] += ends[name].binned(value)
    return {name: ends[name].summary(counts[name]) for name in names}


class _Ends:
    """The ends and sums of a tensor's channels, sample by sample."""

    def __init__(self) -> None:
        self.lows = self.highs = self.sums = np.zeros(0)
        self.elements = 0
        self._least: list[float] = []
        self._most: list[float] = []

    def take(self, value: Array, name: str, number: int) -> None:
        axes = tuple(a for a in range(value.ndim) if a != 1) if value.ndim > 1 else None
        low, high = np.atleast_1d(value.min(axis=axes)), np.atleast_1d(value.max(axis=axes))
        if not (np.isfinite(low).all() and np.isfinite(high).all()):
            raise RequestError(
                f"In sample {number} the float model's tensor {name[:80]!r} holds infinite values "
                "or NaN. Leave that sample out, or mend the model."
            )
        self._least.append(float(low.min()))
        self._most.append(float(high.max()))
        sums = np.atleast_1d(value.sum(axis=axes, dtype=np.float64))
        if self.elements:
            low, high = np.minimum(low, self.lows), np.maximum(high, self.highs)
            sums = sums + self.sums
        self.lows, self.highs, self.sums = low, high, sums
        self.elements += value.size // len(low)

    def binned(self, value: Array) -> Array:
        low, high = float(self.lows.min()), float(self.highs.max())
        if low == high:
            found = np.zeros(BINS, np.int64)
            found[0] = value.size
            return found
        places = (value.reshape(-1).astype(np.float64) - low) * (BINS / (high - low))
        return np.bincount(np.minimum(places.astype(np.int64), BINS - 1), minlength=BINS)

    def summary(self, counts: Array) -> Summary:
        means = self.sums / max(1, self.elements)
        low, high = float(self.lows.min()), float(self.highs.max())
        return Summary(
            low, high, self.lows, self.highs, means, counts,
            len(self._least), self._least.count(low), self._most.count(high),
        )  # fmt: skip

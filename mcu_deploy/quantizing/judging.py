"""How far a quantized model is from the float model: SQNR and cosine of each output, top-1.

Outputs are compared before a Softmax that ends the model: behind it small numbers hide what is lost
of the large ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import onnx

from mcu_deploy import operators
from mcu_deploy.agreement.reference import onnxruntime_session
from mcu_deploy.files.arrays import Array
from mcu_deploy.quantizing.statistics import SampleShare, apart, with_outputs

ENDS = ("Softmax", "LogSoftmax")
MOST_DB = 120.0  # what equal numbers count as


@dataclass(frozen=True)
class Judged:
    """sqnr: in dB, of each output, the mean over the samples; cosine: likewise. top1: the share of
    samples whose class is right, None where no classes are known."""

    sqnr: tuple[float, ...]
    cosine: tuple[float, ...]
    top1: float | None = None

    @property
    def mean_sqnr(self) -> float:
        return float(np.mean(self.sqnr)) if self.sqnr else MOST_DB


Results = Sequence[Sequence[Array]]


def judged_names(model: onnx.ModelProto) -> list[str]:
    """The tensors by which the outputs of float32 are judged: what a Softmax at the end reads,
    else the output itself."""
    producers = {name: node for node in model.graph.node for name in node.output}
    found = []
    for output in model.graph.output:
        if output.type.tensor_type.elem_type == onnx.TensorProto.FLOAT:
            found.append(_before_softmax(producers, output.name))
    return found


def _before_softmax(producers: dict[str, onnx.NodeProto], output: str) -> str:
    name = output
    while (node := producers.get(name)) is not None and not node.domain:
        if node.op_type in ENDS:
            return str(node.input[0])
        operator = operators.find("", node.op_type)
        if operator is None or not (operator.view or operator.converts):
            break
        name = node.input[0]
    return output


def results(model: onnx.ModelProto, names: Sequence[str], part: SampleShare) -> list[list[Array]]:
    """What onnxruntime computes in tensors of a model: [sample][tensor]."""
    return apart(_run, model, list(names), part, samples=len(part))


def _run(model: onnx.ModelProto, names: list[str], part: SampleShare) -> list[list[Array]]:
    session = onnxruntime_session(with_outputs(model, list(dict.fromkeys(names))))
    inputs = [v.name for v in model.graph.input]
    return [
        [np.asarray(v) for v in session.run(names, dict(zip(inputs, given, strict=True)))]
        for given in part
    ]


def compare(found: Results, wanted: Results, labels: Array | None = None) -> Judged:
    """found, wanted: [sample][output]. labels: the class of each sample, of the first output."""
    count = len(wanted[0]) if wanted else 0
    pairs = [
        [(_flat(a[k]), _flat(b[k])) for a, b in zip(found, wanted, strict=True)]
        for k in range(count)
    ]
    return Judged(
        tuple(float(np.mean([sqnr(*pair) for pair in of])) for of in pairs),
        tuple(float(np.mean([cosine(*pair) for pair in of])) for of in pairs),
        None if labels is None else top1(found, labels),
    )


def by_sample(found: Results, wanted: Results) -> Array:
    """[samples]: the SQNR in dB, the mean over the outputs."""
    return np.array([
        np.mean([sqnr(_flat(a), _flat(b)) for a, b in zip(ours, theirs, strict=True)] or [MOST_DB])
        for ours, theirs in zip(found, wanted, strict=True)
    ])  # fmt: skip


def _flat(value: Array) -> Array:
    return np.asarray(value, np.float64).reshape(-1)


def sqnr(found: Array, wanted: Array) -> float:
    """The signal's energy over the error's, in dB, at most MOST_DB either way."""
    noise, signal = float(((found - wanted) ** 2).sum()), float((wanted**2).sum())
    if noise == 0:
        return MOST_DB
    if signal == 0:
        return -MOST_DB
    return float(np.clip(10 * np.log10(signal / noise), -MOST_DB, MOST_DB))


def cosine(found: Array, wanted: Array) -> float:
    norm = float(np.linalg.norm(found) * np.linalg.norm(wanted))
    return float(found @ wanted) / norm if norm else float(np.array_equal(found, wanted))


def top1(found: Results, labels: Array) -> float:
    """The share of samples whose largest score is that of their class."""
    classes = [int(np.argmax(outputs[0])) for outputs in found]
    return float(np.mean(np.array(classes) == np.asarray(labels).reshape(-1)))

"""What goes into recurrent layers, as second moments, and weights that are rounded by them.

A row of W beside its row of R multiplies one vector, the step's input and the state before it.
Rounded one by one, errors of weights whose factors go together add up. Here the rest of the row
makes up for each (OPTQ: Frantar et al., ICLR 2023), which costs the device nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import onnx

from mcu_deploy.agreement.reference import onnxruntime_session
from mcu_deploy.files.arrays import Array
from mcu_deploy.operators import recurrent
from mcu_deploy.operators.recurrent import GATES
from mcu_deploy.quantizing.net import Net, attributes_of
from mcu_deploy.quantizing.statistics import SampleShare, apart, with_outputs

_DAMPING = 0.05  # of the mean square of what comes in
_LARGEST = 127


@dataclass(frozen=True)
class _Layer:
    """A recurrent node, and the tensors that are read of it; initial: "" for zeros."""

    name: str
    x: str
    y: str
    initial: str
    backwards: tuple[bool, ...]


def second_moments(net: Net, part: SampleShare) -> dict[str, Array]:
    """Of the recurrent layers by their names, [directions, inputs + hidden, inputs + hidden]: the
    mean product of any two elements of the input and the state before it, with the damping.

    Layers whose sequences have lengths of their own are left out.
    """
    made = net.copy()
    layers = [
        _layer(made, node) for node in made.nodes if node.op_type in GATES and _is_plain(node)
    ]
    if not layers:
        return {}
    return apart(_moments, made.model(), layers, part, samples=len(part))


def _is_plain(node: onnx.NodeProto) -> bool:
    return len(node.input) <= recurrent.LENGTHS or not node.input[recurrent.LENGTHS]


def _layer(net: Net, node: onnx.NodeProto) -> _Layer:
    given = attributes_of(node)
    if not node.output[0]:  # Y, where only the last state is read
        node.output[0] = net.fresh(node.name)
    direction = bytes(given.get("direction", b"forward")).decode()
    backwards = {"forward": (False,), "reverse": (True,)}.get(direction, (False, True))
    more = node.input[recurrent.INITIAL_H] if len(node.input) > recurrent.INITIAL_H else ""
    return _Layer(node.name, node.input[recurrent.X], node.output[0], more, backwards)


def _moments(model: onnx.ModelProto, layers: list[_Layer], part: SampleShare) -> dict[str, Array]:
    inputs = [v.name for v in model.graph.input]
    there = {t.name: onnx.numpy_helper.to_array(t) for t in model.graph.initializer}
    read = {name for each in layers for name in (each.x, each.y, each.initial) if name}
    written = sorted(read - set(inputs) - set(there))
    session = onnxruntime_session(with_outputs(model, written))
    sums: dict[str, list[Array]] = {}
    counts: dict[str, int] = {}
    for given in part:
        feed = dict(zip(inputs, given, strict=True))
        values = there | feed | dict(zip(written, session.run(None, feed), strict=True))
        for layer in layers:
            found = list(_vectors(layer, values))
            sums[layer.name] = [
                old + v.T @ v
                for old, v in zip(sums.get(layer.name, [0.0] * len(found)), found, strict=True)
            ]
            counts[layer.name] = counts.get(layer.name, 0) + len(found[0])
    return {
        name: np.stack([total / counts[name] + _damping(total / counts[name]) for total in of])
        for name, of in sums.items()
    }


def _vectors(layer: _Layer, values: Mapping[str, Array]) -> Iterator[Array]:
    """[steps * batch, inputs + hidden] of each direction: what the weights multiply."""
    x, y = values[layer.x], values[layer.y]
    before = values[layer.initial] if layer.initial else None
    for direction, is_backwards in enumerate(layer.backwards):
        states = y[:, direction]
        first = np.zeros_like(states[:1]) if before is None else before[None, direction]
        shifted = [states[1:], first] if is_backwards else [first, states[:-1]]
        both = np.concatenate([x, np.concatenate(shifted)], axis=2).astype(np.float64)
        yield both.reshape(-1, both.shape[2])


def _damping(moments: Array) -> Array:
    """What is added for directions that no sample has, or few of them."""
    return np.asarray(np.eye(len(moments)) * np.diag(moments).mean() * _DAMPING)


def rounded(
    weights: tuple[Array, Array], scales: tuple[Array, Array], moments: Array, layer: onnx.NodeProto
) -> tuple[Array, Array]:
    """W and R of int8, by the scales of their rows (`second_moments` of the layer)."""
    inputs = weights[0].shape[2]
    both = np.concatenate(weights, axis=2).astype(np.float64)
    wide = [
        np.broadcast_to(scale.astype(np.float64)[:, None], each.shape[1:])
        for scale, each in zip(scales, weights, strict=True)
    ]
    steps = np.stack([
        _rounded_rows(rows, np.concatenate(wide, axis=1), found, _own_rows(layer, rows), inputs)
        for rows, found in zip(both, moments, strict=True)
    ])  # fmt: skip
    return np.ascontiguousarray(steps[:, :, :inputs]), np.ascontiguousarray(steps[:, :, inputs:])


def _own_rows(layer: onnx.NodeProto, rows: Array) -> int:
    """From which row on W's and R's products are not simply added: a GRU's new state, whose reset
    gate is between them."""
    return len(rows) * 2 // GATES["GRU"] if layer.op_type == "GRU" else len(rows)


def _rounded_rows(rows: Array, scale: Array, moments: Array, own: int, inputs: int) -> Array:
    apart_ = moments.copy()
    apart_[:inputs, inputs:] = apart_[inputs:, :inputs] = 0
    halves = (slice(0, own), moments), (slice(own, None), apart_)
    return np.concatenate([_compensated(rows[of], scale[of], by) for of, by in halves])


def _compensated(rows: Array, scale: Array, moments: Array) -> Array:
    """Integers, column by column from that with the most in it; each error goes to what follows."""
    if not np.diag(moments).all():
        return np.clip(np.rint(rows / scale), -_LARGEST, _LARGEST).astype(np.int8)
    order = np.argsort(-np.diag(moments), kind="stable")
    upper = np.linalg.cholesky(np.linalg.inv(moments[np.ix_(order, order)])).T
    left, steps = rows[:, order], np.empty(rows.shape, np.int8)
    for place, column in enumerate(order):
        by = scale[:, column]
        found = np.clip(np.rint(left[:, place] / by), -_LARGEST, _LARGEST)
        error = (left[:, place] - found * by) / upper[place, place]
        left[:, place:] -= np.outer(error, upper[place, place:])
        steps[:, column] = found
    return steps

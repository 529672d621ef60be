"""Where the tensors of LSTM, GRU and RNN lie, and how closely outputs may follow inputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.interface import InPlace, Layer
from mcu_deploy.backends.kit import overlap
from mcu_deploy.operators import recurrent
from mcu_deploy.operators.recurrent import Recurrence


@dataclass(frozen=True)
class Steps:
    """From one element to the next, in elements: X and Y in time, all by sequence and direction."""

    x_time: int
    x_sequence: int
    y_time: int
    y_sequence: int
    y_direction: int
    state_sequence: int
    state_direction: int

    @classmethod
    def of(cls, r: Recurrence) -> Steps:
        ways, hidden = r.directions, r.hidden
        if r.batch_first:
            time = ways * hidden
            return cls(r.inputs, r.steps * r.inputs, time, r.steps * time, hidden, time, hidden)
        row = r.batch * hidden
        return cls(r.batch * r.inputs, r.inputs, ways * row, hidden, row, hidden, row)


def in_place(layer: Layer, r: Recurrence, outputs: Mapping[str, int]) -> tuple[InPlace, ...]:
    """The facts of a kernel that computes one sequence after the other, step by step.

    A state is read before it is written, element by element. A step of Y is written when that of X
    has been read, but where the lengths vary Y is cleared at first.
    """
    steps = Steps.of(r)
    starts = _nested(r.directions, steps.state_direction, r.batch, steps.state_sequence)
    elements = overlap.nested(starts, np.arange(r.hidden))
    found: list[InPlace] = []
    for name, index in (("y_h", recurrent.INITIAL_H), ("y_c", recurrent.INITIAL_C)):
        if name in outputs and layer.optional(index) is not None:
            demand = overlap.distance(4 * (elements + 1), 4 * elements)
            found += overlap.fact(layer, index, demand, outputs[name])
    if "y" in outputs and not r.lengths_vary:
        read, written = _times(r, steps)
        demand = overlap.distance(4 * (written + r.hidden), 4 * read)
        found += overlap.fact(layer, recurrent.X, demand, outputs["y"])
    return tuple(found)


def _nested(outer: int, outer_step: int, inner: int, inner_step: int) -> Array:
    return overlap.strided((outer, inner), (outer_step, inner_step))


def _times(r: Recurrence, steps: Steps) -> tuple[Array, Array]:
    """The first elements of X and of Y of all steps, in the order of their computation."""
    read, written = [], []
    for direction, backwards in enumerate(r.backwards):
        times = np.arange(r.steps)[:: -1 if backwards else 1]
        sequences = np.arange(r.batch)
        read.append(overlap.nested(sequences * steps.x_sequence, times * steps.x_time))
        start = np.array([direction * steps.y_direction])
        written.append(overlap.nested(start, sequences * steps.y_sequence, times * steps.y_time))
    return np.concatenate(read), np.concatenate(written)

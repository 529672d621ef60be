"""LSTM, GRU and RNN (ONNX opsets 7 to 22) in float32, with constant weights or computed ones.

X is [sequence, batch, input]; Y is [sequence, directions, batch, hidden], Y_h and Y_c are
[directions, batch, hidden]; with `layout` 1 the batch stands first. Where ONNX is silent,
onnxruntime's behaviour holds: beyond the length of a sequence Y is 0, and a sequence of length 0
has the states 0, whatever its initial ones are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.errors import ModelError
from mcu_deploy.operators.base import Call, Operator
from mcu_deploy.operators.recurrent_activations import Activation, NotComputed, activations

GATES: Mapping[str, int] = {"LSTM": 4, "GRU": 3, "RNN": 1}

# The inputs by their place. The GRU and the RNN end with the initial hidden state.
X, W, R, BIAS, LENGTHS, INITIAL_H, INITIAL_C, PEEPHOLES = range(8)

_DIRECTIONS = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}
_DEFAULTS = {"LSTM": ("Sigmoid", "Tanh", "Tanh"), "GRU": ("Sigmoid", "Tanh"), "RNN": ("Tanh",)}


@dataclass(frozen=True)
class Recurrence:
    """A recurrent node: its sizes, and what it does in each direction.

    backwards: for each direction, whether it runs from the end to the beginning; functions: its
    activations (f, g, h); lengths: of each sequence of the batch, None where they are computed at
    run time. batch_first is `layout` 1.
    cell_clip: the bound of the cell state, which is TFLite's and not ONNX's.
    """

    op: str
    steps: int
    batch: int
    inputs: int
    hidden: int
    batch_first: bool
    backwards: tuple[bool, ...]
    functions: tuple[tuple[Activation, ...], ...]
    lengths: tuple[int, ...] | None
    clip: float | None
    linear_before_reset: bool
    input_forget: bool
    cell_clip: float | None

    @property
    def directions(self) -> int:
        return len(self.backwards)

    @property
    def rows(self) -> int:
        """Rows of W and R in one direction: one for each gate of each hidden unit."""
        return GATES[self.op] * self.hidden

    @property
    def lengths_vary(self) -> bool:
        """Whether a sequence may end before the last step."""
        return self.lengths is None or any(length != self.steps for length in self.lengths)

    def state_shape(self) -> tuple[int, ...]:
        """The shape of initial_h, initial_c, Y_h and Y_c."""
        if self.batch_first:
            return (self.batch, self.directions, self.hidden)
        return (self.directions, self.batch, self.hidden)


def problem(call: Call) -> str | None:
    """What keeps a recurrent node from being computed, as a clause; None where nothing does."""
    try:
        _checked(call)
    except NotComputed as clause:
        return str(clause)
    return None


def recurrence(call: Call) -> Recurrence:
    """The node that a call stands for. Raises ModelError for one that cannot be computed."""
    try:
        return _checked(call)
    except NotComputed as clause:
        raise ModelError(
            f"The model has a {call.op} that cannot be computed: {clause}. Export it again."
        ) from None


def _checked(call: Call) -> Recurrence:
    """As `recurrence`. Raises NotComputed."""
    direction = call.attributes.get("direction", "forward")
    if direction not in _DIRECTIONS:
        raise NotComputed(f"it has no direction {direction!r}")
    if len(call.types) <= R or any(type_ is None for type_ in call.types[: R + 1]):
        raise NotComputed("its input or its weights are missing")
    if call.type(X).rank != 3 or call.type(R).rank != 3:
        raise NotComputed("its input or its weights do not have three axes")
    r = _recurrence(call, _DIRECTIONS[direction])
    _check_sizes(call, r)
    return r


def _check_sizes(call: Call, r: Recurrence) -> None:
    if not all((r.steps, r.batch, r.inputs, r.hidden)):
        raise NotComputed("one of its sizes is 0")
    wanted = {
        W: (r.directions, r.rows, r.inputs),
        R: (r.directions, r.rows, r.hidden),
        BIAS: (r.directions, 2 * r.rows),
        LENGTHS: (r.batch,),
        INITIAL_H: r.state_shape(),
        INITIAL_C: r.state_shape(),
        PEEPHOLES: (r.directions, 3 * r.hidden),
    }
    for index, shape in wanted.items():
        type_ = call.types[index] if index < len(call.types) else None
        if type_ is not None and type_.shape != shape:
            raise NotComputed(
                f"its input {index} has the shape {list(type_.shape)} instead of {list(shape)}"
            )
    if not all(0 <= length <= r.steps for length in r.lengths or ()):
        raise NotComputed(f"a sequence is longer than {r.steps} steps, or shorter than none")


def _recurrence(call: Call, backwards: tuple[bool, ...]) -> Recurrence:
    batch_first = bool(call.attributes.get("layout", 0))
    first, second, inputs = call.type(X).shape
    steps, batch = (second, first) if batch_first else (first, second)
    clip, cell_clip = call.attributes.get("clip"), call.attributes.get("cell_clip")
    return Recurrence(
        call.op, steps, batch, inputs, call.type(R).shape[-1], batch_first, backwards,
        _activations(call, len(backwards)),
        _lengths(call, steps, batch),
        None if clip is None else float(clip),
        bool(call.attributes.get("linear_before_reset", 0)),
        bool(call.attributes.get("input_forget", 0)),
        None if cell_clip is None else float(cell_clip),
    )  # fmt: skip


def _activations(call: Call, directions: int) -> tuple[tuple[Activation, ...], ...]:
    """The activations of each direction. Raises NotComputed for a list that says nothing."""
    each = _DEFAULTS[call.op]
    names = tuple(call.attributes.get("activations", ())) or each * directions
    found = activations(
        names,
        call.attributes.get("activation_alpha", ()),
        call.attributes.get("activation_beta", ()),
    )
    if len(found) != directions * len(each):
        raise NotComputed(f"it names {len(found)} activations instead of {directions * len(each)}")
    return tuple(tuple(found[i * len(each) : (i + 1) * len(each)]) for i in range(directions))


def _lengths(call: Call, steps: int, batch: int) -> tuple[int, ...] | None:
    """Of each sequence; None where they are not known yet."""
    if len(call.types) <= LENGTHS or call.types[LENGTHS] is None:
        return (steps,) * batch
    lengths = call.optional(LENGTHS)
    return None if lengths is None else tuple(int(v) for v in lengths.reshape(-1))


@dataclass(frozen=True)
class _Direction:
    """The parameters of one direction, in float64: the oracle rounds once a step."""

    r: Recurrence
    functions: tuple[Activation, ...]
    w: Array
    r_weights: Array
    w_bias: Array
    r_bias: Array
    peepholes: Array

    def bounded(self, gate: Array) -> Array:
        """The sum of a gate, clipped where the node says so."""
        return gate if self.r.clip is None else np.clip(gate, -self.r.clip, self.r.clip)


_State = tuple[Array, Array]
_Step = Callable[[_Direction, Array, Array, Array], _State]


def _lstm(d: _Direction, x: Array, h: Array, c: Array) -> _State:
    """Gates in ONNX's order: input, output, forget, cell; peepholes: input, output, forget."""
    f, g, last = d.functions
    sums = d.w @ x + d.r_weights @ h + d.w_bias + d.r_bias
    i, o, forget, cell = np.split(sums, 4)
    p_i, p_o, p_f = np.split(d.peepholes, 3)
    i = f(d.bounded(i + p_i * c))
    forget = 1.0 - i if d.r.input_forget else f(d.bounded(forget + p_f * c))
    c = forget * c + i * g(d.bounded(cell))
    if d.r.cell_clip is not None:
        c = np.clip(c, -d.r.cell_clip, d.r.cell_clip)
    o = f(d.bounded(o + p_o * c))
    return o * last(c), c


def _gru(d: _Direction, x: Array, h: Array, c: Array) -> _State:
    """Gates in ONNX's order: update, reset, hidden."""
    f, g = d.functions
    hidden = d.r.hidden
    from_x = d.w @ x + d.w_bias
    gates = f(d.bounded(from_x[: 2 * hidden] + (d.r_weights @ h + d.r_bias)[: 2 * hidden]))
    update, reset = np.split(gates, 2)
    rows, bias = d.r_weights[2 * hidden :], d.r_bias[2 * hidden :]
    linear = d.r.linear_before_reset
    from_h = reset * (rows @ h + bias) if linear else rows @ (reset * h) + bias
    candidate = g(d.bounded(from_x[2 * hidden :] + from_h))
    return (1.0 - update) * candidate + update * h, c


def _rnn(d: _Direction, x: Array, h: Array, c: Array) -> _State:
    (f,) = d.functions
    return f(d.bounded(d.w @ x + d.r_weights @ h + d.w_bias + d.r_bias)), c


_STEPS: Mapping[str, _Step] = {"LSTM": _lstm, "GRU": _gru, "RNN": _rnn}


def _directions(call: Call, r: Recurrence) -> list[_Direction]:
    def wide(index: int, shape: tuple[int, ...]) -> Array:
        value = call.optional(index)
        return np.zeros(shape) if value is None else value.astype(np.float64)

    bias = wide(BIAS, (r.directions, 2 * r.rows))
    peepholes = wide(PEEPHOLES, (r.directions, 3 * r.hidden))
    w_biases, r_biases = np.split(bias, 2, axis=1)
    w, r_weights = wide(W, ()), wide(R, ())
    return [
        _Direction(r, functions, w[d], r_weights[d], w_biases[d], r_biases[d], peepholes[d])
        for d, functions in enumerate(r.functions)
    ]


def evaluate(call: Call) -> list[Array]:
    """The outputs that are there, in ONNX's order."""
    r = recurrence(call)
    x = np.swapaxes(call.value(X), 0, 1) if r.batch_first else call.value(X)
    y = np.zeros((r.steps, r.directions, r.batch, r.hidden), np.float32)
    y_h, y_c = (np.zeros((r.directions, r.batch, r.hidden), np.float32) for _ in range(2))
    h, c = (_initial(call, r, index) for index in (INITIAL_H, INITIAL_C))
    step = _STEPS[r.op]
    for d, direction in enumerate(_directions(call, r)):
        assert r.lengths is not None
        for b, length in enumerate(r.lengths):
            state = h[d, b], c[d, b]
            for t in range(length)[:: -1 if r.backwards[d] else 1]:
                found = step(direction, x[t, b].astype(np.float64), *state)
                # What the device keeps between two steps is float32.
                state = found[0].astype(np.float32), found[1].astype(np.float32)
                y[t, d, b], y_h[d, b], y_c[d, b] = state[0], *state
    if r.batch_first:
        y = y.transpose(2, 0, 1, 3)
        y_h, y_c = y_h.swapaxes(0, 1), y_c.swapaxes(0, 1)
    # Absent outputs have no type. Y alone has four axes, and Y_c is not there without Y_h.
    if call.results[0].rank == 4:
        return [y, y_h, y_c][: len(call.results)]
    return [y_h, y_c][: len(call.results)]


def _initial(call: Call, r: Recurrence, index: int) -> Array:
    """An initial state, [directions, batch, hidden]."""
    value = call.optional(index)
    if value is None:
        return np.zeros((r.directions, r.batch, r.hidden), np.float32)
    return value.swapaxes(0, 1) if r.batch_first else value


def macs(call: Call) -> int:
    """Each row of W and R once for every step of every sequence, at its full length."""
    rows = call.type(W).elements + call.type(R).elements
    return math.prod(call.type(X).shape[:2]) * rows


OPERATORS = tuple(Operator(name, evaluate, macs) for name in GATES)

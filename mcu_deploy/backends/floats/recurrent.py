"""LSTM, GRU and RNN in float32, sequence by sequence, step by step: the C around the products of
the weights, which are a backend's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.floats import recurrent_memory
from mcu_deploy.backends.floats.recurrent_memory import Steps
from mcu_deploy.backends.interface import YES, CFunction, Constant, InPlace, Layer, Support, no
from mcu_deploy.backends.kit import reals
from mcu_deploy.backends.kit.arguments import Prototype
from mcu_deploy.backends.kit.c_files import function_of
from mcu_deploy.backends.kit.kit import Kit
from mcu_deploy.backends.kit.literals import float_literal
from mcu_deploy.backends.kit.loops import counter, plus, times
from mcu_deploy.backends.kit.stems import stem
from mcu_deploy.ir import DType
from mcu_deploy.operators import recurrent
from mcu_deploy.operators.recurrent import Recurrence
from mcu_deploy.operators.recurrent_activations import PARAMETERS, Activation

# For its templates.
_KIT = Kit("floats", Path(__file__).parent)

_CLIP = function_of(
    "float recurrent_clip(float v, float bound) {\n"
    "    v = v < -bound ? -bound : v;\n    return v > bound ? bound : v;\n}"
)

# Those that no operator has.
_OWN = {"Affine": "alpha * v + beta", "ScaledTanh": "alpha * tanhf(beta * v)"}


def activation(name: str) -> tuple[CFunction, ...]:
    """The helper `$recurrent_<name>(v, alpha, beta)`, with the parameters that it takes, behind
    those that it calls."""
    parameters = ("v", "alpha", "beta")[: 1 + len(PARAMETERS[name])]
    given = ", ".join(f"float {p}" for p in parameters)
    result = _OWN[name] if name in _OWN else reals.of_value(name)
    result, called = reals.own(result)
    function = function_of(f"float recurrent_{name.lower()}({given}) {{\n    return {result};\n}}")
    return *called, function


def _apply(functions: tuple[Activation, ...], value: str) -> str:
    """C for an activation of a value; `functions` has one a direction."""
    calls = []
    for function in functions:
        count = len(PARAMETERS[function.name])
        parameters = [float_literal(p) for p in (function.alpha, function.beta)[:count]]
        calls.append(f"$recurrent_{function.name.lower()}({', '.join([value, *parameters])})")
    return calls[0] if len(set(calls)) == 1 else f"(d == 0 ? {calls[0]} : {calls[1]})"


def supports(layer: Layer) -> Support:
    """Whether the C computes a recurrent node."""
    given = [(i, o) for i, o in enumerate(layer.inputs) if o is not None]
    bytes_ = (recurrent.W, recurrent.R) if layer.domain == "mcu" else ()
    for index, operand in given:
        wanted = DType.INT8 if index in bytes_ else DType.FLOAT32
        if index != recurrent.LENGTHS and operand.type.dtype is not wanted:
            return no(f"it computes {wanted.value}, not {operand.type}")
    if bytes_ and are_computed(layer):
        return no("its biases are computed at run time")
    why = recurrent.problem(layer.call)
    return YES if why is None else no(why)


@dataclass(frozen=True)
class GateProducts:
    """What is a backend's own of a recurrent node.

    kind: of its weights, for the name of the function; give: adds what products read to the
    parameters, behind the outputs; gates: floats of the scratch, a step's gates and what products
    keep behind these; more: floats of the scratch behind the states that are no outputs; values:
    for the templates `from_x(bias, row)` and `from_h(start, row, state)`, C for a sum with the
    products of a row of W or of R; `w_ctype`, of weights that C goes along row by row; or `of_x`,
    `of_h` and `of_reset`, C that computes the products of all rows of a step before they are taken.
    Then gates are W's, and an array `of_h` has R's.
    """

    kind: str
    give: Callable[[Prototype], None]
    helpers: tuple[CFunction, ...]
    gates: int
    more: int
    values: Mapping[str, object]


@dataclass(frozen=True)
class RecurrentC:
    """The C of a node, and what a workload has beside it."""

    stem: str
    body: str
    given: Prototype
    helpers: tuple[CFunction, ...]
    in_place: tuple[InPlace, ...]
    scratch_bytes: int

    headers = ("math.h", "string.h")


def made(layer: Layer, r: Recurrence, products: GateProducts) -> RecurrentC:
    """A recurrent node with such products."""
    given = Prototype(layer).input(recurrent.X, "x")
    initial = {
        name: _initial(given, name, index)
        for name, index in (
            ("initial_h", recurrent.INITIAL_H),
            ("initial_c", recurrent.INITIAL_C),
        )
    }
    outputs = _outputs(layer)
    for name, index in outputs.items():
        given.output(name, index)
    products.give(given)
    peepholes = layer.optional(recurrent.PEEPHOLES)
    given_as(given, "peepholes", recurrent.PEEPHOLES)
    if r.lengths is None:
        given.input(recurrent.LENGTHS, "lengths")
    elif r.lengths_vary:
        given.array(Constant("lengths", np.array(r.lengths, np.int32)))
    given.scratch("float")
    cell = r.op == "LSTM"
    kept = ("y_h" not in outputs) + (cell and "y_c" not in outputs)
    functions = [f for each in r.functions for one in each for f in activation(one.name)]
    if r.clip is not None or r.cell_clip is not None:
        functions.append(_CLIP)
    helpers = {function.stem: function for function in functions}
    floats = products.gates + kept * r.hidden
    values = {
        **_sizes(r),
        **_expressions(r, peepholes is not None, "of_h" in products.values),
        **{name: name in outputs for name in ("y", "y_h", "y_c")},
        **initial,
        "gates": products.gates, "cell": cell, "lengths": r.lengths_vary,
        "checks": r.lengths is None, "has_empty": r.lengths is None or 0 in r.lengths,
        "packs": are_computed(layer), "bias": layer.optional(recurrent.BIAS) is not None,
        "next_row": f"row += {r.inputs + r.hidden}" if "w_ctype" in products.values else "",
        **dict.fromkeys(("w_ctype", "of_x", "of_h", "of_reset"), ""),
        "packed": floats, "rows": r.rows, "directions": r.directions,
        **products.values,
    }  # fmt: skip
    body = _KIT.render(f"{r.op.lower()}.c.j2", **values)
    return RecurrentC(
        stem(r.op.lower(), products.kind, r.inputs, r.hidden), body, given,
        (*products.helpers, *helpers.values()),
        recurrent_memory.in_place(layer, r, outputs), 4 * (floats + products.more),
    )  # fmt: skip


def _outputs(layer: Layer) -> dict[str, int]:
    """The places in `layer.outputs` of those that are there."""
    names = [
        n for n, e in zip(("y", "y_h", "y_c"), layer.node.outputs, strict=False) if e is not None
    ]
    return {name: index for index, name in enumerate(names)}


def _initial(given: Prototype, name: str, index: int) -> bool:
    """Adds an initial state to the parameters; False where it is 0."""
    operand = given.layer.optional(index)
    if operand is None or (operand.constant is not None and not np.any(operand.constant)):
        return False
    given_as(given, name, index)
    return True


def are_computed(layer: Layer) -> bool:
    """Whether weights or biases are computed, so that each run packs them into its scratch."""
    weights = (layer.optional(k) for k in (recurrent.W, recurrent.R, recurrent.BIAS))
    return any(operand is not None and operand.constant is None for operand in weights)


def given_as(given: Prototype, name: str, index: int) -> None:
    """Adds an input to the parameters as it is, if it is there."""
    operand = given.layer.optional(index)
    if operand is not None:
        value = operand.constant
        array = None if value is None else Constant(name, np.ascontiguousarray(value))
        given.input(index, name, array)


def bias_rows(r: Recurrence) -> int:
    """The biases of one direction."""
    return r.rows + (r.hidden if r.linear_before_reset else 0)


def bias_of(layer: Layer, r: Recurrence) -> Array:
    """W's bias and R's in one, but apart where a reset gate multiplies only the second."""
    operand = layer.optional(recurrent.BIAS)
    if operand is None or operand.constant is None:
        both = np.zeros((r.directions, 2, r.rows), np.float32)
    else:
        both = operand.constant.reshape(r.directions, 2, r.rows)
    if not r.linear_before_reset:
        return np.asarray(both[:, 0] + both[:, 1])
    gates = both[:, 0, : 2 * r.hidden] + both[:, 1, : 2 * r.hidden]
    return np.concatenate([gates, both[:, 0, 2 * r.hidden :], both[:, 1, 2 * r.hidden :]], axis=1)


def _sizes(r: Recurrence) -> dict[str, object]:
    """Extents, and C for the offsets of a step's elements in each tensor."""
    batch, directions, steps, hidden = r.batch, r.directions, r.steps, r.hidden
    at = Steps.of(r)
    d, b, t = counter("d", directions), counter("b", batch), counter("t", steps)
    return {
        "d": d, "b": b, "t": t, "n": counter("n", hidden), "steps": steps, "hidden": hidden,
        "linear_before_reset": r.linear_before_reset, "input_forget": r.input_forget,
        "inputs": r.inputs, "y_bytes": 4 * steps * batch * directions * hidden,
        "state": plus(times(d, at.state_direction), times(b, at.state_sequence)),
        "x_offset": plus(times(t, at.x_time), times(b, at.x_sequence)),
        "y_offset": plus(
            times(t, at.y_time), times(d, at.y_direction), times(b, at.y_sequence)
        ),
        "row_offset": times(d, r.rows * (r.inputs + hidden)),
        "bias_offset": times(d, bias_rows(r)), "bias_rows": bias_rows(r),
        "first_row": times(d, r.rows),
    }  # fmt: skip


def _expressions(r: Recurrence, peepholes: bool, is_apart: bool) -> dict[str, object]:
    """C for the time of a step, and functions from a C value to the C of what is made of it.
    is_apart: whether the products of R are not in the gates."""
    backwards = "steps - 1 - s" if r.lengths_vary else f"{r.steps - 1} - s"
    time = f"d == 0 ? s : {backwards}" if r.directions > 1 else backwards

    def clipped(value: str, bound: float | None) -> str:
        return value if bound is None else f"$recurrent_clip({value}, {float_literal(bound)})"

    def gate(number: int) -> str:
        n, d = counter("n", r.hidden), counter("d", r.directions)
        within = number * r.hidden
        value = f"gates[{plus(n, within)}]"
        if is_apart:
            value += f" + of_h[{plus(n, within)}]"
        if peepholes and number < 3:  # the cell's candidate has none
            at = plus(n, times(d, 3 * r.hidden), within)
            value += f" + peepholes[{at}] * c[{plus(n)}]"
        return clipped(value, r.clip)

    functions = {
        name: partial(_apply, tuple(each[index] for each in r.functions))
        for index, name in enumerate(("f", "g", "last")[: len(r.functions[0])])
    }
    return {
        "backwards": any(r.backwards),
        "time": time,
        "bounded": partial(clipped, bound=r.clip),
        "cell_bounded": partial(clipped, bound=r.cell_clip),
        "gate": gate,
        **functions,
    }

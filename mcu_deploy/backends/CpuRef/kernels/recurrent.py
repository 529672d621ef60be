"""LSTM, GRU and RNN in float32, sequence by sequence: a row of W and of R for each gate and unit.

Order of the sums: from the bias (W's and R's added when the model is compiled), along the input,
along the hidden state. Weights of 8 bits, of the domain "mcu": the products of each row of W and of
R are summed by themselves, multiplied by the row's scale, and added.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.CpuRef.kernels import reals, recurrent_memory
from mcu_deploy.backends.CpuRef.kernels.base import Kernel, call, helper, render
from mcu_deploy.backends.CpuRef.kernels.recurrent_memory import Steps
from mcu_deploy.backends.interface import YES, CFunction, Constant, Layer, Support, Workload, no
from mcu_deploy.backends.kit.arguments import Prototype
from mcu_deploy.backends.kit.c_files import function_of
from mcu_deploy.backends.kit.literals import float_literal
from mcu_deploy.backends.kit.loops import counter, plus, times
from mcu_deploy.backends.kit.stems import stem
from mcu_deploy.ir import DType
from mcu_deploy.operators import recurrent
from mcu_deploy.operators.recurrent import GATES, Recurrence, recurrence
from mcu_deploy.operators.recurrent_activations import PARAMETERS, Activation

# Of weights of float32 and of 8 bits, as `_from_x` and `_from_h` call them.
_PRODUCTS, _PRODUCTS_OF_BYTES = (
    helper("products.c.j2", of_bytes=of_bytes) for of_bytes in (False, True)
)

_CLIP = function_of(
    "float recurrent_clip(float v, float bound) {\n"
    "    v = v < -bound ? -bound : v;\n    return v > bound ? bound : v;\n}"
)

# Those that no operator has.
_OWN = {"Affine": "alpha * v + beta", "ScaledTanh": "alpha * tanhf(beta * v)"}

# The scales of weights of 8 bits, and whose they are.
_SCALES = (("x_scale", recurrent.W), ("h_scale", recurrent.R))


def activation(name: str) -> CFunction:
    """The helper `$recurrent_<name>(v, alpha, beta)`, with the parameters that it takes."""
    parameters = ("v", "alpha", "beta")[: 1 + len(PARAMETERS[name])]
    given = ", ".join(f"float {p}" for p in parameters)
    result = _OWN[name] if name in _OWN else reals.of_value(name)
    return function_of(f"float recurrent_{name.lower()}({given}) {{\n    return {result};\n}}")


def _apply(functions: tuple[Activation, ...], value: str) -> str:
    """C for an activation of a value; `functions` has one a direction."""
    calls = []
    for function in functions:
        count = len(PARAMETERS[function.name])
        parameters = [float_literal(p) for p in (function.alpha, function.beta)[:count]]
        calls.append(f"$recurrent_{function.name.lower()}({', '.join([value, *parameters])})")
    return calls[0] if len(set(calls)) == 1 else f"(d == 0 ? {calls[0]} : {calls[1]})"


def supports(layer: Layer) -> Support:
    """Whether the kernel computes a recurrent node."""
    given = [(i, o) for i, o in enumerate(layer.inputs) if o is not None]
    bytes_ = (recurrent.W, recurrent.R) if layer.domain == "mcu" else ()
    for index, operand in given:
        wanted = DType.INT8 if index in bytes_ else DType.FLOAT32
        if index != recurrent.LENGTHS and operand.type.dtype is not wanted:
            return no(f"it computes {wanted.value}, not {operand.type}")
    if bytes_ and _are_computed(layer):
        return no("its biases are computed at run time")
    why = recurrent.problem(layer.call)
    return YES if why is None else no(why)


def create(layer: Layer) -> Workload:
    """The workload of a recurrent node."""
    r = recurrence(layer.call)
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
    packs, weights8 = _are_computed(layer), layer.domain == "mcu"
    if packs:
        for name, index in (("w", recurrent.W), ("r", recurrent.R), ("both", recurrent.BIAS)):
            _add(given, name, index)
    else:
        given.array(Constant("weights", _packed(layer)), Constant("bias", _bias(layer, r)))
    if weights8:
        given.array(*(Constant(name, _scales(layer, r, index)) for name, index in _SCALES))
    peepholes = layer.optional(recurrent.PEEPHOLES)
    _add(given, "peepholes", recurrent.PEEPHOLES)
    if r.lengths is None:
        given.input(recurrent.LENGTHS, "lengths")
    elif r.lengths_vary:
        given.array(Constant("lengths", np.array(r.lengths, np.int32)))
    given.scratch("float")
    gates = (2 if r.op == "GRU" and r.linear_before_reset else GATES[r.op]) * r.hidden
    cell = r.op == "LSTM"
    kept = ("y_h" not in outputs) + (cell and "y_c" not in outputs)
    helpers = {f.name: activation(f.name) for each in r.functions for f in each}
    if r.clip is not None or r.cell_clip is not None:
        helpers["clip"] = _CLIP
    body = render(
        f"{r.op.lower()}.c.j2",
        **_sizes(r),
        **_expressions(r, peepholes is not None),
        **{name: name in outputs for name in ("y", "y_h", "y_c")},
        **initial,
        gates=gates, cell=cell, lengths=r.lengths_vary, checks=r.lengths is None,
        has_empty=r.lengths is None or 0 in r.lengths,
        packs=packs, bias=layer.optional(recurrent.BIAS) is not None,
        packed=gates + kept * r.hidden, rows=r.rows, directions=r.directions,
        w_ctype="int8_t" if weights8 else "float",
        from_x=partial(_from_x, r, weights8), from_h=partial(_from_h, r, weights8),
    )  # fmt: skip
    return call(
        stem(r.op.lower(), "weights8" if weights8 else "float32", r.inputs, r.hidden), body, given,
        (_PRODUCTS_OF_BYTES if weights8 else _PRODUCTS, *helpers.values()),
        ("math.h", "string.h"),
        recurrent_memory.in_place(layer, r, outputs),
        4 * (gates + kept * r.hidden + (_packed_size(r) if packs else 0)),
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
    _add(given, name, index)
    return True


def _are_computed(layer: Layer) -> bool:
    """Whether weights or biases are computed, so that each run packs them into its scratch."""
    weights = (layer.optional(k) for k in (recurrent.W, recurrent.R, recurrent.BIAS))
    return any(operand is not None and operand.constant is None for operand in weights)


def _add(given: Prototype, name: str, index: int) -> None:
    """Adds an input to the parameters as it is, if it is there."""
    operand = given.layer.optional(index)
    if operand is not None:
        value = operand.constant
        array = None if value is None else Constant(name, np.ascontiguousarray(value))
        given.input(index, name, array)


def _bias_rows(r: Recurrence) -> int:
    """The biases of one direction."""
    return r.rows + (r.hidden if r.linear_before_reset else 0)


def _packed_size(r: Recurrence) -> int:
    """The floats of packed weights and biases."""
    return r.directions * (r.rows * (r.inputs + r.hidden) + _bias_rows(r))


def _packed(layer: Layer) -> Array:
    """For each direction and gate unit, the row of W and behind it the row of R."""
    return np.concatenate([layer.input(k).value for k in (recurrent.W, recurrent.R)], axis=2)


def _scales(layer: Layer, r: Recurrence, index: int) -> Array:
    """Of each row of W or of R, in each direction."""
    scales = layer.input(index).type.scaling.scales
    return np.ascontiguousarray(np.broadcast_to(scales, (r.directions, r.rows)))


def _from_x(r: Recurrence, weights8: bool, start: str, number: str) -> str:
    """C for what a row of W adds to a sum. number: that of the row."""
    if weights8:
        return f"{start} + x_scale[{number}] * $products_of_bytes(row, at, {r.inputs})"
    return f"$add_products({start}, row, at, {r.inputs})"


def _from_h(r: Recurrence, weights8: bool, start: str, number: str, state: str) -> str:
    """C for what a row of R adds to a sum."""
    row = plus("row", r.inputs)
    if weights8:
        return f"{start} + h_scale[{number}] * $products_of_bytes({row}, {state}, {r.hidden})"
    return f"$add_products({start}, {row}, {state}, {r.hidden})"


def _bias(layer: Layer, r: Recurrence) -> Array:
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
        "bias_offset": times(d, _bias_rows(r)), "bias_rows": _bias_rows(r),
        "first_row": times(d, r.rows),
    }  # fmt: skip


def _expressions(r: Recurrence, peepholes: bool) -> dict[str, object]:
    """C for the time of a step, and functions from a C value to the C of what is made of it."""
    backwards = "steps - 1 - s" if r.lengths_vary else f"{r.steps - 1} - s"
    time = f"d == 0 ? s : {backwards}" if r.directions > 1 else backwards

    def clipped(value: str, bound: float | None) -> str:
        return value if bound is None else f"$recurrent_clip({value}, {float_literal(bound)})"

    def gate(number: int) -> str:
        n, d = counter("n", r.hidden), counter("d", r.directions)
        within = number * r.hidden
        value = f"gates[{plus(n, within)}]"
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


KERNELS = tuple(Kernel(op, supports, create, domain=of) for op in GATES for of in ("", "mcu"))

"""Operators that hold graphs: If-1, Loop-1, Scan-9 and later versions of them.

What the graphs compute is the interpreter's; here is which of them run, how often, and on what.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.errors import ModelError
from mcu_deploy.operators.base import Call, Operator

# A condition that never fails, or a damaged count, must not keep the host busy for ever.
_MOST_ROUNDS = 1 << 20


def _if(call: Call) -> Sequence[Array]:
    name = "then_branch" if _truth(call.value(0)) else "else_branch"
    return call.subgraphs[name]([])


def _truth(value: Array) -> bool:
    return bool(value.reshape(-1)[0])


def _loop(call: Call) -> list[Array]:
    """Loop: (trip count, condition, states...) -> (states..., scans...); the body adds a scan each.

    body: (iteration, condition, states...) -> (condition, states..., scan elements...)
    """
    trips, condition = call.optional(0), call.optional(1)
    limit = None if trips is None else int(trips.reshape(-1)[0])
    going = condition is None or _truth(condition)
    states = [value for value in call.values[2:] if value is not None]
    scans: list[list[Array]] = [[] for _ in call.results[len(states) :]]
    index = 0
    while going and (limit is None or index < limit):
        if index == _MOST_ROUNDS:
            raise ModelError(
                f"A Loop of the model has run {index:,} rounds and goes on; on the host no loop "
                "runs longer. Give it a smaller trip count, or inputs for which it ends."
            )
        given = [np.array(index, np.int64), np.array(going), *states]
        again, *results = call.subgraphs["body"](given)
        going = _truth(again)
        states = results[: len(states)]
        for scan, element in zip(scans, results[len(states) :], strict=True):
            scan.append(element)
        index += 1
    stacked = [_stacked(call, len(states) + i, scan, 0, index) for i, scan in enumerate(scans)]
    return [*states, *stacked]


def _scan(call: Call) -> list[Array]:
    """Scan: (states..., sequences...) -> (states..., scans...), one element of each at a time."""
    if call.opset < 9:
        raise ModelError(
            "The model has a Scan of opset 8 whose items have lengths of their own. Export it to "
            "opset 9 or later."
        )
    count = int(call.attributes["num_scan_inputs"])
    values = [value for value in call.values if value is not None]
    states, sequences = values[: len(values) - count], values[len(values) - count :]
    axes = _list(call, "scan_input_axes", count)
    backwards = _list(call, "scan_input_directions", count)
    elements = [
        np.moveaxis(sequence, axis, 0)[:: -1 if back else 1]
        for sequence, axis, back in zip(sequences, axes, backwards, strict=True)
    ]
    scans: list[list[Array]] = [[] for _ in call.results[len(states) :]]
    steps = len(elements[0])
    for index in range(steps):
        results = call.subgraphs["body"]([*states, *(e[index] for e in elements)])
        states = list(results[: len(states)])
        for scan, element in zip(scans, results[len(states) :], strict=True):
            scan.append(element)
    axes = _list(call, "scan_output_axes", len(scans))
    backwards = _list(call, "scan_output_directions", len(scans))
    return [
        *states,
        *(
            _stacked(call, len(states) + i, scan[:: -1 if back else 1], axis, steps)
            for i, (scan, axis, back) in enumerate(zip(scans, axes, backwards, strict=True))
        ),
    ]


def _list(call: Call, name: str, count: int) -> list[int]:
    return [int(v) for v in call.attributes.get(name, (0,) * count)]


def _stacked(call: Call, output: int, elements: list[Array], axis: int, steps: int) -> Array:
    """The elements of an output along a new axis; as many as its static shape says."""
    wanted = call.results[output].shape
    if wanted[axis] != steps:
        raise ModelError(
            f"A {call.op} ran {steps} times, but its output {output} has the static shape "
            f"{list(wanted)}. Give it inputs for which the shape holds."
        )
    if not elements:
        return np.zeros(wanted, call.results[output].dtype.numpy)
    return np.stack(elements, axis)


OPERATORS = (Operator("If", _if), Operator("Loop", _loop), Operator("Scan", _scan))

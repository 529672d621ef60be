"""VAR_HANDLE, READ_VARIABLE, ASSIGN_VARIABLE and CALL_ONCE: variables, which become states."""

from __future__ import annotations

import tflite

from mcu_deploy.errors import shorten
from mcu_deploy.formats.tflite_graph import GraphBuilder
from mcu_deploy.formats.tflite_operation import Operation

_FIRST_VALUES = "Give each variable a constant as its first value."


def _name(operation: Operation) -> str:
    """The name by which handles of one variable know each other."""
    options = operation.options(tflite.VarHandleOptions)
    parts = [(text or b"").decode("utf-8", "replace") for text in (
        options.Container(), options.SharedName()
    )]  # fmt: skip
    return "/".join(part for part in parts if part)


def _var_handle(operation: Operation, graph: GraphBuilder) -> None:
    graph.variables.hand_out(operation.output, _name(operation))


def _read_variable(operation: Operation, graph: GraphBuilder) -> None:
    graph.read_variable(operation, graph.variables.of(operation))


def _assign_variable(operation: Operation, graph: GraphBuilder) -> None:
    variable, value = graph.variables.of(operation), operation.input(1)
    variable.require_type(operation, value)
    variable.now = graph.read(value)


def _call_once(operation: Operation, graph: GraphBuilder) -> None:
    """The subgraph runs in front of the first run, so it may only assign constants."""
    (subgraph,) = operation.subgraphs
    names: dict[int, str] = {}
    for inner in subgraph.operations:
        if inner.kind == "VAR_HANDLE":
            names[inner.output.index] = _name(inner)
        elif inner.kind == "ASSIGN_VARIABLE":
            handle, value = inner.input(0), inner.input(1)
            if handle.index not in names:
                raise inner.damaged(f"its input {handle.name!r} stands for no variable")
            variable = graph.variables.named(names[handle.index])
            if variable.now is not None:
                raise operation.unsupported(
                    f"gives the variable {shorten(variable.name)!r} its first value when the run "
                    "has used it already",
                    "Convert the model with its initialisation in front.",
                )
            if value.value is None:
                raise operation.unsupported(
                    f"computes the first value of the variable {shorten(variable.name)!r}",
                    _FIRST_VALUES,
                )
            variable.require_type(inner, value)
            variable.first = value.value
        else:
            raise operation.unsupported(f"runs {inner.kind} before the first run", _FIRST_VALUES)


CONVERTERS = {
    "VAR_HANDLE": _var_handle,
    "READ_VARIABLE": _read_variable,
    "ASSIGN_VARIABLE": _assign_variable,
    "CALL_ONCE": _call_once,
}

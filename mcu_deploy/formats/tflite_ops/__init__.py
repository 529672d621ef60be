"""TFLite's operators as nodes of a graph: one file a family, found by being there.

A module of this package with `CONVERTERS` (a mapping from TFLite's operator names, "CONV_2D", or
"custom operator NAME", to functions) is all that an operator takes on the reader's side. A
converter gets the operator of the file and the builder of the graph; it reads its inputs' edges
from the builder and adds the nodes that write its outputs:

    def _relu(operation: Operation, graph: GraphBuilder) -> None:
        x = graph.read(operation.input(0))
        graph.add(operation, "Relu", [x], operation.output)

Operators on float32 become ONNX's own (domain ""). Operators on quantized tensors have TFLite's
arithmetic (docs/arithmetic.md), which is not that of ONNX, so they become operators of the domain
"tflite" (mcu_deploy/operators/tflite_*.py); a backend that does not know them refuses them by
itself. What only moves elements is ONNX's in both cases. Errors: `operation.damaged` for what
breaks TFLite's rules, `operation.unsupported` for what is not computed.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping

from mcu_deploy.discovery import modules
from mcu_deploy.formats.tflite_graph import GraphBuilder
from mcu_deploy.formats.tflite_operation import Operation

Converter = Callable[[Operation, GraphBuilder], None]
DOMAIN = "tflite"
# That of operators that TFLite does not define: a backend may.
CUSTOM = "tflite.custom"


@functools.cache
def converters() -> Mapping[str, Converter]:
    """All converters by TFLite's names, with those that only say why there is none (`REFUSED`)."""
    return _named("CONVERTERS") | _named("REFUSED")


def read() -> tuple[str, ...]:
    """TFLite's names of the operators that are read, in order."""
    return tuple(sorted(_named("CONVERTERS")))


def _named(table: str) -> dict[str, Converter]:
    found: dict[str, Converter] = {}
    for _, module in modules(__name__):
        found |= getattr(module, table, {})
    return found


def add_custom(operation: Operation, graph: GraphBuilder) -> None:
    """An operator that TFLite does not define: a node of its name, in the file's order of axes,
    with the bytes of its options as `custom_options`, integers."""
    inputs = [None if t is None else graph.read(t) for t in operation.inputs]
    attributes = {"custom_options": tuple(operation.custom_options)}
    graph.add(operation, operation.custom, inputs, operation.outputs, attributes, CUSTOM)

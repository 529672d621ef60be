"""A quantized model by the device's own arithmetic: the project's interpreter, sample by sample."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from mcu_deploy import formats, interpreter, operators, passes
from mcu_deploy.arithmetic import dequantize, quantize
from mcu_deploy.files.arrays import Array
from mcu_deploy.ir import EdgeId, Graph
from mcu_deploy.quantizing.judging import ENDS


class Oracle:
    """A model file as builds see it, simplified. Samples are those of the float model."""

    def __init__(self, path: Path) -> None:
        self.graph = passes.run(formats.load(path))

    def inputs(self, sample: Sequence[Array]) -> list[Array]:
        """A float model's sample as this model takes it: integers where its inputs are."""
        pairs = zip(self.graph.inputs, sample, strict=True)
        return [as_taken(self.graph, edge, value) for edge, value in pairs]

    def results(self, samples: Iterable[Sequence[Array]]) -> list[list[Array]]:
        """The real numbers by which the outputs are judged: [sample][output]."""
        edges = [self._judged(edge) for edge in self._judged_outputs()]
        found = []
        for sample in samples:
            values = interpreter.run_all(self.graph, self.inputs(sample))
            found.append([real(self.graph, edge, values[edge]) for edge in edges])
        return found

    def outputs(self, values: Sequence[Array]) -> list[Array]:
        """What a device gave, as real numbers."""
        pairs = zip(self.graph.outputs, values, strict=True)
        return [real(self.graph, edge, value) for edge, value in pairs]

    def _judged_outputs(self) -> list[EdgeId]:
        types = ((edge, self.graph.type(edge)) for edge in self.graph.outputs)
        return [edge for edge, type_ in types if type_.dtype.is_float or type_.is_quantized]

    def _judged(self, output: EdgeId) -> EdgeId:
        edge = output
        while (node := self.graph.producer(edge)) is not None and node.reads:
            if node.op in ENDS and not node.domain:
                return node.input(0)
            operator = operators.find(node.domain, node.op)
            if operator is None or not (operator.view or operator.converts):
                break
            edge = node.input(0)
        return output


def as_taken(graph: Graph, edge: EdgeId, value: Array) -> Array:
    """A float input's value as a graph takes it."""
    type_ = graph.type(edge)
    return quantize(value, type_) if type_.is_quantized else value


def real(graph: Graph, edge: EdgeId, value: Array) -> Array:
    """A tensor's value as real numbers."""
    type_ = graph.type(edge)
    return dequantize(value, type_) if type_.is_quantized else value

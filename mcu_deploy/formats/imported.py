"""What reading a model file gives: the graph, and what was assumed on the way."""

from __future__ import annotations

import logging
import shlex
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from mcu_deploy.arithmetic import Array
from mcu_deploy.errors import ModelError
from mcu_deploy.errors.obstacles import Obstacle, refusal, settled
from mcu_deploy.formats.consistency import misfits
from mcu_deploy.ir import Graph, GraphEditor, NodeId
from mcu_deploy.operators import label, registry

_log = logging.getLogger("mcu_deploy")

# A size, the name of an open dimension, or "" for an open one without a name.
Dimension = int | str


@dataclass(frozen=True)
class AssumedShape:
    """An input with a dimension that is open in the file and was taken as a batch.

    dimension: its name in the file, "" where it has none and is the first. shape: with the size
    that was taken, `size`. remedy: a clause that says how to get another.
    """

    input: str
    dimension: str
    size: int
    shape: tuple[int, ...]
    remedy: str

    def __str__(self) -> str:
        what = f"dimension {self.dimension!r}" if self.dimension else "first dimension"
        return (
            f"input {self.input!r}: its {what} is open in the model and taken as a batch of "
            f"{self.size}; {self.remedy}"
        )


@dataclass(frozen=True)
class OwnState:
    """A state that a model brings with it: in the next run its input is what its output was.

    input, output: an input and an output of the graph, by their names, of one type. first: the
    value in the first run; None for zero, which is the zero point of a quantized tensor.
    """

    input: str
    output: str
    first: Array | None = None


@dataclass(frozen=True)
class Imported:
    """A model file, read.

    graph: where something stands against the model, only what of it can be read. parts: what can
    be read of graphs inside of nodes that cannot. left_out: the nodes that cannot. problems:
    sentences about shapes, types and sizes. states: those that the model has by itself, whose
    inputs and outputs are among the graph's.
    """

    graph: Graph
    assumed: tuple[AssumedShape, ...] = ()
    parts: tuple[Graph, ...] = ()
    left_out: tuple[Obstacle, ...] = ()
    problems: tuple[str, ...] = ()
    states: tuple[OwnState, ...] = ()

    @property
    def is_whole(self) -> bool:
        return not (self.left_out or self.problems)

    def refusal(
        self, operators: Collection[str] = (), refused: Sequence[Obstacle] = ()
    ) -> ModelError:
        """The error that tells all of it.

        operators: those of the backends. refused: what backends say of the graph and its parts.
        """
        known = {*operators, *known_operators()}
        nodes = settled(self.left_out, known)
        unknown = [n for n in nodes if n.operator not in known]
        forms = [n for n in nodes if n.operator in known]
        return refusal([*unknown, *refused, *forms], self.problems)


def checked(
    graph: Graph,
    parts: Sequence[Graph],
    left_out: Sequence[Obstacle],
    problems: Sequence[str],
    assumed: tuple[AssumedShape, ...],
    remedy: str = "",
) -> Imported:
    """What was read, without the nodes whose sizes do not fit together. remedy: what is said of
    these, where it is not that the model is damaged."""
    found = list(problems)
    fitting = []
    for part in (graph, *parts):
        wrong = misfits(part, remedy)
        found += wrong.values()
        fitting.append(_without(part, wrong))
    return Imported(fitting[0], assumed, tuple(fitting[1:]), tuple(left_out), tuple(found))


def _without(graph: Graph, nodes: Collection[NodeId]) -> Graph:
    """A graph that is given what these nodes compute."""
    if not nodes:
        return graph
    editor = GraphEditor(graph)
    for node in nodes:
        editor.inputs += [e for e in graph.node(node).writes if e not in graph.inputs]
        editor.outputs += [e for e in graph.node(node).reads if graph.producer(e) is not None]
        editor.remove_node(node)
    editor.outputs = list(dict.fromkeys(editor.outputs))
    return editor.finish()


def known_operators() -> set[str]:
    """The operators that an importer, a pass or the interpreter knows."""
    # onnx is slow to import, and only refusals ask
    from mcu_deploy.formats.onnx_functions import names

    return {*(label(domain, name) for domain, name in registry()), *names()}


def tell_assumed(model: str, assumed: Sequence[AssumedShape]) -> None:
    """Warns of what was assumed; `model` is the file's name."""
    for item in assumed:
        _log.warning("%s: %s.", model, item)


def shape_option(name: str, shape: Sequence[Dimension]) -> str:
    """The --shape to type for an input, with <names> where numbers are wanted."""
    sizes = (str(size) if isinstance(size, int) else f"<{size or 'size'}>" for size in shape)
    return f"--shape {shlex.quote(name)}={','.join(sizes)}"


def shown(shape: Sequence[Dimension]) -> str:
    """A shape as the model has it; "?" is an open dimension without a name."""
    return str([size if isinstance(size, int) else size or "?" for size in shape])

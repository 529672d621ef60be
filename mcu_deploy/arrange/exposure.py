"""What of a network is reachable beside its inputs and outputs: kept tensors, partitions, state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mcu_deploy.ir import EdgeId, Graph


@dataclass(frozen=True)
class Kept:
    """A tensor that can be read after a run, and the name that the user gave it."""

    name: str
    edge: EdgeId


@dataclass(frozen=True)
class Partition:
    """A part that can be run alone: from these edges to those."""

    name: str
    inputs: tuple[EdgeId, ...]
    outputs: tuple[EdgeId, ...]


@dataclass(frozen=True)
class State:
    """A tensor that lives from run to run: the graph reads `input`, and `output` replaces it.

    initial: its value after initialisation and reset, of the edge's shape; None: zero bytes.
    """

    name: str
    input: EdgeId
    output: EdgeId
    initial: npt.NDArray[Any] | None = None

    def first(self, graph: Graph) -> npt.NDArray[Any]:
        """Its value after initialisation and reset."""
        type_ = graph.type(self.input)
        if self.initial is not None:
            return self.initial
        return np.zeros(type_.shape, type_.dtype.numpy)


@dataclass(frozen=True)
class Exposure:
    """kept, partitions and states of a network, in the order in which the user named them."""

    kept: tuple[Kept, ...] = ()
    partitions: tuple[Partition, ...] = ()
    states: tuple[State, ...] = ()

    def inputs(self, graph: Graph) -> tuple[EdgeId, ...]:
        """The inputs that a caller gives: those of the graph that are no state."""
        hidden = {state.input for state in self.states}
        return tuple(edge for edge in graph.inputs if edge not in hidden)

    def outputs(self, graph: Graph) -> tuple[EdgeId, ...]:
        """The outputs that a caller gets: the graph's without those behind, which become state."""
        return graph.outputs[: len(graph.outputs) - len(self.states)]

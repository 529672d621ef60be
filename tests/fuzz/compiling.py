"""What the targets for models do with a file: all that a user's process does before a compiler."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np
from pmx_cases import session

from mcu_deploy import interpreter
from mcu_deploy.boards import load_board
from mcu_deploy.compiler import compile_model

_MOST_ELEMENTS = 1 << 16


@functools.cache
def _host() -> Any:
    return load_board("host")


def read(path: Path) -> None:
    """Compiles a model for the host, and runs the oracle where that is quick."""
    with session() as own:
        graph = compile_model(path, _host(), session=own).graph
    sizes = sum(graph.type(o).elements for n in graph.nodes for o in n.outputs if o is not None)
    if sizes < _MOST_ELEMENTS and not any(n.op == "Loop" for n in graph.nodes):
        types = [graph.type(edge) for edge in graph.inputs]
        interpreter.run(graph, [np.zeros(t.shape, t.dtype.numpy) for t in types])

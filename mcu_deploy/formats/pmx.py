"""PMX: what the compiler made of a model (docs/pmx.md). Its files are opened by mcu_deploy.pmx."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from mcu_deploy.errors import RequestError
from mcu_deploy.formats.imported import Imported

SUFFIXES = (".pmx",)
COMPILED = True


def read(path: Path, shapes: Mapping[str, Sequence[int]]) -> Imported:
    """The optimised graph of a .pmx file, whose shapes are bound already."""
    from mcu_deploy import pmx

    graph = pmx.load(path).model.graph
    wanted = {name: tuple(shape) for name, shape in shapes.items()}
    bound = {graph.edge_name(edge): graph.type(edge).shape for edge in graph.inputs}
    for name, shape in wanted.items():
        if bound.get(name) != shape:
            raise RequestError(
                f"{path} was optimised with other shapes than {name}={','.join(map(str, shape))}. "
                "Run `mcu-deploy optimize` again, with --shape."
            )
    return Imported(graph)

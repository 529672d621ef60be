"""What reading a model file gives: the graph, and what was assumed on the way."""

from __future__ import annotations

import logging
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from mcu_deploy.ir import Graph

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

    def as_json(self) -> dict[str, object]:
        """A row of `assumed_shapes` in reports."""
        return {
            "input": self.input,
            "dimension": self.dimension,
            "size": self.size,
            "shape": list(self.shape),
        }


@dataclass(frozen=True)
class Imported:
    """A model file, read."""

    graph: Graph
    assumed: tuple[AssumedShape, ...] = ()


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

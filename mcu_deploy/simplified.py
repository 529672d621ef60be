"""A model as it is compiled: read, cut where a user asks for it, and simplified."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from mcu_deploy import formats, passes
from mcu_deploy.backends.interface import Backend, Target
from mcu_deploy.boards import Processor
from mcu_deploy.choose import unsupported
from mcu_deploy.choose.target import target_of
from mcu_deploy.codegen import names
from mcu_deploy.errors import McuDeployError, ModelError, RequestError, shorten
from mcu_deploy.errors.obstacles import Obstacle
from mcu_deploy.formats.imported import AssumedShape, Imported
from mcu_deploy.ir import EdgeId, Graph
from mcu_deploy.options import Options
from mcu_deploy.output.progress import tell
from mcu_deploy.passes import splitting
from mcu_deploy.passes.marks import Marks, mark
from mcu_deploy.plan import memory_pools
from mcu_deploy.selection import sizes
from mcu_deploy.session import Session


@dataclass(frozen=True)
class SimplifiedModel:
    """A model that was read and simplified, whatever backends there are."""

    name: str
    imported: Graph
    assumed: tuple[AssumedShape, ...]
    graph: Graph
    marks: Marks
    pinned: Mapping[str, EdgeId]
    smaller: Mapping[int, SimplifiedModel] = field(default_factory=dict)


def read_simplified(
    path: Path, board: Processor, name: str | None, session: Session, options: Options
) -> SimplifiedModel:
    """For a size that each run decides: at the largest one, and `smaller` ones beside it."""
    bound = options.bound
    if bound is None:
        return _read(path, board, name, session, options)
    sizes.require_possible(options)
    source = _read(path, board, name, session, options.at(bound))

    def read(size: int) -> SimplifiedModel:
        return _read(path, board, name, session, options.at(size))

    return replace(source, smaller=sizes.smaller(bound, source.imported, read))


def _read(
    path: Path, board: Processor, name: str | None, session: Session, options: Options
) -> SimplifiedModel:
    preference = session.preference(board.core, options.backends)  # names that nobody has end here
    memory_pools.require_possible(board, options)
    tell("reading the model")
    read = formats.attempt(path, options.shapes, options.constant_values)
    if not read.is_whole:
        raise formats.of_file(path, _refusal(read, preference, target_of(board, options)))
    return _simplify(read, names.network_name(name, path), options)


def _refusal(read: Imported, preference: Sequence[Backend], target: Target) -> ModelError:
    """All that stands against a model that could be read in part: the backends' reasons too."""
    refused: list[Obstacle] = []
    for part in (read.graph, *read.parts):
        with suppress(McuDeployError):
            refused += unsupported.find(passes.run(part), preference, target)
    return read.refusal({op for backend in preference for op in backend.operators}, refused)


def _simplify(read: Imported, name: str, options: Options) -> SimplifiedModel:
    imported = read.graph
    if options.half is not None:
        if read.states:
            raise RequestError(
                f"--split cuts no model with states of its own, and this one has "
                f"{len(read.states)} ({shorten(read.states[0].input)!r} ...): its halves would "
                "each keep a part of them. Run it whole."
            )
        imported = splitting.take(imported, options.half)
    pinned = memory_pools.find(imported, options.pools)
    graph, marks = mark(imported, options.requests, read.states)
    graph = passes.run(graph, fuse=not options.layers_all)
    return SimplifiedModel(name, imported, read.assumed, graph, marks, pinned)

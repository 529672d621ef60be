"""The way of the data, from a model file to a checked object: the stages in order."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mcu_deploy import (
    codegen,
    exposing,
    formats,
    hygiene,
    layouts,
    optimize,
    partition,
    plan,
    select,
)
from mcu_deploy.backends.interface import Backend, NetworkId, RegionCall, Target
from mcu_deploy.boards import Board
from mcu_deploy.codegen import names
from mcu_deploy.codegen.network import NetworkSource
from mcu_deploy.errors import BackendFault, HygieneError, ToolError
from mcu_deploy.ir import EdgeId, Graph
from mcu_deploy.partition import Assignment
from mcu_deploy.plan import Plan
from mcu_deploy.session import Session
from mcu_deploy.toolchain import compile_network, gcc_command_line


@dataclass(frozen=True)
class Options:
    """How a network is compiled.

    backends: ids in order of preference, empty for the core's default. layer_backends: who must
    compute a layer, by its name. strategy: how the others are given to backends, "greedy" or
    "cost". weights: "incbin" or "array". layers_all: no fusion that the arithmetic does not ask
    for, no memory shared, so that every tensor can be read after a run. debug: with debug
    information. shapes: of inputs, by name. requests: kept tensors, partitions and states. io:
    inputs and outputs lie in the "arena" or at the "caller". separate_state: what outlives a run
    lies in a pool of its own. arena: several networks of one firmware have "separate" workspaces,
    or take turns in a "shared" one. memory: one of plan.memory_strategies().
    """

    backends: tuple[str, ...] = ()
    layer_backends: Mapping[str, str] = field(default_factory=dict)
    strategy: str = "greedy"
    weights: str = "incbin"
    layers_all: bool = False
    debug: bool = False
    shapes: Mapping[str, Sequence[int]] = field(default_factory=dict)
    requests: exposing.Requests = field(default_factory=exposing.Requests)
    io: str = "arena"
    separate_state: bool = False
    arena: str = "separate"
    memory: str = plan.OFFLINE


@dataclass(frozen=True)
class Network:
    """A compiled network, before it is written.

    imported: the graph as the model file says it; graph: after optimisation and layouts. calls:
    what is called beside the layers, by backend.
    """

    name: str
    model: Path
    imported: Graph
    graph: Graph
    assignment: Assignment
    plan: Plan
    sources: NetworkSource
    id: NetworkId = 0
    calls: tuple[tuple[str, RegionCall], ...] = ()

    @property
    def inputs(self) -> tuple[EdgeId, ...]:
        """The inputs that a caller gives; states are not among them."""
        return self.plan.exposure.inputs(self.graph)

    @property
    def outputs(self) -> tuple[EdgeId, ...]:
        """The outputs that a caller gets."""
        return self.plan.exposure.outputs(self.graph)

    @property
    def ram_bytes(self) -> int:
        """What an instance needs: all pools, and the buffers of the caller."""
        callers = sum(
            self.graph.type(edge).bytes
            for edge in (*self.inputs, *self.outputs)
            if isinstance(self.plan.place(edge), plan.InSlot)
        )
        return self.plan.arena_bytes + callers

    @property
    def macs(self) -> int:
        return sum(step.choice.layer.macs for step in self.plan.steps)


def compile_model(
    model: str | Path, board: Board, *, name: str | None = None, session: Session | None = None,
    options: Options | None = None,
) -> Network:  # fmt: skip
    """From a model file to C source, for one board. Nothing is written.

    session: where the network is loaded; without one, in a session of its own. Raises ModelError,
    UnsupportedError or UsageError with a sentence for what cannot be compiled.
    """
    chosen = options or Options()
    path = Path(model)
    if session is None:
        with Session() as own:
            return compile_model(path, board, name=name, session=own, options=chosen)
    session.preference(board.core, chosen.backends)  # names that nobody has end here
    source = _read(path, names.network_name(name, path), chosen)
    with session.loading() as network_id:
        while True:
            try:
                return _compile(source, board, session, chosen, network_id)
            except BackendFault as fault:
                session.drop(fault)


@dataclass(frozen=True)
class _Source:
    """A model that was read and simplified, whatever backends there are."""

    name: str
    path: Path
    imported: Graph
    graph: Graph
    marks: exposing.Marks


def _read(path: Path, name: str, options: Options) -> _Source:
    imported = formats.load(path, options.shapes)
    graph, marks = exposing.mark(imported, options.requests)
    graph = optimize.run(graph, optimize.Options(fuse=not options.layers_all))
    return _Source(name, path, imported, graph, marks)


def _compile(
    source: _Source, board: Board, session: Session, options: Options, network_id: NetworkId
) -> Network:
    """From the simplified graph to C source, by the backends that the session has now."""
    target = target_of(board)
    preference = session.preference(board.core, options.backends)
    graph, assignment = partition.assign(
        source.graph,
        preference,
        target,
        partition.Options(
            _layer_backends(session, board, options), options.strategy, not options.layers_all
        ),
    )
    graph = layouts.assign(graph, assignment, {graph.outputs[at] for at in source.marks.cuts})
    graph, exposure = exposing.settle(graph, source.marks, options.requests)
    # Conversions belong to no partition: whoever has them, be it named or not.
    known = {backend.id for backend in preference}
    others = [b for b in session.preference(board.core) if b.id not in known]
    selection = select.select(graph, assignment, (*preference, *others), target)
    calls = (*selection.acquire, *selection.release)
    memory = plan.make(
        graph, selection.choices, plan_options(board, options), [c for _, c in calls], exposure
    )
    command = gcc_command_line(board, source.name)
    sources = codegen.generate(graph, memory, source.name, command, options.weights, selection)
    return Network(
        source.name, source.path, source.imported, graph, assignment, memory, sources,
        network_id, calls,
    )  # fmt: skip


def plan_options(board: Board, options: Options) -> plan.Options:
    """How memory is planned for a board."""
    return plan.Options(
        reuse=not options.layers_all,
        io=options.io,
        pointer_bytes=8 if board.is_host else 4,
        memory=options.memory,
        separate_state=options.separate_state,
    )


def _layer_backends(session: Session, board: Board, options: Options) -> dict[str, Backend]:
    """The backends that --layer-backend names, by layer."""
    return {
        layer: session.named(backend, board.core, f"--layer-backend {layer}={backend}")
        for layer, backend in options.layer_backends.items()
    }


def target_of(board: Board) -> Target:
    """What backends are told of a board."""
    has_fpu = board.is_host or board.float_abi == "hard"
    return Target(board.core, has_fpu, board.dsp, board.mve)


def write_network(network: Network, board: Board, directory: Path, debug: bool = False) -> Path:
    """Writes a network's sources, compiles them, and checks the object, which it returns.

    Each file is written beside its place and renamed. Raises HygieneError where the object breaks
    the rules of DESIGN section 3.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for name, content in network.sources.files.items():
            write_file(directory / name, content)
    except OSError as error:
        raise ToolError(
            f"{error.filename or directory} cannot be written ({error.strerror}); choose another "
            "output folder with -o."
        ) from error
    built = compile_network(board, directory, network.name, debug)
    findings = hygiene.check_object(built, board=board, expected_name=network.name)
    if findings:
        built.unlink()
        text = "; ".join(f"{f.message}" for f in findings[:5])
        raise HygieneError(
            f"The object of network {network.name!r} breaks the rules of an object file: {text}. "
            "This is a fault of the backend that made the code; report it with the model."
        )
    return built


def write_file(path: Path, content: bytes) -> None:
    """Writes a file whole or not at all."""
    temporary = path.with_name(f".{path.name}.tmp")
    temporary.write_bytes(content)
    temporary.replace(path)


def sha256_of(path: Path) -> str:
    """The hexadecimal SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def clear(directory: Path, stale: Sequence[str]) -> None:
    """Removes what an earlier build left under these names, so that a failed build leaves none.

    Raises ToolError where the folder cannot be written.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for name in stale:
            target = directory / name
            if target.is_dir() and not target.is_symlink():
                shutil.rmtree(target)
            else:
                target.unlink(missing_ok=True)
    except OSError as error:
        raise ToolError(
            f"The output folder {directory} cannot be written ({error.strerror}); choose another "
            "with -o."
        ) from error

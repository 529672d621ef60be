"""The way of the data, from a model file to a checked object: the stages in order."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from mcu_deploy import choose, codegen, formats, hygiene, plan
from mcu_deploy.arrange import exposing, flow, layouts
from mcu_deploy.backends import measured as measured_costs
from mcu_deploy.backends.cost import Cost
from mcu_deploy.backends.interface import Backend, NetworkId, Target
from mcu_deploy.backends.measured import NOT_MEASURED, MeasuredCosts
from mcu_deploy.boards import Board, Processor
from mcu_deploy.boards.cores import compiler_flags
from mcu_deploy.choose.target import target_of
from mcu_deploy.codegen import names
from mcu_deploy.codegen.network import NetworkSource
from mcu_deploy.compiled import CompiledModel, Network
from mcu_deploy.errors import BackendFault, HygieneError, RequestError
from mcu_deploy.ir import EdgeId, Graph, NodeId, naming
from mcu_deploy.options import AUTO, Options
from mcu_deploy.output.progress import tell
from mcu_deploy.plan import hot_code, memory_pools
from mcu_deploy.report import floats
from mcu_deploy.selection import Choice, Facts, Selection, select, sizes, unmade
from mcu_deploy.session import Session
from mcu_deploy.simplified import SimplifiedModel, read_simplified
from mcu_deploy.toolchain import HEADERS, compile_network, gcc_command_line

T = TypeVar("T")
# The goals that make the time least, of what they take at all.
_FOR_TIME = ("balanced", "speed")


def compile_model(
    model: str | Path, board: Processor, *, name: str | None = None, session: Session | None = None,
    options: Options | None = None, measured: MeasuredCosts | None = None,
) -> Network:  # fmt: skip
    """From a model file to C source, for one board. Nothing is written.

    session: where the network is loaded; without one, in a session of its own. measured: instead of
    the costs beside the model. Raises ModelError, UnsupportedError or UsageError with a sentence
    for what cannot be compiled.
    """
    chosen = sizes.for_bound(options or Options())
    path = Path(model)
    if session is None:
        with Session() as own:
            return compile_model(
                path, board, name=name, session=own, options=chosen, measured=measured
            )
    if formats.is_compiled(path):
        return _open(path, board, name, session, chosen)
    source = read_simplified(path, board, name, session, chosen)
    target = target_of(board, chosen)
    costs = measured_costs.beside(path, target) if measured is None else measured

    def network(network_id: NetworkId) -> Network:
        compiled = _compile(source, board, session, chosen, costs)
        made = _generate(compiled, path, board, chosen, network_id)
        return replace(made, assumed=source.assumed, measured=costs)

    return _loaded(session, network)


def compile_covers(
    model: str | Path, board: Processor, *, session: Session, options: Options | None = None
) -> list[Network]:
    """Networks of a model in which each candidate for its layers occurs, for measuring these.

    Raises as `compile_model` does.
    """
    chosen = sizes.for_bound(options or Options())
    path = Path(model)
    source = read_simplified(path, board, None, session, chosen)

    def networks(network_id: NetworkId) -> list[Network]:
        backends = session.preference(board.core, chosen.backends)
        target = target_of(board, chosen)
        choosing = _choosing(source, board, session, chosen, target)
        covers = choose.covers(source.graph, backends, target, choosing)
        planned = (_plan(source, board, session, chosen, target, *cover) for cover in covers)
        return [_generate(each, path, board, chosen, network_id) for each in planned]

    return _loaded(session, networks)


def _loaded(session: Session, make: Callable[[NetworkId], T]) -> T:
    """What is made of a model in a session, without the backends that break their word."""
    with session.loading() as network_id:
        while True:
            try:
                return make(network_id)
            except BackendFault as fault:
                session.drop(fault)


def _open(
    path: Path, board: Processor, name: str | None, session: Session, options: Options
) -> Network:
    """From a file that holds a compiled model to C source."""
    from mcu_deploy import pmx

    saved = pmx.load(path)
    pmx.require_fit(saved.model, path, board, target_of(board, options), options)
    model = (
        saved.model if name is None else replace(saved.model, name=names.network_name(name, path))
    )
    with session.loading() as network_id, pmx.reading(path):
        pmx.give_data(saved.model, saved.data, session, network_id)
        return _generate(model, path, board, options, network_id)


def _compile(
    source: SimplifiedModel,
    board: Processor,
    session: Session,
    options: Options,
    measured: MeasuredCosts,
) -> CompiledModel:
    """From the simplified graph to a plan, by the backends that the session has now.

    Which kernels gain most in RAM is known of a cover, and which cover is best where these lie
    there, of prices that know it. So a cover is made twice: from one as if none lay there, and
    where time counts also from one as if all did; the better one is taken.
    """

    def planned(hot: frozenset[str] | None) -> CompiledModel:
        return _planned(source, board, session, options, measured, target_of(board, options, hot))

    cold = planned(frozenset())
    budget = _hot_bytes(board, options)
    if not budget:
        return cold
    starts = [cold, planned(None)] if options.optimize_for in _FOR_TIME else [cold]
    kernels = [hot_code.choose(start.plan, budget) for start in starts]
    found = [planned(hot) for hot in dict.fromkeys(map(hot_code.digests, kernels))]
    return min(found, key=lambda model: _time(model, budget))


def _time(model: CompiledModel, hot_bytes: int) -> int:
    """The cycles of a run by the prices, with so many bytes of kernels in RAM."""
    priced = model.target.hot
    kernels = hot_code.choose(model.plan, hot_bytes, priced)
    return model.plan.cycles + hot_code.correction(kernels, priced)


def _planned(
    source: SimplifiedModel, board: Processor, session: Session, options: Options,
    measured: MeasuredCosts, target: Target,
) -> CompiledModel:  # fmt: skip
    """The cover that is best by the prices on a target, and its plan."""
    tell("choosing kernels")
    graph, assignment = _covered(source, board, session, options, target, measured)
    return _plan(source, board, session, options, target, graph, assignment, measured)


def _covered(
    source: SimplifiedModel, board: Processor, session: Session, options: Options, target: Target,
    measured: MeasuredCosts = NOT_MEASURED,
) -> tuple[Graph, choose.Assignment]:  # fmt: skip
    """The graph with the cover that is best on a target."""
    choosing = _choosing(source, board, session, options, target)
    if measured.by_fingerprint:
        everyone = _everyone(session, board, options)
        known = functools.partial(_measured, everyone, target, measured)
        choosing = replace(choosing, measured=known)
    preference = session.preference(board.core, options.backends)
    return choose.assign(source.graph, preference, target, choosing)


def _choosing(
    source: SimplifiedModel, board: Processor, session: Session, options: Options, target: Target
) -> choose.Choosing:
    return choose.Choosing(
        _layer_backends(session, board, options),
        _strategy(options),
        not options.layers_all,
        options.optimize_for,
        functools.partial(_peak, source, board, options, target, {}),
    )


def _everyone(session: Session, board: Processor, options: Options) -> tuple[Backend, ...]:
    """Those who may be asked for conversions, which belong to no group: whoever has them, be it
    named or not."""
    preference = session.preference(board.core, options.backends)
    known = {backend.id for backend in preference}
    return (*preference, *(b for b in session.preference(board.core) if b.id not in known))


def _plan(
    source: SimplifiedModel, board: Processor, session: Session, options: Options, target: Target,
    graph: Graph, assignment: choose.Assignment, measured: MeasuredCosts = NOT_MEASURED,
) -> CompiledModel:  # fmt: skip
    """From a cover that was applied to a plan."""
    tell("planning memory")
    graph, assignment, exposure = _lay_out(source, graph, assignment)
    everyone = _everyone(session, board, options)
    selection = select(graph, assignment, everyone, target, measured)
    if source.smaller:
        largest = _at_size(source, graph, selection, exposure)
        at = functools.partial(_sized, board, session, options, target)
        others = {size: at(each) for size, each in source.smaller.items()}
        selection = sizes.joined(options.bound or 0, largest, others)
    calls = [call for _, call in (*selection.acquire, *selection.release)]
    pinned = memory_pools.settle(graph, exposure, source.pinned, options.pools)
    chosen = planning(board, options, pinned)
    if source.smaller:  # where the parts of a tensor lie depends on the size: all are copied
        memory = plan.make(graph, selection.choices, chosen, calls, exposure)
    else:
        choices, memory = plan.make_without_copies(
            graph, selection.choices, chosen, calls, exposure, options.optimize_for
        )
        selection = replace(selection, choices=choices)
    written = {e: source.imported.edge_name(e) for n in source.imported.nodes for e in n.writes}
    return CompiledModel(
        source.name, target, options, written, graph, assignment, selection, memory
    )


def _at_size(
    source: SimplifiedModel, graph: Graph, selection: Selection, exposure: plan.Exposure
) -> sizes.Sized:
    states = tuple(state.input for state in exposure.states)
    ends = exposure.inputs(graph), exposure.outputs(graph)
    return sizes.Sized(source.imported, graph, selection, *ends, states)


def _sized(
    board: Processor, session: Session, options: Options, target: Target, source: SimplifiedModel
) -> sizes.Sized:
    """A network at one of the sizes that its runs decide."""
    cover = _covered(source, board, session, options, target)
    graph, assignment, exposure = _lay_out(source, *cover)
    everyone = _everyone(session, board, options)
    return _at_size(source, graph, select(graph, assignment, everyone, target), exposure)


def _lay_out(
    source: SimplifiedModel, graph: Graph, assignment: choose.Assignment
) -> tuple[Graph, choose.Assignment, plan.Exposure]:
    """From a cover that was applied to a graph whose tensors lie as it wants them."""
    graph = layouts.assign(graph, assignment, {graph.outputs[at] for at in source.marks.cuts})
    graph, assignment = flow.number(graph, assignment)
    graph, exposure = exposing.settle(graph, source.marks, assignment)
    return naming.complete(graph), assignment, exposure


def _peak(
    source: SimplifiedModel, board: Processor, options: Options, target: Target,
    known: Facts, graph: Graph, assignment: choose.Assignment,
) -> int:  # fmt: skip
    """The bytes that a cover would need, by what its proposals say of their memory."""
    graph, assignment, exposure = _lay_out(source, graph, assignment)
    choices = unmade(graph, assignment, target, known)
    pinned = memory_pools.settle(graph, exposure, source.pinned, options.pools)
    return plan.make(graph, choices, planning(board, options, pinned), (), exposure).bytes


def _measured(
    backends: Sequence[Backend], target: Target, measured: MeasuredCosts,
    graph: Graph, assignment: choose.Assignment,
) -> dict[NodeId, Cost | None]:  # fmt: skip
    """What the layers of a cover cost, by the fingerprints of workloads that are made for that."""
    graph = layouts.assign(graph, assignment)
    selection = select(graph, assignment, backends, target, measured)
    return {
        c.layer.node.id: measured.of(c.workload)
        for c in selection.choices  # those of the graphs inside were asked for by themselves
        if isinstance(c, Choice) and not c.workload.is_view
    }


def _strategy(options: Options) -> str:
    """Who names backends says by that in which order they are to be taken."""
    if options.strategy != AUTO:
        return options.strategy
    return "greedy" if options.backends else "cost"


def _generate(
    compiled: CompiledModel, path: Path, board: Processor, options: Options, network_id: NetworkId
) -> Network:
    """From the plan to C source."""
    if options.no_float:
        floats.require_integers(compiled)
    tell("writing C")
    weights = options.weights
    if weights == AUTO:
        weights = "incbin" if isinstance(board, Board) else "array"
    sources = codegen.generate(
        compiled.graph, compiled.plan, compiled.name, gcc_command_line(board, compiled.name),
        weights, compiled.selection,
        kernels=hot_code.choose(
            compiled.plan, _hot_bytes(board, options), compiled.target.hot
        ),
    )  # fmt: skip
    return Network(**vars(compiled), model=path, sources=sources, id=network_id)


def _hot_bytes(board: Processor, options: Options) -> int:
    """How many bytes of kernels may be copied to RAM: as many as were asked for and are there."""
    if not options.hot_code or not isinstance(board, Board):
        return options.hot_code
    if not board.roles.hot_code:
        raise RequestError(
            f"--hot-code needs RAM that code may run from, and {board.called} has none. Leave it "
            "out, or give [roles] hot_code in a copy of the board's file."
        )
    return min(options.hot_code, board.memory(board.roles.hot_code).size)


# Who computes layers in C that any core runs.
_PORTABLE = "CpuRef"


def sources_anywhere(network: Network, board: Processor) -> NetworkSource:
    """A network's C for other build systems: weights as arrays, the same results whichever flags
    it is compiled with, and an error of one sentence on cores without what its kernels use."""
    command = gcc_command_line(board, network.name, "INCLUDE_FOLDER")
    needs = []
    if any(step.choice.workload.backend != _PORTABLE for step in network.plan.steps):
        has = {"__ARM_FEATURE_DSP": board.dsp, "__ARM_FP": board.fpu != "none"}
        needs = [macro for macro, is_there in has.items() if is_there]
    called = board.core if board.fpu == "none" else f"{board.core} with {board.fpu}"
    return codegen.generate(
        network.graph, network.plan, network.name, command, "array", network.selection,
        codegen.demands(called, needs), [*network.sources.kernels.values()],
    )  # fmt: skip


def planning(board: Processor, options: Options, pinned: Mapping[EdgeId, str]) -> plan.Planning:
    """How memory is planned for a board. pinned: the memories of the tensors that have to lie in
    one."""
    return plan.Planning(
        reuse=not options.layers_all,
        io=options.io,
        pointer_bytes=8 if board.is_host else 4,
        memory=options.memory,
        schedule=options.schedule,
        separate_state=options.arena == "shared",
        memories=memory_pools.memories(board, options.pools, pinned),
    )


def _layer_backends(session: Session, board: Processor, options: Options) -> dict[str, Backend]:
    """The backends that --layer-backend names, by layer."""
    return {
        layer: session.named(backend, board.core, f"--layer-backend {layer}={backend}")
        for layer, backend in options.layer_backends.items()
    }


def write_network(network: Network, board: Processor, directory: Path, debug: bool = False) -> Path:
    """Writes a network's sources, compiles them, and checks the object, which it returns.

    Raises HygieneError where the object breaks the rules (docs/check.md).
    """
    headers = directory / HEADERS
    headers.mkdir(parents=True, exist_ok=True)
    for name, content in network.sources.files.items():
        (headers if name.endswith(".h") else directory).joinpath(name).write_bytes(content)
    built = compile_network(board, directory, network.name, debug)
    findings = hygiene.check_object(built, board=board, expected_name=network.name)
    if findings:
        text = " ".join(finding.message for finding in findings[:5])
        raise HygieneError(
            f"The object of network {network.name!r} breaks the rules of an object file: {text} "
            + _blamed(board)
        )
    return built


def _blamed(board: Processor) -> str:
    """Who answers for an object that breaks the rules: a backend, or flags beside the core's."""
    fault = "a fault of the backend that made the code; report it with the model."
    own = () if board.is_host else compiler_flags(board.core, board.fpu, board.dsp, board.mve)
    added = " ".join(flag for flag in board.cflags if flag not in own)
    return (
        f"Leave out {added}; what is wrong without that is {fault}" if added else f"This is {fault}"
    )


def sha256_of(path: Path) -> str:
    """The hexadecimal SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()

"""The report of a build: flat totals at the top, one entry a layer, one a network."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from mcu_deploy.backends import measured
from mcu_deploy.backends.cost import Known
from mcu_deploy.backends.interface import CreationOptions
from mcu_deploy.boards import Board, Processor
from mcu_deploy.compiled import BuiltNetwork, CompiledModel, Network
from mcu_deploy.formats.imported import AssumedShape
from mcu_deploy.ir import EdgeId, Graph, NodeId
from mcu_deploy.options import Options
from mcu_deploy.passes import thinning
from mcu_deploy.plan import Plan, Step
from mcu_deploy.report import floats, memory, prices, symbols
from mcu_deploy.report.floats import FloatLayer
from mcu_deploy.report.model import (
    AssumedShapeReport,
    CodeReport,
    CostReport,
    ExtentReport,
    FrameReport,
    LayerReport,
    LayerRow,
    MeasuredReport,
    NetworkReport,
    PartitionReport,
    RamParts,
    RemovedReport,
    SizeReport,
)
from mcu_deploy.report.places import PoolReport, TensorReport
from mcu_deploy.report.whole import OptimizedReport, Report
from mcu_deploy.toolchain import FirmwareSizes, SecondCoreStacks, StackBound, Toolchain
from mcu_deploy.version import VERSION


def build_report(
    board: Processor,
    networks: Sequence[BuiltNetwork],
    options: Options,
    creation: CreationOptions,
    firmware: FirmwareSizes | None = None,
    stack: StackBound | None = None,
    board_file: str | None = None,
    second_stacks: SecondCoreStacks | None = None,
) -> Report:
    """The report of a build. Totals are sums over the networks.

    creation: the session's options. firmware, stack: where it has a firmware. board_file: the copy
    of a user's own board file in the build folder, relative to it. second_stacks: where lanes run
    on a second core of the board.
    """
    import onnx

    models = tuple(_network(board, n) for n in networks)
    arena = memory.joint_arena([n.network for n in networks], options.arena == "shared")
    second_stack = None if second_stacks is None else second_stacks.application.bytes
    time, no_time = prices.joint(models)
    return Report(
        model=", ".join(n.name for n in networks),
        board=board.name if isinstance(board, Board) else None,
        core=board.core,
        fpu=board.fpu,
        cflags=board.cflags,
        board_file=board_file,
        flash_bytes=sum(m.flash_bytes for m in models),
        ram_bytes=sum(m.ram_bytes - m.arena_bytes for m in models) + arena,
        arena=options.arena,
        arena_bytes=arena,
        arena_lower_bound_bytes=sum(m.arena_lower_bound_bytes for m in models),
        arena_ratio=models[0].arena_ratio if len(models) == 1 else None,
        stack_bytes=max(m.stack_bytes for m in models),
        firmware_flash_bytes=None if firmware is None else firmware.flash_bytes,
        firmware_ram_bytes=None if firmware is None else firmware.ram_bytes,
        firmware_stack_bytes=None if stack is None else stack.bytes,
        firmware_second_stack_bytes=second_stack,
        macs=sum(m.macs for m in models),
        instructions=None,
        priced_time=time,
        no_priced_time=no_time,
        layers=tuple(layer for m in models for layer in m.layers),
        float_layers=tuple(layer for m in models for layer in m.float_layers),
        assumed_shapes=tuple(shape for m in models for shape in m.assumed_shapes),
        networks=models,
        memories=() if firmware is None else firmware.memories,
        options=options,
        session=creation,
        tools={
            "mcu-deploy": VERSION,
            "compiler": Toolchain.for_board(board).version,
            "onnx": onnx.__version__,
        },
    )


def kept_model(network: Network) -> str:
    """Where a build keeps its copy of a network's model, relative to the build folder."""
    return f"obj/network_{network.name}{network.model.suffix.lower()}"


def kept_costs(network: Network) -> str:
    """Where a build keeps its copy of the network's measured costs: beside that of the model."""
    return f"obj/network_{network.name}{measured.SUFFIX}"


def _measured(network: Network) -> MeasuredReport | None:
    costs = network.measured
    if costs.file is None:
        return None
    workloads = [step.choice.workload for step in network.plan.steps]
    used = sum(w.costs.known is not Known.MODELLED and costs.has(w) for w in workloads)
    return MeasuredReport(costs.file.name, used)


def _network(board: Processor, built: BuiltNetwork) -> NetworkReport:
    network, plan, sizes = built.network, built.network.plan, built.sizes
    data = board.roles.data if isinstance(board, Board) else ""
    kept = prices.is_kept(network.target.memory, sizes.flash_parts)
    time, no_time = prices.of_network(board, network, kept=kept)
    used = symbols.measured(network.sources, built.object)

    def tensor(edge: EdgeId, name: str | None = None) -> TensorReport:
        return memory.tensor(network.graph, plan, edge, name=name)

    def tensors(edges: Iterable[EdgeId]) -> tuple[TensorReport, ...]:
        return tuple(tensor(edge) for edge in edges)

    return NetworkReport(
        name=network.name,
        model=network.model.name,
        kept_model=kept_model(network),
        source_sha256=network.graph.source_sha256,
        measured_costs=_measured(network),
        flash_bytes=sizes.flash_bytes,
        flash_parts=sizes.flash_parts,
        ram_bytes=sizes.ram_bytes,
        ram_parts=RamParts(
            arena=network.ram_bytes,
            data=sizes.data_bytes,
            instance=sizes.instance_bytes,
            tensors=sizes.tensors_bytes,
            stack=sizes.stack_bytes,
        ),
        arena_bytes=network.ram_bytes,
        arena_lower_bound_bytes=plan.lower_bound,
        arena_ratio=plan.ratio,
        memory=plan.memory,
        lanes=tuple(stretch.lanes for stretch in plan.parallel),
        memory_peak_bytes=plan.peak_bytes,
        memory_moved_bytes=sum(move.bytes for move in plan.moves),
        stack_bytes=built.stack.bytes,
        stack_path=tuple(FrameReport(*frame) for frame in built.stack.path),
        second_stack_bytes=0 if built.second_stack is None else built.second_stack.bytes,
        weights_bytes=len(network.sources.weights),
        macs=network.macs,
        assumed_shapes=_assumed_shapes(network.name, network.assumed),
        inputs=tensors(network.inputs),
        outputs=tensors(network.outputs),
        pools=tuple(PoolReport(p.name, p.bytes, p.memory or data) for p in plan.pools),
        pools_taken=network.options.pools.taken,
        positions=len(plan.program),
        buffers=memory.buffers(plan),
        kernels=used.kernels,
        constants=used.constants,
        hot_weights_bytes=sum({item.place: item.bytes for item in plan.hot}.values()),
        hot_code_bytes=sum(k.bytes for k in network.sources.kernels.values() if k.is_hot),
        waiting_code=tuple(
            CodeReport(symbol, k.layers, k.bytes, k.cycles, k.is_hot)
            for symbol, k in network.sources.kernels.items()
        ),
        priced_time=time,
        no_priced_time=no_time,
        kept=tuple(tensor(k.edge, k.name) for k in plan.exposure.kept),
        states=tuple(tensor(s.input, s.name) for s in plan.exposure.states),
        partitions=tuple(
            PartitionReport(
                part.name,
                tensors(part.inputs),
                tensors(part.outputs),
                tuple(
                    item.index
                    for position, item in enumerate(plan.program)
                    if position in part.items and isinstance(item, Step)
                ),
            )
            for part in plan.parts
        ),
        quantized=floats.is_quantized(network),
        float_layers=_float_layers(network),
        layers=tuple(
            _layer(network, step, position, holder, kept)
            for step, position, holder in zip(
                plan.steps, _positions(plan), plan.holders, strict=True
            )
        ),
        size=_size(network),
    )


def _size(network: CompiledModel) -> SizeReport | None:
    size = network.selection.size
    if size is None:
        return None
    edges = (*network.inputs, *network.outputs)
    extents = (
        ExtentReport(network.graph.edge_name(edges[e.tensor]), e.axis, str(e.formula))
        for e in size.extents
    )
    return SizeReport(size.least, size.most, tuple(extents))


def optimized_report(
    path: Path, bytes: int, model: CompiledModel, assumed: Iterable[AssumedShape]
) -> OptimizedReport:
    """The report of a .pmx file of this size."""
    return OptimizedReport(
        model=model.name,
        pmx=str(path),
        pmx_bytes=bytes,
        core=model.target.core,
        arena_bytes=model.plan.arena_bytes,
        arena_lower_bound_bytes=model.plan.lower_bound,
        macs=model.macs,
        float_layers=_float_layers(model),
        assumed_shapes=_assumed_shapes(model.name, assumed),
        layers=tuple(_row(model, step) for step in model.plan.steps),
    )


def _float_layers(model: CompiledModel) -> tuple[FloatLayer, ...]:
    """Of a quantized model, the layers that compute real numbers all the same."""
    return floats.float_layers(model) if floats.is_quantized(model) else ()


def _assumed_shapes(
    network: str, assumed: Iterable[AssumedShape]
) -> tuple[AssumedShapeReport, ...]:
    return tuple(
        AssumedShapeReport(network, a.input, a.dimension, a.size, a.shape) for a in assumed
    )


def _row(model: CompiledModel, step: Step) -> LayerRow:
    layer, workload = step.choice.layer, step.choice.workload
    macs = layer.macs * model.plan.times[step.index]
    return LayerRow(
        model.name, step.index, step.short, layer.name, layer.op, workload.backend, macs
    )


def _positions(plan: Plan) -> tuple[int, ...]:
    """Where each layer stands in the program."""
    return tuple(p for p, item in enumerate(plan.program) if isinstance(item, Step))


def _layer(
    network: Network, step: Step, position: int, holder: NodeId | None, kept: bool
) -> LayerReport:
    graph, plan = network.whole_graph, network.plan
    layer, workload = step.choice.layer, step.choice.workload
    return LayerReport(
        **vars(_row(network, step)),
        position=position,
        within=None if holder is None else graph.node(holder).short,
        cost=CostReport.of(prices.of_layer(workload.costs, kept=kept)),
        fingerprint=workload.fingerprint,
        constant_bytes=sum(c.value.nbytes for c in workload.constants),
        inputs=memory.operands(plan, step),
        scratch=memory.scratch(plan, step),
        overlaps=workload.in_place,
        nodes=graph.leaf_nodes(layer.node.id),
        removed=_removed(graph, layer.outputs[0].edge) if layer.outputs else None,
        outputs=tuple(memory.tensor(graph, plan, o.edge, step.index) for o in layer.outputs),
    )


def _removed(graph: Graph, edge: EdgeId) -> RemovedReport | None:
    gone = thinning.removed(graph, edge)
    return None if gone is None else RemovedReport(len(gone.indices), gone.size)

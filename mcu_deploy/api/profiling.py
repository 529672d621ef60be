"""`profile`: what an inference costs on a board, layer by layer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from mcu_deploy.agreement.made_up import random_samples
from mcu_deploy.api.counted import count
from mcu_deploy.api.folder import AnyFolder, BuildFolder, as_folder
from mcu_deploy.api.running import Connection, open_device
from mcu_deploy.api.sized import at_size, shapes
from mcu_deploy.backends.interface import LayerCount
from mcu_deploy.codegen.symbols import Symbols
from mcu_deploy.compiled import Network
from mcu_deploy.errors import BackendFault, McuDeployError, RequestError
from mcu_deploy.report import LayerReport, NetworkReport
from mcu_deploy.report.profile import LayerCost, Profile
from mcu_deploy.session import Session


def profile(
    build: AnyFolder,
    *,
    model: str | None = None,
    size: int | None = None,
    connection: Connection | None = None,
    session: Session | None = None,
) -> Profile:
    """Counts instructions of bench.elf in an emulator, or reads the counter of a board at a port.

    size: of the run, where each run decides one; the largest by default. session: with the backends
    of the build, whose profiling contexts are told of their layers.
    Raises UsageError for the host, where nothing counts.
    """
    folder = as_folder(build)
    entry = folder.network(model)
    chosen = connection or Connection()
    held: Mapping[str, Sequence[int]] = {}
    with folder.session(session) as own:
        if chosen.port is not None or size is not None:
            network = folder.compile_again(entry.name, own)
            if size is not None:
                at = at_size(folder, network, size, own)
                held = _held_shapes(network, size)
                entry, network = _entry_at(entry, at), at
        if chosen.port is not None:
            measured = on_board(folder, network, chosen, entry)
            measured = _beside(measured, folder, entry, chosen, held)
        else:
            measured = emulated(folder, entry, chosen, held)
        most = entry.size.most if entry.size else None
        return replace(measured, counters=_counters(entry, measured, own), size=size or most)


def _held_shapes(network: Network, size: int) -> dict[str, tuple[int, ...]]:
    """The shapes at a size by the symbols of the network's object that hold the largest ones."""
    prefix, count = Symbols(network.name).prefix, len(network.inputs)
    named = [(f"input{k}" if k < count else f"output{k - count}", shape)
             for k, shape in enumerate(shapes(network, size))]  # fmt: skip
    return {f"{prefix}{name}_shape": shape for name, shape in named if shape}


def _entry_at(entry: NetworkReport, network: Network) -> NetworkReport:
    """With the MACs of the network at its size; without any where it has other layers there."""
    steps, times = network.plan.steps, network.plan.times
    macs = [step.choice.layer.macs * times[step.index] for step in steps]
    if [step.choice.layer.op for step in steps] != [row.op for row in entry.layers]:
        macs = [0] * len(entry.layers)
    rows = (replace(row, macs=m) for row, m in zip(entry.layers, macs, strict=True))
    return replace(entry, layers=tuple(rows))


def emulated(
    folder: BuildFolder,
    entry: NetworkReport,
    chosen: Connection,
    held: Mapping[str, Sequence[int]] | None = None,
) -> Profile:
    """`profile` in an emulator, without the backends' counters. held: as `count` takes shapes."""
    if folder.board.is_host:
        raise RequestError(
            f"Nothing counts instructions on the host, for which {entry.name!r} was built. "
            "Build it for a microcontroller board, such as --board mps2-an386, and profile that."
        )
    if entry.name != folder.networks[0].name:
        raise RequestError(
            f"bench.elf runs the first network of the firmware, {folder.networks[0].name!r}. "
            f"Build {entry.name!r} alone to profile it."
        )
    counted = count(folder, chosen, held)
    counts, cycles, time = counted.counts, counted.cycles, counted.time
    made = _profile(folder, entry, counts.layers, counts.total, counted.source, counts.stack_bytes)
    made = replace(made, cores=counts.cores)
    if isinstance(cycles, str):
        return replace(made, no_cycles=cycles, no_time=cycles)
    layers = [
        replace(layer, cycles=of_layer, share=of_layer / cycles.total)
        for layer, of_layer in zip(
            made.layers, _padded(cycles.layers, len(made.layers)), strict=True
        )
    ]
    made = replace(made, cycles=cycles.total, timings=cycles.core, layers=tuple(layers))
    if isinstance(time, str):
        return replace(made, no_time=time)
    for i, of_layer in enumerate(time.layers):
        layers[i] = replace(layers[i], time=of_layer, share=of_layer.cycles / time.total.cycles)
    return replace(made, time=time.total, assumed=time.assumed, layers=tuple(layers))


def _beside(
    measured: Profile,
    folder: BuildFolder,
    entry: NetworkReport,
    chosen: Connection,
    held: Mapping[str, Sequence[int]],
) -> Profile:
    """What a board's counter says, with the modelled cycles where an emulator counts for them."""
    try:
        modelled = emulated(folder, entry, replace(chosen, port=None, emulator="qemu"), held)
    except McuDeployError as error:
        reason = str(error).rstrip(".")
        return replace(measured, no_cycles=reason, no_time=reason)
    layers = tuple(
        replace(layer, cycles=beside.cycles, time=beside.time)
        for layer, beside in zip(measured.layers, modelled.layers, strict=True)
    )
    return replace(
        measured, layers=layers, cycles=modelled.cycles, timings=modelled.timings,
        no_cycles=modelled.no_cycles, time=modelled.time, no_time=modelled.no_time,
        assumed=modelled.assumed,
    )  # fmt: skip


def on_board(
    folder: BuildFolder,
    network: Network,
    connection: Connection,
    entry: NetworkReport | None = None,
) -> Profile:
    """`profile` on the board at a port, without the backends' counters. entry: as the report has
    the network at its size."""
    name = network.name
    inputs = random_samples(network.graph, 1, edges=network.inputs).inputs[0]
    with open_device(folder, connection) as device:
        result = device.profile(name, list(inputs), repeat=3)
        for index, value in enumerate(inputs):
            device.write_input(name, index, value.tobytes())
        plain = device.run(name, repeat=3)
    total = plain.counter_least
    unit = result.counter_kind.name.lower()
    return _profile(
        folder, entry or folder.network(name), result.layers, total,
        f"the counter of {folder.board.name}", result.run.stack_used, unit,
    )  # fmt: skip


def _profile(
    folder: BuildFolder,
    entry: NetworkReport,
    costs: tuple[int, ...],
    total: int,
    source: str,
    stack_bytes: int | None,
    unit: str = "instructions",
) -> Profile:
    board = folder.board
    has_smlad = board.dsp and not board.mve
    layers = tuple(
        LayerCost(
            row.index, row.short, row.name, row.op, cost, row.macs, cost / total if total else 0.0,
            floor=None if not has_smlad or _is_float(row) else (row.macs + 1) // 2,
            is_measured=unit == "cycles",
        )
        for row, cost in zip(entry.layers, _padded(costs, len(entry.layers)), strict=True)
    )  # fmt: skip
    macs = sum(layer.macs for layer in layers)
    return Profile(entry.name, unit, source, total, macs, layers, stack_bytes)


def _padded(costs: tuple[int, ...], count: int) -> tuple[int, ...]:
    """Counts end with the last layer that ran."""
    return (*costs, *(0,) * (count - len(costs)))


def _is_float(row: LayerReport) -> bool:
    return any(tensor.dtype.startswith("float") for tensor in row.outputs)


class _Counters:
    """Where a backend's profiling context puts its counters."""

    def __init__(self) -> None:
        self.values: dict[str, int] = {}

    def add_counter(self, name: str, value: int) -> None:
        self.values[name] = value


def _counters(
    entry: NetworkReport, measured: Profile, session: Session
) -> dict[str, dict[str, int]]:
    """What the backends make of the counts of their layers."""
    backends = {row.index: row.backend for row in entry.layers}
    found: dict[str, dict[str, int]] = {}
    for backend_id in dict.fromkeys(backends.values()):
        if not session.registry.is_registered(backend_id):
            continue
        counters = _Counters()
        counts = [
            LayerCount(c.index, c.name, c.op, c.macs, c.cost, measured.unit)
            for c in measured.layers
            if backends[c.index] == backend_id
        ]
        try:
            backend = session.registry.create(backend_id)
            context = backend.create_profiling_context(session.options, counters)
            if context is not None:
                context.layers_measured(measured.network, counts)
        except BackendFault as fault:
            session.drop(fault, "What it would have counted is missing.")
        if counters.values:
            found[backend_id] = counters.values
    return found

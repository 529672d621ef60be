"""`profile`: what an inference costs on a board, layer by layer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from mcu_deploy.api.counted import count
from mcu_deploy.api.folder import AnyFolder, BuildFolder, as_folder
from mcu_deploy.api.running import Connection, open_device
from mcu_deploy.backends.interface import LayerCount
from mcu_deploy.compiled import Network
from mcu_deploy.device.modelling import BoardTime
from mcu_deploy.errors import BackendFault, McuDeployError, RequestError
from mcu_deploy.files.samples import random_samples
from mcu_deploy.report import LayerReport, NetworkReport
from mcu_deploy.report.tables import Table, Tabled, number
from mcu_deploy.session import Session


@dataclass(frozen=True)
class LayerCost:
    """A layer's cost in `Profile.unit`, its multiply-accumulates and its share of the total.

    short: the layer's own name; name: the model's. cycles: modelled without wait states; time: on
    the board, modelled with those of its memories; None where they are not known.
    floor: the instructions (and cycles) that its MACs take at least: two each of SMLAD; None for
    layers in float, and on cores without it or with Helium. share: of a board's counter, or of the
    modelled time, or of the modelled cycles, where they are known. is_measured: `cost` is cycles.
    """

    index: int
    short: str
    name: str
    op: str
    cost: int
    macs: int
    share: float
    cycles: int | None = None
    floor: int | None = None
    is_measured: bool = False
    time: BoardTime | None = None

    @property
    def above_floor(self) -> int | None:
        """The distance of the cycles from the floor."""
        cycles = self.cost if self.is_measured else self.cycles
        return None if cycles is None or self.floor is None else cycles - self.floor

    @property
    def per_mac(self) -> float | None:
        return self.cost / self.macs if self.macs else None


@dataclass(frozen=True, repr=False)
class Profile(Tabled):
    """One inference: the total of a run without a hook, and the layers.

    unit: "instructions" from an emulator, "cycles" or "ticks" from a board's counter; never mixed.
    Beside a board's counter stand the cycles that are modelled of bench.elf in an emulator.
    counters: what the backends' profiling contexts added, by backend and name. cores: the total of
    each core that took part, without waiting for the other; `total` is that of the first.
    cycles: modelled for the first core, by the timings of the core `timings`; where they are None,
    no_cycles is a clause that says why. time: on the board at the clock that it is rated for,
    modelled with the wait states of its memories; where it is None, no_time says why. assumed: the
    memories that were taken to answer at once, because the board's file does not say how they do.
    """

    network: str
    unit: str
    source: str
    total: int
    macs: int
    layers: tuple[LayerCost, ...]
    stack_bytes: int | None
    counters: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    cores: tuple[int, ...] = ()
    cycles: int | None = None
    timings: str = ""
    no_cycles: str = ""
    time: BoardTime | None = None
    no_time: str = ""
    assumed: tuple[str, ...] = ()

    @property
    def work(self) -> int:
        """What all cores do together."""
        return sum(self.cores) or self.total

    @property
    def outside(self) -> int:
        """What is not in any layer: argument checks, copies, the calls themselves."""
        return max(0, self.work - sum(layer.cost for layer in self.layers))

    @property
    def overhead(self) -> float:
        """The share of the work that is in no layer."""
        return self.outside / self.work if self.work else 0.0

    @property
    def speed_up(self) -> float:
        """All layers one after the other, over the longer of the cores."""
        alone = sum(layer.cost for layer in self.layers)
        return alone / max(self.cores) if len(self.cores) > 1 else 1.0

    @property
    def waits(self) -> bool:
        """Whether the core waits for its memories, as far as that is modelled."""
        return self.time is not None and self.time.code + self.time.data > 0

    def table(self, wide: bool = False) -> Table:
        """A line for each layer, what the model calls it at the end, and the totals below.

        With cycles and their floor a line is full: the operator then stands in the wide table only,
        and so do MACs and floor where the time with wait states is shown.
        """
        layers = self.layers
        modelled = "modelled" if self.unit == "cycles" else "cycles"
        has_cycles = self.cycles is not None
        has_floor = any(layer.above_floor is not None for layer in layers)
        waits = self.waits
        times = [layer.time or BoardTime(0, 0, 0, 1) for layer in layers]
        roomy = wide or not waits
        columns = [
            ("", True, [str(layer.index) for layer in layers]),
            ("layer", True, [layer.short for layer in layers]),
            ("operator", wide or not (has_floor or waits), [layer.op for layer in layers]),
            (self.unit, True, [number(layer.cost or None) for layer in layers]),
            (modelled, has_cycles, [number(layer.cycles or None) for layer in layers]),
            ("on board", waits, [number(time.cycles or None) for time in times]),
            ("ms", waits, [f"{time.milliseconds:.3f}" for time in times]),
            ("code", waits, [f"{time.code_share:.1%}" for time in times]),
            ("data", waits, [f"{time.data_share:.1%}" for time in times]),
            ("share", True, [f"{layer.share:.1%}" for layer in layers]),
            ("MACs", roomy, [number(layer.macs or None) for layer in layers]),
            ("floor", has_floor and roomy, [number(layer.floor or None) for layer in layers]),
            ("above it", has_floor and roomy, [number(x.above_floor or None) for x in layers]),
            (
                "per MAC",
                not has_floor and roomy,
                [f"{x.per_mac:.2f}" if x.per_mac else "" for x in layers],
            ),
            ("in the model", True, [layer.name for layer in layers]),
        ]
        shown = {title: cells for title, is_shown, cells in columns if is_shown}
        numbers = frozenset(shown) - {"layer", "operator", "in the model"}
        totals = [_total(self.total, self.unit, self.macs)]
        if self.cycles is not None:
            totals.append(_total(self.cycles, "modelled cycles", self.macs))
        if self.time is not None:
            totals.append(_time(self.time))
        title = f"{self.network}: {self.unit} counted by {self.source}"
        rows = tuple(zip(*shown.values(), strict=True))
        return Table(title, tuple(shown), rows, numbers, tuple(totals))


def profile(
    build: AnyFolder,
    *,
    model: str | None = None,
    connection: Connection | None = None,
    session: Session | None = None,
) -> Profile:
    """Counts instructions of bench.elf in an emulator, or reads the counter of a board at a port.

    session: with the backends of the build, whose profiling contexts are told of their layers.
    Raises UsageError for the host, where nothing counts.
    """
    folder = as_folder(build)
    if session is None:
        with folder.session() as own:
            return profile(folder, model=model, connection=connection, session=own)
    entry = folder.network(model)
    chosen = connection or Connection()
    if chosen.port is not None:
        network = folder.compile_again(entry.name, session)
        measured = _beside(on_board(folder, network, chosen), folder, entry, chosen)
    else:
        measured = emulated(folder, entry, chosen)
    return replace(measured, counters=_counters(entry, measured, session))


def emulated(folder: BuildFolder, entry: NetworkReport, chosen: Connection) -> Profile:
    """`profile` in an emulator, without the backends' counters."""
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
    counted = count(folder, chosen)
    counts, cycles, time = counted.counts, counted.cycles, counted.time
    made = _profile(
        folder, entry, counts.layers, counts.total, counts.unit, counted.source, counts.stack_bytes
    )
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
    measured: Profile, folder: BuildFolder, entry: NetworkReport, chosen: Connection
) -> Profile:
    """What a board's counter says, with the modelled cycles where an emulator counts for them."""
    try:
        modelled = emulated(folder, entry, replace(chosen, port=None, emulator="qemu"))
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


def on_board(folder: BuildFolder, network: Network, connection: Connection) -> Profile:
    """`profile` on the board at a port, without the backends' counters."""
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
        folder, folder.network(name), result.layers, total, unit,
        f"the counter of {folder.board.name}", result.run.stack_used,
    )  # fmt: skip


def _profile(
    folder: BuildFolder,
    entry: NetworkReport,
    costs: tuple[int, ...],
    total: int,
    unit: str,
    source: str,
    stack_bytes: int | None,
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


def _total(count: int, unit: str, macs: int) -> str:
    per_mac = f" for {macs:,} MACs, {count / macs:.2f} per MAC" if macs else ""
    return f"total {count:,} {unit}{per_mac}"


def _time(time: BoardTime) -> str:
    clock = f"{time.clock_hz / 1e6:g} MHz"
    if time.code + time.data == 0:
        return f"modelled time {time.milliseconds:.3f} ms at {clock}: no access waits"
    return (
        f"modelled time {time.milliseconds:.3f} ms at {clock}: {time.cycles:,} cycles on board, "
        f"of which {time.code_share:.1%} wait for code and {time.data_share:.1%} for data"
    )


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

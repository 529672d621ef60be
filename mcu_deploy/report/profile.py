"""What an inference was counted to take, layer by layer, and what is modelled of that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mcu_deploy.device.modelling import BoardTime
from mcu_deploy.report.tables import Table, Tabled, number


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
    def on_board(self) -> int | None:
        """The modelled cycles, with those that the core waits where these are known."""
        return self.cycles if self.time is None else self.time.cycles

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
    size: that of the run, where each run decides one.
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
    size: int | None = None

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

    @property
    def on_board(self) -> int | None:
        """The modelled cycles, with those that the core waits where these are known."""
        return self.cycles if self.time is None else self.time.cycles

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on what is missing, or taken for granted."""
        notes = []
        if self.no_cycles:
            notes.append(f"No cycles are modelled: {self.no_cycles}.")
        elif self.no_time:
            notes.append(f"No time on the board is modelled: {self.no_time}.")
        if self.assumed:
            names = " and ".join(self.assumed)
            notes.append(f"{names}: taken to answer at once, as the board's file does not say.")
        return tuple(notes)

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

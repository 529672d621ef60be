"""Two builds beside each other: their totals, and layer by layer."""

from __future__ import annotations

from dataclasses import dataclass

from mcu_deploy.report.page.builds import Side
from mcu_deploy.report.page.layers import LayerView
from mcu_deploy.report.page.networks import NetworkPage
from mcu_deploy.report.tables import Table, Tabled, shown, signed


@dataclass(frozen=True)
class Difference:
    """A figure of two builds. None where one of them does not know it. unit: "" or what stands
    behind it; places: behind the point."""

    what: str
    this: float | None
    other: float | None
    how: str = ""
    places: int = 0

    @property
    def change(self) -> float | None:
        """This build's less the other's."""
        return None if self.this is None or self.other is None else self.this - self.other

    @property
    def percent(self) -> float | None:
        """The change in percent of the other's."""
        if self.change is None or not self.other:
            return None
        return 100 * self.change / self.other


@dataclass(frozen=True)
class LayerPair:
    """A layer of two builds, by its short name. where: "both", "this" or "other"."""

    short: str
    where: str
    kernels: tuple[str, str]
    cycles: Difference
    flash: Difference


@dataclass(frozen=True)
class NetworkPair:
    """Networks of two builds that are one model, or called alike."""

    this: NetworkPage
    other: NetworkPage
    layers: tuple[LayerPair, ...]


@dataclass(frozen=True, repr=False)
class Comparison(Tabled):
    """This build beside another one. alone: networks that only one of them has."""

    this: Side
    other: Side
    totals: tuple[Difference, ...]
    networks: tuple[NetworkPair, ...]
    alone: tuple[str, ...]

    def table(self) -> Table:
        """A line for each total, and the difference: what this build has more."""
        rows = tuple(
            (
                total.what, total.how,
                *(shown(value, total.places) for value in (total.this, total.other)),
                signed(total.change, total.places),
            )
            for total in self.totals
        )  # fmt: skip
        numbers = (self.this.called, self.other.called, "difference")
        title = f"{self.this.called} beside {self.other.called}"
        return Table(title, ("", "", *numbers), rows, frozenset(numbers), self.alone)


def compare(this: Side, other: Side) -> Comparison:
    """Matches networks by name, or the only ones that there are, and layers by short name."""
    pairs = _pairs(this.networks, other.networks)
    matched = {id(n) for pair in pairs for n in pair}
    alone = [
        f"{network.report.name} (only in {side.called})"
        for side in (this, other)
        for network in side.networks
        if id(network) not in matched
    ]
    networks = tuple(NetworkPair(a, b, _layers(a, b)) for a, b in pairs)
    return Comparison(this, other, _totals(this, other), networks, tuple(alone))


def _pairs(
    these: tuple[NetworkPage, ...], others: tuple[NetworkPage, ...]
) -> list[tuple[NetworkPage, NetworkPage]]:
    if len(these) == len(others) == 1:
        return [(these[0], others[0])]
    named = {network.report.name: network for network in others}
    return [(n, named[n.report.name]) for n in these if n.report.name in named]


def _totals(this: Side, other: Side) -> tuple[Difference, ...]:
    a, b = this.report, other.report
    profiles = this.networks[0].profile, other.networks[0].profile
    counts = [None if p is None else p.total for p in profiles]
    cycles = [None if p is None else p.cycles for p in profiles]
    times = [p.time.milliseconds if p is not None and p.time else None for p in profiles]
    unit = next((p.unit for p in profiles if p is not None), "instructions")
    found = (
        Difference("flash", a.flash_bytes, b.flash_bytes, "bytes, measured"),
        Difference("RAM", a.ram_bytes, b.ram_bytes, "bytes, measured"),
        Difference("arena", a.arena_bytes, b.arena_bytes, "bytes, planned"),
        Difference("stack", a.stack_bytes, b.stack_bytes, "bytes, bound"),
        Difference("layers", len(a.layers), len(b.layers)),
        Difference("MACs", a.macs, b.macs),
        Difference(unit, counts[0], counts[1], "counted"),
        Difference("cycles", cycles[0], cycles[1], "modelled, without wait states"),
        Difference("cycles on board", this.cycles, other.cycles, "modelled"),
        Difference("milliseconds", times[0], times[1], "modelled", 3),
    )
    return tuple(d for d in found if d.this is not None or d.other is not None)


def _layers(this: NetworkPage, other: NetworkPage) -> tuple[LayerPair, ...]:
    ours = {view.layer.short: view for view in this.layers}
    theirs = {view.layer.short: view for view in other.layers}
    return tuple(
        _layer(short, ours.get(short), theirs.get(short)) for short in dict.fromkeys(ours | theirs)
    )


def _layer(short: str, this: LayerView | None, other: LayerView | None) -> LayerPair:
    where = "both" if this and other else "this" if this else "other"
    return LayerPair(
        short,
        where,
        (_kernels(this), _kernels(other)),
        Difference("cycles", _cycles(this), _cycles(other)),
        Difference(
            "flash", None if this is None else this.flash, None if other is None else other.flash
        ),
    )


def _cycles(view: LayerView | None) -> int | None:
    return None if view is None or view.counted is None else view.counted.on_board


def _kernels(view: LayerView | None) -> str:
    if view is None:
        return ""
    return view.taken or view.layer.backend

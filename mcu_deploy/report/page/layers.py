"""A layer as the page shows it: what it costs, why it is computed so, and what else could have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mcu_deploy.report.explain import CandidateRow, Explanation
from mcu_deploy.report.model import LayerReport, NetworkReport, SymbolReport
from mcu_deploy.report.profile import LayerCost, Profile


@dataclass(frozen=True)
class Offer:
    """What could have computed a layer. cost: of `nodes` nodes, with its unit, or "". times: the
    cost over that of what was taken, where both are of one node and unit."""

    backend: str
    title: str
    nodes: int
    cost: str
    times: float | None


@dataclass(frozen=True)
class LayerPiece:
    """A kernel or constant of a layer. with_layers: the others that use it; is_first: its bytes
    count here."""

    symbol: str
    bytes: int
    with_layers: tuple[str, ...]
    is_first: bool


@dataclass(frozen=True)
class LayerView:
    """A layer of the page. flash: of the kernels and constants that it is the first to use. why: a
    clause. offers: those that lost."""

    layer: LayerReport
    counted: LayerCost | None
    kernels: tuple[LayerPiece, ...]
    constants: tuple[LayerPiece, ...]
    flash: int
    why: str
    taken: str
    offers: tuple[Offer, ...]
    refusals: tuple[tuple[str, str], ...]


def views(
    network: NetworkReport, profile: Profile | None, explained: Sequence[Explanation], goal: str
) -> tuple[LayerView, ...]:
    """The layers of a network. profile, explained: as far as they are known."""
    by_step = {row.step: row for row in explained if row.step is not None}
    shorts = {layer.index: layer.short for layer in network.layers}
    return tuple(
        _view(
            layer,
            None if profile is None else profile.layers[at],
            _pieces(layer, network.kernels, shorts),
            _pieces(layer, network.constants, shorts),
            by_step.get(layer.index),
            goal,
        )
        for at, layer in enumerate(network.layers)
    )


def _view(
    layer: LayerReport, counted: LayerCost | None, kernels: tuple[LayerPiece, ...],
    constants: tuple[LayerPiece, ...], row: Explanation | None, goal: str,
) -> LayerView:  # fmt: skip
    flash = sum(piece.bytes for piece in (*kernels, *constants) if piece.is_first)
    taken = row.candidates[0] if row is not None and row.candidates else None
    lost = () if row is None else row.candidates[1:]
    return LayerView(
        layer, counted, kernels, constants, flash,
        "" if row is None else _why(row, goal),
        "" if taken is None else taken.title,
        tuple(_offer(c, taken) for c in lost),
        () if row is None else tuple((r.backend, r.reason) for r in row.refusals),
    )  # fmt: skip


def _pieces(
    layer: LayerReport, symbols: Sequence[SymbolReport], shorts: Mapping[int, str]
) -> tuple[LayerPiece, ...]:
    return tuple(
        LayerPiece(
            s.symbol, s.bytes,
            tuple(shorts[i] for i in s.layers if i != layer.index and i in shorts),
            s.layers[0] == layer.index,
        )
        for s in symbols
        if layer.index in s.layers
    )  # fmt: skip


def _offer(candidate: CandidateRow, taken: CandidateRow | None) -> Offer:
    cost = candidate.cost
    said = "" if cost is None else f"{cost.value:,} {cost.known} {cost.unit}"
    return Offer(
        candidate.backend, candidate.title, candidate.nodes, said, _times(candidate, taken)
    )


def _times(candidate: CandidateRow, taken: CandidateRow | None) -> float | None:
    if taken is None or candidate.nodes != taken.nodes:
        return None
    cost, best = candidate.cost, taken.cost
    if cost is None or best is None or cost.unit != best.unit or not best.value:
        return None
    return cost.value / best.value


def _why(row: Explanation, goal: str) -> str:
    """Why a layer is computed as it is, a clause."""
    if row.chosen_by == "inserted":
        return "converts between memory orders"
    if row.chosen_by == "--layer-backend":
        return "asked for by --layer-backend"
    taken, lost = row.candidates[:1], row.candidates[1:]
    if not taken or not lost:
        return "the only offer"
    if taken[0].nodes > 1:
        return f"{taken[0].nodes} nodes in one, best for {goal}"
    rivals = [t for c in lost if (t := _times(c, taken[0])) is not None]
    if row.chosen_by == "greedy" or not rivals:
        return f"first of {len(row.candidates)} offers"
    faster = sum(times < 1 for times in rivals)
    if not faster:
        return f"fastest of {len(rivals) + 1}"
    return f"best for {goal}; {faster} of {len(rivals) + 1} faster"

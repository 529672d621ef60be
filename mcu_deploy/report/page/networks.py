"""A network as the page shows it: pictures and rows; the template has no arithmetic of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mcu_deploy.compiled import CompiledModel
from mcu_deploy.ir import Graph
from mcu_deploy.report.explain import Explanation
from mcu_deploy.report.model import NetworkReport
from mcu_deploy.report.page.arena import Arena, Unplaced, arenas, unplaced
from mcu_deploy.report.page.fusion import Fusion, fusion
from mcu_deploy.report.page.layers import LayerView, views
from mcu_deploy.report.profile import Profile


@dataclass(frozen=True)
class NetworkPage:
    """A network: its report, and pictures and rows that are made of it.

    profile: None where nothing counted; no_profile says why. fusion: None in a notebook.
    """

    report: NetworkReport
    arenas: tuple[Arena, ...]
    unplaced: tuple[Unplaced, ...]
    layers: tuple[LayerView, ...]
    profile: Profile | None = None
    no_profile: str = ""
    fusion: Fusion | None = None

    @property
    def has_floor(self) -> bool:
        return any(v.counted is not None and v.counted.floor for v in self.layers)

    @property
    def most_share(self) -> float:
        return max((v.counted.share for v in self.layers if v.counted is not None), default=0.0)

    @property
    def layer_flash(self) -> int:
        return sum(view.flash for view in self.layers)


def network_page(
    network: NetworkReport, goal: str, *, profile: Profile | None = None, no_profile: str = "",
    model: CompiledModel | None = None, source: Graph | None = None,
    explained: Sequence[Explanation] = (),
) -> NetworkPage:  # fmt: skip
    """A network of a build. model, source: compiled, and as it was imported."""
    return NetworkPage(
        network, arenas(network), unplaced(network),
        views(network, profile, explained, goal), profile, no_profile,
        None if model is None else fusion(model, source),
    )  # fmt: skip

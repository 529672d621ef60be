"""The builds for each goal as points: flash across, cycles upward."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mcu_deploy.report.front import Front, GoalBuild

# Builds nearer to each other than this, in percent across and pixels upward, share a label.
_NEAR = (4.0, 16.0)
# A label is at most so wide, in percent, but where many goals share one.
_LABEL_WIDTH = 20.0


@dataclass(frozen=True)
class Point:
    """A build: x in percent, y in pixels from the top."""

    x: float
    y: float
    on_front: bool
    is_asked: bool


@dataclass(frozen=True)
class PointLabel:
    """What stands beside points that lie close together. is_left: to the left of them."""

    text: str
    x: float
    y: float
    is_left: bool


@dataclass(frozen=True)
class Scatter:
    """The picture, so many pixels high; cycles begin at 0. flash, cycles: what the axes say, with
    its place."""

    height: int
    points: tuple[Point, ...]
    labels: tuple[PointLabel, ...]
    flash: tuple[tuple[int, float], ...]
    cycles: tuple[tuple[int, float], ...]


_HEIGHT = 200  # in pixels
_NARROW = 288  # the least that the picture is wide, on a phone
_LETTER, _LINE, _GAP = 7, 15, 14  # of labels, and from a point to its label


def scatter(front: Front) -> Scatter | None:
    """The picture of a front; None where no two builds differ in flash or cycles."""
    builds = [b for b in front.builds if not b.refusal and b.cycles]
    flashes = sorted({b.flash_bytes for b in builds})
    levels = sorted({b.cycles or 0 for b in builds})
    if len({(b.flash_bytes, b.cycles) for b in builds}) < 2:
        return None
    wide = max(1, flashes[-1] - flashes[0])

    def x(flash: int) -> float:
        return 15 + 70 * (flash - flashes[0]) / wide

    def y(cycles: int) -> float:
        return _HEIGHT - 25 - (_HEIGHT - 60) * cycles / levels[-1]

    def place(build: GoalBuild) -> tuple[float, float]:
        return x(build.flash_bytes), y(build.cycles or 0)

    clusters: list[list[GoalBuild]] = []
    for build in builds:
        here = place(build)
        near = [
            c
            for c in clusters
            if all(abs(a - b) < n for a, b, n in zip(here, place(c[0]), _NEAR, strict=True))
        ]
        if near:
            near[0].append(build)
        else:
            clusters.append([build])
    places = [place(c[0]) for c in clusters]
    labels: list[PointLabel] = []
    for cluster, here in zip(clusters, places, strict=True):
        text, is_left = ", ".join(b.goal for b in cluster), _is_left(here, places)
        across = [place(b)[0] for b in cluster]
        beside = PointLabel(text, min(across) if is_left else max(across), here[1], is_left)
        labels.append(_label(beside, labels))
    points = [Point(*place(b), b.on_front, b.is_asked) for b in builds]
    return Scatter(
        _HEIGHT, tuple(points), tuple(labels),
        tuple((f, x(f)) for f in (flashes[0], flashes[-1])),
        tuple((c, y(c)) for c in dict.fromkeys((0, levels[-1]))),
    )  # fmt: skip


def _is_left(here: tuple[float, float], places: list[tuple[float, float]]) -> bool:
    """Whether a label stands to the left of its point: towards the middle, but where other points
    are in its way there and none on the other side."""
    level = [x - here[0] for x, y in places if abs(y - here[1]) < _NEAR[1]]
    left = any(-_LABEL_WIDTH < by < 0 for by in level)
    right = any(0 < by < _LABEL_WIDTH for by in level)
    return right if left != right else here[0] > 50


def _label(beside: PointLabel, others: Sequence[PointLabel]) -> PointLabel:
    """Beside its point, or somewhat above or below it where two would lie on each other."""
    tried = (replace(beside, y=beside.y + lift * _LINE) for lift in (0, -1, 1, -2, 2))
    return next((at for at in tried if not any(_meet(at, other) for other in others)), beside)


def _meet(one: PointLabel, other: PointLabel) -> bool:
    """Whether two labels lie on each other where the picture is narrow."""
    (a, b), (c, d) = _ends(one), _ends(other)
    return a < d and c < b and abs(one.y - other.y) < _LINE


def _ends(label: PointLabel) -> tuple[float, float]:
    point, wide = label.x / 100 * _NARROW, len(label.text) * _LETTER + _GAP
    return (point - wide, point) if label.is_left else (point, point + wide)

"""`report`: a build as one page of HTML, alone or beside another build."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mcu_deploy import formats, report
from mcu_deploy.api import fronts, profiling
from mcu_deploy.api.folder import BuildFolder, ObjectFolder, open_objects
from mcu_deploy.api.running import Connection
from mcu_deploy.boards import Board
from mcu_deploy.compiled import Network
from mcu_deploy.errors import McuDeployError, RequestError, UsageError, one_line
from mcu_deploy.ir import Graph
from mcu_deploy.output import require_writable, write_file
from mcu_deploy.output.progress import tell
from mcu_deploy.report import NetworkReport
from mcu_deploy.report.front import Front
from mcu_deploy.report.page.arena import arenas
from mcu_deploy.report.page.builds import Side, bars
from mcu_deploy.report.page.comparing import Comparison, compare
from mcu_deploy.report.page.networks import NetworkPage, network_page
from mcu_deploy.report.page.rendering import Page, render
from mcu_deploy.report.page.scatter import scatter
from mcu_deploy.report.page.texts import drawing
from mcu_deploy.report.profile import Profile
from mcu_deploy.session import Session

_FIRST_ONLY = "bench.elf runs the first network of a firmware."

AnyObjects = ObjectFolder | str | os.PathLike[str]


@dataclass(frozen=True)
class Reported:
    """What a page is made of. html: the page."""

    folder: ObjectFolder
    side: Side
    front: Front
    comparison: Comparison | None
    html: str


def write_report(
    build: AnyObjects,
    html: str | Path,
    *,
    compare_with: AnyObjects | None = None,
) -> Reported:
    """Writes a build's report as one HTML file that needs nothing else: no network, no script of
    others.

    build: a build folder, of a board or of a core alone. compare_with: another one, to stand beside
    it. What an inference takes is counted in an emulator, where
    one has the board, and the models are built for the other goals too, in temporary folders.
    Raises RequestError for what is no build folder, UsageError where `html` may not be written.
    """
    path = Path(html)
    if path.is_dir():
        raise UsageError(f"{path} is a folder; give the name of a file, such as report.html.")
    require_writable(path)
    made = make_report(build, compare_with=compare_with)
    write_file(path, made.html.encode())
    return made


def make_report(
    build: AnyObjects,
    *,
    compare_with: AnyObjects | None = None,
) -> Reported:
    """`write_report`, without the file."""
    folder = _opened(build)
    other = None if compare_with is None else _opened(compare_with)
    called = _names(folder, other)
    with folder.session() as session:
        networks = _compiled(folder, session, called[0])
        side, profile = _side(folder, networks, called[0])
        # An emulator counts the first network, and goals are compared by what all of them take.
        counted = profile if len(networks) == 1 else None
        front = fronts.front(folder, networks, session, profile=counted)
    comparison = None
    if other is not None:
        with other.session() as session:
            networks = _compiled(other, session, called[1])
        theirs, _ = _side(other, networks, called[1])
        comparison = compare(_widened(side, theirs), _widened(theirs, side))
    with drawing():
        page = Page(
            side, _title(folder), _facts(folder), bars(folder.report, folder.board), front,
            scatter(front), comparison,
        )  # fmt: skip
        return Reported(folder, side, front, comparison, render(page))


def _opened(build: AnyObjects) -> ObjectFolder:
    if isinstance(build, ObjectFolder):
        return build
    folder = open_objects(build)
    if isinstance(folder.board, Board):
        return BuildFolder(folder.directory, folder.board, folder.report)
    return folder


def _names(folder: ObjectFolder, other: ObjectFolder | None) -> tuple[str, str]:
    """What the page calls this build and the other: the ends of their paths that differ."""
    this = folder.directory.parts
    if other is None:
        return this[-1], ""
    that = other.directory.parts
    if this == that:
        raise RequestError(
            f"{folder.directory} cannot stand beside itself; give another build with --compare."
        )
    count = next((n for n in range(1, len(this) + 1) if this[-n:] != that[-n:]), len(this))
    return str(Path(*this[-count:])), str(Path(*that[-count:]))


def _compiled(folder: ObjectFolder, session: Session, called: str) -> list[Network]:
    tell(f"reading {called}")
    return [folder.compile_again(entry.name, session) for entry in folder.networks]


def _side(
    folder: ObjectFolder, networks: Sequence[Network], called: str
) -> tuple[Side, Profile | None]:
    """A build with its networks, the first of which is counted."""
    tell(f"counting an inference of {called}")
    profile, reason = _profile(folder)
    pages: list[NetworkPage] = []
    for entry, network in zip(folder.networks, networks, strict=True):
        is_counted = profile is not None and profile.network == entry.name
        with drawing():
            page = network_page(
                entry, folder.report.options.optimize_for,
                profile=profile if is_counted else None,
                no_profile="" if is_counted else reason or _FIRST_ONLY,
                model=network, source=_source(folder, entry), explained=report.explain(network),
            )  # fmt: skip
        pages.append(page)
    return Side(called, folder.report, folder.board, tuple(pages)), profile


def _profile(folder: ObjectFolder) -> tuple[Profile | None, str]:
    """What was counted, or a sentence that says why nothing was."""
    if not isinstance(folder, BuildFolder):
        return None, "The build is for a core, and has no firmware that could run."
    try:
        return profiling.emulated(folder, folder.networks[0], Connection()), ""
    except McuDeployError as error:
        return None, one_line(str(error))


def _source(folder: ObjectFolder, entry: NetworkReport) -> Graph | None:
    """The model as it was imported, if it is one."""
    path = folder.directory / entry.kept_model
    if formats.is_compiled(path):
        return None
    options = folder.report.options
    options = options.at(options.bound or 0)
    return formats.attempt(path, options.shapes, options.constant_values).graph


def _widened(side: Side, other: Side) -> Side:
    """A build with pictures of its memory as wide as those of the other, where that is wider."""
    widest = max((a.scale for n in other.networks for a in n.arenas), default=0)
    networks = (replace(n, arenas=arenas(n.report, widest)) for n in side.networks)
    return replace(side, networks=tuple(networks))


def _title(folder: ObjectFolder) -> str:
    names = ", ".join(network.name for network in folder.networks)
    board = folder.board
    return f"{names} on {board.title if isinstance(board, Board) else board.core}"


def _facts(folder: ObjectFolder) -> tuple[str, ...]:
    saved, board = folder.report, folder.board
    models = ", ".join(network.model for network in folder.networks)
    core = board.core if board.fpu == "none" else f"{board.core}, {board.fpu}"
    clock = (
        f"{board.clock_hz / 1e6:g} MHz at reset" if isinstance(board, Board) and not board.is_host
        else ""
    )  # fmt: skip
    rated = board.rated_clock_hz if isinstance(board, Board) else None
    facts = (
        models, board.name, core, clock, f"rated for {rated / 1e6:g} MHz" if rated else "",
        f"built for {saved.options.optimize_for}", f"memory {saved.options.memory}",
    )  # fmt: skip
    return tuple(fact for fact in facts if fact)

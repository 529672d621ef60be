"""What another goal would give: the same models built for each of `--optimize-for`'s."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from mcu_deploy import formats
from mcu_deploy.api import building, profiling
from mcu_deploy.api.folder import BuildFolder, ObjectFolder
from mcu_deploy.api.running import Connection
from mcu_deploy.backends.cost import Unit
from mcu_deploy.codegen import NetworkSource
from mcu_deploy.compiled import Network
from mcu_deploy.errors import McuDeployError, one_line
from mcu_deploy.output.progress import tell
from mcu_deploy.report import Report
from mcu_deploy.report.front import Front, GoalBuild, compared
from mcu_deploy.report.prices import depends_on_values
from mcu_deploy.report.profile import Profile
from mcu_deploy.session import Session

# From the one end to the other.
GOALS = ("speed", "balanced", "size", "ram")


# A build, and what it was made of.
_Known = tuple[list[NetworkSource], GoalBuild]

# Cycles of a run, and its milliseconds at the board's rated clock.
_Time = tuple[int | None, float | None]


def front(
    folder: ObjectFolder,
    networks: Sequence[Network],
    session: Session,
    *,
    profile: Profile | None = None,
) -> Front:
    """Builds the models of a build folder for the other goals too, and compares all four.

    networks: as the folder has them. session: with the backends of the build. profile: of a
    build with one network; with one, the others are counted in an emulator as it was, else all
    have the prices of their layers. A goal that cannot be built has the reason in its place.
    """
    report = folder.report
    if any(formats.is_compiled(folder.directory / n.kept_model) for n in folder.networks):
        return Front("", (), "A .pmx file holds what was chosen; its model can be built for goals.")
    if profile is not None and profile.cycles is None:
        profile = None
    time = _priced(report, networks) if profile is None else _counted(profile)
    asked = _made(report.options.optimize_for, report, time, is_asked=True)
    builds, known = [], [(_sources(networks), asked)]
    for goal in GOALS:
        if goal == asked.goal:
            builds.append(asked)
        else:
            tell(f"building for {goal}")
            builds.append(_other(goal, folder, session, known, is_counted=profile is not None))
    basis = "modelled, the prices of the layers' kernels"
    if profile is None and all(b.cycles is None for b in builds):
        basis = f"not known: {report.no_priced_time}"
    elif profile is not None:
        basis = f"modelled from the instructions that {profile.source} counted"
        basis += "" if profile.time is None else ", with the board's waits"
    return Front(basis, compared(builds))


def _other(
    goal: str, folder: ObjectFolder, session: Session, known: list[_Known], is_counted: bool
) -> GoalBuild:
    """A build for another goal, in a folder that is taken away; or one that is known, where the
    goal chooses the same. known: to which it is added."""
    options = replace(folder.report.options, optimize_for=goal)
    models = [folder.directory / n.kept_model for n in folder.networks]
    names = [n.name for n in folder.networks]
    networks: list[Network] = []
    try:
        networks += building.compile_all(models, names, names, folder.board, session, options)
        sources = _sources(networks)
        if (same := next((b for of, b in known if of == sources), None)) is not None:
            return replace(same, goal=goal, is_asked=False)
        with tempfile.TemporaryDirectory(prefix="mcu-deploy-") as scratch:
            built = building.write(folder.board, Path(scratch), networks, options, session)
            time = _priced(built.report, networks)
            if is_counted:
                assert isinstance(folder, BuildFolder)
                made = BuildFolder(built.directory, folder.board, built.report)
                time = _counted(profiling.emulated(made, made.network(), Connection()))
            known.append((sources, _made(goal, built.report, time)))
            return known[-1][1]
    except McuDeployError as error:
        return GoalBuild(goal, None, None, 0, 0, 0, refusal=one_line(str(error)))
    finally:
        for network in networks:
            session.unload_network(network.id)


def _sources(networks: Sequence[Network]) -> list[NetworkSource]:
    return [network.sources for network in networks]


def _made(goal: str, report: Report, time: _Time, is_asked: bool = False) -> GoalBuild:
    return GoalBuild(
        goal, *time, report.flash_bytes, report.ram_bytes, report.arena_bytes, is_asked
    )


def _counted(profile: Profile) -> _Time:
    """With what the core waits for its memories, where that is modelled."""
    if profile.time is None:
        return profile.cycles, None
    return profile.time.cycles, profile.time.milliseconds


def _priced(report: Report, networks: Sequence[Network]) -> _Time:
    """By the prices of the layers: on the board, or of a core alone that prices are of."""
    time = report.priced_time
    if time is not None:
        return time.cycles, time.milliseconds
    if report.board is not None or any(depends_on_values(network) for network in networks):
        return None, None
    return _sum(networks), None


def _sum(models: Sequence[Network]) -> int | None:
    """The prices of all layers, as often as they run; None where one has no price in cycles."""
    total = 0
    for model in models:
        for step in model.plan.steps:
            cost = step.choice.workload.costs.stated
            if cost is None or cost.unit is not Unit.CYCLES:
                return None
            total += cost.value * model.plan.times[step.index]
    return total

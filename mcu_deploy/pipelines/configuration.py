"""mcu-deploy.toml: which models are built, for which boards, and how much they may grow."""

from __future__ import annotations

import math
import shlex
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

from mcu_deploy.boards import Board, load_board
from mcu_deploy.codegen.names import network_name
from mcu_deploy.errors import BoardError, RequestError, UsageError, one_line
from mcu_deploy.files.given import is_file, why_no_file
from mcu_deploy.options import Options, flagged, from_typed
from mcu_deploy.pipelines.comparing import NUMBERS
from mcu_deploy.pipelines.table import Key, title
from mcu_deploy.schema import Clause, Keys, Misfit, fit, made

FILE = "mcu-deploy.toml"
TABLE = "mcu-deploy.csv"
UPDATE = "`mcu-deploy ci --update`"
THRESHOLD = 1.0  # percent
_SAMPLES = 8
_GOAL = "balanced"
_MOST_BYTES = 1 << 20


@dataclass(frozen=True)
class ConfiguredModel:
    """A table [models.NAME]: a model, how it is built and for what, and its samples.

    data: an .npz of samples, None for made-up ones; samples: how many of these are run.
    """

    name: str
    file: Path
    data: Path | None
    samples: int
    boards: tuple[Board, ...]
    goals: tuple[str, ...]
    options: Options


@dataclass(frozen=True)
class BuildJob:
    """One build: a model for a board and a goal."""

    model: ConfiguredModel
    board: Board
    goal: str

    @property
    def key(self) -> Key:
        return self.model.name, self.board.name, self.goal

    @property
    def options(self) -> Options:
        return replace(self.model.options, optimize_for=self.goal)

    def __str__(self) -> str:
        return title(self.key)


@dataclass(frozen=True)
class Configuration:
    """A file mcu-deploy.toml. table: the file of the costs. thresholds: in percent, by column."""

    path: Path
    table: Path
    thresholds: Mapping[str, float]
    models: tuple[ConfiguredModel, ...]

    @property
    def jobs(self) -> tuple[BuildJob, ...]:
        """Every build, in the order of the file."""
        return tuple(
            BuildJob(model, board, goal)
            for model in self.models
            for board in model.boards
            for goal in model.goals
        )

    @property
    def update(self) -> str:
        """The command that renews its table, for sentences."""
        if self.path == Path(FILE):
            return UPDATE
        return UPDATE.replace("ci", f"ci --config {shlex.quote(str(self.path))}")


def read_configuration(path: Path) -> Configuration:
    """Reads mcu-deploy.toml. Paths in it are relative to its folder.

    Whether models are there is found out when they are built. Raises RequestError, which names the
    file, the table and the key, for everything else that is wrong.
    """
    if not is_file(path):
        raise RequestError(
            f"The configuration {path} {why_no_file(path)}. `mcu-deploy ci --init github` or "
            "`--init gitlab` writes a first one; --config names another."
        )
    try:
        with path.open("rb") as stream:
            content = tomllib.loads(stream.read(_MOST_BYTES).decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise RequestError(f"{path} is no TOML file: {one_line(str(error), 200)}.") from None
    return _configuration(content, path)


@dataclass(frozen=True)
class _CommonForm:
    """What may be said for all models, and of one."""

    boards: tuple[str, ...] | None = None
    goals: tuple[str, ...] | None = None
    samples: int | None = None

    def __post_init__(self) -> None:
        if self.samples is not None and self.samples < 1:
            raise Clause(f"samples is {self.samples}, and to validate takes one at least")
        if self.goals is not None and (not self.goals or len({*self.goals}) < len(self.goals)):
            raise Clause("goals must name one goal at least, and none of them twice")


# Options of `mcu-deploy build`, called as there: `memory`, `no-float`, `keep`; goals have a key.
_FLAGS = {
    each.flag.name.removeprefix("--"): each
    for each in flagged()
    if each.flag.name != "--optimize-for"
}
_OPTIONS = Keys(
    {name: tuple[e.typed, ...] if e.is_repeated else e.typed for name, e in _FLAGS.items()}  # type: ignore[name-defined]
)


@dataclass(frozen=True)
class _ModelForm(_CommonForm):
    file: str = ""
    data: str | None = None
    options: Annotated[Mapping[str, Any], _OPTIONS] = field(default_factory=dict)


@dataclass(frozen=True)
class _ConfigurationForm(_CommonForm):
    """threshold: the growth that is allowed, in percent: of all numbers, or a table by number."""

    table: str = TABLE
    threshold: Any = THRESHOLD
    models: Mapping[str, _ModelForm] = field(default_factory=dict)


_THRESHOLDS = Keys(dict.fromkeys(("default", *NUMBERS), float))


def _configuration(content: Mapping[str, Any], path: Path) -> Configuration:
    try:
        form: _ConfigurationForm = made(_ConfigurationForm, content, least=0)
        thresholds = _thresholds(form.threshold)
        boards = _boards(form, path, "")
        if not form.models:
            raise Misfit(
                "", "there is no table [models.NAME] in it; add one with `file`, the model's path"
            )
        models = tuple(
            _model(name, model, form, boards, path) for name, model in form.models.items()
        )
    except Misfit as misfit:
        raise RequestError(misfit.of(path)) from None
    return Configuration(path, path.parent / form.table, thresholds, models)


def _boards(form: _CommonForm, path: Path, place: str) -> tuple[Board, ...] | None:
    boards: dict[str, Board] = {}
    for name in form.boards or ():
        is_path = "/" in name or name.endswith(".toml")
        try:
            board = load_board(path.parent / name if is_path else name)
        except BoardError as error:
            raise Misfit(place, f"boards: {error}") from None
        if board.name in boards:
            raise Misfit(place, f"boards names {board.name} twice")
        boards[board.name] = board
    return None if form.boards is None else tuple(boards.values())


def _thresholds(said: Any) -> dict[str, float]:
    if isinstance(said, Mapping):
        each = fit(Annotated[Mapping[str, float], _THRESHOLDS], said, "threshold", least=0)
        found = {number: each.get(number, each.get("default", THRESHOLD)) for number in NUMBERS}
    else:
        found = dict.fromkeys(NUMBERS, fit(float, said, "threshold", least=0))
    if any(math.isnan(percent) for percent in found.values()):
        raise Misfit("", "threshold is no number of percent")
    return found


def _model(
    name: str, form: _ModelForm, common: _ConfigurationForm, boards: tuple[Board, ...] | None,
    path: Path,
) -> ConfiguredModel:  # fmt: skip
    place, folder = f"models.{one_line(name, 60)}", path.parent
    goals = form.goals or common.goals or (_GOAL,)
    options = _options(form.options, goals, f"{place}.options")
    if not form.file:
        raise Misfit(place, "there is no `file`; give the path of the model")
    own = _boards(form, path, place)
    own = boards if own is None else own
    if not own:
        raise Misfit(
            place, "there are no boards for it; name some as `boards`, here or for all models"
        )
    try:
        network_name(name, folder / form.file)
    except UsageError as error:
        raise Misfit(place, str(error).replace("give --name", "call it by")) from None
    return ConfiguredModel(
        name, folder / form.file, None if form.data is None else folder / form.data,
        form.samples or common.samples or _SAMPLES, own, goals, options,
    )  # fmt: skip


def _options(said: Mapping[str, Any], goals: tuple[str, ...], place: str) -> Options:
    try:
        options = from_typed({_FLAGS[key].flag.parameter: value for key, value in said.items()})
        for goal in goals:
            replace(options, optimize_for=goal)
    except UsageError as error:
        raise Misfit(place, str(error).replace("--optimize-for", "goals:")) from None
    return options

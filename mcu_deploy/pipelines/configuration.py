"""mcu-deploy.toml: which models are built, for which boards, and how much they may grow."""

from __future__ import annotations

import math
import shlex
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

from mcu_deploy.boards import Board, load_board
from mcu_deploy.boards.reader import did_you_mean
from mcu_deploy.codegen.names import network_name
from mcu_deploy.errors import BoardError, RequestError, UsageError, one_line
from mcu_deploy.files.given import is_file, why_no_file
from mcu_deploy.options import Options, flagged, from_typed
from mcu_deploy.options.checked import fit
from mcu_deploy.pipelines.comparing import NUMBERS
from mcu_deploy.pipelines.table import Key, title

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


def _configuration(content: Mapping[str, Any], path: Path) -> Configuration:
    top = _Table(content, "", path)
    common = _Common((), (_GOAL,), _SAMPLES).but(top)
    table = path.parent / top.take("table", str, TABLE)
    thresholds = _thresholds(top)
    named = top.tables("models")
    top.finish()
    if not named:
        top.fail("there is no table [models.NAME] in it; add one with `file`, the model's path")
    models = tuple(_model(name, values, common) for name, values in named.items())
    return Configuration(path, table, thresholds, models)


class _Table:
    """A table of the file, whose keys are taken one after the other."""

    def __init__(self, values: Mapping[str, Any], where: str, path: Path) -> None:
        self._values = dict(values)
        self._known: list[str] = []
        self._where = where
        self.path = path

    def fail(self, clause: str) -> NoReturn:
        place = f" [{self._where}]" if self._where else ""
        end = "" if clause.endswith(("?", ".", "!")) else "."
        raise RequestError(f"{self.path}{place}: {clause}{end}")

    def is_table(self, key: str) -> bool:
        return isinstance(self._values.get(key), dict)

    def take(self, key: str, hint: Any, default: Any) -> Any:
        """The value of a key as a type hint asks for it."""
        self._known.append(key)
        value = self._values.pop(key, None)
        if value is None:
            return default
        try:
            return fit(hint, value, key)
        except UsageError as error:
            self.fail(str(error))

    def table(self, key: str) -> _Table:
        """A table in this one; an empty one where it is not there."""
        self._known.append(key)
        value = self._values.pop(key, {})
        if not isinstance(value, dict):
            self.fail(f"{one_line(key, 60)} must be a table, [{one_line(key, 60)}]")
        where = f"{self._where}.{one_line(key, 60)}" if self._where else one_line(key, 60)
        return _Table(value, where, self.path)

    def tables(self, key: str) -> dict[str, _Table]:
        """The tables in a table of this one, by their names."""
        outer = self.table(key)
        return {name: outer.table(name) for name in [*outer._values]}

    def finish(self) -> None:
        """Refuses what nobody took."""
        for key in self._values:
            self.fail(f"{one_line(key, 60)!r} is not known; {did_you_mean(key, self._known)}")


@dataclass(frozen=True)
class _Common:
    """What may be said for all models, and of one."""

    boards: tuple[Board, ...]
    goals: tuple[str, ...]
    samples: int

    def but(self, table: _Table) -> _Common:
        """This, with what a table says otherwise."""
        names = table.take("boards", tuple[str, ...], None)
        goals = table.take("goals", tuple[str, ...], self.goals)
        samples = table.take("samples", int, self.samples)
        if samples < 1:
            table.fail(f"samples is {samples}, and to validate takes one at least")
        if not goals or len(set(goals)) < len(goals):
            table.fail("goals must name one goal at least, and none of them twice")
        boards = self.boards if names is None else _boards(names, table)
        return _Common(boards, goals, samples)


def _boards(names: tuple[str, ...], table: _Table) -> tuple[Board, ...]:
    boards: dict[str, Board] = {}
    for name in names:
        is_path = "/" in name or name.endswith(".toml")
        try:
            board = load_board(table.path.parent / name if is_path else name)
        except BoardError as error:
            table.fail(f"boards: {error}")
        if board.name in boards:
            table.fail(f"boards names {board.name} twice")
        boards[board.name] = board
    return tuple(boards.values())


def _thresholds(top: _Table) -> dict[str, float]:
    """The growth that is allowed, in percent: of all numbers, or a table by number."""
    if top.is_table("threshold"):
        table = top.table("threshold")
        default = table.take("default", float, THRESHOLD)
        found = {number: table.take(number, float, default) for number in NUMBERS}
        table.finish()
    else:
        found = dict.fromkeys(NUMBERS, top.take("threshold", float, THRESHOLD))
    if any(math.isnan(percent) for percent in found.values()):
        top.fail("threshold is no number of percent")
    return found


def _model(name: str, table: _Table, common: _Common) -> ConfiguredModel:
    file, data = table.take("file", str, None), table.take("data", str, None)
    own = common.but(table)
    options = _options(table.table("options"), own.goals)
    table.finish()
    if not file:
        table.fail("there is no `file`; give the path of the model")
    if not own.boards:
        table.fail("there are no boards for it; name some as `boards`, here or for all models")
    folder = table.path.parent
    try:
        network_name(name, folder / file)
    except UsageError as error:
        table.fail(str(error).replace("give --name", "call it by"))
    return ConfiguredModel(
        name, folder / file, None if data is None else folder / data, own.samples, own.boards,
        own.goals, options,
    )  # fmt: skip


def _options(table: _Table, goals: tuple[str, ...]) -> Options:
    """Options of `mcu-deploy build`, called as there: `memory`, `no-float`, `keep`."""
    typed = {}
    for each in flagged():
        key = each.flag.name.removeprefix("--")
        if key == "optimize-for":
            continue
        hint = tuple[each.typed, ...] if each.is_repeated else each.typed  # type: ignore[name-defined]
        value = table.take(key, hint, None)
        if value is not None:
            typed[each.flag.parameter] = value
    table.finish()
    try:
        options = from_typed(typed)
        for goal in goals:
            replace(options, optimize_for=goal)
    except UsageError as error:
        table.fail(str(error).replace("--optimize-for", "goals:"))
    return options

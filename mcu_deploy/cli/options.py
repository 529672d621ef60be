"""Options that several commands share, as types for typer and as values made of several options."""

from __future__ import annotations

import functools
import inspect
import shlex
from collections.abc import Callable, Collection, Iterable
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from mcu_deploy.errors import UsageError
from mcu_deploy.exports.package import About
from mcu_deploy.options import LAYERS, Options
from mcu_deploy.options.flags import Flag, Flagged, flagged_fields, made_of
from mcu_deploy.options.means import Connection, CreationOptions, Flasher, Workers
from mcu_deploy.options.quantizing import Quantizing
from mcu_deploy.projects.asked import OwnModel


def completing(names: Callable[[], Iterable[str]]) -> Callable[[str], list[str]]:
    """For the shell: those of the names that go on so. They are asked for when it asks."""

    def complete(incomplete: str) -> list[str]:
        return [name for name in names() if name.startswith(incomplete)]

    return complete


def named_by(module: str, function: str) -> Callable[[], Iterable[str]]:
    """What a function names, imported when the shell asks."""
    return lambda: getattr(import_module(f"mcu_deploy.{module}"), function)()


def either(words: Iterable[str]) -> str:
    """As the help shows an option that has a few words."""
    return f"[{'|'.join(words)}]"


complete_boards = completing(named_by("boards.document", "shipped_boards"))
_cores = named_by("boards.cores", "core_names")

_BOARD = typer.Option(
    "--board", "-b", help="A board's name, or the path of a board.toml.",
    autocompletion=complete_boards,
)  # fmt: skip
BoardOption = Annotated[str, _BOARD]
OptionalBoard = Annotated[
    str | None,
    typer.Option(
        "--board", "-b", help="A board's name; a build folder knows its own and needs none.",
        autocompletion=complete_boards,
    ),
]  # fmt: skip
SourceArgument = Annotated[Path, typer.Argument(help="A build folder, or a model file.")]
SamplesOption = Annotated[
    int | None, typer.Option("--samples", min=1, help="Only the first samples.")
]
ModelOption = Annotated[
    str | None,
    typer.Option("--model", help="Which network of the firmware, where it holds several."),
]
WideOption = Annotated[
    bool, typer.Option("--wide", help="Whole names in tables, wider than the terminal if need be.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")]

# Options that may stand without a value: the values they take, the default first.
OPTIONAL_VALUES = {"--layers": LAYERS}

Command = Callable[..., None]


def _gathers(
    parameter: str, make: Callable[..., Any], parameters: Iterable[inspect.Parameter]
) -> Callable[[Command], Command]:
    """Gives a command these parameters, of which `make` makes what it gets as one."""
    given_now = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in parameters]

    def decorate(command: Command) -> Command:
        command.__annotations__[parameter] = Any  # it may be of a type that is imported when needed
        signature = inspect.signature(command, eval_str=True)

        @functools.wraps(command)
        def wrapped(**given: Any) -> None:
            value = make(**{p.name: given.pop(p.name) for p in given_now})
            command(**{parameter: value}, **given)

        found: list[inspect.Parameter] = []
        for own in signature.parameters.values():
            found += given_now if own.name == parameter else [own]
        found = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in found]
        wrapped.__signature__ = signature.replace(parameters=found)  # type: ignore[attr-defined]
        wrapped.__annotations__ = {p.name: p.annotation for p in found}
        return wrapped

    return decorate


def _parameter(each: Flagged) -> inspect.Parameter:
    return inspect.Parameter(
        each.flag.parameter, inspect.Parameter.KEYWORD_ONLY, default=each.shown,
        annotation=_typed(each),
    )  # fmt: skip


def _typed(each: Flagged) -> Any:
    """The type of a field's parameter, for typer."""
    flag = each.flag
    kind: Any = list[each.typed] if each.is_repeated else each.typed  # type: ignore[name-defined]
    known = flag.known or (None if flag.commas else flag.words)
    option = typer.Option(
        *filter(None, (flag.short, flag.name)), help=flag.help, metavar=flag.metavar,
        min=flag.least, max=flag.most, autocompletion=completing(known) if known else None,
    )  # fmt: skip
    return Annotated[kind | None if each.shown is None else kind, option]


def _with_value(
    parameter: str, cls: type[Any], asked: Callable[[Flag], bool] = lambda flag: True
) -> Callable[[Command], Command]:
    """A command's parameter that is a value of `mcu_deploy.options`, with the flags of its fields.

    asked: which of these the command has.
    """
    parameters = [_parameter(each) for each in flagged_fields(cls) if asked(each.flag)]
    return _gathers(parameter, lambda **typed: made_of(cls, typed), parameters)


def _option_of(cls: type[Any], name: str) -> Any:
    """The type of the parameter of one field, for commands that have this alone."""
    return next(_typed(each) for each in flagged_fields(cls) if each.name == name)


EmulatorOption = _option_of(Connection, "emulator")
PortOption = _option_of(Connection, "port")
BaudOption = _option_of(Connection, "baud")


def _processor(
    board: Annotated[str | None, _BOARD] = None,
    core: Annotated[
        str | None,
        typer.Option(
            help="A core without a board: cortex-m4, cortex-m33+nodsp; as gcc's -mcpu has it.",
            autocompletion=completing(_cores),
        ),
    ] = None,
    fpu: Annotated[
        str | None,
        typer.Option(help="The FPU of --core: fpv4-sp-d16, fpv5-d16, ..., none by default."),
    ] = None,
    cflags: Annotated[
        str | None,
        typer.Option(metavar="FLAGS", help="With --core: -m... and -f... for gcc, in one text."),
    ] = None,
) -> Any:
    from mcu_deploy.boards import load_board, load_core

    if board is not None and core is not None:
        raise UsageError("--board and --core contradict each other: a board has a core. Give one.")
    if core is None and (fpu is not None or cflags is not None):
        alone = "--fpu" if fpu is not None else "--cflags"
        raise UsageError(f"{alone} says more of a --core, and there is none; give one.")
    if core is None:
        return None if board is None else load_board(board)
    return load_core(core, fpu or "none", _words("--cflags", cflags or ""))


def _words(option: str, text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise UsageError(f"{option} {text} is no list of words: {error}.") from None


# A command's `processor`: a board, or a core alone; None where neither is given.
with_processor = _gathers(
    "processor", _processor, inspect.signature(_processor, eval_str=True).parameters.values()
)

# A command's `connection`: how a device is reached. Its `flasher`: what puts a program into it. Its
# `workers`: who does what takes long.
with_connection = _with_value("connection", Connection)
with_flasher = _with_value("flasher", Flasher)
with_workers = _with_value("workers", Workers)

# A command's `about`: what an export is called, and who it is from. Its `own`: what a project runs.
# Its `quantizing`: how int8 is made. Its `shapes`: options that say no more than these.
with_about = _with_value("about", About)
with_own_model = _with_value("own", OwnModel)
with_quantizing = _with_value("quantizing", Quantizing)
with_shapes = _with_value("shapes", Options, lambda flag: flag.name == "--shape")


def _creation(**typed: Any) -> CreationOptions:
    made: CreationOptions = made_of(CreationOptions, typed)
    if not made.dynamic_backends and made.dynamic_backends_path is not None:
        raise UsageError(
            "--dynamic-backends and --no-dynamic-backends contradict each other; give one of them."
        )
    return made


# A command's `creation`: the session's options.
with_creation = _gathers("creation", _creation, map(_parameter, flagged_fields(CreationOptions)))


def with_options(*, anew: bool = True, also: Collection[str] = ()) -> Callable[[Command], Command]:
    """A command's `options`: what mcu_deploy.options defines, of how a model is compiled.

    anew: also those that a build of a .pmx file chooses anew. also: and of these the ones that are
    named here.
    """
    return _with_value("options", Options, lambda flag: anew or not flag.anew or flag.name in also)

"""Options that several commands share, as types for typer and as values made of several options."""

from __future__ import annotations

import functools
import inspect
import shlex
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Annotated, Any

import typer

from mcu_deploy.options import Flag, flagged, from_typed


def completing(names: Callable[[], Iterable[str]]) -> Callable[[str], list[str]]:
    """For the shell: those of the names that go on so. They are asked for when it asks."""

    def complete(incomplete: str) -> list[str]:
        return [name for name in names() if name.startswith(incomplete)]

    return complete


def _boards() -> Iterable[str]:
    from mcu_deploy.boards.document import shipped_boards

    return shipped_boards()


def _runners() -> Iterable[str]:
    from mcu_deploy.runners.interface import runners

    return runners()


def _cores() -> Iterable[str]:
    from mcu_deploy.boards.cores import core_names

    return core_names()


def _emulators() -> Iterable[str]:
    from mcu_deploy.device.emulators import launchers

    return (launcher.name for launcher in launchers())


_BOARD = typer.Option(
    "--board", "-b", help="A board's name, or the path of a board.toml.",
    autocompletion=completing(_boards),
)  # fmt: skip
BoardOption = Annotated[str, _BOARD]
OptionalBoard = Annotated[
    str | None,
    typer.Option(
        "--board", "-b", help="A board's name; a build folder knows its own and needs none.",
        autocompletion=completing(_boards),
    ),
]  # fmt: skip
ModelOption = Annotated[
    str | None,
    typer.Option("--model", help="Which network of the firmware, where it holds several."),
]
EmulatorOption = Annotated[
    str | None,
    typer.Option(
        "--emulator",
        help="renode or qemu; the board's own by default.",
        autocompletion=completing(_emulators),
    ),
]
RunnerOption = Annotated[
    str | None,
    typer.Option(
        "--runner",
        help="The tool to flash with (docs/flashing.md); the board's first that is installed by "
        "default.",
        autocompletion=completing(_runners),
    ),
]
ProbeOption = Annotated[
    str | None,
    typer.Option(
        "--probe", help="Which probe: its serial number; a GDB server's address; a UF2 drive."
    ),
]
WideOption = Annotated[
    bool, typer.Option("--wide", help="Whole names in tables, wider than the terminal if need be.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")]

# Options that may stand without a value: the values they take, the default first.
OPTIONAL_VALUES = {"--layers": ("built", "all")}

# The parameters of commands that are made of several options.
_GATHERED = ("connection", "creation", "options", "processor", "workers")

Command = Callable[..., None]


def _gathers(parameter: str, make: Callable[..., Any]) -> Callable[[Command], Command]:
    """Gives a command the parameters of `make`, which makes of them what it gets as one."""

    def decorate(command: Command) -> Command:
        for gathered in _GATHERED:  # they may be of types that are imported when needed
            command.__annotations__.pop(gathered, None)
        signature = inspect.signature(command, eval_str=True)
        made = inspect.signature(make, eval_str=True).parameters

        @functools.wraps(command)
        def wrapped(**given: Any) -> None:
            value = make(**{name: given.pop(name) for name in made})
            command(**{parameter: value}, **given)

        found: list[inspect.Parameter] = []
        for own in signature.parameters.values():
            found += made.values() if own.name == parameter else [own]
        found = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in found]
        wrapped.__signature__ = signature.replace(parameters=found)  # type: ignore[attr-defined]
        wrapped.__annotations__ = {p.name: p.annotation for p in found}
        return wrapped

    return decorate


def _connection(
    port: Annotated[
        str | None,
        typer.Option(
            help="A serial port or pyserial URL of a real board, already flashed; auto: the port "
            "with the board's USB id."
        ),
    ] = None,
    baud: Annotated[
        int | None, typer.Option(min=1, help="The port's speed; the board's by default.")
    ] = None,
    latency: Annotated[
        float | None,
        typer.Option(
            min=0.001,
            max=600,
            help="Seconds that the line may hold an answer back, 3 by default; more for a bridge "
            "or a VPN.",
        ),
    ] = None,
    retries: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Attempts of a request whose frames come damaged, 100 by default; a tenth of it "
            "where nothing comes.",
        ),
    ] = None,
    run_timeout: Annotated[
        float | None,
        typer.Option(
            min=0.1,
            help="Seconds in which a layer has to end, 60 by default; then the run is stopped, and "
            "the layer named.",
        ),
    ] = None,
    emulator: EmulatorOption = None,
    emulator_arg: Annotated[
        list[str] | None,
        typer.Option(help="An argument passed on to the emulator (repeatable)."),
    ] = None,
) -> Any:
    from mcu_deploy.api.running import Connection

    return Connection(
        port, baud, emulator, tuple(emulator_arg or ()), latency, retries, run_timeout
    )


def _creation(
    dynamic_backends: Annotated[
        str | None,
        typer.Option(
            metavar="PATH",
            help="The one folder where dynamic backends are looked for, an absolute path.",
        ),
    ] = None,
    no_dynamic_backends: Annotated[
        bool, typer.Option("--no-dynamic-backends", help="Use the built-in backends only.")
    ] = False,
    backend_option: Annotated[
        list[str] | None,
        typer.Option(metavar="ID.NAME=VALUE", help="What a backend is told (repeatable)."),
    ] = None,
) -> Any:
    from mcu_deploy.backends.interface import CreationOptions
    from mcu_deploy.errors import UsageError

    if no_dynamic_backends and dynamic_backends is not None:
        raise UsageError(
            "--dynamic-backends and --no-dynamic-backends contradict each other; give one of them."
        )
    options: dict[str, dict[str, str]] = {}
    for text in backend_option or ():
        key, separator, value = text.partition("=")
        backend, dot, name = key.partition(".")
        if not (separator and dot and backend and name):
            raise UsageError(f"--backend-option {text} is not of the form ID.NAME=VALUE.")
        if options.setdefault(backend, {}).setdefault(name, value) != value:
            raise UsageError(f"--backend-option says {key} twice; say it once.")
    return CreationOptions(not no_dynamic_backends, dynamic_backends, backend_options=options)


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
    from mcu_deploy.errors import UsageError

    if board is not None and core is not None:
        raise UsageError("--board and --core contradict each other: a board has a core. Give one.")
    if core is None and (fpu is not None or cflags is not None):
        alone = "--fpu" if fpu is not None else "--cflags"
        raise UsageError(f"{alone} says more of a --core, and there is none; give one.")
    if core is None:
        return None if board is None else load_board(board)
    return load_core(core, fpu or "none", _words("--cflags", cflags or ""))


def _words(option: str, text: str) -> list[str]:
    from mcu_deploy.errors import UsageError

    try:
        return shlex.split(text)
    except ValueError as error:
        raise UsageError(f"{option} {text} is no list of words: {error}.") from None


def _workers(
    workers: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Work with so many processes of Dask on this machine "
            "(docs/cluster.md); without it with one a processor, without Dask.",
        ),
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS", help="Work with the machines of a Dask scheduler: tcp://HOST:8786."
        ),
    ] = None,
) -> Any:
    from mcu_deploy.tasks import Workers

    return Workers(workers, scheduler)


# A command's `processor`: a board, or a core alone; None where neither is given.
with_processor = _gathers("processor", _processor)

# A command's `connection`: how a device is reached. Its `creation`: the session's options.
with_connection = _gathers("connection", _connection)
with_creation = _gathers("creation", _creation)

# A command's `workers`: who does what takes long.
with_workers = _gathers("workers", _workers)


def with_options(*, anew: bool = True, also: Collection[str] = ()) -> Callable[[Command], Command]:
    """A command's `options`: what mcu_deploy.options defines, of how a model is compiled.

    anew: also those that a build of a .pmx file chooses anew. also: and of these the ones that are
    named here.
    """

    def make(**typed: Any) -> Any:
        return from_typed(typed)

    parameters = [
        _parameter(flag, default)
        for flag, default, *_ in flagged()
        if anew or not flag.anew or flag.name in also
    ]
    make.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return _gathers("options", make)


def _parameter(flag: Flag, default: Any) -> inspect.Parameter:
    kind: Any = type(default)
    if flag.commas:
        kind, default = str, ",".join(default)
    elif isinstance(default, (tuple, Mapping)):
        kind, default = list[str] | None, None
    elif default is None:
        kind = int | None
    elif isinstance(default, bool) and flag.words is not None:
        kind, default = str, flag.words()[default]
    names = ("-g", flag.name) if flag.name == "--debug" else (flag.name,)
    words = flag.words
    option = typer.Option(
        *names, help=flag.help, metavar=flag.metavar,
        autocompletion=completing(words) if words and not flag.commas else None,
    )  # fmt: skip
    return inspect.Parameter(
        flag.parameter,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[kind, option],
    )

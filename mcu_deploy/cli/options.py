"""Options that several commands share, as types for typer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from mcu_deploy.backends.interface import CreationOptions

BoardOption = Annotated[
    str, typer.Option("--board", "-b", help="A board's name, or the path of a board.toml.")
]
OptionalBoard = Annotated[
    str | None,
    typer.Option(
        "--board", "-b", help="A board's name; a build folder knows its own and needs none."
    ),
]
ModelOption = Annotated[
    str | None,
    typer.Option("--model", help="Which network of the firmware, where it holds several."),
]
PortOption = Annotated[
    str | None,
    typer.Option("--port", help="A serial port or pyserial URL of a real board, already flashed."),
]
BaudOption = Annotated[
    int | None, typer.Option("--baud", min=1, help="The port's speed; the board's by default.")
]
LatencyOption = Annotated[
    float | None,
    typer.Option(
        "--latency",
        min=0.001,
        max=600,
        help="Seconds that the line may hold an answer back, 3 by default; more for a bridge or a "
        "VPN.",
    ),
]
RetriesOption = Annotated[
    int | None,
    typer.Option(
        "--retries",
        min=1,
        help="Attempts of a request whose frames come damaged, 100 by default; a tenth of it where "
        "nothing comes.",
    ),
]
RunTimeoutOption = Annotated[
    float | None,
    typer.Option(
        "--run-timeout",
        min=0.1,
        help="Seconds in which a layer has to end, 60 by default; then the run is stopped, and the "
        "layer named.",
    ),
]
EmulatorOption = Annotated[
    str | None, typer.Option("--emulator", help="renode or qemu; the board's own by default.")
]
EmulatorArgs = Annotated[
    list[str] | None,
    typer.Option("--emulator-arg", help="An argument passed on to the emulator (repeatable)."),
]
WideOption = Annotated[
    bool, typer.Option("--wide", help="Whole names in tables, wider than the terminal if need be.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")]

DynamicBackends = Annotated[
    str | None,
    typer.Option(
        "--dynamic-backends",
        metavar="PATH",
        help="The one folder where dynamic backends are looked for, an absolute path.",
    ),
]
NoDynamicBackends = Annotated[
    bool, typer.Option("--no-dynamic-backends", help="Use the built-in backends only.")
]


BackendOption = Annotated[
    list[str] | None,
    typer.Option(
        "--backend-option", metavar="ID.NAME=VALUE", help="What a backend is told (repeatable)."
    ),
]


def creation_options(
    path: str | None, off: bool, backend_options: Sequence[str] = ()
) -> CreationOptions:
    """The session's options from the options above."""
    from mcu_deploy.backends.interface import CreationOptions
    from mcu_deploy.errors import UsageError

    if off and path is not None:
        raise UsageError(
            "--dynamic-backends and --no-dynamic-backends contradict each other; give one of them."
        )
    options: dict[str, dict[str, str]] = {}
    for text in backend_options:
        key, separator, value = text.partition("=")
        backend, dot, name = key.partition(".")
        if not (separator and dot and backend and name):
            raise UsageError(f"--backend-option {text} is not of the form ID.NAME=VALUE.")
        if options.setdefault(backend, {}).setdefault(name, value) != value:
            raise UsageError(f"--backend-option says {key} twice; say it once.")
    return CreationOptions(not off, path, backend_options=options)


# Options that may stand without a value: the values they take, the default first.
OPTIONAL_VALUES = {"--layers": ("built", "all")}

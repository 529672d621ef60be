"""The command line: one file a command.

Each module of this package that has a function `register(app: typer.Typer)` is a command; adding a
file is all that adding a command takes. Commands parse, call the Python API, and print.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import typer

from mcu_deploy import __version__
from mcu_deploy.cli.console import fail, show_warnings
from mcu_deploy.cli.options import OPTIONAL_VALUES
from mcu_deploy.discovery import modules
from mcu_deploy.errors import McuDeployError


def _version(value: bool) -> None:
    if value:
        typer.echo(f"mcu-deploy {__version__}")
        raise typer.Exit()


def create_app() -> typer.Typer:
    """The application with every command of this package registered."""
    app = typer.Typer(
        name="mcu-deploy",
        help="Compile neural networks into one object file for Arm Cortex-M, check it, run it.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )

    @app.callback()
    def main_options(
        version: bool = typer.Option(
            False, "--version", callback=_version, is_eager=True, help="Print the version and exit."
        ),
    ) -> None:
        pass

    for _, module in modules(__name__):
        if hasattr(module, "register"):
            module.register(app)
    return app


def with_optional_values(arguments: Sequence[str]) -> list[str]:
    """`--layers` alone means `--layers=built`: typer knows no options with an optional value."""
    found: list[str] = []
    rest = list(arguments)
    while rest:
        argument = rest.pop(0)
        values = OPTIONAL_VALUES.get(argument)
        if values is None:
            found.append(argument)
        elif rest and rest[0] in values:
            found.append(f"{argument}={rest.pop(0)}")
        else:
            found.append(f"{argument}={values[0]}")
    return found


def main() -> None:
    """Entry point of the `mcu-deploy` command."""
    show_warnings()
    try:
        create_app()(args=with_optional_values(sys.argv[1:]))
    except McuDeployError as error:
        sys.exit(fail(error))
    except KeyboardInterrupt:
        sys.exit(130)

"""The command line: one file a command.

Each module of this package with a function of its own name is a command; adding a file is all that
adding a command takes. Commands parse, call the Python API, and print.
"""

from __future__ import annotations

import gc
import importlib
import io
import signal
import sys
import threading
from collections.abc import Sequence
from typing import Any

import typer
from typer.core import TyperGroup

from mcu_deploy.cli.console import fail, show_warnings
from mcu_deploy.cli.options import OPTIONAL_VALUES
from mcu_deploy.discovery import modules, names
from mcu_deploy.errors import (
    InternalError,
    Interrupted,
    McuDeployError,
    RequestError,
    UsageError,
    one_line,
)
from mcu_deploy.resources import docs
from mcu_deploy.version import VERSION


def _version(value: bool) -> None:
    if value:
        typer.echo(f"mcu-deploy {VERSION}")
        raise typer.Exit()


class _Commands(TyperGroup):
    """typer ends at Ctrl-C without a word; how things are left has to be said."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            raise Interrupted(*(error.args or ("interrupted",))) from error


def create_app(command: str = "") -> typer.Typer:
    """The application with every command of this package registered; with one alone, where it is
    known which is asked for, it is there sooner."""
    app = typer.Typer(
        name="mcu-deploy",
        cls=_Commands,
        help="Compile neural networks into one object file for Arm Cortex-M, check it, run it.\n\n"
        f"Pages named docs/... lie in {docs()}.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
    )

    @app.callback()
    def main_options(
        version: bool = typer.Option(
            False, "--version", callback=_version, is_eager=True, help="Print the version and exit."
        ),
    ) -> None:
        pass

    for name, function in _commands(command):
        app.command(name.replace("_", "-"))(function)
    return app


def _commands(command: str) -> list[tuple[str, Any]]:
    """Commands and their functions: this one, or all where there is none of that name."""
    name = command.replace("-", "_")
    if "_" not in command and name in names(__path__):
        module = importlib.import_module(f"{__name__}.{name}")
        if hasattr(module, name):
            return [(name, getattr(module, name))]
    return [(name, getattr(m, name)) for name, m in modules(__name__) if hasattr(m, name)]


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


# typer's own errors, of which it exports this one alone; older versions take them from click.
_TYPER_ERROR: type[Exception] = typer.BadParameter.__mro__[2]

_CHECK = "Check the path, who may use it, and what room there is."


def _end(number: int, _: object) -> None:
    """Ends the program as an error does, so that what it began is taken back."""
    sys.exit(128 + number)


def main() -> None:
    """Entry point of the `mcu-deploy` command.

    Every error ends here as one sentence, and with --json as `{"error": {"kind", "message"}}` on
    standard output too.
    """
    show_warnings()
    # A compile makes many values that stay, and hardly a cycle: looking for these after each 700
    # takes a tenth of its time, after each 50,000 a twentieth.
    gc.set_threshold(1_000_000)
    if isinstance(sys.stdout, io.TextIOWrapper):  # names that it has no letters for
        sys.stdout.reconfigure(errors="backslashreplace")
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) == signal.SIG_DFL:  # nohup ignores SIGHUP
                signal.signal(number, _end)
    arguments = with_optional_values(sys.argv[1:])
    as_json = "--json" in arguments
    try:
        # Without arguments that is wrong usage, which the help mends.
        app = create_app(arguments[0] if arguments else "")
        done = app(arguments or ["--help"], "mcu-deploy", standalone_mode=False)
    except McuDeployError as error:
        sys.exit(fail(error, as_json))
    except _TYPER_ERROR as error:
        sys.exit(fail(_usage_error(error, arguments), as_json))
    except (KeyboardInterrupt, typer.Abort):
        sys.exit(fail(Interrupted("interrupted"), as_json))
    except OSError as error:  # of a path that the user gave, or of a full disk
        what = error.filename or "Standard output or a temporary file"
        why = f"{what} cannot be used ({error.strerror or error})."
        sys.exit(fail(RequestError(one_line(f"{why} {_CHECK}")), as_json))
    except Exception as error:
        sys.exit(fail(InternalError.of(error), as_json))
    if done == Interrupted.exit_code:  # before the command began, when typer says nothing
        sys.exit(fail(Interrupted("interrupted"), as_json))
    sys.exit((done or 0) if arguments else UsageError.exit_code)


def _usage_error(error: Any, arguments: Sequence[str]) -> UsageError:
    """What typer says of a command line, with where to look."""
    message = error.format_message().strip()
    words = ["mcu-deploy", *(word for word in arguments[:1] if not word.startswith("-"))]
    command = " ".join(words) if error.ctx is None else error.ctx.command_path
    stop = "" if message.endswith((".", "?", "!")) else "."
    return UsageError(f"{message}{stop} `{command} --help` shows what there is.")

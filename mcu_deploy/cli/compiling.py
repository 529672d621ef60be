"""The options of `build` and `optimize` that say how a model is compiled."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Mapping
from typing import Annotated, Any

import typer

from mcu_deploy.options import Flag, flagged, from_typed


def with_options(
    command: Callable[..., None], *, anew: bool = True, also: Collection[str] = ()
) -> Callable[..., None]:
    """Gives a command the parameters that mcu_deploy.options defines; it gets them as `options`.

    anew: also those that a build of a .pmx file chooses anew. also: and of these the ones that are
    named here.
    """
    signature = inspect.signature(command, eval_str=True)
    own = [p for p in signature.parameters.values() if p.name != "options"]
    made = [
        _parameter(flag, default)
        for flag, default, *_ in flagged()
        if anew or not flag.anew or flag.name in also
    ]

    @functools.wraps(command)
    def wrapped(**given: Any) -> None:
        typed = {p.name: given.pop(p.name) for p in made}
        command(options=from_typed(typed), **given)

    parameters = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in (*own, *made)]
    wrapped.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    wrapped.__annotations__ = {p.name: p.annotation for p in parameters}
    return wrapped


def _parameter(flag: Flag, default: Any) -> inspect.Parameter:
    kind: Any = type(default)
    if flag.commas:
        kind, default = str, ",".join(default)
    elif isinstance(default, (tuple, Mapping)):
        kind, default = list[str] | None, None
    elif isinstance(default, bool) and flag.words is not None:
        kind, default = str, flag.words()[default]
    names = ("-g", flag.name) if flag.name == "--debug" else (flag.name,)
    option = typer.Option(*names, help=flag.help, metavar=flag.metavar)
    return inspect.Parameter(
        flag.parameter,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[kind, option],
    )

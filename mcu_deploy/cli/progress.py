"""What a command shows while it works: on a terminal, on standard error, and gone when it is done.

Where standard error goes to a file or a pipe nothing is written.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.markup import escape

from mcu_deploy.cli.console import err
from mcu_deploy.output.progress import listening

if TYPE_CHECKING:
    from rich.progress import Task


@contextmanager
def working(what: str) -> Iterator[None]:
    """Shows what is done, and of what is told inside how much is done, at which rate, and how long
    the rest will take."""
    if not err.is_terminal:
        yield
        return
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    bar = Progress(
        SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn(),
        TextColumn("{task.fields[far]}"), console=err, transient=True,
    )  # fmt: skip
    shown = bar.add_task(f"{escape(what)} ...", total=None, far="")
    step = bar.add_task("", total=None, visible=False)  # keeps the rate

    def tell(detail: str, done: int, total: int | None) -> None:
        nonlocal step
        if bar.tasks[-1].description != detail:
            bar.remove_task(step)
            step = bar.add_task(detail, total=None, visible=False)
        bar.update(step, completed=done, total=total)
        bar.update(shown, description=f"{escape(what)}: {escape(detail)}", far=_far(bar.tasks[-1]))

    with bar, listening(tell):
        yield


def _far(step: Task) -> str:
    """12/100 3.4/s 0:00:26 left; of what is not counted nothing."""
    if step.total is None:
        return ""
    said = f"{step.completed:.0f}/{step.total:.0f}"
    if step.speed and step.time_remaining is not None:
        minutes, seconds = divmod(round(step.time_remaining), 60)
        said += f"  {step.speed:.1f}/s  {minutes}:{seconds:02} left"
    return said

"""How somebody says who runs tasks."""

from __future__ import annotations

from dataclasses import dataclass

from mcu_deploy.errors import UsageError


@dataclass(frozen=True)
class Workers:
    """count: so many processes on this machine, under a Dask scheduler of their own. scheduler: the
    address of one that runs already, such as tcp://HOST:8786. With neither there are as many
    processes as this one may use processors, without Dask. What comes out is the same."""

    count: int | None = None
    scheduler: str | None = None

    def __post_init__(self) -> None:
        if self.count is not None and self.scheduler is not None:
            raise UsageError(
                "--workers and --scheduler contradict each other: a scheduler has the workers that "
                "were started for it. Give one of them."
            )
        if self.count is not None and self.count < 1:
            raise UsageError(f"{self.count} workers do nothing; give one at least.")
        if self.scheduler is not None and not self.scheduler.partition("://")[2]:
            raise UsageError(
                f"{self.scheduler!r} is no address of a scheduler; give one such as "
                "tcp://HOST:8786, which `dask scheduler` prints."
            )

    @property
    def are_asked_for(self) -> bool:
        """Whether they are others than those that there are without asking."""
        return self.count is not None or self.scheduler is not None


HERE = Workers()

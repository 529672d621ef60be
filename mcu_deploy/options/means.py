"""By what means something is done: backends, a device, those who do what takes long."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module

from mcu_deploy.errors import UsageError
from mcu_deploy.options.checked import Checked
from mcu_deploy.options.flags import option


def _backend_options(texts: Sequence[str]) -> dict[str, dict[str, str]]:
    """What a backend is told, by its id: of ID.NAME=VALUE."""
    options: dict[str, dict[str, str]] = {}
    for text in texts:
        key, separator, value = text.partition("=")
        backend, dot, name = key.partition(".")
        if not (separator and dot and backend and name):
            raise UsageError(f"--backend-option {text} is not of the form ID.NAME=VALUE.")
        if options.setdefault(backend, {}).setdefault(name, value) != value:
            raise UsageError(f"--backend-option says {key} twice; say it once.")
    return options


@dataclass(frozen=True)
class CreationOptions(Checked):
    """The options of a session, which every context gets.

    dynamic_backends: whether dynamic backends are looked for; dynamic_backends_path: where, in
    place of the environment's and the default list. call_timeout: seconds that one call into a
    dynamic backend may take. backend_options: what the user sets for a backend, by its id.
    """

    dynamic_backends: bool = option(
        True, "--no-dynamic-backends", "Use the built-in backends only."
    )
    dynamic_backends_path: str | None = option(
        None, "--dynamic-backends",
        "The one folder where dynamic backends are looked for, an absolute path.", metavar="PATH",
    )  # fmt: skip
    call_timeout: float = 10.0
    backend_options: Mapping[str, Mapping[str, str]] = option(
        {}, "--backend-option", "What a backend is told (repeatable).", metavar="ID.NAME=VALUE",
        read_all=_backend_options,
    )  # fmt: skip


def _emulators() -> Iterable[str]:
    launchers = import_module("mcu_deploy.device.emulators").launchers()
    return (launcher.name for launcher in launchers)


@dataclass(frozen=True)
class Connection(Checked):
    """How a device is reached.

    port: a serial device node or a pyserial URL; "auto": the port with the board's USB id; None
    starts an emulator. emulator: "qemu", "renode" or None for the board's own choice. arguments:
    passed on to the emulator. latency, retries, run_timeout: see `connect`.
    """

    port: str | None = option(
        None, "--port", "A serial port or pyserial URL of a real board, already flashed; auto: the "
        "port with the board's USB id.",
    )  # fmt: skip
    baud: int | None = option(
        None, "--baud", "The port's speed; the board's by default.", least=1, most=10**9
    )
    emulator: str | None = option(
        None, "--emulator", "renode or qemu; the board's own by default.", known=_emulators
    )
    arguments: tuple[str, ...] = option(
        (), "--emulator-arg", "An argument passed on to the emulator (repeatable)."
    )
    latency: float | None = option(
        None, "--latency", "Seconds that the line may hold an answer back, 3 by default; more for "
        "a bridge or a VPN.", least=0.001, most=600,
    )  # fmt: skip
    retries: int | None = option(
        None, "--retries", "Attempts of a request whose frames come damaged, 100 by default; a "
        "tenth of it where nothing comes.", least=1,
    )  # fmt: skip
    run_timeout: float | None = option(
        None, "--run-timeout", "Seconds in which a layer has to end, 60 by default; then the run "
        "is stopped, and the layer named.", least=0.1,
    )  # fmt: skip


def _runners() -> Iterable[str]:
    return tuple(import_module("mcu_deploy.runners.interface").runners())


@dataclass(frozen=True)
class Flasher(Checked):
    """By what a program gets into a board. runner: a tool's name; the first one of the board's file
    that is installed by default. probe: which one, where several boards are connected."""

    runner: str | None = option(
        None, "--runner", "The tool to flash with (docs/flashing.md); the board's first that is "
        "installed by default.", known=_runners,
    )  # fmt: skip
    probe: str | None = option(
        None, "--probe", "Which probe: its serial number; a GDB server's address; a UF2 drive."
    )


@dataclass(frozen=True)
class Workers(Checked):
    """count: so many processes on this machine, under a Dask scheduler of their own. scheduler: the
    address of one that runs already, such as tcp://HOST:8786. With neither there are as many
    processes as this one may use processors, without Dask. What comes out is the same."""

    count: int | None = option(
        None, "--workers", "Work with so many processes of Dask on this machine (docs/cluster.md); "
        "without it with one a processor, without Dask.", metavar="N",
    )  # fmt: skip
    scheduler: str | None = option(
        None, "--scheduler", "Work with the machines of a Dask scheduler: tcp://HOST:8786.",
        metavar="ADDRESS",
    )  # fmt: skip

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
        super().__post_init__()

    @property
    def are_asked_for(self) -> bool:
        """Whether they are others than those that there are without asking."""
        return self.count is not None or self.scheduler is not None


HERE = Workers()

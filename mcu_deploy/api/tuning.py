"""`tune`: measures what the candidates for a model's layers cost, and keeps it beside the model."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path

from mcu_deploy import formats, pmx
from mcu_deploy.api import building, flashing, profiling
from mcu_deploy.api.folder import open_folder
from mcu_deploy.api.running import Connection
from mcu_deploy.api.sending import SentBoard
from mcu_deploy.backends import measured as measured_costs
from mcu_deploy.backends.cost import Cost, Known, Unit
from mcu_deploy.backends.interface import CreationOptions
from mcu_deploy.backends.isa.models import MODELS
from mcu_deploy.backends.measured import NOT_MEASURED, MeasuredCosts
from mcu_deploy.boards import Board, list_boards, load_board
from mcu_deploy.choose.target import target_of
from mcu_deploy.compiled import Network
from mcu_deploy.compiler import compile_covers, compile_model
from mcu_deploy.device.emulators import choose_emulator, launcher_named, launchers_for
from mcu_deploy.device.emulators.interface import Launcher
from mcu_deploy.errors import DeviceError, FitError, RequestError, UsageError
from mcu_deploy.options import Options
from mcu_deploy.output import progress, require_writable, write_file
from mcu_deploy.plan import Step
from mcu_deploy.runners.choosing import choose
from mcu_deploy.selection import Choice
from mcu_deploy.session import Session, session_or_own
from mcu_deploy.tasks import HERE, Workers, run_tasks
from mcu_deploy.toolchain.stand_in import stand_in_machine

# A build with measured costs may put together what was not measured so: then that is measured too,
# and built again, at most so often.
_BUILDS = 8

Load = Callable[[Path], None]


@dataclass(frozen=True)
class TunedLayer:
    """A layer of a build, who computes it, and its cycles on the board, with those it waits."""

    short: str
    op: str
    backend: str
    cycles: int


@dataclass(frozen=True)
class Tuned:
    """What was measured, and what it changes.

    model: the network's name. file: with the costs, which builds read. measured: how many workloads
    were measured now; kept: how many of the model's were in the file. too_large: how many networks
    could not be built for the board, so that some candidates may lack. before, after: cycles of all
    layers, of a build without measured costs and of one with them; None where a layer could not be
    measured. replaced: the layers that only the first has; replaced_by: those that only the other
    has.
    """

    model: str
    file: Path
    board: Board
    known: Known
    measured: int
    kept: int
    too_large: int
    before: int | None
    after: int | None
    replaced: tuple[TunedLayer, ...]
    replaced_by: tuple[TunedLayer, ...]


def tune(
    model: str | Path,
    board: str | Path | Board,
    *,
    session: Session | None = None,
    options: Options | None = None,
    connection: Connection | None = None,
    load: Load | None = None,
    again: bool = False,
    workers: Workers = HERE,
) -> Tuned:
    """Measures all that backends offer for the layers of a model, and writes MODEL.costs.json.

    Networks are built in which each candidate occurs, and profiled: in QEMU, some at a time or by
    `workers`, which gives modelled cycles of counted instructions, with those that the board waits
    for its memories; or with `connection` on the board at a port, one after the other, whose own
    counter says the cycles. load: puts a firmware.elf on that board, as `flash` by default.

    The file is written after each network, and what is in it is not measured again, but for
    `again`; nor do counted costs count as measured ones. Raises an McuDeployError with a sentence
    for everything that can go wrong.
    """
    path = Path(model)
    target = board if isinstance(board, Board) else load_board(board)
    chosen = connection or Connection()
    _require_cycles(target, chosen, load)
    if chosen.port is not None and workers.are_asked_for:
        raise UsageError(
            "--port is for one board, which measures one network after the other. Leave --workers "
            "and --scheduler out."
        )
    if chosen.port is not None and load is None:
        choose(target.name, target.runners)  # before any work
        load = _flash
    if formats.is_compiled(path):
        raise RequestError(
            f"{path} is compiled already, and has its costs inside. Tune the model that it was "
            "made of, and make it again."
        )
    require_writable(measured_costs.file_beside(path), [path])
    with session_or_own(session) as own:
        tuning = _Tuning(path, target, own, options or Options(), chosen, load, workers)
        return tuning.run(again)


@dataclass(frozen=True)
class ProfileTask:
    """A network that is to be built, and profiled in an emulator. compiled: as in a .pmx file."""

    compiled: bytes
    board: SentBoard
    options: Options
    creation: CreationOptions
    connection: Connection


def profile_compiled(task: ProfileTask) -> tuple[int, ...] | None:
    """The cycles of each layer of a network; None where it does not fit the board."""
    with tempfile.TemporaryDirectory(prefix="mcu-deploy-") as directory:
        path = Path(directory) / "network.pmx"
        path.write_bytes(task.compiled)
        board = task.board.load(Path(directory) / "board")
        with Session(options=task.creation) as session:
            network = compile_model(path, board, session=session, options=task.options)
            tuning = _Tuning(path, board, session, task.options, task.connection)
            try:
                return tuning._profile(network)
            except FitError:
                return None


class _Tuning:
    def __init__(
        self, model: Path, board: Board, session: Session, options: Options,
        connection: Connection, load: Load | None = None, workers: Workers = HERE,
    ) -> None:  # fmt: skip
        self.model, self.board, self.session, self.options = model, board, session, options
        self.connection, self.load, self.workers = connection, load, workers
        self.known = Known.COUNTED if connection.port is None else Known.MEASURED
        self.target = target_of(board, options)
        self.costs = measured_costs.beside(model, self.target)
        self.measured: set[str] = set()
        self.too_large = self.done = self.total = 0

    def run(self, again: bool) -> Tuned:
        before = self._compiled(NOT_MEASURED)
        covers = compile_covers(self.model, self.board, session=self.session, options=self.options)
        networks = [before, *covers]
        if not any(map(_layers, networks)):
            raise RequestError(
                f"There is nothing to measure in {self.model}: it has no layers outside of If, "
                "Loop and Scan, inside of which nobody counts how often one runs. Build it as it "
                "is."
            )
        kept = {p for n in networks for p in _layers(n) if self._has(p) and not again}
        self._measure(networks, kept)
        for _ in range(_BUILDS):
            after = self._compiled(self.costs)
            known = {p for p in _layers(after) if self._has(p)}
            if not self._measure([after], known):
                break
        return Tuned(
            before.name, measured_costs.file_beside(self.model), self.board, self.known,
            len(self.measured), len(kept), self.too_large, self._cycles(before),
            self._cycles(after), self._only(before, after), self._only(after, before),
        )  # fmt: skip

    def _compiled(self, costs: MeasuredCosts) -> Network:
        return compile_model(
            self.model, self.board, session=self.session, options=self.options, measured=costs
        )

    def _has(self, fingerprint: str) -> bool:
        """Whether the file says the cycles of a workload, and knows them as well as we would."""
        cost = self.costs.by_fingerprint.get(fingerprint)
        if cost is None or cost.unit is not Unit.CYCLES:
            return False
        return cost.known in (self.known, Known.MEASURED)

    def _measure(self, networks: Sequence[Network], known: Collection[str]) -> bool:
        """Measures what is not known, each workload in the first network that has it. Whether
        anything was."""
        seen = {*known}
        rounds: list[tuple[Network, Mapping[str, Sequence[Step]]]] = []
        for network in networks:
            new = {p: steps for p, steps in _layers(network).items() if p not in seen}
            if new:
                seen |= new.keys()
                rounds.append((network, new))
        before = len(self.measured)
        self._tell(0, len(rounds))
        try:
            self._profile_all(rounds)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(
                f"interrupted; {measured_costs.file_beside(self.model)} has the costs so far, and "
                "the same command goes on from there"
            ) from None
        return len(self.measured) > before

    def _profile_all(self, rounds: Sequence[tuple[Network, Mapping[str, Sequence[Step]]]]) -> None:
        """Profiles networks, and keeps what these layers of them cost as it comes to be known."""
        if self.workers.are_asked_for:
            tasks = [
                ProfileTask(
                    pmx.pack(network, self.session), SentBoard.of(self.board), self.options,
                    self.session.options, self.connection,
                )
                for network, _ in rounds
            ]  # fmt: skip
            for number, cycles in run_tasks(profile_compiled, tasks, self.workers):
                self._take(rounds[number][1], cycles)
            return
        workers = len(os.sched_getaffinity(0)) if self.connection.port is None else 1
        pool = ThreadPoolExecutor(workers)
        futures = {pool.submit(self._profile, network): new for network, new in rounds}
        try:
            for future in as_completed([*futures]):
                layers = futures.pop(future)
                try:
                    cycles = future.result()
                except FitError:
                    cycles = None
                self._take(layers, cycles)
        finally:
            pool.shutdown(cancel_futures=True)
            for future, layers in futures.items():  # what was under way is kept, too
                if not future.cancelled() and future.exception() is None:
                    self._keep(layers, future.result())

    def _take(self, layers: Mapping[str, Sequence[Step]], cycles: Sequence[int] | None) -> None:
        """cycles: None where the network does not fit."""
        if cycles is None:
            self.too_large += 1
        else:
            self._keep(layers, cycles)
        self._tell(1)

    def _profile(self, network: Network) -> tuple[int, ...]:
        """The cycles of each layer, with those that the board waits."""
        with tempfile.TemporaryDirectory(prefix="mcu-deploy-") as directory:
            building.write(self.board, Path(directory), [network], self.options, self.session)
            folder = open_folder(directory)
            if self.load is None:
                folder = replace(folder, board=self._answering(folder.board))
                found = profiling.emulated(folder, folder.network(), self.connection)
                waits = self.target.memory is not None and not self.target.memory.answers_at_once
                cycles = [
                    (layer.time.cycles if layer.time else None) if waits else layer.cycles
                    for layer in found.layers
                ]
            else:
                self.load(folder.firmware)
                found = profiling.on_board(folder, network, self.connection)
                is_cycles = found.unit == Unit.CYCLES.value
                cycles = [layer.cost if is_cycles else None for layer in found.layers]
        known = tuple(c for c in cycles if c is not None)
        if len(known) < len(cycles):
            reason = found.no_cycles or found.no_time or f"{found.source} says {found.unit}"
            raise DeviceError(
                f"Nothing says the cycles of a layer on {self.board.name}: {reason}. Costs compare "
                "in cycles; tune for a board of the same core whose cycles are known."
            )
        return known

    def _answering(self, board: Board) -> Board:
        """The board, with what code and constants lie in as the options have it."""
        if self.options.flash_wait is None:
            return board
        names = (board.roles.code, board.roles.weights)
        memories = (
            replace(m, rated_timing=self.target.memory) if m.name in names else m
            for m in board.memories
        )
        return replace(board, memories=tuple(memories))

    def _keep(self, layers: Mapping[str, Sequence[Step]], cycles: Sequence[int]) -> None:
        """Writes what a network has shown; of layers that are alike the mean."""
        found = {}
        for fingerprint, steps in layers.items():
            total = sum(cycles[step.index] for step in steps)
            found[fingerprint] = Cost(round(total / len(steps)), Unit.CYCLES, self.known)
        file = measured_costs.file_beside(self.model)
        self.costs = self.costs.with_costs(file, self.target, found)
        write_file(file, self.costs.content)
        self.measured |= found.keys()

    def _tell(self, done: int, more: int = 0) -> None:
        self.done, self.total = self.done + done, self.total + more
        progress.tell("networks are measured", self.done, self.total)

    def _cycles(self, network: Network) -> int | None:
        """Of all layers; None where one is not known."""
        layers = _layers(network)
        if not all(map(self._has, layers)):
            return None
        return sum(len(s) * self.costs.by_fingerprint[p].value for p, s in layers.items())

    def _only(self, network: Network, other: Network) -> tuple[TunedLayer, ...]:
        """The layers that only one of two networks has."""
        others = _layers(other)
        return tuple(
            TunedLayer(
                step.choice.layer.short, step.choice.layer.op, step.choice.workload.backend,
                self.costs.by_fingerprint[fingerprint].value,
            )
            for fingerprint, steps in _layers(network).items()
            if fingerprint not in others and self._has(fingerprint)
            for step in steps
        )  # fmt: skip


def _layers(network: Network) -> dict[str, list[Step]]:
    """The layers by what they are measured as. Those of the graphs inside of If, Loop and Scan are
    not among them: nobody counts how often they ran."""
    outside = {c.layer.node.id for c in network.selection.choices if isinstance(c, Choice)}
    found: dict[str, list[Step]] = {}
    for step in network.plan.steps:
        if step.choice.layer.node.id in outside:
            found.setdefault(step.choice.workload.fingerprint, []).append(step)
    return found


def _flash(firmware: Path) -> None:
    flashing.flash(firmware.parent)


def _counter(board: Board, emulator: str | None) -> Launcher:
    """The emulator that counts for a board; QEMU does so on a machine of its core, too."""
    if emulator is None and stand_in_machine(board) is not None:
        return launcher_named("qemu")
    return choose_emulator(board, emulator).launcher


def _require_cycles(board: Board, connection: Connection, load: Load | None) -> None:
    """Raises before any work is done where nothing would say cycles."""
    if connection.port is None and load is not None:
        raise UsageError(
            "--load is for a real board: say with --port where it is, or leave it out."
        )
    if connection.port is not None:
        return
    if board.is_host:
        reason = "nothing counts cycles on the host"
    elif board.core not in MODELS:
        reason = f"there are no timings of the {board.core}"
    else:
        launcher = _counter(board, connection.emulator)
        if launcher.counts_addresses:
            launcher.find()
            return
        reason = f"{launcher.title} does not count by address"
    of_board = target_of(board, Options())
    others = [
        b.name for b in list_boards()
        if b.core in MODELS and of_board.has_the_core_of(target_of(b, Options()))
        and any(launcher.counts_addresses for launcher in launchers_for(b))
    ]  # fmt: skip
    raise RequestError(
        f"Costs compare in cycles, and there are none of {board.name}: {reason}. "
        + (
            f"They count for all boards of a core: tune for --board {others[0]} in QEMU instead."
            if others
            else "Measure them on a board, with --port."
        )
    )

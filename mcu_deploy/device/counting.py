"""Counts the instructions of one inference, and of each layer, on `bench.elf`.

crt/firmware/bench_main.c says where its marks are and what lies between them.
"""

from __future__ import annotations

import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from mcu_deploy.boards import Board
from mcu_deploy.device.emulators import choose_emulator
from mcu_deploy.device.emulators.interface import EmulatorJob
from mcu_deploy.device.emulators.trace import Event, Trace, WatchedAddresses
from mcu_deploy.elf.reader import Elf, load_elf
from mcu_deploy.errors import DeviceError, RequestError


class _Mark(StrEnum):
    """The functions of bench.elf that are watched."""

    MAIN = "mcu_firmware_main"
    BEGIN = "mcu_bench_begin"
    END = "mcu_bench_end"
    HOOK = "mcu_bench_hook"
    LAYER_BEGIN = "mcu_bench_layer_begin"
    LAYER_END = "mcu_bench_layer_end"
    TICK = "mcu_bench_tick"
    DONE = "mcu_bench_done"
    FAILED = "mcu_bench_failed"
    FAULT = "mcu_fault_entry"  # where all faults of boards/common's vector table go


_WORD_BYTES = 4

# boards/common/second_core.c: the function that a core idles in. What it executes there depends on
# the other core's pace and on the emulator (QEMU before 10.2 does not sleep in WFE, so a core that
# waits spins): none of it is counted, on either core.
_IDLE = "mcu_core_wait"


@dataclass(frozen=True)
class Waiting:
    """The cycles that a core stands still for its memories, by the emulator's model: for code, and
    for data."""

    code: int
    data: int


@dataclass(frozen=True)
class Counts:
    """What one inference costs on a board.

    total: instructions of one run without a hook, of the core that runs it; cores: the same of each
    core that has worked, this one first, without the time in which it waits for the other: the
    largest is how long the run takes. layers: of each layer by its index, over all its calls; 0
    where there was none, and layers behind the last one that ran are not there;
    stack_bytes: the deepest use of the stack in a run, from the start-up's paint; emulator,
    version: what counted. by_address: how often each address was executed in the run without a
    hook; layers_by_address: the same of each layer. Both are empty where it was not asked for, or
    the emulator does not count so. waiting: of the run without a hook, None where it was not asked
    for; layers_waiting: the same of each layer.
    """

    total: int
    layers: tuple[int, ...]
    stack_bytes: int
    emulator: str
    version: str
    cores: tuple[int, ...] = ()
    by_address: Mapping[int, int] = field(default_factory=dict)
    layers_by_address: tuple[Mapping[int, int], ...] = ()
    waiting: Waiting | None = None
    layers_waiting: tuple[Waiting, ...] = ()


def count_instructions(
    board: Board,
    bench_elf: Path,
    *,
    emulator: str | None = None,
    extra_args: Sequence[str] = (),
    by_address: bool = False,
    memories: str = "",
    timeout: float = 300.0,
) -> Counts:
    """Runs bench.elf in an emulator and counts the instructions of one inference.

    emulator: as for `open_emulator`; memories: as of `WatchedAddresses`, for one that counts by
    address; timeout: seconds of real time. The emulator has ended when
    this returns. Errors: UsageError (no emulator has the board or can count on it, the file is no
    bench.elf), ToolError (the emulator is missing or fails), DeviceError (the network fails, faults
    or does not end in time).
    """
    launcher = choose_emulator(board, emulator).launcher
    able = launcher.counts_addresses
    bench = read_bench(bench_elf, by_address=by_address and able, memories=memories if able else "")
    program = launcher.find()
    with tempfile.TemporaryDirectory(prefix="mcu-deploy-", ignore_cleanup_errors=True) as folder:
        job = EmulatorJob(board, bench.elf, program, tuple(extra_args), Path(folder))
        trace = launcher.trace(job, bench.marks, timeout)
    return bench.counts(trace, board, launcher.name, launcher.title, timeout)


@dataclass(frozen=True)
class Bench:
    """A bench.elf: what is to be watched while it runs, and which of its functions that is."""

    elf: Path
    marks: WatchedAddresses
    names: Mapping[int, _Mark]

    def counts(
        self, trace: Trace, board: Board, emulator: str, title: str, timeout: float
    ) -> Counts:
        """What was seen of it; timeout: how long it was let run, in seconds. DeviceError where
        the network failed, faulted or did not end."""
        run = _Run(f"{self.elf.name} on {board.name} in {title}", trace.histograms)
        for event in trace.events:
            run.see(self.names[event.address], event)
        run.finish(trace, timeout)
        indices = range(1 + max(run.layers, default=-1))
        by_address, is_followed = bool(self.marks.stretches), bool(self.marks.memories)
        return Counts(
            total=run.total,
            layers=tuple(run.layers[i] for i in indices),
            stack_bytes=run.ticks * _WORD_BYTES,
            emulator=emulator,
            version=trace.version,
            cores=run.cores,
            by_address=run.by_address,
            layers_by_address=(
                tuple(run.layers_by_address[i] for i in indices) if by_address else ()
            ),
            waiting=_waiting(run.waited) if is_followed else None,
            layers_waiting=(
                tuple(_waiting(run.layers_waited[i]) for i in indices) if is_followed else ()
            ),
        )


def read_bench(path: Path, *, by_address: bool = False, memories: str = "") -> Bench:
    """Reads a bench.elf. by_address: to count too how often each address is executed; memories: as
    of `WatchedAddresses`. UsageError where it was not linked with bench_main.c."""
    path = path.resolve()
    elf = load_elf(path)
    places = _places(path, elf)
    once = (places[_Mark.MAIN],)
    stop = tuple(places[m] for m in (_Mark.DONE, _Mark.FAILED, _Mark.FAULT) if m in places)
    stretches = ((_Mark.BEGIN, _Mark.END), (_Mark.LAYER_BEGIN, _Mark.HOOK)) if by_address else ()
    marks = WatchedAddresses(
        mark=tuple(place for place in places.values() if place not in once + stop),
        once=once,
        stop=stop,
        skip=_idle(elf),
        stretches=tuple((places[first], places[last]) for first, last in stretches),
        memories=memories,
    )
    return Bench(path, marks, {place: name for name, place in places.items()})


_Waited = tuple[int, int]  # for code, and for data; in thousandths of a cycle


def _between(first: Event, last: Event) -> _Waited:
    return last.waited[0] - first.waited[0], last.waited[1] - first.waited[1]


def _waiting(waited: _Waited) -> Waiting:
    return Waiting(*(round(time / 1000) for time in waited))


class _Run:
    """Follows the events of one bench.elf, in their order."""

    def __init__(self, what: str, histograms: Iterable[Mapping[int, int]]) -> None:
        self.what = what
        self._histograms = iter(histograms)
        self.by_address: Mapping[int, int] = {}
        self.layers_by_address: defaultdict[int, Counter[int]] = defaultdict(Counter)
        self.total = 0
        self.cores: tuple[int, ...] = ()
        self.layers: defaultdict[int, int] = defaultdict(int)
        self.waited: _Waited = (0, 0)
        self.layers_waited: defaultdict[int, _Waited] = defaultdict(lambda: (0, 0))
        self.ticks = 0
        self._finished = 0
        self._done = False
        self._starts = 0
        self._begin: Event | None = None
        self._hook = self._layer = Event(0, 0)
        self._index = -1

    def see(self, mark: _Mark, event: Event) -> None:
        """A marked function is entered."""
        match mark:
            case _Mark.MAIN:
                self._starts += 1
                if self._starts > 1:
                    raise DeviceError(f"{self.what} restarted {self._where()}")
            case _Mark.FAULT:
                raise DeviceError(
                    f"{self.what} faulted {self._where()}. "
                    "`mcu-deploy run` on the same board prints the cause."
                )
            case _Mark.FAILED:
                raise DeviceError(
                    f"{self.what} failed {self._where()}: the runtime returned the error code "
                    f"{-self.ticks} (see mcu_status_t in mcu/runtime.h)"
                )
            case _Mark.BEGIN:
                self._begin = event
            case _Mark.END:
                assert self._begin is not None
                self.total = event.count - self._begin.count
                self.waited = _between(self._begin, event)
                before = self._begin.cores + (0,) * len(event.cores)
                self.cores = tuple(after - n for after, n in zip(event.cores, before, strict=False))
                self.by_address = next(self._histograms, {})
            case _Mark.HOOK:
                self._hook = event
            case _Mark.LAYER_BEGIN:
                self._layer = event
                self._index = self.ticks - 1 if self.ticks else self._index + 1
                self.ticks = 0
            case _Mark.LAYER_END:
                self.layers[self._index] += self._hook.count - self._layer.count
                before, more = self.layers_waited[self._index], _between(self._layer, self._hook)
                self.layers_waited[self._index] = (before[0] + more[0], before[1] + more[1])
                self.layers_by_address[self._index].update(next(self._histograms, {}))
                self._finished += 1
            case _Mark.TICK:
                self.ticks += 1
            case _Mark.DONE:
                self._done = True

    def finish(self, trace: Trace, timeout: float) -> None:
        """DeviceError where the run did not come to its end."""
        if not self._done:
            if trace.finished:
                raise DeviceError(f"{self.what} ended {self._where()}")
            raise DeviceError(
                f"{self.what} did not end within {timeout:g} s, and was stopped {self._where()}. "
                "`mcu-deploy run` on the same board names a layer that does not end, and "
                "--run-timeout gives a slow one more time."
            )

    def _where(self) -> str:
        if self._starts == 0:
            return "before its start-up was through"
        if self._begin is None:
            return "in its first run"
        if self.total == 0:
            return "in its second run"
        return f"in its third run, after {self._finished} layers"


def _idle(elf: Elf) -> tuple[tuple[int, int], ...]:
    """The function that a core idles in: its first address, and the one after its last. Empty on a
    board with one core."""
    return tuple(
        (symbol.value & ~1, (symbol.value & ~1) + symbol.size)
        for symbol in elf.symbols
        if symbol.name == _IDLE and symbol.type == "STT_FUNC"
    )


def _places(path: Path, elf: Elf) -> dict[_Mark, int]:
    """The addresses of the marked functions, without the Thumb bit.

    UsageError where the file was not linked with bench_main.c."""
    names = {str(mark): mark for mark in _Mark}
    places = {
        names[symbol.name]: symbol.value & ~1
        for symbol in elf.symbols
        if symbol.name in names and not symbol.undefined
    }
    missing = [mark for mark in _Mark if mark not in places and mark is not _Mark.FAULT]
    if missing:
        raise RequestError(
            f"{path} is no bench.elf: it has no function {missing[0]}. "
            "Name the bench.elf that `mcu-deploy build` wrote."
        )
    if len(set(places.values())) != len(places):
        raise RequestError(
            f"{path} has two marks at one address. Build it with its own bench_main.c."
        )
    return places

"""The model of waiting (plugin/memories.c), by accesses whose cycles are known by hand."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from mcu_deploy.device.emulators import qemu_plugin

pytestmark = pytest.mark.needs_host_gcc

SOURCE = Path(qemu_plugin.__file__).parent / "plugin" / "memories.c"
CYCLE = 1000


class Core:
    """A core whose instructions take a cycle each, in front of memories."""

    def __init__(self, library: Path, folder: Path, lines: Iterable[str]) -> None:
        file = folder / "memories.txt"
        file.write_text("".join(f"{line}\n" for line in lines))
        self._model = ctypes.CDLL(str(library))
        self._model.memories_step.restype = ctypes.c_void_p
        self._model.memories_step.argtypes = [ctypes.c_uint64, ctypes.c_uint32]
        self._model.memories_execute.argtypes = [ctypes.c_void_p]
        for name in ("memories_read", "memories_write"):
            getattr(self._model, name).argtypes = [ctypes.c_uint64]
        self._model.memories_read_file.restype = ctypes.c_bool
        self._model.memories_read_file.argtypes = [ctypes.c_char_p]
        self.is_known = self._model.memories_read_file(str(file).encode())

    def _waited(self, name: str) -> float:
        return ctypes.c_uint64.in_dll(self._model, name).value / CYCLE

    def _difference(self, name: str, call: Callable[[], None]) -> float:
        before = self._waited(name)
        call()
        return self._waited(name) - before

    def run(self, addresses: Iterable[int], size: int = 4) -> float:
        """Executes instructions one after the other; how long that waited for code."""

        def execute() -> None:
            for address in addresses:
                self._model.memories_execute(self._model.memories_step(address, size))

        return self._difference("memories_code_wait", execute)

    def read(self, address: int) -> float:
        """How long a read waited."""
        return self._difference("memories_data_wait", lambda: self._model.memories_read(address))

    def write(self, address: int) -> float:
        return self._difference("memories_data_wait", lambda: self._model.memories_write(address))


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("model") / "memories.so"
    command = ["gcc", "-std=gnu99", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared"]
    subprocess.run([*command, "-o", made, SOURCE], check=True)
    return made


@pytest.fixture
def core(library: Path, tmp_path: Path) -> Callable[..., Core]:
    """Makes a core: each has a copy of the library, whose state nobody else has."""
    made: list[Path] = []

    def make(*lines: str) -> Core:
        made.append(tmp_path / f"memories{len(made)}.so")
        made[-1].write_bytes(library.read_bytes())
        return Core(made[-1], tmp_path, lines)

    return make


# FIRST END WAIT READ PREFETCH INSTRUCTIONS DATA
PLAIN = "memory 0 10000 5000 16 0 -1 -1"


def test_the_queue_asks_twelve_bytes_ahead(core: Callable[..., Core]) -> None:
    """Four instructions a read. The first waits for all of it; the second read is asked for 12
    bytes before, after a cycle, when the flash is free again: 6 + 5 cycles are over at 11, and the
    core is there at 9."""
    assert core(PLAIN).run(range(0, 16, 4)) == 5
    assert core(PLAIN).run(range(0, 32, 4)) == 5 + 2
    assert core(PLAIN).run(range(0, 320, 4)) == 5 + 19 * 2
    # Eight instructions of two bytes a read hide what it takes, but for the cycle of the read.
    assert core(PLAIN).run(range(0, 320, 2), size=2) == 5


def test_a_jump_is_asked_for_when_it_is_there(core: Callable[..., Core]) -> None:
    made = core(PLAIN)
    made.run([0])
    assert made.run([0x100]) == 5
    assert made.run([0x104, 0x108]) == 0  # of the same read
    assert made.run([0x104]) == 0
    assert made.run([0x200, 0x100]) == 10  # nothing keeps what was read before


def test_a_prefetch_is_there_earlier(core: Callable[..., Core]) -> None:
    """It begins when the flash has the read before: after 6 cycles, and takes 6; the core is there
    at 9. From then on it is asked for four instructions ahead, and waits for two cycles."""
    made = core("memory 0 10000 5000 16 1 -1 -1")
    assert made.run(range(0, 32, 4)) == 5 + 3
    assert made.run(range(32, 320, 4)) == 18 * 2


@pytest.mark.parametrize(("bytes_", "waits"), [(1024, False), (1040, True)])
def test_a_loop_longer_than_its_cache_never_hits(
    core: Callable[..., Core], bytes_: int, waits: bool
) -> None:
    made = core("cache 1 64 16 0", "memory 0 10000 5000 16 0 0 -1")
    loop = range(0, bytes_, 4)
    first = made.run(loop)
    assert first >= 5 + (bytes_ // 16 - 1) * 2
    again = [made.run(loop), made.run(loop)]
    assert again == ([first, first] if waits else [0, 0])


def test_any_line_makes_room_where_the_policy_is_random(core: Callable[..., Core]) -> None:
    made = core("cache 1 64 16 2", "memory 0 10000 5000 16 0 0 -1")
    loop = range(0, 1040, 4)
    first = made.run(loop)
    assert 0 < made.run(loop) < first


def test_the_oldest_line_makes_room_in_turn(core: Callable[..., Core]) -> None:
    """Which is the first one, although it was used last; of what was not used for longest the
    second one makes room."""
    for policy, waits in ((1, 5), (0, 0)):
        made = core(f"cache 1 2 16 {policy}", "memory 0 10000 5000 16 0 -1 0")
        made.run([0x20000 + 4 * i for i in range(100)])  # the flash is idle in between
        assert [made.read(0x00), made.read(0x10), made.read(0x00)] == [5, 6, 0]
        made.run([0x20000 + 4 * i for i in range(100)])
        assert made.read(0x20) == 5
        made.run([0x20000 + 4 * i for i in range(100)])
        assert made.read(0x00) == waits


def test_addresses_of_one_set_drive_each_other_out(core: Callable[..., Core]) -> None:
    made = core("cache 4 1 16 0", "memory 0 10000 5000 16 0 -1 0")
    assert made.read(0x00) == 5
    assert made.read(0x10) == 6  # one cycle more, in which the flash still brings the first
    assert made.read(0x08) == made.read(0x1C) == 0
    assert made.read(0x40) > 0  # in the set of the first
    assert made.read(0x10) == 0
    assert made.read(0x00) > 0


def test_a_line_is_filled_read_by_read(core: Callable[..., Core]) -> None:
    made = core("cache 1 2 32 0", "memory 0 10000 5000 8 0 -1 0")
    assert made.read(0x00) == 5
    assert made.read(0x08) == made.read(0x18) == 6
    assert made.read(0x04) == made.read(0x1F) == 0
    assert made.read(0x10) == 6


def test_a_write_waits_for_nothing_and_leaves_its_line(core: Callable[..., Core]) -> None:
    made = core("cache 1 2 16 0", "memory 0 10000 5000 16 0 -1 0")
    assert made.write(0x100) == 0
    assert made.read(0x104) == 0


def test_memories_have_caches_of_their_own_or_one_together(core: Callable[..., Core]) -> None:
    lines = ("memory 0 1000 5000 16 0 0 0", "memory 1000 2000 5000 16 0 0 0")
    made = core("cache 1 2 16 0", *lines)
    made.read(0x0)
    made.read(0x1000)
    made.read(0x10)  # drives the first out
    assert made.read(0x1000) == 0
    assert made.read(0x0) > 0
    assert core(*lines).is_known is False  # there is no such cache


def test_a_jump_takes_longer_than_going_on(core: Callable[..., Core]) -> None:
    """While the core refills its pipeline the flash reads on: it is done at 12, and the core wants
    it at 6, or two cycles later."""
    for jump, waits in ((0, 6), (2000, 4)):
        made = core("memory 0 10000 5000 16 1 -1 -1", f"cost 0 1000 {jump}")
        assert made.run([0, 0x10]) == 5 + waits

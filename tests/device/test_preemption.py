"""Networks in threads that a timer's interrupt switches, in the middle of their layers.

On emulated Cortex-M4F: two instances of one network (integers, and floats, whose numbers lie in FPU
registers when a thread loses the processor), and two different networks. Each inference gives,
bit for bit, what it gives alone. Two wrong programs show that the test would see it if not: two
instances on one workspace, which is what writable static memory in a network would be, and a switch
that forgets the registers of the FPU.
"""

from __future__ import annotations

import re
import socket
from dataclasses import dataclass
from pathlib import Path

import network_programs as programs
import numpy as np
import pytest

from mcu_deploy.boards import Board, load_board, platform_defines, render_linker_script
from mcu_deploy.boards import startup_sources as startup
from mcu_deploy.boards.image import common
from mcu_deploy.compiler import compile_model
from mcu_deploy.device.emulators import open_emulator
from mcu_deploy.options import Options

pytestmark = pytest.mark.needs_arm_gcc

HERE = Path(__file__).resolve().parent / "preemption"
MODELS = {"kws": "mlperf_kws_int8", "digits": "torch_digits_cnn"}
SAMPLES = 4
ROUNDS = {
    "mps2-an386": {"kws": 6, "digits": 200},
    "netduinoplus2": {"kws": 2, "digits": 60},
}
SECONDS = 120.0

# QEMU takes an interrupt between two blocks of code, but with -icount at the very instruction where
# the timer says so, and always at the same one: 32 ns each, on a timer of 25 MHz.
EMULATORS = {
    "mps2-an386": ("qemu", ("-icount", "shift=5")),
    "netduinoplus2": ("renode", ()),
}
on_both = pytest.mark.parametrize(
    "board_name",
    [
        pytest.param("mps2-an386", marks=pytest.mark.needs_qemu),
        pytest.param("netduinoplus2", marks=[pytest.mark.needs_renode, pytest.mark.matrix]),
    ],
)


@dataclass(frozen=True)
class Thread:
    """What a thread came to: inferences that went wrong, layers (by index) inside of which it
    lost the processor, whether its stack was too small."""

    failures: int
    layers: frozenset[int]
    overflow: bool


@dataclass(frozen=True)
class Outcome:
    """Two networks at work. switches: of threads; inside: those from the middle of a layer of one
    thread into the middle of a layer of the other."""

    refused: int
    switches: int
    inside: int
    threads: tuple[Thread, Thread]

    @property
    def failures(self) -> int:
        return sum(thread.failures for thread in self.threads)


def write_networks(board: Board, models_dir: Path, folder: Path) -> list[Path]:
    """The networks' sources, which are returned, and samples.h."""
    lines = ["#include <stdint.h>", f"enum {{ SAMPLES = {SAMPLES} }};"]
    networks = []
    for name, model in MODELS.items():
        network = compile_model(
            models_dir / model / "model.onnx", board, name=name,
            options=Options(backends=("CpuRef",)),  # it bears that its memory is spoilt
        )  # fmt: skip
        values = np.load(models_dir / model / "io.npz")["in0"][:SAMPLES]
        tables = {"samples": values}
        if values.dtype == np.int8:
            tables["oracle"] = np.stack([programs.expected(network, [v])[0] for v in values])
        for what, table in tables.items():
            rows = ", ".join(f"{{{programs.c_array(row)}}}" for row in table)
            size = table[0].nbytes
            lines.append(f"static const int8_t {name}_{what}[SAMPLES][{size}]")
            lines.append(f"    __attribute__((aligned(4))) = {{{rows}}};")
        networks.append(network)
    (folder / "samples.h").write_text("\n".join(lines) + "\n")
    return [folder / f"network_{name}.c" for name in programs.write(networks, folder)]


def link(board: Board, models_dir: Path, folder: Path, *flags: str) -> Path:
    """The firmware of preemption/, with the board's own start-up."""
    networks = write_networks(board, models_dir, folder)
    script = folder / "board.ld"
    script.write_text(render_linker_script(board))
    elf = folder / f"{board.name}.elf"
    settings = {f"{name.upper()}_ROUNDS": rounds for name, rounds in ROUNDS[board.name].items()}
    programs.run(
        [
            *("arm-none-eabi-gcc", "-std=c99", "-O2", "-ffp-contract=off", *board.cflags),
            *(*programs.WARNINGS, *platform_defines(board)),
            *(f"-D{key}={value}u" for key, value in settings.items()),
            *flags,
            *(f"-I{path}" for path in (folder, common(), programs.CRT / "include")),
            *(*startup(board), *sorted(HERE.glob("*.c")), *networks, *programs.RUNTIME),
            *("-nostartfiles", "--specs=nano.specs", "-Wl,--gc-sections", f"-Wl,-T,{script}"),
            *("-lm", "-o", elf),
        ],
        cwd=folder,
    )
    return elf


def parse(line: str) -> Outcome:
    """A line of the firmware, behind its title."""
    values = [int(value) for value in re.findall(r"\w+=(\d+)", line)]
    threads = tuple(
        Thread(failures, frozenset(n for n in range(32) if layers >> n & 1), overflow != 0)
        for failures, layers, overflow in (values[3:6], values[6:9])
    )
    return Outcome(*values[:3], threads)


def run(board: Board, elf: Path) -> dict[str, str]:
    """The lines that the firmware prints, by their first word."""
    emulator, arguments = EMULATORS[board.name]
    found: dict[str, str] = {}
    with open_emulator(board, elf, emulator=emulator, extra_args=arguments) as started:
        host, _, port = started.url.removeprefix("socket://").partition(":")
        with (
            socket.create_connection((host, int(port)), timeout=SECONDS) as connection,
            connection.makefile("rb") as stream,
        ):
            while "end" not in found:
                line = stream.readline().decode()
                assert line.endswith("\n"), f"no whole line came, only {line!r}, after {found}"
                title, _, rest = line.strip().partition(" ")
                found[title] = rest
    return found


def assert_interleaved(outcome: Outcome, layers: tuple[int, int]) -> None:
    """The threads really took the processor from each other inside of layers: hundreds of times,
    and in all but a last few of them that are over too soon (a pool, a dense layer, a softmax)."""
    assert outcome.refused == 0
    assert outcome.inside > 1000
    assert outcome.inside > 0.9 * outcome.switches
    for thread, count in zip(outcome.threads, layers, strict=True):
        assert not thread.overflow
        assert len(thread.layers) >= count - 3


@on_both
def test_networks_that_interrupt_each_other_give_what_they_give_alone(
    board_name: str, models_dir: Path, tmp_path: Path
) -> None:
    board = load_board(board_name)
    found = run(board, link(board, models_dir, tmp_path))
    alone = re.fullmatch(r"refused=0 differ=0 layers=(\d+) layers=(\d+)", found["alone"])
    assert alone is not None, found["alone"]
    kws, digits = int(alone[1]), int(alone[2])
    for title, layers in {
        "integers": (kws, kws),
        "floats": (digits, digits),
        "different": (kws, digits),
    }.items():
        outcome = parse(found[title])
        assert_interleaved(outcome, layers)
        assert outcome.failures == 0, f"{title}: {found[title]}"
    # The same two threads, on the memory of one: this is what the test would find.
    shared = parse(found["shared"])
    assert_interleaved(shared, (kws, kws))
    assert shared.failures >= 2


@pytest.mark.matrix
@on_both
def test_a_switch_that_forgets_the_fpu_spoils_even_integer_networks(
    board_name: str, models_dir: Path, tmp_path: Path
) -> None:
    """docs/instances.md asks an RTOS to keep S16-S31: integer layers requantise in them."""
    board = load_board(board_name)
    found = run(board, link(board, models_dir, tmp_path, "-DFORGET_FPU"))
    for title in ("integers", "floats", "different"):
        outcome = parse(found[title])
        assert outcome.inside > 1000
        assert outcome.failures > 0, f"{title}: {found[title]}"

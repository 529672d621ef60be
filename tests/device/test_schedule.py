"""`--schedule parallel` on the two cores of mps2-an521: the same values, sooner."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import branchy
import numpy as np
import onnx
import pytest
from device.faults import firmware
from sampling import first

from mcu_deploy import interpreter
from mcu_deploy.api.building import build
from mcu_deploy.api.folder import BuildFolder, as_folder
from mcu_deploy.api.profiling import profile
from mcu_deploy.api.running import open_device
from mcu_deploy.api.validating import validate
from mcu_deploy.boards import Board, load_board
from mcu_deploy.compiler import compile_model
from mcu_deploy.device.counting import count_instructions
from mcu_deploy.errors import FitError
from mcu_deploy.files.samples import Samples
from mcu_deploy.options import Options
from mcu_deploy.report.profile import Profile

pytestmark = [pytest.mark.needs_arm_gcc, pytest.mark.needs_qemu]

HERE = Path(__file__).resolve().parent / "second_core"
Forks = tuple[tuple[int, ...], ...]
TWO: Forks = ((3, 3),)
THREE: Forks = ((4, 2, 2),)  # the long branch on one core, the two short ones on the other
TWICE: Forks = ((2, 2), (1, 2, 1))
PARALLEL = Options(schedule="parallel")


@dataclass
class Workshop:
    """Builds each network once for a board and a schedule, and counts it once."""

    folder: Path
    opened: dict[Path, BuildFolder] = field(default_factory=dict)
    counts: dict[Path, Profile] = field(default_factory=dict)

    def model(self, forks: Forks) -> Path:
        path = self.folder / f"{'-'.join('_'.join(map(str, f)) for f in forks)}.onnx"
        if not path.exists():
            onnx.save(branchy.model(*forks), path)
        return path

    def open(
        self, forks: Forks, board: str = "mps2-an521", schedule: str = "parallel"
    ) -> BuildFolder:
        model = self.model(forks)
        path = self.folder / model.stem / f"{board}-{schedule}"
        if path not in self.opened:
            made = build(model, board, path, name="net", options=Options(schedule=schedule))
            self.opened[path] = as_folder(made)
        return self.opened[path]

    def counted(self, forks: Forks, schedule: str = "parallel") -> Profile:
        folder = self.open(forks, schedule=schedule)
        if folder.directory not in self.counts:
            self.counts[folder.directory] = profile(folder)
        return self.counts[folder.directory]


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    return Workshop(tmp_path_factory.mktemp("branchy"))


def lanes(folder: BuildFolder) -> tuple[tuple[tuple[int, ...], ...], ...]:
    return folder.network("net").lanes


def expected(folder: BuildFolder, images: Sequence[branchy.Array]) -> list[branchy.Array]:
    graph = folder.compile_again("net").graph
    return [np.asarray(interpreter.run(graph, [image])[0]) for image in images]


@pytest.mark.parametrize(
    ("board", "forks"),
    first([("mps2-an521", TWO), ("mps2-an386", TWO), ("host", TWO), ("mps2-an521", THREE),
           ("mps2-an521", TWICE)], 3),
)  # fmt: skip
def test_lanes_give_the_oracles_values(workshop: Workshop, board: str, forks: Forks) -> None:
    """Bare, and under a hook; on two cores, and where the lanes run one after the other."""
    folder = workshop.open(forks, board)
    assert len(lanes(folder)) == len(forks)
    images = branchy.samples(3)
    wanted = expected(folder, images)
    assert len({value.tobytes() for value in wanted}) == len(images)
    with open_device(folder) as device:
        for image, value in zip(images, wanted, strict=True):
            for bare in (True, False):
                (found,) = device.infer("net", [image], bare=bare)
                np.testing.assert_array_equal(found, value)


@pytest.mark.parametrize("forks", [TWO, pytest.param(THREE, marks=pytest.mark.matrix)])
def test_two_cores_are_faster_than_one(workshop: Workshop, forks: Forks) -> None:
    alone = workshop.counted(forks, "sequential")
    both = workshop.counted(forks)
    assert len(alone.cores) == 1
    assert len(both.cores) == 2
    assert alone.total / max(both.cores) > 1.6
    # No waiting is in it. What a layer costs depends a little on its values, and bench.elf's are
    # what the run before has left where the inputs lie.
    assert sum(both.cores) == pytest.approx(alone.total, rel=0.005)
    assert both.speed_up == pytest.approx(alone.total / max(both.cores), rel=0.01)


def test_counts_do_not_depend_on_how_the_cores_interleave(workshop: Workshop) -> None:
    first = workshop.counted(TWICE)
    assert profile(workshop.open(TWICE)) == first
    assert len(first.cores) == 2


def test_the_object_runs_where_nobody_starts_the_second_core(
    workshop: Workshop, tmp_path: Path
) -> None:
    """Byte for byte the same object; both lanes run on the core that is there."""
    board = replace(load_board("mps2-an521"), second_core=None)
    build(workshop.model(TWO), board, tmp_path, name="net", options=PARALLEL)
    folder = workshop.open(TWO)
    single = (tmp_path / "network_net.o").read_bytes()
    assert single == (folder.directory / "network_net.o").read_bytes()
    counts = count_instructions(board, tmp_path / "bench.elf")
    assert counts.cores == (counts.total,)
    assert counts.total == pytest.approx(sum(workshop.counted(TWO).cores), abs=1000)


def test_a_hook_sees_the_layers_in_order(workshop: Workshop) -> None:
    folder = workshop.open(TWO)
    (image,) = branchy.samples(1)
    assert lanes(folder) == (((2, 3, 4), (5, 6, 7)),)
    with open_device(folder) as device:
        count = device.model("net").num_layers
        assert [crc.layer for crc in device.watch("net", [image])[0]] == list(range(count))
        for layer in range(count):
            device.write_input("net", 0, image.tobytes())
            # as many layers have ended as stand before it, and it
            assert device.run("net", stop_after=layer).layers == layer + 1
    checked = validate(folder, Samples([[image]], "made up"), layers=True, onnxruntime=False)
    assert checked.passed, checked.problems
    assert checked.layers is not None
    assert checked.layers.compared == count


@pytest.mark.parametrize("board", ["mps2-an521", "host"])
def test_a_chain_is_the_same_c_under_both_schedules(workshop: Workshop, board: str) -> None:
    def sources(forks: Forks, schedule: str) -> dict[str, bytes]:
        options = Options(schedule=schedule)
        model, target = workshop.model(forks), load_board(board)
        return dict(compile_model(model, target, name="net", options=options).sources.files)

    chain = sources(((3,),), "parallel")
    assert chain == sources(((3,),), "sequential")
    include = b'#include "mcu/parallel.h"'
    assert include not in chain["network_net.c"]
    assert include in sources(TWO, "parallel")["network_net.c"]
    assert include not in sources(TWO, "sequential")["network_net.c"]


# ---- The second core's stack ----


def test_the_second_stack_is_part_of_the_networks_ram(workshop: Workshop) -> None:
    alone, both = (workshop.open(TWO, "mps2-an521", s).report for s in ("sequential", "parallel"))
    (first,), (second,) = alone.networks, both.networks
    assert first.second_stack_bytes == 0
    assert 0 < second.second_stack_bytes < 1024
    kept = [n.ram_bytes - n.arena_bytes - n.stack_bytes for n in (first, second)]
    assert kept[1] - kept[0] == second.second_stack_bytes
    assert both.ram_bytes == second.ram_bytes
    assert alone.firmware_second_stack_bytes is None
    # the loop that waits, and an exception's frame
    assert both.firmware_second_stack_bytes > second.second_stack_bytes + 40
    single = workshop.open(TWO, "mps2-an386").report
    assert single.networks[0].second_stack_bytes == 0


def second_core(application: int, handler: int) -> Board:
    board = load_board("mps2-an521")
    assert board.second_core is not None
    core = replace(board.second_core, stack_bytes=application, handler_stack_bytes=handler)
    return replace(board, second_core=core)


@pytest.mark.matrix
def test_a_second_stack_that_is_too_small_is_refused(workshop: Workshop, tmp_path: Path) -> None:
    need = workshop.open(TWO).report.firmware_second_stack_bytes
    model = workshop.model(TWO)
    build(model, second_core(need, 512), tmp_path, name="net", options=PARALLEL)
    with pytest.raises(FitError) as caught:
        build(model, second_core(need - 8, 512), tmp_path, name="net", options=PARALLEL)
    assert (
        f"the second core's stack needs {need} bytes and has {need - 8}: 8 bytes are missing"
        in str(caught.value)
    )
    assert 'application = "1K" in [second_core]' in str(caught.value)
    with pytest.raises(FitError, match="the second core's stack of handlers needs"):
        build(model, second_core(need, 64), tmp_path, name="net", options=PARALLEL)
    # where nothing runs on it, its size is of no account
    build(model, second_core(64, 64), tmp_path, name="net")


@pytest.mark.parametrize("forks", [TWO, pytest.param(THREE, marks=pytest.mark.matrix)])
def test_the_second_stacks_bound_holds(workshop: Workshop, forks: Forks, tmp_path: Path) -> None:
    folder = workshop.open(forks)
    sources = (
        HERE / "stack_used.c",
        folder.directory / "network_net.o",
        folder.directory / "libmcu_crt.a",
    )
    flags = ("-fno-function-sections", f"-I{HERE}", f"-I{folder.directory / 'include'}")
    elf = firmware.build(folder.board, sources, tmp_path, *flags)
    counts = count_instructions(folder.board, elf)
    assert len(counts.cores) == 2
    bound = folder.report.firmware_second_stack_bytes - 40  # no fault came
    assert bound - 64 < counts.stack_bytes <= bound

"""A backend's memory manager: its regions are planned, acquire and release are called."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import network_programs as programs
import onnx
import pytest
from onnx import TensorProto, helper

from mcu_deploy.backends.interface import (
    YES,
    Argument,
    Backend,
    BackendBase,
    CFunction,
    Descriptor,
    Layer,
    LayerSupport,
    MemoryManager,
    Operand,
    Parameter,
    RegionCall,
    RegionManager,
    Role,
    Support,
    Workload,
    WorkloadFactory,
    WorkloadInfo,
    no,
)
from mcu_deploy.backends.registry import Registry
from mcu_deploy.boards import load_board
from mcu_deploy.compiled import Network
from mcu_deploy.compiler import compile_model
from mcu_deploy.plan import InPool
from mcu_deploy.session import Session

HERE = Path(__file__).resolve().parent / "backend_memory"
CHECK = programs.TARGET.parent

COUNT = CFunction(
    "count", (Parameter("uint32_t *", "counter"),), "{\n    counter[0] = counter[0] + 1U;\n}"
)
WRITE = CFunction(
    "write_count",
    (
        Parameter("const float *", "x"),
        Parameter("float *", "y"),
        Parameter("const uint32_t *", "acquired"),
        Parameter("uint32_t *", "last"),
        Parameter("float *", "scratch"),
        Parameter("float *", "more_scratch"),
    ),
    """{
    for (int32_t i = 0; i < 4; ++i) {
        scratch[i] = x[i];
        more_scratch[i] = (float)acquired[0];
    }
    for (int32_t i = 0; i < 4; ++i) {
        y[i] = scratch[i] + more_scratch[i];
    }
    last[0] = acquired[0];
}""",
)


class Counting(BackendBase):
    """Computes Relu as x + the number of runs, which its memory manager counts on the device."""

    id = "Counting"
    rank = 1

    def layer_support(self) -> LayerSupport:
        return _Support()

    def create_memory_manager(self) -> MemoryManager:
        return RegionManager(self.id)

    def create_workload_factory(self, memory_manager: MemoryManager | None) -> WorkloadFactory:
        assert isinstance(memory_manager, RegionManager)
        return _Factory(memory_manager)


class _Support:
    def is_layer_supported(
        self,
        layer: Layer,
        inputs: Sequence[Operand | None],
        outputs: Sequence[Operand],
        params: Mapping[str, Any],
    ) -> Support:
        return YES if layer.op == "Relu" else no("it counts, and computes Relu only")


class _Factory:
    def __init__(self, memory: RegionManager) -> None:
        self.acquired = memory.private("acquired", 4)
        self.released = memory.private("released", 4)
        self.last = memory.private("last", 4)
        memory.acquire = RegionCall(COUNT, (self.acquired,))
        memory.release = RegionCall(COUNT, (self.released,))
        self.memory = memory

    def create_workloads(self, info: WorkloadInfo, descriptor: Descriptor) -> tuple[Workload, ...]:
        more = self.memory.scratch("more", 16)
        arguments = (
            Argument(Role.INPUT), Argument(Role.OUTPUT), Argument(Role.REGION, 0),
            Argument(Role.REGION, 1), Argument(Role.SCRATCH), Argument(Role.REGION, 2),
        )  # fmt: skip
        return (
            Workload(
                "Counting", WRITE, arguments, scratch_bytes=16,
                regions=(self.acquired, self.last, more),
            ),
        )  # fmt: skip


def network(board: str, tmp_path: Path) -> Network:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [4])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [4])
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"], "relu")], "g", [x], [y])
    path = tmp_path / "counted.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path)

    def create() -> Backend:
        return Counting()

    with Session(Registry({}).with_backend("Counting", create)) as session:
        return compile_model(path, load_board(board), name="counted", session=session)


def test_private_memory_is_in_the_plan_and_in_the_source(tmp_path: Path) -> None:
    made = network("host", tmp_path)
    assert made.plan.private is not None
    offset, size = made.plan.private_pool_place.offset, made.plan.buffers[made.plan.private].bytes
    assert size == 36
    others = [b for b in made.plan.buffers if b.id != made.plan.private]
    for buffer in others:
        place = made.plan.places[buffer.id]
        assert isinstance(place, InPool)
        assert place.offset + buffer.bytes <= offset or place.offset >= offset + size
    assert len(others) == 4  # input, output, the scratch buffer and the scratch region
    assert "/* Counting acquires its memory for this run. */" in made.sources.source
    assert f".private_place = {{{offset}, 0, {size}}}," in made.sources.source
    assert ".release_func = _mcu_counted_release," in made.sources.source


@pytest.mark.needs_host_gcc
def test_on_this_machine_under_sanitizers(tmp_path: Path) -> None:
    gcc = ["gcc", *load_board("host").cflags, "-std=c99", *programs.SANITIZERS]
    names = programs.write([network("host", tmp_path)], tmp_path)
    objects = programs.compile_all(names, tmp_path, gcc)
    include = [f"-I{programs.CRT / 'include'}", f"-I{tmp_path}", f"-I{CHECK}"]
    sources = [HERE / "memory.c", CHECK / "check.c", CHECK / "host" / "print.c"]
    flags = ["-D_POSIX_C_SOURCE=200809L", *programs.WARNINGS, *include]
    programs.run([*gcc, *flags, "-o", tmp_path / "program", *sources, *objects, "-lm"])
    printed = programs.run([tmp_path / "program"]).decode()
    assert re.search(r"^3 tests, \d+ checks, 0 failed$", printed, re.M), printed


@pytest.mark.needs_arm_gcc
@pytest.mark.needs_qemu
def test_on_an_emulated_cortex_m4(tmp_path: Path) -> None:
    names = programs.write([network("mps2-an386", tmp_path)], tmp_path)
    main = (HERE / "memory.c").read_text() + (CHECK / "check.c").read_text()
    elf = programs.link_for_cortex_m4(names, tmp_path, main, [f"-I{tmp_path}"])
    code, printed = programs.run_on_cortex_m4(elf)
    assert code == 0, printed
    assert re.search(r"^3 tests, \d+ checks, 0 failed$", printed, re.M), printed

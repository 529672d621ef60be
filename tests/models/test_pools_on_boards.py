"""Tensors in several memories of a board: where the linker puts them, and that the bits fit."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from elftools.elf.elffile import ELFFile
from models.mlperf import first_samples
from network_programs import WARNINGS, run, write
from sampling import first

from mcu_deploy import resources
from mcu_deploy.api.building import Build, build
from mcu_deploy.api.folder import open_folder
from mcu_deploy.api.running import open_device
from mcu_deploy.api.validating import validate
from mcu_deploy.boards import load_board
from mcu_deploy.compiler import compile_model
from mcu_deploy.files.samples import load_samples
from mcu_deploy.options import Options, PartitionRequest, PoolRequests, Requests, StateRequest


def _pools(built: Build) -> dict[str, tuple[int, int]]:
    """Of each array for a pool the first address and the one behind the last byte."""
    with built.firmware.open("rb") as stream:
        table = ELFFile(stream).get_section_by_name(".symtab")
        return {
            symbol.name: (symbol["st_value"], symbol["st_value"] + symbol["st_size"])
            for symbol in table.iter_symbols()
            if symbol.name.endswith("_n") and symbol["st_info"]["type"] == "STT_OBJECT"
        }


def _require_inside(built: Build, array: str, memory: str) -> None:
    start, end = _pools(built)[array]
    known = built.board.divided().memory(memory)
    assert known.origin <= start < end <= known.end, f"{array} is not in {memory}"


def _require_right(built: Build, io: Path) -> None:
    result = validate(built, first_samples(io, 1, built.directory))
    assert result.problems == ()
    assert result.oracle[0].equal == 1.0


def _build(models_dir: Path, model: str, board: str, folder: Path, pools: PoolRequests) -> Build:
    source = models_dir / model / "model.onnx"
    return build(source, board, folder, name="n", options=Options(pools=pools))


@pytest.mark.matrix  # in the sample pools are on the MPS3 board, and beside partitions
@pytest.mark.needs_arm_gcc
@pytest.mark.needs_renode
def test_a_network_in_dtcm_and_sram(models_dir: Path, tmp_path: Path) -> None:
    """The person detector needs more than the DTCM has: the rest goes to SRAM."""
    built = _build(
        models_dir, "mlperf_vww_int8", "stm32f746", tmp_path, PoolRequests(True, hot_weights=40_000)
    )
    pools = {p.name: p for p in built.report.networks[0].pools}
    assert {name: pool.memory for name, pool in pools.items()} == {
        "workspace": "sram12", "dtcm": "dtcm", "hot": "dtcm",
    }  # fmt: skip
    _require_inside(built, "workspace_n", "sram12")
    _require_inside(built, "dtcm_n", "dtcm")
    _require_inside(built, "hot_n", "dtcm")
    uses = {use.name: use.used_bytes for use in built.report.memories}
    assert pools["dtcm"].bytes + pools["hot"].bytes <= uses["dtcm"] <= 64 << 10
    assert "--pools" not in built.firmware.with_name("network_n.c").read_text()
    _require_right(built, models_dir / "mlperf_vww_int8" / "io.npz")


@pytest.mark.matrix
@pytest.mark.needs_arm_gcc
@pytest.mark.needs_renode
def test_what_fits_the_fastest_memory_is_one_workspace_there(
    models_dir: Path, tmp_path: Path
) -> None:
    built = _build(models_dir, "mlperf_kws_int8", "stm32f746", tmp_path, PoolRequests(True))
    assert [p.name for p in built.report.networks[0].pools] == ["workspace"]
    _require_inside(built, "workspace_n", "dtcm")
    _require_right(built, models_dir / "mlperf_kws_int8" / "io.npz")


@pytest.mark.needs_arm_gcc
@pytest.mark.needs_qemu
@pytest.mark.parametrize(
    ("board", "fast", "slow"),
    first(
        [
            ("mps3-an547", "dtcm", "isram"),
            ("mps2-an386", "ssram23", "psram"),
            ("mps2-an500", "ssram23", "psram"),
        ]
    ),
)
def test_a_pinned_tensor_is_where_it_was_put(
    board: str, fast: str, slow: str, models_dir: Path, tmp_path: Path
) -> None:
    pools = PoolRequests(pinned={"input_1": slow}, hot_weights=4000)
    built = _build(models_dir, "mlperf_kws_int8", board, tmp_path, pools)
    _require_inside(built, "workspace_n", fast)
    _require_inside(built, f"{slow}_n", slow)
    _require_inside(built, "hot_n", fast)
    assert (
        f"#define MCU_N_{slow.upper()}_SIZE" in (tmp_path / "include" / "network_n.h").read_text()
    )
    _require_right(built, models_dir / "mlperf_kws_int8" / "io.npz")


@pytest.mark.needs_arm_gcc
def test_a_second_network_gets_what_the_first_leaves(models_dir: Path, tmp_path: Path) -> None:
    """One person detector fits the DTCM, two do not."""
    source = models_dir / "mlperf_vww_int8" / "model.onnx"
    built = build(
        [source, source], "stm32f746", tmp_path, name=["first", "n"],
        options=Options(pools=PoolRequests(True), backends=("CpuRef",)),
    )  # fmt: skip
    first, second = (n.pools for n in built.report.networks)
    taken = {p.memory: p.bytes for p in first}
    assert built.report.networks[1].pools_taken == taken
    room = (64 << 10) - built.board.stack_bytes - built.board.handler_stack_bytes
    assert list(taken) == ["dtcm"] and taken["dtcm"] > room // 2
    assert {p.memory for p in second} == {"dtcm", "sram12"}
    assert taken["dtcm"] + sum(p.bytes for p in second if p.memory == "dtcm") <= room
    again = open_folder(tmp_path).compile_again("n").plan
    assert [p.bytes for p in again.pools] == [p.bytes for p in second]


@pytest.mark.needs_arm_gcc
@pytest.mark.needs_qemu
@pytest.mark.parametrize("io", first(["caller", "arena"]))
def test_pools_beside_partitions_kept_tensors_and_callers_buffers(
    io: str, models_dir: Path, tmp_path: Path
) -> None:
    """Every layer's output is read from the pool that it lies in."""
    source = models_dir / "mlperf_kws_int8"
    cut = "functional_1/activation_4/Relu"
    plain = compile_model(source / "model.onnx", load_board("mps2-an500"))
    name = next(
        plain.graph.edge_name(e) for e in plain.graph.topology.edges
        if plain.graph.edge_name(e).startswith(cut) and e in plain.plan.tensors
    )  # fmt: skip
    requests = Requests((name,), (PartitionRequest("head", ("input_1",), (name,)),))
    options = Options(pools=PoolRequests(pinned={name: "psram"}), requests=requests, io=io)
    built = build(source / "model.onnx", "mps2-an500", tmp_path, name="n", options=options)
    _require_inside(built, "psram_n", "psram")
    samples = load_samples(source / "io.npz", plain.graph).first(1)
    result = validate(built, samples, layers=True)
    assert result.problems == () and result.oracle[0].equal == 1.0
    assert result.layers is not None and result.layers.compared > 0
    with open_device(built) as device:
        device.infer("n", samples.inputs[0])
        kept = device.kept("n", device.model("n").kept[0].name)
        (part,) = device.infer("n", samples.inputs[0], partition="head")
    assert np.array_equal(part, kept)


@pytest.mark.needs_arm_gcc
@pytest.mark.needs_qemu
def test_a_state_lives_in_any_memory(models_dir: Path, tmp_path: Path) -> None:
    """Five steps of a GRU: the outputs are those of one workspace, bit for bit."""
    model = models_dir / "torch_gru_step" / "model.onnx"
    requests = Requests(states=(StateRequest("h", "add_3"),))
    given = np.random.default_rng(1).normal(size=(5, 1, 6)).astype(np.float32)
    results = []
    for number, pools in enumerate(
        (PoolRequests(), PoolRequests(pinned={"h": "psram"}, hot_weights=3000))
    ):
        folder = tmp_path / str(number)
        options = Options(requests=requests, pools=pools)
        built = build(model, "mps2-an500", folder, name="n", options=options)
        with open_device(built) as device:
            results.append(np.stack([device.infer("n", [x])[0] for x in given]))
    _require_inside(built, "psram_n", "psram")
    assert np.array_equal(*results)
    assert len(np.unique(results[0])) > 1, "each step differs"


@pytest.mark.needs_arm_gcc
def test_the_program_of_the_page_compiles(models_dir: Path, tmp_path: Path) -> None:
    page = (resources.root() / "docs" / "memory.md").read_text()
    (program,) = re.findall(r"```c\n(.*?)```", page, re.DOTALL)
    options = Options(pools=PoolRequests(hot_weights=8_000))
    source = models_dir / "mlperf_kws_int8" / "model.onnx"
    board = load_board("stm32f746")
    network = compile_model(source, board, name="pooled", options=options)
    write([network], tmp_path)
    (tmp_path / "main.c").write_text(program)
    include = f"-I{resources.crt() / 'include'}"
    command = ["arm-none-eabi-gcc", *board.cflags, "-std=c99", *WARNINGS, include, "-c", "main.c"]
    run([*command, "-o", "main.o"], cwd=tmp_path)
    with (tmp_path / "main.o").open("rb") as stream:
        (section,) = [s for s in ELFFile(stream).iter_sections() if s.name == ".dtcm"]
        own = {pool.name: pool.bytes for pool in network.plan.pools}
        assert section["sh_size"] == own["hot"]


@pytest.mark.needs_arm_gcc
def test_without_a_wish_the_parts_of_a_memory_are_one(models_dir: Path, tmp_path: Path) -> None:
    built = _build(models_dir, "mlperf_kws_int8", "stm32f746", tmp_path, PoolRequests())
    assert built.report.networks[0].pools[0].memory == "sram"
    names = {use.name for use in built.report.memories}
    assert names == {memory.name for memory in load_board("stm32f746").memories}
    assert "dtcm" not in built.firmware.with_name("firmware_models.c").read_text()

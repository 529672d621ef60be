"""The bytes of a network and of an image, against what the ELF files say."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile
from sampling import first
from toolchain_programs import write_network

from mcu_deploy.boards import load_board
from mcu_deploy.errors import ToolError
from mcu_deploy.toolchain.compiler import build_crt, compile_network
from mcu_deploy.toolchain.firmware import Firmware
from mcu_deploy.toolchain.link import link_firmware
from mcu_deploy.toolchain.sizes import (
    NetworkSizes,
    SectionSizes,
    link_network,
    measure_firmware,
    measure_network,
    measure_structs,
    object_sizes,
)

pytestmark = [pytest.mark.needs_arm_gcc, pytest.mark.needs_host_gcc]

ARENA, STACK = 128, 300


def measure(name: str, folder: Path, weights: int = 1024) -> tuple[Path, NetworkSizes]:
    board = load_board(name)
    write_network(folder, weights=weights)
    build_crt(board, folder)
    network = compile_network(board, folder, "toy")
    sizes = measure_network(
        link_network(board, folder, network, "_mcu_network_toy"), arena_bytes=ARENA,
        stack_bytes=STACK, structs=measure_structs(board, folder), tensors=3,
    )  # fmt: skip
    return network, sizes


def functions(elf: Path) -> dict[str, int]:
    with elf.open("rb") as stream:
        table = ELFFile(stream).get_section_by_name(".symtab")
        return {
            symbol.name: symbol["st_size"]
            for symbol in table.iter_symbols()
            if symbol["st_info"]["type"] == "STT_FUNC" and symbol["st_shndx"] != "SHN_UNDEF"
        }


@pytest.mark.parametrize("board", first(["host", "mps2-an386", "mps2-an385", "mps3-an547"], 2))
def test_the_parts_of_a_network_add_up(tmp_path: Path, board: str) -> None:
    network, sizes = measure(board, tmp_path)
    parts, ram = sizes.flash_parts, sizes.data_bytes
    assert sum(parts.values()) == sizes.flash_bytes
    # DLTensor holds pointers, and int64_t, to which it is aligned
    assert (sizes.instance_bytes, sizes.tensors_bytes) == (
        (56, 144) if board == "host" else (28, 120)
    )
    assert sizes.ram_bytes == ARENA + STACK + ram + sizes.instance_bytes + sizes.tensors_bytes
    own = object_sizes(network)
    # the strings of an object may be merged by the linker; nothing else shrinks
    assert own.constants - 64 <= parts["constants"] <= own.constants
    assert parts["code"] == own.code
    assert parts["runtime"] > 200
    assert own.ram == 0 and (ram == 0 or board != "host")  # the C library's is not of the network
    assert 0 <= parts["alignment"] < 128
    assert (parts["C library"] > 0) == (board != "host")


def test_data_take_both_memories() -> None:
    sizes = SectionSizes(code=1, constants=2, data=4, bss=8)
    assert (sizes.flash, sizes.ram) == (7, 12)


def test_code_that_runs_from_ram_takes_both_memories(tmp_path: Path) -> None:
    source, made = tmp_path / "a.s", tmp_path / "a.o"
    sections = (("text", 2), ("ramfunc", 4), ("text.mcu_hot", 8))
    source.write_text("".join(f'.section .{s},"ax",%progbits\n.space {n}\n' for s, n in sections))
    subprocess.run(["arm-none-eabi-gcc", "-c", "-mcpu=cortex-m4", source, "-o", made], check=True)
    assert object_sizes(made) == SectionSizes(code=2, constants=0, data=12, bss=0)


def test_weights_cost_their_bytes_and_no_more(tmp_path: Path) -> None:
    small = measure("mps2-an386", tmp_path / "a", weights=1000)[1]
    large = measure("mps2-an386", tmp_path / "b", weights=3000)[1]
    assert large.flash_bytes - small.flash_bytes == 8000
    assert large.ram_bytes == small.ram_bytes


def test_nothing_of_the_start_up_counts_and_nothing_that_runs_is_left_out(tmp_path: Path) -> None:
    board = load_board("mps2-an386")
    measure("mps2-an386", tmp_path)
    made = Firmware.of(board, ["toy"])
    bench = functions(link_firmware(made, tmp_path, made.bench))
    alone = functions(tmp_path / "obj" / "network_toy.elf")
    # the same functions, of the same sizes, as in the image that really runs
    assert alone.items() <= bench.items()
    runs = {"mcu_instance_run", "_mcu_run_begin", "_mcu_run_end", "_mcu_toy_run_func"}
    assert runs <= alone.keys()
    assert "expf" in alone
    started = bench.keys() - alone.keys()
    assert {"mcu_firmware_main", "mcu_instance_init_pools", "mcu_reset_handler"} <= started


def test_a_firmwares_memories_are_those_of_its_elf(tmp_path: Path) -> None:
    board = load_board("mps3-an547")
    measure("mps3-an547", tmp_path, weights=50_000)
    made = Firmware.of(board, ["toy"])
    elf = link_firmware(made, tmp_path, made.main)
    sizes = measure_firmware(board, elf)
    uses = {use.name: use for use in sizes.memories}
    assert uses.keys() == {"itcm", "sram", "dtcm", "isram"}
    assert uses["isram"].used_bytes == 0, "nothing asks for it"
    assert 200_000 < uses["sram"].used_bytes < 220_000  # the weights
    assert 2_000 < uses["itcm"].used_bytes < 40_000  # vectors and code
    assert sizes.flash_bytes == uses["sram"].used_bytes + uses["itcm"].used_bytes
    assert sizes.ram_bytes == uses["dtcm"].used_bytes
    with elf.open("rb") as stream:
        image = ELFFile(stream)
        table = image.get_section_by_name(".symtab")
        end = next(s["st_value"] for s in table.iter_symbols() if s.name == "_end")
    assert abs(uses["dtcm"].used_bytes - (end - board.memory("dtcm").origin)) < 8


def test_what_is_no_elf_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "text.o").write_text("no object\n")
    for call in (object_sizes, lambda file: measure_firmware(load_board("mps2-an386"), file)):
        with pytest.raises(ToolError, match=r"text\.o cannot be read as an ELF file"):
            call(tmp_path / "text.o")
        with pytest.raises(ToolError, match=r"none\.o cannot be read as an ELF file"):
            call(tmp_path / "none.o")


def test_a_network_that_does_not_link_is_a_sentence(tmp_path: Path) -> None:
    network, _ = measure("mps2-an386", tmp_path)
    with pytest.raises(ToolError, match=r"network_toy\.o does not link with the runtime"):
        link_network(load_board("mps2-an386"), tmp_path, network, "_mcu_network_none")

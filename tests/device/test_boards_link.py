"""Start-up and linker script of every board, and of boards that nobody ships yet: they compile
without a warning, link, and lay the memory out as docs/boards.md says."""

from __future__ import annotations

from pathlib import Path

import pytest
from device.faults.firmware import ECHO, build, symbol_values
from elftools.elf.elffile import ELFFile
from sampling import chosen, first, one_of_each_core
from unit.test_boards import DEVICES, OWN

from mcu_deploy import resources
from mcu_deploy.boards import Board, load_board

pytestmark = pytest.mark.needs_arm_gcc

UNSHIPPED = {
    "cortex-m0": 'fpu = "none"',
    "cortex-m0plus": 'fpu = "none"',
    "cortex-m3": 'fpu = "none"',
    "cortex-m4": 'fpu = "none"',
    "cortex-m7": 'fpu = "fpv5-d16"',
    "cortex-m33": 'fpu = "fpv5-sp-d16"\ndsp = true',
    "cortex-m55": 'fpu = "fp-armv8-d16"\nmve = false',
}

# What QEMU has is linked, and run, by the tests of faults.
_SAMPLE = {name for name in one_of_each_core(DEVICES) if load_board(name).qemu is None}

BOOT_DATA_BEHIND = ("rpi_pico2",)  # the vector table


def _own(tmp_path: Path, core: str, lines: str, text: str = OWN) -> Board:
    text = text.replace('"cortex-m4"', f'"{core}"').replace('fpu = "fpv4-sp-d16"', lines)
    path = tmp_path / "board.toml"
    path.write_text(text)
    return load_board(path)


def _sections(elf: Path) -> dict[str, tuple[int, int]]:
    with elf.open("rb") as stream:
        return {
            section.name: (section["sh_addr"], section["sh_size"])
            for section in ELFFile(stream).iter_sections()
        }


def _check_layout(board: Board, elf: Path) -> None:
    symbols = symbol_values(elf)
    sections = _sections(elf)
    ram = board.memory_for("stack")
    assert symbols["__stack_limit"] == ram.origin, "the stack is lowest in RAM"
    assert symbols["__stack_top"] - symbols["__stack_limit"] == board.stack_bytes
    assert symbols["__handler_stack_limit"] == symbols["__stack_top"]
    size = symbols["__handler_stack_top"] - symbols["__handler_stack_limit"]
    assert size == board.handler_stack_bytes
    assert sections[".data"][0] >= symbols["__handler_stack_top"]
    assert sections[".bss"][0] >= sections[".data"][0]
    assert symbols["end"] <= board.memory_for("data").end
    assert sections[".vectors"][0] == board.memory_for("vectors").origin
    with elf.open("rb") as stream:
        file = ELFFile(stream)
        section = file.get_section_by_name(".vectors")
        assert section is not None
        vectors = section.data()
        assert int.from_bytes(vectors[0:4], "little") == symbols["__handler_stack_top"]
        assert int.from_bytes(vectors[4:8], "little") == symbols["mcu_reset_handler"] | 1
        table = 4 * (16 + board.serial.irq + 1)
        assert len(vectors) > table if board.name in BOOT_DATA_BEHIND else len(vectors) == table
        assert file.header["e_entry"] & ~1 == symbols["mcu_reset_handler"] & ~1
        for segment in file.iter_segments("PT_LOAD"):
            if segment["p_filesz"]:
                start, bytes_ = segment["p_paddr"], segment["p_filesz"]
                assert any(
                    m.kind == "flash" and m.origin <= start and start + bytes_ <= m.end
                    for m in board.memories
                ), "what an image brings lies in flash"
    with elf.open("rb") as stream:
        for segment in ELFFile(stream).iter_segments("PT_LOAD"):
            # A loader clears what is behind a segment's bytes, from where these are loaded to.
            is_longer = segment["p_memsz"] > segment["p_filesz"]
            assert not is_longer or segment["p_paddr"] == segment["p_vaddr"]


@pytest.mark.parametrize("name", chosen(DEVICES, _SAMPLE))
def test_the_boards_link(name: str, tmp_path: Path) -> None:
    board = load_board(name)
    _check_layout(board, build(board, ECHO, tmp_path))


def test_a_second_core_costs_a_program_nothing_that_does_not_use_it(tmp_path: Path) -> None:
    board = load_board("mps2-an521")
    sections = _sections(build(board, ECHO, tmp_path, "-O0"))
    assert ".second_core_stack" not in sections or sections[".second_core_stack"][1] == 0
    source = Path(__file__).parent / "second_core" / "second_core.c"
    sections = _sections(build(board, (source,), tmp_path, "-O0"))
    assert board.second_core is not None
    stacks = board.second_core.stack_bytes + board.second_core.handler_stack_bytes
    assert sections[".second_core_stack"][1] == stacks


@pytest.mark.needs_host_gcc
def test_the_host_links(tmp_path: Path) -> None:
    elf = build(load_board("host"), ECHO, tmp_path, "-O0")
    with elf.open("rb") as stream:
        assert ELFFile(stream).header["e_type"] == "ET_EXEC", "a fixed load address"


@pytest.mark.parametrize("core", first(list(UNSHIPPED)))
def test_a_new_board_is_one_file(core: str, tmp_path: Path) -> None:
    board = _own(tmp_path, core, UNSHIPPED[core], OWN.replace("stm32_usart_v1", "sam_usart"))
    _check_layout(board, build(board, ECHO, tmp_path))


def test_stack_and_data_may_live_in_different_memories(tmp_path: Path) -> None:
    text = OWN.replace('stack = "sram"', 'stack = "ccm"').replace(
        "[roles]", '[memories.ccm]\norigin = 0x1000_0000\nsize = "64K"\nkind = "ram"\n\n[roles]'
    )
    board = _own(tmp_path, "cortex-m4", 'fpu = "fpv4-sp-d16"', text)
    elf = build(board, ECHO, tmp_path, "-O0")
    assert symbol_values(elf)["__stack_limit"] == 0x1000_0000
    assert _sections(elf)[".bss"][0] >= 0x2000_0000


DRIVERS = sorted(p.stem for p in (resources.boards() / "common" / "serial").glob("*.c"))


@pytest.mark.matrix  # of the sample a new board has one of them
@pytest.mark.parametrize("driver", DRIVERS)
def test_every_driver_compiles_without_steps(driver: str, tmp_path: Path) -> None:
    text = OWN.replace("stm32_usart_v1", driver)
    board = _own(tmp_path, "cortex-m4", 'fpu = "fpv4-sp-d16"', text)
    build(board, ECHO, tmp_path)


def test_a_program_that_is_too_large_names_the_memory(tmp_path: Path) -> None:
    source = tmp_path / "large.c"
    source.write_text(
        "#include <stdint.h>\nvoid mcu_firmware_main(void);\n"
        'static volatile uint8_t arena[70000] __attribute__((section(".bss.mcu_workspace")));\n'
        "void mcu_firmware_main(void) { arena[1] = 1; for (;;) { } }\n"
    )
    board = _own(tmp_path, "cortex-m4", 'fpu = "fpv4-sp-d16"')
    with pytest.raises(AssertionError, match=r"region `sram' overflowed"):
        build(board, (source,), tmp_path, "-O0")


def test_the_weights_of_an547_lie_in_its_sram_and_the_code_in_itcm(tmp_path: Path) -> None:
    board = load_board("mps3-an547")
    source = tmp_path / "weights.c"
    source.write_text(
        "#include <stdint.h>\nvoid mcu_firmware_main(void);\n"
        "extern const uint8_t weights[];\nconst uint8_t weights[1500000] = {1};\n"
        "void mcu_firmware_main(void) {\n"
        "    volatile uint32_t i = 0;\n    for (;;) { i = weights[i]; }\n}\n"
    )
    elf = build(board, (source,), tmp_path, "-O0")
    symbols = symbol_values(elf)
    assert board.memory("sram").origin <= symbols["weights"] < board.memory("sram").end
    assert symbols["mcu_firmware_main"] < board.memory("itcm").end

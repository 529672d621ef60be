"""Linking a hand-written network to both images, on every kind of board, and what does not fit."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile
from sampling import first
from toolchain_programs import link_program, write_network

from mcu_deploy import resources
from mcu_deploy.boards import Board, load_board
from mcu_deploy.errors import FitError, ToolError
from mcu_deploy.toolchain.compiler import Toolchain, build_crt, compile_network
from mcu_deploy.toolchain.firmware import Firmware
from mcu_deploy.toolchain.fit import MemoryUse, check_fit
from mcu_deploy.toolchain.link import build_platform, link_firmware, refuse_heap
from mcu_deploy.toolchain.sizes import link_network, measure_firmware
from mcu_deploy.toolchain.stack.programs import (
    exception_frame_bytes,
    firmware_stack,
    network_stack,
)

pytestmark = [pytest.mark.needs_arm_gcc, pytest.mark.needs_host_gcc]


def build(board: Board, folder: Path, **options: int) -> Path:
    """A build folder with the toy network's object and libmcu_crt.a; returns the object."""
    write_network(folder, **options)
    build_crt(board, folder)
    return compile_network(board, folder, "toy")


def symbols(elf: Path) -> set[str]:
    with elf.open("rb") as stream:
        table = ELFFile(stream).get_section_by_name(".symtab")
        return {symbol.name for symbol in table.iter_symbols()}


@pytest.mark.parametrize("name", first(["mps3-an547", "mps2-an385", "mps2-an386", "stm32f746"]))
def test_both_images_link_fit_and_have_a_stack_bound(tmp_path: Path, name: str) -> None:
    board = load_board(name)
    build(board, tmp_path)
    made = Firmware.of(board, ["toy"])
    platform = build_platform(made, tmp_path)
    firmware = link_firmware(made, tmp_path, made.main, platform=platform)
    bench = link_firmware(made, tmp_path, made.bench, platform=platform)
    assert (firmware, bench) == (tmp_path / "firmware.elf", tmp_path / "bench.elf")
    assert "mcu_bench_begin" in symbols(bench) - symbols(firmware)
    assert "mcu_protocol_receive" in symbols(firmware) - symbols(bench)

    run = network_stack(board, tmp_path, "toy", bench)
    assert [step for step, _ in run.path[:2]] == ["mcu_instance_run", "_mcu_toy_run_func"]
    assert run.bytes == sum(size for _, size in run.path) < 500
    whole = firmware_stack(made, tmp_path)
    # The stack's paint begins above what the start-up itself pushes.
    assert [name for name, _ in whole.path[:2]] == ["application", "mcu_firmware_main"]
    assert whole.path[0][1] > 0
    assert whole.path[-1] == ("exception frame", exception_frame_bytes(board))
    assert run.bytes < whole.bytes < board.stack_bytes

    sizes = measure_firmware(board, firmware)
    assert sizes.ram_bytes > board.stack_bytes + board.handler_stack_bytes
    assert measure_firmware(board, bench).flash_bytes < sizes.flash_bytes
    check_fit(board, sizes.memories, stack_bytes=whole.bytes)

    heap = "#include <stdlib.h>\nvoid *_sbrk(int n) { return (void *)n; }\nvoid *kept;\n"
    heap += "__attribute__((constructor)) static void take(void) { kept = malloc(4); }\n"
    (tmp_path / "heap.c").write_text(heap)
    more = Toolchain.for_board(board).compile_object(
        "heap.c", "heap.o", cwd=tmp_path, flags=board.cflags
    )
    with pytest.raises(ToolError, match=r"bench\.elf would use the heap"):
        link_firmware(made, tmp_path, made.bench, platform=[*platform, more])


def test_every_source_of_the_firmware_is_in_a_program() -> None:
    made = Firmware.of(load_board("host"))
    there = {f"crt/firmware/{path.name}" for path in (resources.crt() / "firmware").glob("*.c")}
    assert {*made.main.sources, *made.bench.sources} == there


def test_the_hosts_images_link(tmp_path: Path) -> None:
    board = load_board("host")
    build(board, tmp_path)
    made = Firmware.of(board, ["toy"])
    for program in (made.main, made.bench):
        assert link_firmware(made, tmp_path, program).is_file()
    run = network_stack(board, tmp_path, "toy", tmp_path / "bench.elf")
    assert [step for step, _ in run.path[:2]] == ["mcu_instance_run", "_mcu_toy_run_func"]
    assert "expf" in run.unknown
    with pytest.raises(ToolError, match="needs no bound"):
        firmware_stack(made, tmp_path)


def test_an_image_is_the_same_from_another_folder(tmp_path: Path) -> None:
    board = load_board("mps2-an386")
    images = []
    for folder in (tmp_path / "a", tmp_path / "an, odd" / "deeper one"):
        toy = build(board, folder)
        made = Firmware.of(board, ["toy"])
        images.append(link_firmware(made, folder, made.main).read_bytes())
        images.append((folder / "obj" / "firmware.map").read_bytes())
        link_network(board, folder, toy, "_mcu_network_toy")
    assert images[0] == images[2]
    assert images[1] == images[3]


def test_a_board_is_full_to_the_byte_and_one_more_is_missing() -> None:
    board = load_board("nucleo_f746zg")
    memories = (board.memory_for("weights"), board.memory_for("data"))
    full = [MemoryUse(m.name, m.kind, m.size, m.size) for m in memories]
    check_fit(board, full, stack_bytes=board.stack_bytes)
    for use in full:
        more = replace(use, used_bytes=use.used_bytes + 1)
        with pytest.raises(FitError, match="1 byte is missing"):
            check_fit(board, [more])
    with pytest.raises(FitError, match="1 byte is missing"):
        check_fit(board, full, stack_bytes=board.stack_bytes + 1)
    large = load_board("nucleo_h753zi").memory_for("weights").size
    with pytest.raises(FitError, match=rf"such as \w+ \({large:,}\)"):
        check_fit(board, [replace(full[0], used_bytes=large)])


def test_flash_that_overflows_is_counted_in_bytes(tmp_path: Path) -> None:
    board = load_board("netduinoplus2")
    flash = board.memory_for("weights")
    build(board, tmp_path, weights=flash.size // 4)
    made = Firmware.of(board, ["toy"])
    with pytest.raises(FitError) as caught:
        link_firmware(made, tmp_path, made.bench, float_weights=True)
    message = str(caught.value)
    assert message.startswith(f"network_toy does not fit board {board.name}: flash needs ")
    assert f"has {flash.size:,}:" in message
    assert "int8 quantisation" in message
    larger = re.search(r"a board with more flash, such as (\S+) \(", message)
    assert larger is not None and load_board(larger[1]).memory_for("weights").size > flash.size
    assert not (tmp_path / "bench.elf").exists()

    # exact: with as much more flash, the image fits to the last byte
    missing = int(message.split(" bytes are missing")[0].split(": ")[-1].replace(",", ""))
    for more, fits in ((missing, True), (missing - 1, False)):
        memories = tuple(
            replace(item, size=item.size + more) if item is flash else item
            for item in board.memories
        )
        larger = replace(board, memories=memories)
        roomier = Firmware.of(larger, ["toy"])
        if fits:
            elf = link_firmware(roomier, tmp_path, roomier.bench)
            uses = {use.name: use for use in measure_firmware(larger, elf).memories}
            assert uses[flash.name].used_bytes == uses[flash.name].size_bytes
        else:
            with pytest.raises(FitError, match="1 byte is missing"):
                link_firmware(roomier, tmp_path, roomier.bench)


def test_ram_that_overflows_names_the_arena(tmp_path: Path) -> None:
    board = load_board("netduinoplus2")
    ram = board.memory_for("data")
    build(board, tmp_path, arena=ram.size)
    made = Firmware.of(board, ["toy"])
    with pytest.raises(FitError) as caught:
        link_firmware(made, tmp_path, made.main)
    message = str(caught.value)
    assert f"ram {ram.name} needs" in message
    named = re.search(r"\(arena ([\d,]+)\)", message)
    assert named is not None
    # the workspace, and beside it the instance and a DLTensor for each input and output
    assert 0 <= int(named[1].replace(",", "")) - ram.size < 128
    assert "a smaller input of the model (--shape)" in message
    larger = re.search(r"a board with more RAM, such as (\S+) \(", message)
    assert larger is not None and load_board(larger[1]).memory_for("data").size > ram.size
    assert "int8" not in message


def test_the_stack_is_checked_against_the_board() -> None:
    board = load_board("stm32f746")
    check_fit(board, (), stack_bytes=board.stack_bytes)
    with pytest.raises(FitError) as caught:
        check_fit(board, (), what="kws", stack_bytes=board.stack_bytes + 40)
    assert (
        "kws does not fit board stm32f746: the stack needs 8,232 bytes and has 8,192: 40 bytes"
        in str(caught.value)
    )
    assert 'application = "9K"' in str(caught.value)


def test_a_memory_that_is_called_as_its_kind_is_named_once() -> None:
    uses = [MemoryUse("flash", "flash", 9, 8), MemoryUse("sram", "ram", 9, 8)]
    with pytest.raises(FitError) as caught:
        check_fit(load_board("stm32f746"), uses)
    assert "f746: flash needs 9 bytes" in str(caught.value)
    assert "; ram sram needs 9 bytes" in str(caught.value)


def test_a_size_that_no_board_has_names_the_size() -> None:
    board = load_board("stm32f746")
    use = MemoryUse("flash", "flash", 10**9, 1 << 20)
    with pytest.raises(FitError, match="a board with at least 1,000,000,000 bytes of flash"):
        check_fit(board, [use], weights_bytes=10**9)
    check_fit(board, [MemoryUse("flash", "flash", 1 << 20, 1 << 20)])


def test_a_program_with_a_heap_is_refused(tmp_path: Path) -> None:
    source = "#include <stdlib.h>\nvoid *_sbrk(int n) { return (void *)n; }\n"
    heap = link_program(tmp_path, source + "void *entry(int n) { return malloc(n); }\n")
    with pytest.raises(ToolError, match=r"would use the heap \(.*malloc"):
        refuse_heap(heap)
    refuse_heap(link_program(tmp_path, "int entry(int n) { return n; }\n", name="none"))


def test_what_a_driver_lacks_is_said_with_its_name(tmp_path: Path) -> None:
    driver = tmp_path / "mine.c"
    driver.write_text("void mcu_serial_init(void) {}\nvoid mcu_serial_handler(void) {}\n")
    board = load_board("mps2-an386")
    board = replace(board, serial=replace(board.serial, driver=str(driver)))
    build(board, tmp_path)
    made = Firmware.of(board, ["toy"])
    with pytest.raises(ToolError, match=r"`mcu_serial_.*; the driver mine\.c has to define it"):
        link_firmware(made, tmp_path, made.bench)


def test_an_undefined_function_is_named(tmp_path: Path) -> None:
    board = load_board("mps2-an386")
    build(board, tmp_path)
    made = Firmware.of(board, ["toy"])
    models = tmp_path / "firmware_models.c"
    models.write_text(models.read_text().replace("_mcu_network_toy", "_mcu_network_other"))
    with pytest.raises(ToolError, match=r"bench\.elf does not link.*_mcu_network_other"):
        link_firmware(made, tmp_path, made.bench)

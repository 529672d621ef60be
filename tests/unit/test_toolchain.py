"""The compiler: the same bytes from any folder, and one sentence for each way to fail."""

from __future__ import annotations

import re
import shlex
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile
from output_folders import mounted
from sampling import first
from toolchain_programs import write_network

from mcu_deploy import resources
from mcu_deploy.boards import list_boards, load_board
from mcu_deploy.errors import ToolError
from mcu_deploy.toolchain.compiler import (
    Toolchain,
    build_crt,
    compile_network,
    first_lines,
    run_tool,
)
from mcu_deploy.toolchain.flags import gcc_command_line, network_flags, runtime_flags

pytestmark = [pytest.mark.needs_arm_gcc, pytest.mark.needs_host_gcc]

BOARDS = ("stm32f103", "mps2-an386", "mps3-an547", "host")


@pytest.mark.parametrize("debug", [False, True])
@pytest.mark.parametrize("board", first([*BOARDS], 2))
def test_an_object_is_the_same_from_another_folder(
    tmp_path: Path, board: str, debug: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    objects = []
    for folder in (tmp_path / "a", tmp_path / "another folder" / "deeper"):
        write_network(folder)
        path = compile_network(load_board(board), folder, "toy", debug=debug)
        objects.append(path.read_bytes())
        # another day, another user
        monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
        monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
        monkeypatch.setenv("C_INCLUDE_PATH", str(tmp_path))
        monkeypatch.setenv("PWD", "/")
    assert objects[0] == objects[1]
    assert str(tmp_path).encode() not in objects[0]
    assert str(resources.root()).encode() not in objects[0]
    assert (b".debug_info" in objects[0]) == debug


def test_an_object_is_the_same_through_a_symbolic_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_network(tmp_path / "real")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    board = load_board("mps2-an386")
    direct = compile_network(board, tmp_path / "real", "toy", debug=True).read_bytes()
    monkeypatch.chdir(tmp_path / "link")
    monkeypatch.setenv("PWD", str(tmp_path / "link"))
    assert compile_network(board, Path(), "toy", debug=True).read_bytes() == direct


def test_debug_information_changes_no_loaded_byte(tmp_path: Path) -> None:
    write_network(tmp_path)
    board = load_board("mps2-an386")
    loaded = []
    for debug in (False, True):
        with compile_network(board, tmp_path, "toy", debug=debug).open("rb") as stream:
            sections = ELFFile(stream).iter_sections()
            loaded.append([(s.name, s.data()) for s in sections if s["sh_flags"] & 2])
    assert loaded[0] == loaded[1]
    assert any(name.startswith(".rodata") for name, _ in loaded[0])


@pytest.mark.parametrize("board", BOARDS)
def test_the_quoted_command_makes_the_same_object_by_hand(tmp_path: Path, board: str) -> None:
    write_network(tmp_path)
    loaded = load_board(board)
    built = compile_network(loaded, tmp_path, "toy").read_bytes()
    command = gcc_command_line(loaded, "toy")
    assert str(resources.root()) not in command
    assert str(Path.home()) not in command.split()
    (tmp_path / "network_toy.o").unlink()
    include = str(resources.crt() / "include")
    words = [include if word == "include" else word for word in shlex.split(command)]
    assert include in words
    subprocess.run(words, cwd=tmp_path, check=True)
    assert (tmp_path / "network_toy.o").read_bytes() == built


def test_the_runtime_is_the_same_archive_from_another_folder(tmp_path: Path) -> None:
    board = load_board("mps2-an386")
    archives = [build_crt(board, tmp_path / name).read_bytes() for name in ("a", "b")]
    assert archives[0] == archives[1]
    members = subprocess.run(
        ["arm-none-eabi-ar", "tv", tmp_path / "a" / "libmcu_crt.a"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    sources = sorted(path.stem for path in (resources.crt() / "src").glob("*.c"))
    assert [line.split()[-1] for line in members] == [f"{stem}.o" for stem in sources]
    # no owner, and the epoch for a date
    assert all(re.match(r"rw-r--r-- 0/0 +\d+ Jan  1 \d\d:\d\d 1970 ", line) for line in members)
    assert not list((tmp_path / "a" / "obj").rglob(".*"))


def test_a_network_is_compiled_without_contraction_and_for_the_core() -> None:
    flags = network_flags(load_board("mps2-an386"), "kws")
    assert {"-ffp-contract=off", "-O2", "-fno-common", "-mcpu=cortex-m4"} <= set(flags)
    assert "-frandom-seed=kws" in flags
    assert "-g" not in flags
    assert "-g" in network_flags(load_board("mps2-an386"), "kws", debug=True)


def test_loops_that_no_cache_holds_begin_with_a_read_of_the_flash() -> None:
    aligned = {
        board.name: flag
        for board in list_boards()
        for flag in network_flags(board, "kws")
        if flag.startswith("-falign")
    }
    assert aligned == {"nucleo_g0b1re": "-falign-loops=8", "stm32f103": "-falign-loops=8"}
    own = replace(load_board("stm32f103"), cflags=("-falign-loops=4",))
    assert [*filter(re.compile("-falign").match, network_flags(own, "kws"))][-1] == own.cflags[0]


def test_what_is_wrong_is_said_before_warnings() -> None:
    said = "a.c:1: warning: unused\nas: it has ended\n\ncollect2: error: ld returned 1\n"
    assert first_lines(said) == "as: it has ended"
    assert first_lines(f"{said}a.c:2: error: no") == "a.c:2: error: no"


def test_a_missing_compiler_is_named_with_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        ToolError, match=r"arm-none-eabi-gcc was not found.*apt install gcc-arm-none"
    ):
        Toolchain.for_board(load_board("mps2-an386"))
    with pytest.raises(ToolError, match=r"gcc was not found.*apt install gcc"):
        Toolchain.for_board(load_board("host"))


def test_a_program_that_is_no_gcc_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for tool in ("gcc", "ar"):
        (tmp_path / tool).write_text("#!/bin/sh\necho clang version 99\n")
        (tmp_path / tool).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(ToolError, match="does not answer as gcc does"):
        Toolchain.for_board(load_board("host"))


def test_a_compiler_is_asked_again_where_another_has_taken_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ar").write_text("#!/bin/sh\n")
    (tmp_path / "ar").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    for version in ("9.4.0", "10.12.1"):
        (tmp_path / "gcc").write_text(f"#!/bin/sh\necho 'gcc (made up) {version}'\n")
        (tmp_path / "gcc").chmod(0o755)
        assert Toolchain.for_board(load_board("host")).version == f"gcc (made up) {version}"


def test_an_error_of_the_compiler_is_one_line_and_leaves_no_object(tmp_path: Path) -> None:
    board = load_board("mps2-an386")
    (tmp_path / "bad.c").write_text("int f(void) { return nowhere; }\n")
    with pytest.raises(ToolError) as caught:
        Toolchain.for_board(board).compile_object(
            "bad.c", "bad.o", cwd=tmp_path, flags=runtime_flags(board)
        )
    assert "bad.c does not compile for board mps2-an386" in str(caught.value)
    assert "nowhere" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["bad.c"]


def test_a_missing_source_and_a_folder_that_is_a_file_are_errors(tmp_path: Path) -> None:
    board = load_board("mps2-an386")
    toolchain = Toolchain.for_board(board)
    with pytest.raises(ToolError, match=r"none\.c does not compile"):
        toolchain.compile_object("none.c", "none.o", cwd=tmp_path, flags=board.cflags)
    (tmp_path / "good.c").write_text("int x;\n")
    with pytest.raises(ToolError, match="cannot be written"):
        toolchain.compile_object("good.c", "good.c/x.o", cwd=tmp_path, flags=board.cflags)


@pytest.mark.needs_host_gcc
def test_a_full_disk_is_told_as_such_whichever_tool_meets_it(tmp_path: Path) -> None:
    board = load_board("host")
    toolchain = Toolchain.for_board(board)
    (tmp_path / "big.c").write_text("char big[200000] = {1}; int main(void) { return big[1]; }\n")
    flags = runtime_flags(board)
    made = toolchain.compile_object("big.c", "big.o", cwd=tmp_path, flags=flags)
    full = tmp_path / "full"
    with mounted(full, "-t", "tmpfs", "-o", "size=100k", "tmpfs"):
        said = f"{full} has no room for what .* writes .No space left on device."
        with pytest.raises(ToolError, match=said):
            toolchain.compile_object("big.c", full / "big.o", cwd=tmp_path, flags=flags)
        for command in (
            [toolchain.ar, "rcsD", str(full / "lib.a"), str(made)],
            [toolchain.gcc, *board.cflags, str(made), "-o", str(full / "program")],
        ):
            with pytest.raises(ToolError, match=said):
                run_tool(command, tmp_path, "It failed", full)
        assert [path.name for path in full.iterdir() if path.suffix != ".a"] == []

"""What a tool was kept from writing to its end is never taken for all of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcu_deploy.elf import disassembly
from mcu_deploy.elf.disassembly import code_ranges, disassemble
from mcu_deploy.elf.reader import load_elf
from mcu_deploy.errors import ToolError
from mcu_deploy.processes import programs
from mcu_deploy.toolchain.stack.callgraph import read_callgraphs

pytestmark = pytest.mark.needs_arm_gcc


@pytest.fixture
def compiled(tmp_path: Path) -> Path:
    """An object, with its call graph."""
    (tmp_path / "a.c").write_text("int g(int); int f(int x) { return x ? g(x) * 3 : 1; }\n")
    done = programs.run(
        ["arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-O1", "-fcallgraph-info=su", "-c",
         "a.c"],
        cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return tmp_path / "a.o"


def test_a_disassembly_that_ends_early_is_an_error(
    compiled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ranges, _ = code_ranges(load_elf(compiled))
    whole = [str(instruction) for _, instruction in disassemble(ranges)]
    assert len(whole) > 5
    short = tmp_path / "objdump"  # prints what the real one does, but for the last half
    short.write_text(
        f'#!/bin/sh\n{disassembly.OBJDUMP} "$@" > all\nhead -n $(($(wc -l < all) / 2)) all\n'
    )
    short.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(disassembly.shutil, "which", lambda _: str(short))
    with pytest.raises(ToolError, match=r"printed \d+ of \d+ bytes of code and said nothing"):
        list(disassemble(ranges))


def test_a_call_graph_that_ends_early_is_an_error(compiled: Path) -> None:
    graph = compiled.with_suffix(".ci")
    assert [function.name for function in read_callgraphs([graph])] == ["f"]
    text = graph.read_text()
    graph.write_text(text[: len(text) // 2])
    with pytest.raises(ToolError, match=r"a\.ci ends in its middle, as on a full disk"):
        read_callgraphs([graph])

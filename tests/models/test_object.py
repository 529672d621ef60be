"""The object file of a real model: reproducible, closed, and made of what the sources say."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import network_programs as programs
import numpy as np
import pytest
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection
from models.mlperf import INT8
from sampling import first, part

from mcu_deploy import resources
from mcu_deploy.boards import load_board
from mcu_deploy.compiled import Network
from mcu_deploy.compiler import compile_model, write_network
from mcu_deploy.options import Options

pytestmark = [pytest.mark.needs_arm_gcc, pytest.mark.needs_host_gcc]

BOARDS = ("host", "mps2-an386")


@pytest.fixture(scope="module")
def kws(models_dir: Path) -> Path:
    return models_dir / "mlperf_kws_int8" / "model.onnx"


def constants(model: Path, board: str) -> int:
    """How many different constants the layers have."""
    steps = compile_model(model, load_board(board)).plan.steps
    return len(
        {(c.value.dtype, c.value.tobytes()) for s in steps for c in s.choice.workload.constants}
    )


def make(
    model: Path, board: str, folder: Path, *, name: str = "kws", debug: bool = False,
    weights: str = "incbin", backends: tuple[str, ...] = (),
) -> Path:  # fmt: skip
    """The object of a model, in a folder."""
    loaded = load_board(board)
    options = Options(weights=weights, backends=backends)
    network = compile_model(model, loaded, name=name, options=options)
    return write_network(network, loaded, folder, debug)


def elf(path: Path) -> ELFFile:
    return ELFFile(path.open("rb"))


def sections(path: Path) -> Mapping[str, bytes]:
    """What an object brings to a program: the contents of its allocated sections, by name."""
    return {s.name: s.data() for s in elf(path).iter_sections() if s["sh_flags"] & 2}


def symbols(path: Path) -> dict[str, tuple[str, str, Any, int, int]]:
    """Binding, type, section index, value and size of each named symbol that is no section."""
    table = elf(path).get_section_by_name(".symtab")
    assert isinstance(table, SymbolTableSection)
    return {
        s.name: (
            s["st_info"]["bind"], s["st_info"]["type"], s["st_shndx"], s["st_value"], s["st_size"]
        )
        for s in table.iter_symbols()
        if s.name and not s.name.startswith("$") and s["st_info"]["type"] != "STT_FILE"
    }  # fmt: skip


def content_of(path: Path, name: str) -> bytes:
    """The bytes of an object's symbol."""
    _, _, index, value, size = symbols(path)[name]
    return bytes(elf(path).get_section(index).data()[value : value + size])


@pytest.mark.parametrize(
    ("seed", "place"), first([("77", "link/two"), ("1", "else where, ünïcödé/deeper/one")])
)
def test_the_object_is_the_same_wherever_and_whenever_it_is_made(
    seed: str, place: str, kws: Path, tmp_path: Path
) -> None:
    """Another folder (with spaces, unicode, through a link), another process with another hash
    seed, time zone, locale, working folder and umask; the model file in another place. With and
    without debug information."""
    variants = [f"{board} {debug}" for board in BOARDS for debug in ("", "debug")]
    variants = part(variants, 4, variants[2:3])
    for variant in variants:
        board, debug = variant.split(" ")
        make(kws, board, tmp_path / "here" / variant, debug=bool(debug))
    elsewhere = tmp_path / "else where, ünïcödé" / "deeper"
    elsewhere.mkdir(parents=True)
    moved = Path(shutil.copy(kws, elsewhere / "renamed.onnx"))
    (tmp_path / "link").symlink_to(elsewhere)
    script = (
        "import sys, os; os.umask(0o077)\n"
        "from pathlib import Path\n"
        "from mcu_deploy.boards import load_board\n"
        "from mcu_deploy.compiler import compile_model, write_network\n"
        "model, folder, *variants = sys.argv[1:]\n"
        "for variant in variants:\n"
        "    board, debug = variant.split(' ')\n"
        "    network = compile_model(model, load_board(board), name='kws')\n"
        "    write_network(network, load_board(board), Path(folder, variant), bool(debug))\n"
    )
    folder = tmp_path / place
    environment = os.environ | {
        "PYTHONHASHSEED": seed, "TZ": f"UTC+{seed[0]}", "LANG": "C", "LC_ALL": "C",
        "PYTHONPATH": str(resources.root()), "SOURCE_DATE_EPOCH": seed, "CPATH": "/nowhere",
    }  # fmt: skip
    subprocess.run(
        [sys.executable, "-c", script, moved, folder, *variants],
        cwd=elsewhere, env=environment, check=True, timeout=120,
    )  # fmt: skip
    for variant in variants:
        files = [f"network_kws.{ending}" for ending in ("o", "c", "weights.bin")]
        for file in (*files, "include/network_kws.h"):
            here, other = (f / variant / file for f in (tmp_path / "here", folder))
            assert here.read_bytes() == other.read_bytes(), f"{variant}: {other.name}"
    for variant in variants:
        made = (tmp_path / "here" / variant / "network_kws.o").read_bytes()
        assert str(tmp_path).encode() not in made
        assert str(resources.root()).encode() not in made


@pytest.mark.parametrize("board", BOARDS)
def test_debug_information_changes_no_code_and_no_data(
    board: str, kws: Path, tmp_path: Path
) -> None:
    plain = make(kws, board, tmp_path / "plain")
    debug = make(kws, board, tmp_path / "debug", debug=True)
    assert elf(debug).get_section_by_name(".debug_info") is not None
    assert elf(plain).get_section_by_name(".debug_info") is None
    without = sections(plain)
    assert any(name.startswith(".text") for name in without)
    assert any(name.startswith(".rodata") for name in without)
    assert sections(debug) == without
    assert {n: s[:2] + s[3:] for n, s in symbols(debug).items()} == {
        n: s[:2] + s[3:] for n, s in symbols(plain).items()
    }


@pytest.mark.parametrize("board", BOARDS)
@pytest.mark.parametrize("model", first(INT8))
def test_the_object_holds_the_weights_file_and_one_global_symbol(
    board: str, model: str, models_dir: Path, tmp_path: Path
) -> None:
    made = make(models_dir / model / "model.onnx", board, tmp_path, name="n")
    weights = (tmp_path / "network_n.weights.bin").read_bytes()
    assert len(weights) > 4000
    assert any(weights)
    assert sections(made)[".rodata._mcu_n_weights"] == weights
    assert content_of(made, "_mcu_n_weights") == weights

    source = (tmp_path / "network_n.c").read_text()
    assert hashlib.sha256(weights).hexdigest() in source
    assert hashlib.sha256((models_dir / model / "model.onnx").read_bytes()).hexdigest() in source

    table = symbols(made)
    declared = re.findall(r"^MCU_CONSTANT\((\w+), +\w+, +\d+, +(\d+), +(\d+)\);$", source, re.M)
    assert len(declared) == constants(models_dir / model / "model.onnx", board)
    for name, offset, size in declared:
        bind, kind, _, value, bytes_ = table[name]
        assert (bind, kind, value, bytes_) == ("STB_LOCAL", "STT_OBJECT", int(offset), int(size))
        assert content_of(made, name) == weights[int(offset) : int(offset) + int(size)]
    assert sum(int(size) for _, _, size in declared) > 0.98 * len(weights)

    defined = {n for n, s in table.items() if s[0] != "STB_LOCAL" and s[2] != "SHN_UNDEF"}
    assert defined == {"_mcu_network_n"}
    undefined = {n for n, s in table.items() if s[2] == "SHN_UNDEF"}
    assert {"_mcu_run_begin", "_mcu_run_end"} <= undefined
    assert undefined <= {"_mcu_run_begin", "_mcu_run_end", "memcpy", "memset", "memmove"}
    ours = ("_mcu_n_", "_mcu_network_n", ".L")  # .L: labels that gcc makes
    assert all(n.startswith(ours) for n in table.keys() - undefined)


@pytest.mark.parametrize("board", first(BOARDS[::-1]))
def test_arrays_hold_the_same_constants_as_the_file(
    board: str, models_dir: Path, tmp_path: Path
) -> None:
    """Integers, and floats with all their digits; aligned as well as in the file."""
    for model in ("mlperf_kws_int8", "mlperf_kws_f32"):
        path = models_dir / model / "model.onnx"
        only = {"name": "n", "backends": ("CpuRef",)}  # others may need the optimiser
        file = make(path, board, tmp_path / f"{model}_file", **only)
        arrays = make(path, board, tmp_path / f"{model}_arrays", weights="array", **only)
        assert ".incbin" not in arrays.with_suffix(".c").read_text()
        # once more, without the optimiser, which makes numbers of arrays with one element
        loaded = load_board(board)
        gcc = ["gcc" if loaded.is_host else "arm-none-eabi-gcc", *loaded.cflags, "-O0"]
        arguments = ["-fkeep-static-consts", "-fdata-sections", f"-I{programs.CRT / 'include'}"]
        arguments.append(f"-I{arrays.parent / 'include'}")
        programs.run([*gcc, *arguments, "-c", arrays.with_suffix(".c"), "-o", arrays])
        names = [n for n in symbols(file) if re.match(r"_mcu_n_(conv|depthwise|dense)_\d+_", n)]
        assert len(names) > 10
        for name in names:
            assert content_of(arrays, name) == content_of(file, name), name
            index = symbols(arrays)[name][2]
            assert elf(arrays).get_section(index)["sh_addralign"] >= 4


@pytest.mark.matrix
def test_arrays_and_file_give_the_same_outputs(models_dir: Path, tmp_path: Path) -> None:
    networks: list[Network] = []
    inputs = []
    for model in ("mlperf_kws_int8", "mlperf_kws_f32", "mlperf_ad_int8"):
        for weights in ("incbin", "array"):
            networks.append(
                compile_model(
                    models_dir / model / "model.onnx", load_board("host"),
                    name=f"n{len(networks)}", options=Options(weights=weights),
                )
            )  # fmt: skip
            inputs.append(np.load(models_dir / model / "io.npz")["in0"][2])
    program = programs.host_program(networks, tmp_path)
    raw = programs.run([program], given=b"".join(i.tobytes() for i in inputs))
    answers = [np.asarray(a[0]) for a in programs.split(raw, networks)]
    for index in range(0, len(answers), 2):
        assert answers[index].tobytes() == answers[index + 1].tobytes()
        assert len(np.unique(answers[index])) > 1


def quoted_command(source: Path) -> str:
    """The command of the header comment, as a person copies it: without the comment's asterisks."""
    lines = [line.removeprefix(" *").strip() for line in source.read_text().splitlines()]
    start = next(i for i, line in enumerate(lines) if re.match(r"(arm-none-eabi-)?gcc ", line))
    end = start
    while lines[end].endswith("\\"):
        end += 1
    return "\n".join(lines[start : end + 1])


@pytest.mark.parametrize("board", BOARDS)
@pytest.mark.parametrize("name", ["kws", "a_name_of_forty_eight_letters_is_as_long_as_it_" + "x"])
def test_the_quoted_command_makes_the_same_object(
    board: str, name: str, kws: Path, tmp_path: Path
) -> None:
    """In a copy of the folder, by a shell; only the runtime's headers are put in."""
    made = make(kws, board, tmp_path / "built", name=name)
    copy = tmp_path / "a copy"
    copy.mkdir()
    for ending in ("c", "weights.bin"):
        shutil.copy(made.with_suffix(f".{ending}"), copy)
    shutil.copytree(made.parent / "include", copy / "include")
    shutil.copytree(programs.CRT / "include", copy / "include", dirs_exist_ok=True)
    command = quoted_command(copy / f"network_{name}.c")
    programs.run(["/bin/sh", "-c", command], cwd=copy)
    assert (copy / made.name).read_bytes() == made.read_bytes()


def test_the_weights_may_lie_in_another_folder(kws: Path, tmp_path: Path) -> None:
    """As build systems have it that compile elsewhere: an include folder is enough."""
    made = make(kws, "mps2-an386", tmp_path / "built")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    gcc = ["arm-none-eabi-gcc", *load_board("mps2-an386").cflags, "-O2"]
    source = made.with_suffix(".c")
    headers = (programs.CRT / "include", made.parent / "include")
    include = [f"-I{folder}" for folder in (*headers, made.parent)]
    programs.run([*gcc, *include, "-c", source, "-o", "n.o"], cwd=elsewhere)
    weights = made.with_suffix(".weights.bin").read_bytes()
    assert sections(elsewhere / "n.o")[".rodata._mcu_kws_weights"] == weights

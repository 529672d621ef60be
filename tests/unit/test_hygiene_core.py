"""Code that a core cannot run: by build attributes, and by disassembly."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hygiene_cases import (
    M0,
    M3,
    M4,
    M4F,
    M7,
    M7DP,
    M7SP,
    M33F,
    M55,
    ON_M0,
    ON_M3,
    ON_M4,
    ON_M4F,
    ON_M7DP,
    ON_M7SP,
    ON_M33F,
    ON_M55,
    FakeBoard,
    build,
    network,
    rules,
)
from hypothesis import given
from hypothesis import strategies as st
from sampling import every_board, is_sample

from mcu_deploy.backends.isa.table import Feature
from mcu_deploy.elf.reader import read_elf
from mcu_deploy.hygiene import attributes as build_attributes
from mcu_deploy.hygiene import check_files, check_object
from mcu_deploy.hygiene.features import core_of_board

pytestmark = pytest.mark.needs_arm_gcc

INTEGER = network()
SINGLE = network(body="sum = (int32_t)((float)sum * 0.37f);")
DOUBLE = network(body="sum = (int32_t)((double)sum * 0.37);")
ROUND = network(body="sum = (int32_t)__builtin_roundf((float)sum * 0.37f);")
SOURCES = {"integer.c": INTEGER, "single.c": SINGLE, "double.c": DOUBLE, "round.c": ROUND}
BUILDS = {
    "m0": M0,
    "m3": M3,
    "m4": M4,
    "m4f": M4F,
    "m7": M7,
    "m7sp": M7SP,
    "m7dp": M7DP,
    "m33f": M33F,
    "m55": M55,
}


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Path]]:
    """The four sources for every core; in the sample those that a test names."""
    folder = tmp_path_factory.mktemp("core")
    return {name: build(folder / name, _sources(name), *flags) for name, flags in BUILDS.items()}


def _sources(made_for: str) -> dict[str, str]:
    named = {("m55", "single"), *(case[:2] for case in (*FITS, *CLASHES))}
    files = [f for f in SOURCES if not is_sample() or (made_for, f.removesuffix(".c")) in named]
    return {file: SOURCES[file] for file in files}


# (build, source, board): nothing to find
FITS = [
    ("m7", "integer", ON_M4),  # the same Tag_CPU_arch; only the name differs
    ("m7sp", "integer", ON_M4F),
    ("m7dp", "integer", ON_M4F),
    ("m7", "double", ON_M4),
    ("m4f", "single", ON_M7SP),
    ("m4f", "single", ON_M7DP),
    ("m4f", "single", ON_M33F),
    ("m4f", "single", ON_M55),
    ("m7sp", "round", ON_M33F),
    ("m7dp", "double", ON_M55),
    ("m3", "integer", ON_M4),
    ("m0", "double", ON_M3),
    ("m0", "double", ON_M0),
    ("m55", "double", ON_M55),
]


@pytest.mark.parametrize(("made_for", "source", "board"), FITS)
def test_code_that_the_core_runs_is_clean(
    made_for: str, source: str, board: FakeBoard, objects: dict[str, dict[str, Path]]
) -> None:
    assert check_object(objects[made_for][source], board=board) == ()


# (build, source, board): the rules that must be among the findings
CLASHES = [
    ("m7sp", "round", ON_M4F, {"fpu", "instruction"}),  # FPv5: VRINTA
    ("m7sp", "single", ON_M4F, {"fpu"}),  # FPv4 instructions, but FPv5 is asked for
    ("m7dp", "double", ON_M4F, {"fpu", "instruction"}),
    ("m7dp", "double", ON_M7SP, {"fpu", "instruction"}),
    ("m33f", "integer", ON_M7SP, {"cpu-architecture"}),
    ("m55", "integer", ON_M33F, {"cpu-architecture", "mve", "instruction"}),  # LE
    ("m55", "integer", ON_M7DP, {"cpu-architecture", "mve", "instruction"}),  # LE
    ("m4f", "single", ON_M3, {"cpu-architecture", "fpu", "float-abi", "instruction"}),
    ("m4f", "single", ON_M4, {"fpu", "float-abi", "instruction"}),
    ("m4", "integer", ON_M3, {"cpu-architecture", "instruction"}),  # SMLABB
    ("m4", "integer", ON_M4F, {"float-abi"}),
    ("m3", "integer", ON_M0, {"cpu-architecture", "instruction"}),
]


@pytest.mark.parametrize(("made_for", "source", "board", "expected"), CLASHES)
def test_code_that_the_core_cannot_run_is_found(
    made_for: str,
    source: str,
    board: FakeBoard,
    expected: set[str],
    objects: dict[str, dict[str, Path]],
) -> None:
    assert rules(check_object(objects[made_for][source], board=board)) == expected


def test_what_the_compiler_makes_fits_its_own_attributes(
    objects: dict[str, dict[str, Path]],
) -> None:
    for made in objects.values():
        for path in made.values():
            assert check_object(path) == (), path


def test_the_a32_state_is_found(tmp_path: Path) -> None:
    made = build(tmp_path, {"f.c": "int f(int a) { return a + 1; }"}, "-mcpu=arm7tdmi", "-marm")
    assert "arm-state" in rules(check_files([made["f"]]).findings)
    assert {"arm-state", "cpu-architecture"} <= rules(check_files([made["f"]], ON_M4).findings)


def test_objects_for_another_machine_are_found(tmp_path: Path) -> None:
    made = build(tmp_path / "be", {"f.c": "int f(void) { return 1; }"}, *M3, "-mbig-endian")
    assert "machine" in rules(check_files([made["f"]], ON_M3).findings)
    assert "machine" in rules(check_files([made["f"]]).findings)
    mips = bytearray(made["f"].read_bytes())
    mips[18:20] = b"\0\x08"
    made["f"].write_bytes(mips)
    assert "machine" in rules(check_files([made["f"]]).findings)
    host = FakeBoard("host", "")
    little = build(tmp_path / "le", {"f.c": "int f(void) { return 1; }"}, *M3)
    assert rules(check_files([little["f"]], host).findings) == {"machine"}
    if shutil.which("gcc"):
        native = build(tmp_path / "host", {"f.c": "int f(void) { return 1; }"}, compiler="gcc")
        assert check_files([native["f"]], host).findings == ()
        assert rules(check_files([native["f"]], ON_M3).findings) == {"machine"}


def test_every_shipped_board_has_a_core() -> None:
    for board in every_board():
        core = core_of_board(board)
        assert (core is None) == board.is_host, board.name
        if core is not None:
            assert (Feature.FPU in core.features) == (board.fpu != "none")
            assert core.hard_float == (board.float_abi == "hard")


def test_attributes_are_those_of_readelf(objects: dict[str, dict[str, Path]]) -> None:
    read = build_attributes.read_attributes(read_elf(objects["m55"]["single"].read_bytes()))
    assert read is not None
    assert read.architecture == "armv8.1-m.main"
    assert read.number(build_attributes.TAG_MVE_ARCH) == 2
    assert read.number(build_attributes.TAG_DSP_EXTENSION) == 1
    assert (read.enum_bytes, read.wchar_bytes, read.hard_float) == ("short", 4, True)
    text = subprocess.run(
        ["arm-none-eabi-readelf", "-A", str(objects["m55"]["single"])],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert text.count("Tag_") == len(read.tags)


# Addenda to the ABI for the Arm Architecture, Tag_CPU_arch and Tag_FP_arch.
@pytest.mark.parametrize(
    ("arch", "name"),
    [
        (4, "Armv5TE"), (5, "Armv5TEJ"), (9, "Armv6K"), (10, "Armv7-A or Armv7-R"),
        (11, "armv6-m"), (14, "Armv8-A"), (22, "Armv9-A"), (99, "an unknown architecture (99)"),
    ],
)  # fmt: skip
def test_architectures_have_their_names(arch: int, name: str) -> None:
    tags = {build_attributes.TAG_CPU_ARCH: arch}
    assert build_attributes.Attributes(tags).architecture == name


@pytest.mark.parametrize(
    ("arch", "name"),
    [
        (1, "VFPv1"),
        (4, "VFPv3-D16"),
        (5, "VFPv4"),
        (6, "FPv4 (VFPv4-D16)"),
        (8, "FPv5"),
        (9, "FP architecture 9"),
    ],
)
def test_fpus_have_their_names(arch: int, name: str) -> None:
    found = build_attributes.Attributes({build_attributes.TAG_FP_ARCH: arch})
    assert found.fp_name == name


@pytest.mark.parametrize(("mve", "has_floats"), [(1, False), (2, True)])
def test_vectors_of_floats_are_told_from_those_of_integers(mve: int, has_floats: bool) -> None:
    tags = {build_attributes.TAG_CPU_ARCH: 21, build_attributes.TAG_MVE_ARCH: mve}
    features = build_attributes.Attributes(tags).features()
    assert Feature.MVE in features
    assert (Feature.MVE_FLOAT in features) == has_floats


@given(st.binary(max_size=200), st.booleans())
def test_any_attributes_end_in_tags_or_in_an_error(data: bytes, little_endian: bool) -> None:
    for content in (data, b"A" + data, b"A\x40\0\0\0aeabi\0\x01\x30\0\0\0" + data):
        try:
            tags = dict(build_attributes._parse(content, little_endian))
        except build_attributes.MalformedAttributes:
            continue
        assert all(isinstance(tag, int) for tag in tags)

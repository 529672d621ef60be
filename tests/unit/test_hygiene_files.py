"""Files of all kinds: archives, images, damage, LTO; collisions; the command line."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import typer
from cpu_limit import cpu_limit
from hygiene_cases import (
    M3,
    M4,
    M4F,
    M7,
    M33F,
    ON_M4F,
    build,
    network,
    rules,
    run,
    symbols,
)
from typer.testing import CliRunner, Result

from mcu_deploy.cli import check as check_command
from mcu_deploy.errors import ToolError
from mcu_deploy.hygiene import CheckReport, check_files, check_object
from mcu_deploy.hygiene.symbols import load_rules
from mcu_deploy.processes import programs
from mcu_deploy.toolchain.sizes import object_sizes

pytestmark = pytest.mark.needs_arm_gcc

PLAIN = "int f(int a) { return a + 1; }"


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    sources = {
        "kws.c": network("kws"),
        "vww.c": network("vww"),
        "kws_again.c": network("kws"),
        "old.c": network("old", abi="7"),
        "one.c": "int shared(int a) { return a; } int only_one;",
        "two.c": "int shared(int a) { return -a; } __attribute__((weak)) int maybe(void) { return"
        " 1; }",
        "three.c": "__attribute__((weak)) int maybe(void) { return 2; }",
        "common_a.c": "int counter __attribute__((common));",
        "common_b.c": "int counter __attribute__((common));",
        "defined.c": "int counter = 1;",
        "plain.c": PLAIN,
    }
    return build(tmp_path_factory.mktemp("files"), sources, *M4F)


def check(*paths: Path) -> CheckReport:
    return check_files(list(paths))


def invoke(*arguments: str | Path) -> Result:
    app = typer.Typer()
    app.command("check")(check_command.check)
    app.callback()(lambda: None)
    return CliRunner().invoke(app, ["check", *map(str, arguments)])


# ---- Several objects


def test_two_models_side_by_side_are_clean(objects: dict[str, Path]) -> None:
    report = check(objects["kws"], objects["vww"], objects["plain"])
    assert report.findings == ()
    assert [file.kind for file in report.files] == ["network", "network", "object"]


def test_a_model_name_that_is_used_twice(objects: dict[str, Path]) -> None:
    report = check(objects["kws"], objects["kws_again"])
    assert rules(report.findings) == {"duplicate-model"}
    finding = report.findings[0]
    assert (finding.file, finding.symbol) == (str(objects["kws"]), "_mcu_network_kws")
    assert "kws.o" in finding.message and "kws_again.o" in finding.message
    assert "--name" in finding.remedy


def test_a_symbol_that_is_exported_twice(objects: dict[str, Path]) -> None:
    report = check(objects["one"], objects["two"], objects["three"])
    assert rules(report.findings) == {"duplicate-symbol"}
    assert symbols(report.findings, "duplicate-symbol") == {"shared"}
    assert report.findings[0].file == str(objects["one"])


def test_of_definitions_in_groups_the_linker_keeps_one(tmp_path: Path) -> None:
    """As C++ has them of inline functions; the same two without a group are one too many."""
    group = ' .section .text.f,"axG",%progbits,f,comdat\n .globl f\nf: bx lr\n'
    text = group.replace('"axG",%progbits,f,comdat', '"ax"')
    sources = {f"{name}{n}.s": f" .thumb\n{s} .word {n}\n"
               for name, s in (("g", group), ("t", text)) for n in (1, 2)}  # fmt: skip
    made = build(tmp_path, sources, *M4F)
    assert check(made["g1"], made["g2"]).findings == ()
    assert rules(check(made["t1"], made["t2"]).findings) == {"duplicate-symbol"}
    run(["arm-none-eabi-ld", "-e", "f", "g1.o", "g2.o"], tmp_path)


def test_of_many_symbols_a_hundred_are_told(tmp_path: Path) -> None:
    """Of a library that is linked twice all others would say the same."""
    text = "".join(f"int s{k} = {{}};" for k in range(103))
    objects = build(tmp_path, {"a.c": text.format(*[1] * 103), "b.c": text.format(*[2] * 103)})
    *told, rest = check(objects["a"], objects["b"]).findings
    assert len(told) == 100 and {f.rule for f in told} == {"duplicate-symbol"}
    assert rest.message == "3 more symbols are exported more than once."
    assert rest.file == str(objects["a"])


def test_many_members_of_an_archive_are_counted(tmp_path: Path) -> None:
    objects = build(tmp_path, {f"m{k}.c": f"int shared = {k};" for k in range(4)})
    library = archive(tmp_path / "lib.a", *objects.values())
    (finding,) = check(library).findings
    assert f"exported by 4 members of {library}:" in finding.message


def test_a_common_symbol_that_two_objects_share(objects: dict[str, Path]) -> None:
    report = check(objects["common_a"], objects["common_b"])
    assert rules(report.findings) == {"shared-common"}
    assert rules(check(objects["common_a"], objects["defined"]).findings) == {"shared-common"}
    assert check(objects["common_a"]).findings == ()


def test_a_file_that_is_given_twice_is_checked_once(
    objects: dict[str, Path], tmp_path: Path
) -> None:
    link = tmp_path / "link.o"
    link.symlink_to(objects["one"])
    for given, said in (
        ((objects["one"], objects["one"]), "given 2 times, and"),
        ((objects["one"], link, objects["one"]), f"given 3 times, also as {link}, and"),
    ):
        report = check(*given)
        assert (len(report.files), report.exit_code) == (1, 0)
        assert said in report.files[0].notes[0]
    assert check(objects["one"], objects["plain"]).files[0].notes == ()


def test_a_copy_of_an_object_is_one_finding(objects: dict[str, Path], tmp_path: Path) -> None:
    copy = tmp_path / "copy.o"
    copy.write_bytes(objects["kws"].read_bytes())
    library = archive(tmp_path / "lib.a", objects["kws"])
    for other in (copy, library):
        (finding,) = check(objects["kws"], objects["vww"], other).findings
        assert finding.rule == "same-object"
        assert str(objects["kws"]) in finding.message and str(other) in finding.message
    # Of two libraries with the same members the linker takes from the first.
    again = tmp_path / "again.a"
    again.write_bytes(library.read_bytes())
    assert check(library, again).findings == ()


def test_descriptors_of_different_abi_versions(objects: dict[str, Path]) -> None:
    report = check(objects["kws"], objects["vww"], objects["old"])
    assert rules(report.findings) == {"abi-version", "abi-version-clash"}
    clash = next(f for f in report.findings if f.rule == "abi-version-clash")
    assert clash.file.endswith("old.o")  # the odd one out


def test_build_attributes_that_do_not_fit_together(tmp_path: Path) -> None:
    cases = {
        "soft": (*M4,),
        "hard": (*M4F,),
        "wide_enum": (*M4, "-fno-short-enums"),
        "short_wchar": (*M4, "-fshort-wchar"),
        "m7": M7,
        "m33": ("-mcpu=cortex-m33+nodsp+nofp", "-mthumb", "-mfloat-abi=soft"),
        "m3": M3,
        "arm7": ("-mcpu=arm7tdmi", "-mthumb", "-mfloat-abi=soft"),
    }
    made = {
        name: build(tmp_path / name, {f"{name}.c": f"int f_{name}(int a) {{ return a + 1; }}"}, *f)[
            name
        ]
        for name, f in cases.items()
    }
    for name, expected in {
        "hard": {"float-abi-clash"},
        "wide_enum": {"enum-size-clash"},
        "short_wchar": {"wchar-size-clash"},
        "m7": set(),
        "m3": set(),
        "m33": {"cpu-clash"},  # a Cortex-M33 without DSP does not run M4 code, nor an M4 its code
        "arm7": {"cpu-clash"},
    }.items():
        findings = check(made["soft"], made[name]).findings
        assert rules(findings) == expected, name
        if findings:
            assert f"{name}.o" in findings[0].message
            assert "soft.o" in findings[0].message
    base = " .eabi_attribute Tag_ABI_PCS_R9_use, 1\n"
    rwpi = build(
        tmp_path / "r9", {"r9.s": f'{base} .section .text.n,"ax"\n .thumb\nn: bx lr\n'}, *M4
    )
    (finding,) = check(made["soft"], rwpi["r9"]).findings
    assert finding.rule == "r9-clash" and "r9.o" in finding.message
    assert "the static base: " in finding.message and "-frwpi" in finding.remedy
    assert check(rwpi["r9"]).findings == ()
    # Assembly without floats goes with both.
    neutral = build(tmp_path / "asm", {"n.s": ' .section .text.n,"ax"\n .thumb\nn: bx lr\n'}, *M4)
    assert check(made["hard"], neutral["n"]).findings == ()


# ---- Archives


def archive(path: Path, *members: Path, flags: str = "rcsD") -> Path:
    run(["arm-none-eabi-ar", flags, path.name, *map(str, members)], path.parent)
    return path


def test_archives_are_checked_member_by_member(objects: dict[str, Path], tmp_path: Path) -> None:
    long = tmp_path / "a_member_with_a_long_name.o"
    long.write_bytes(objects["old"].read_bytes())
    library = archive(tmp_path / "lib.a", objects["kws"], long, objects["one"], objects["two"])
    report = check(library)
    assert rules(report.findings) == {"abi-version", "abi-version-clash", "duplicate-symbol"}
    assert {"a_member_with_a_long_name.o", "one.o"} <= {f.member for f in report.findings}
    file = report.files[0]
    assert (file.kind, file.members, len(file.models)) == ("archive", 4, 2)
    assert "the archive is empty" not in file.notes
    # An object and the archive that holds it, too.
    assert "duplicate-model" in rules(check(library, objects["kws_again"]).findings)


def test_what_is_wrong_in_archives(objects: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "readme.txt").write_text("not an object")
    mixed = check(archive(tmp_path / "mixed.a", objects["kws"], tmp_path / "readme.txt"))
    assert rules(mixed.findings) == {"not-an-object"}
    assert mixed.findings[0].member == "readme.txt"
    assert mixed.exit_code == 2
    thin = check(archive(tmp_path / "thin.a", objects["kws"], flags="rcsDT"))
    assert rules(thin.findings) == {"not-an-object"}
    assert "thin" in thin.findings[0].message
    empty = check(archive(tmp_path / "empty.a"))
    assert empty.exit_code == 0 and empty.files[0].notes == ("the archive is empty",)
    whole = archive(tmp_path / "whole.a", objects["kws"]).read_bytes()
    for size in (20, 100, len(whole) // 2, len(whole) - 4):
        cut = tmp_path / "cut.a"
        cut.write_bytes(whole[:size])
        assert check(cut).exit_code == 2, size


# ---- Damage, LTO


@pytest.mark.parametrize(
    "content", [b"", b"hello", b"\x7fELF", b"\x7fELF\x01\x01\x01", b"!<arch", b"\x7fELF" * 100]
)
def test_what_is_no_object(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.o"
    path.write_bytes(content)
    report = check(path)
    assert report.exit_code == 2
    assert rules(report.findings) <= {"not-an-object", "truncated", "damaged"}
    assert report.files[0].kind == "unreadable"


def test_missing_files_and_folders(tmp_path: Path) -> None:
    for path in (tmp_path / "missing.o", tmp_path, Path("/dev/null"), Path("a\0b")):
        report = check(path)
        assert report.exit_code == 2
        assert rules(report.findings) == {"not-an-object"}


def test_every_truncation_is_found(objects: dict[str, Path], tmp_path: Path) -> None:
    whole = objects["kws"].read_bytes()
    path = tmp_path / "cut.o"
    for size in [*range(0, 200, 7), *range(200, len(whole), 97), len(whole) - 1]:
        path.write_bytes(whole[:size])
        report = check(path)
        assert report.exit_code == 2, size
        assert len(report.findings) == 1
        if size >= 52:
            assert rules(report.findings) == {"truncated"}, size


def test_lto_objects_are_not_usable(tmp_path: Path) -> None:
    for flags in (("-flto",), ("-flto", "-ffat-lto-objects")):
        made = build(tmp_path, {"kws.c": network()}, *M4F, *flags)
        report = check(made["kws"])
        assert rules(report.findings) == {"lto-object"}
        assert "not usable" in report.findings[0].message
        assert "-flto" in report.findings[0].remedy
        assert report.exit_code == 1
        assert rules(check_object(made["kws"], expected_name="kws")) == {"lto-object"}
    bitcode = tmp_path / "clang.o"
    bitcode.write_bytes(b"BC\xc0\xde" + bytes(100))
    assert rules(check(bitcode).findings) == {"lto-object"}


@pytest.mark.parametrize("fat", [(), ("-ffat-lto-objects",)])
@pytest.mark.parametrize("weak", ["", "__attribute__((weak)) "])
def test_a_program_may_have_lto_objects_beside_its_networks(
    fat: tuple[str, ...], weak: str, tmp_path: Path
) -> None:
    """They name a network that they use, or that they use if it is there, and define none."""
    user = (
        f"extern {weak}const int _mcu_network_kws;"
        "const int *used(void) { return &_mcu_network_kws; }"
    )
    made = build(tmp_path, {"user.c": user}, *M4F, "-flto", *fat)
    report = check(made["user"])
    assert report.findings == () and report.exit_code == 0
    assert [file.kind for file in report.files] == ["object"]
    assert "checked in the image alone" in report.files[0].notes[0]
    assert rules(check_files([made["user"]], strict=True).findings) == {"lto-object"}
    archive = tmp_path / "libuser.a"
    programs.run(["arm-none-eabi-gcc-ar", "rcs", archive, made["user"]])
    report = check(archive)
    assert report.findings == () and "user.o is for link-time" in report.files[0].notes[0]
    assert report.files[0].members == 1


# ---- Linked images

STUBS = """
#include "mcu/model.h"
#include <string.h>
int32_t _mcu_run_begin(const mcu_model_t *m, const mcu_partition_t *p, const void *a,
                       const void *t, int32_t n, const void *r) { return n; }
int32_t _mcu_run_end(const mcu_model_t *m, const mcu_partition_t *p, const void *a,
                     const void *r) { return 0; }
extern const mcu_model_t _mcu_network_kws, _mcu_network_kws_2;
const mcu_model_t *volatile models[2];
int main(void) { models[0] = &_mcu_network_kws; models[1] = &_mcu_network_kws_2; return 0; }
"""


@pytest.fixture(scope="module")
def firmware(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("firmware")
    made = build(
        folder,
        {"kws.c": network("kws"), "kws_2.c": network("kws_2", abi="7"), "main.c": STUBS},
        *M4F,
    )
    command = ["arm-none-eabi-gcc", *M4F, "-nostartfiles", "-e", "main", "-o", "firmware.elf"]
    run([*command, *(path.name for path in made.values())], folder)
    return folder / "firmware.elf"


def test_a_firmware_is_read_for_its_map(firmware: Path) -> None:
    report = check(firmware)
    assert rules(report.findings) == {"abi-version"}
    file = report.files[0]
    assert (file.kind, [model.name for model in file.models]) == ("firmware", ["kws", "kws_2"])
    for model in file.models:
        sizes = {name: size for name, size, _ in model.sections}
        # 64 weights, one tensor's description, the descriptor of 60 bytes; not its neighbour's.
        assert 64 + 60 < sizes[".rodata"] < 64 + 60 + 100
        assert 0 < sizes[".text"] < 400
        assert (model.ram_bytes, model.flash_bytes) == (0, sum(sizes.values()))
    assert [model.abi_version for model in file.models] == [load_rules().abi_version, 7]
    assert file.instructions > 30


# As generated C holds its weights: a blob, and names for the arrays in it.
BLOB = """
__asm__(".pushsection .rodata._mcu_kws_blob, \\"a\\", %progbits\\n"
        ".type _mcu_kws_blob, %object\\n.size _mcu_kws_blob, 300\\n_mcu_kws_blob:\\n.zero 300\\n"
        ".set _mcu_kws_front, _mcu_kws_blob\\n.size _mcu_kws_front, 100\\n"
        ".set _mcu_kws_back, _mcu_kws_blob + 100\\n.size _mcu_kws_back, 200\\n.popsection");
extern const int8_t _mcu_kws_front[100], _mcu_kws_back[200];
"""


def test_a_blob_and_the_arrays_in_it_are_counted_once(tmp_path: Path) -> None:
    """In an object as `size` counts it, in an image as many bytes as the names cover."""
    sources = {"kws.c": network("kws", BLOB, body="sum += _mcu_kws_front[1] + _mcu_kws_back[1];")}
    main = STUBS.replace(", _mcu_network_kws_2", "").replace("models[1] = &_mcu_network_kws_2;", "")
    made = build(tmp_path, {**sources, "main.c": main}, *M4F)
    sizes = object_sizes(made["kws"])
    (model,) = check(made["kws"]).files[0].models
    assert (model.flash_bytes, model.ram_bytes) == (sizes.flash, sizes.ram)
    assert (".rodata._mcu_kws_blob", 300, False) in model.sections
    # Beside a function of the program, by names too: those inside of the blob add nothing.
    made |= build(tmp_path, {"both.c": f"{sources['kws.c']} {PLAIN}"}, *M4F)
    (beside,) = check(made.pop("both")).files[0].models
    assert (".rodata._mcu_kws_blob", 300, False) in beside.sections
    command = ["arm-none-eabi-gcc", *M4F, "-nostartfiles", "-e", "main", "-o", "firmware.elf"]
    run([*command, *(path.name for path in made.values())], tmp_path)
    (linked,) = check(tmp_path / "firmware.elf").files[0].models
    assert 0 <= model.flash_bytes - linked.flash_bytes < 32, "texts and padding have no name"


def test_a_stripped_firmware_says_what_is_missing(firmware: Path, tmp_path: Path) -> None:
    stripped = tmp_path / "stripped.elf"
    stripped.write_bytes(firmware.read_bytes())
    run(["arm-none-eabi-strip", "stripped.elf"], tmp_path)
    report = check(stripped)
    assert report.exit_code == 0
    assert report.files[0].notes and "stripped" in report.files[0].notes[0]


def test_an_image_is_no_object_of_a_network(firmware: Path) -> None:
    assert rules(check_object(firmware, expected_name="kws")) == {"not-an-object"}


# ---- The command


def test_exit_codes_and_text(objects: dict[str, Path], firmware: Path, tmp_path: Path) -> None:
    clean = invoke(objects["kws"], objects["vww"], "--board", "mps2-an386")
    assert clean.exit_code == 0
    assert clean.stdout.count("ok ") == 2
    assert "network kws" in clean.stdout and "cortex-m4" in clean.stdout
    found = invoke(objects["kws"], objects["kws_again"])
    assert found.exit_code == 1
    assert "duplicate-model" in found.stdout
    (tmp_path / "x.o").write_text("no")
    assert invoke(objects["kws"], tmp_path / "x.o").exit_code == 2
    table = invoke(firmware)
    assert "flash" in table.stdout and ".rodata" in table.stdout
    assert invoke(objects["plain"], "--strict").exit_code == 1
    assert invoke(objects["kws"], "--board", "mps2-an385").exit_code == 1


def test_json(objects: dict[str, Path]) -> None:
    result = invoke(objects["kws"], objects["old"], "--json")
    value = json.loads(result.stdout)
    assert list(value) == ["files", "findings", "exit_code"]
    assert value["exit_code"] == result.exit_code == 1
    assert [file["kind"] for file in value["files"]] == ["network", "network"]
    for finding in value["findings"]:
        assert list(finding) == ["rule", "file", "member", "symbol", "message", "remedy"]
    assert {finding["rule"] for finding in value["findings"]} == {
        "abi-version",
        "abi-version-clash",
    }


def test_hostile_symbol_names_do_not_reach_the_terminal(tmp_path: Path) -> None:
    name = "evil\\033[31m[bold]x\\n" + "y" * 5000
    source = f' .thumb\n .globl "{name}"\n .section .text.a,"ax"\n"{name}": bx lr\n'
    made = build(tmp_path, {"kws.c": network(), "a.s": source, "b.s": source}, *M4F)
    result = invoke(made["a"], made["b"], "--strict")
    assert result.exit_code == 1
    assert "\x1b[31m[" not in result.stdout
    assert "\\x1b[31m[bold]x" in result.stdout
    assert max(map(len, result.stdout.splitlines())) < 1500


def test_a_missing_disassembler_is_said(
    objects: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolError, match="binutils-arm-none-eabi"):
        check(objects["kws"])


def test_a_check_starts_one_program_and_takes_little_of_its_own(
    objects: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    started = []
    run = programs.run

    def counted(command: Sequence[str | Path], **options: Any) -> programs.Ended:
        started.append(Path(command[0]).name)
        return run(command, **options)

    monkeypatch.setattr(programs, "run", counted)
    with cpu_limit(20):
        check_object(objects["kws"], board=ON_M4F, expected_name="kws")
    assert started == ["arm-none-eabi-objdump"]


def test_objects_of_one_family_go_together(objects: dict[str, Path], tmp_path: Path) -> None:
    """M4F objects beside M33 ones: an M33 with FPU and DSP runs both."""
    other = build(tmp_path, {"other.c": "float g(float a) { return a * 3; }"}, *M33F)
    assert check(objects["kws"], other["other"]).findings == ()

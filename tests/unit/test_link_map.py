"""What is read of a linker's map, and what an image is made of by it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from command_line import call
from hygiene_cases import M4F, build, network, run

from mcu_deploy.elf.link_map import LinkedPiece, load_link_map, parse_link_map
from mcu_deploy.elf.reader import Unreadable, read_elf
from mcu_deploy.hygiene import FileReport, ImagePart, check_files

LIBM = "/usr/arm-none-eabi/lib/thumb/v7e-m+fp/hard/libm.a"
MAP = f"""Archive member included to satisfy reference by file (symbol)

libmcu_crt.a(error.o)         my code/main.o (mcu_error_string)
lib.a(x.o)                    (memcpy)
{LIBM}(lib_a-wf_exp.o)
                              /tmp/ccSya7W0.o (symbol from plugin) (expf)

Discarded input sections

 .text          0x00000000        0x8 my code/main.o

Memory Configuration

Name             Origin             Length             Attributes
flash            0x00000000         0x00400000         xr

Linker script and memory map

LOAD my code/main.o
START GROUP

.text           0x00000080     0x591c
                0x00000080                        __start = .
 *(.text .text.*)
 .text.main     0x00000080       0x52 my code/main.o
                0x00000080                main
                0x00000090                f(int, char const*)
 *fill*         0x000000d2        0x2
 .text.mcu_error_string_is_a_long_name
                0x000000d4       0xe4 libmcu_crt.a(error.o)
 .rodata.str1.1
                0x000001b8      0x228 network_kws.o
                                0x229 (size before relaxing)
 .text          0x000003e0       0x7c {LIBM}(lib_a-wf_exp.o)
                0x000003e0                expf

.a_long_output_section
                0x20000000       0x10 load address 0x00005a00
 COMMON         0x20000000        0x4 my code/main.o
                0x20000010                        PROVIDE (end = .)
OUTPUT(u.elf elf32-littlearm)
"""
CROSS = f"""
Cross Reference Table

Symbol                                            File
end                                               my code/main.o
expf                                              {LIBM}(lib_a-wf_exp.o)
                                                  network_kws.o
                                                  /tmp/ccSya7W0.o (symbol from plugin)
main                                              my code/main.o
                                                  startup.o
"""


def test_the_columns_of_a_map() -> None:
    found = parse_link_map(MAP)
    exp = f"{LIBM}(lib_a-wf_exp.o)"
    assert found.outputs == {
        ".text": (0x80, 0x591C), ".a_long_output_section": (0x20000000, 0x10)
    }  # fmt: skip
    assert found.pieces == (
        LinkedPiece(".text", ".text.main", 0x80, 0x52, "my code/main.o"),
        LinkedPiece(
            ".text", ".text.mcu_error_string_is_a_long_name", 0xD4, 0xE4, "libmcu_crt.a(error.o)"
        ),
        LinkedPiece(".text", ".rodata.str1.1", 0x1B8, 0x228, "network_kws.o"),
        LinkedPiece(".text", ".text", 0x3E0, 0x7C, exp),
        LinkedPiece(".a_long_output_section", "COMMON", 0x20000000, 4, "my code/main.o"),
    )
    main = "my code/main.o"
    assert found.definers == {"main": main, "f(int, char const*)": main, "expf": exp}
    assert found.included == {
        "libmcu_crt.a(error.o)": (main, "mcu_error_string"),
        "lib.a(x.o)": ("", "memcpy"),
        exp: ("/tmp/ccSya7W0.o", "expf"),
    }
    assert found.references is None


def test_who_uses_what_is_in_the_cross_references() -> None:
    exp, main = frozenset({f"{LIBM}(lib_a-wf_exp.o)"}), frozenset({"my code/main.o"})
    assert parse_link_map(MAP + CROSS).references == {
        "network_kws.o": exp, "/tmp/ccSya7W0.o": exp, "startup.o": main
    }  # fmt: skip


def test_another_text_is_no_map(tmp_path: Path) -> None:
    (tmp_path / "x.map").write_text("Image Symbol Table\n")
    with pytest.raises(Unreadable, match=r"no map of GNU ld.*-Wl,-Map"):
        load_link_map(tmp_path / "x.map")


# ---- A firmware of two networks and a program, linked by gcc alone

RUNTIME = """
#include "mcu/model.h"
#include <string.h>
int32_t _mcu_run_begin(const mcu_model_t *m, const mcu_partition_t *p, const void *a,
                       const void *t, int32_t n, const void *r) {
    memcpy((void *)a, t, (size_t)n);
    return n;
}
int32_t _mcu_run_end(const mcu_model_t *m, const mcu_partition_t *p, const void *a,
                     const void *r) { return 0; }
"""
MAIN = """
#include "mcu/model.h"
#include <math.h>
extern const mcu_model_t _mcu_network_kws, _mcu_network_kws_2;
const mcu_model_t *volatile models[2];
volatile float value = 1.0f;
static uint8_t block[64] __attribute__((aligned(64)));
int main(void) {
    models[0] = &_mcu_network_kws;
    models[1] = &_mcu_network_kws_2;
    value = sinf(value) + expf(value);
    return models[0]->run_func(block, 0, 0, 0, 0, 0);
}
"""
LINK = ("-nostartfiles", "-e", "main", "--specs=nano.specs", "-Wl,--gc-sections,-Map=user.map")


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("parts")
    kws = network("kws", body="sum += (int)tanhf((float)sum);")
    more = network("kws_2", body="sum += (int)expf((float)sum);")
    sources = {"kws.c": kws, "kws_2.c": more, "crt.c": RUNTIME, "main.c": MAIN}
    build(folder, sources, *M4F, "-ffunction-sections", "-fdata-sections")
    return folder


def link(folder: Path, *options: str) -> Path:
    names = ("main.o", "crt.o", "kws.o", "kws_2.o")
    run(["arm-none-eabi-gcc", *M4F, *LINK, *options, *names, "-lm", "-o", "user.elf"], folder)
    return folder / "user.elf"


def parts(report: FileReport) -> dict[tuple[str, tuple[str, ...], bool], ImagePart]:
    found = {(part.kind, part.networks, part.program): part for part in report.parts}
    assert len(found) == len(report.parts)
    return found


def symbols(part: ImagePart) -> set[str]:
    return {piece.symbol for piece in part.pieces}


@pytest.mark.needs_arm_gcc
def test_every_byte_of_a_firmware_is_somebody_s(objects: Path) -> None:
    elf = link(objects, "-Wl,--cref")
    (report,) = check_files([elf]).files
    assert (report.map, report.notes) == (str(objects / "user.map"), ())
    sizes = subprocess.run(["arm-none-eabi-size", elf], capture_output=True, text=True, check=True)
    text, data, bss = map(int, sizes.stdout.splitlines()[1].split()[:3])
    assert sum(part.flash_bytes for part in report.parts) == text + data
    at = {section.name: section for section in read_elf(elf.read_bytes()).sections}
    gap = at[".bss"].address - at[".data"].address - at[".data"].size
    assert sum(part.ram_bytes for part in report.parts) == bss + data + gap > bss + data
    for part in report.parts:
        assert sum(piece.flash_bytes for piece in part.pieces) == part.flash_bytes
        assert sum(piece.ram_bytes for piece in part.pieces) == part.ram_bytes
    found = parts(report)
    both = ("kws", "kws_2")
    for model in report.models:
        part = found["network", (model.name,), False]
        # beside what has symbols, the texts and constants that have none
        assert 0 <= part.flash_bytes - model.flash_bytes < 40
        assert (part.ram_bytes, model.workspace_bytes) == (0, 64)
    assert [piece.name for piece in found["runtime", both, False].pieces] == ["crt.o"]
    assert [piece.name for piece in found["program", (), True].pieces] == ["main.o"]
    assert found["program", (), True].ram_bytes == 64 + 8 + 4
    # Who needs a function, whoever asked for it first.
    assert {"tanhf", "expm1f"} <= symbols(found["library", ("kws",), False])
    assert {"sinf", "__kernel_sinf"} <= symbols(found["library", (), True])
    shared = found["library", ("kws_2",), True]
    assert {"expf", "__ieee754_expf"} <= symbols(shared)
    expf = next(piece for piece in shared.pieces if piece.symbol == "expf")
    assert (expf.asked_by, expf.ram_bytes) == ("main.o", 0) and expf.flash_bytes > 50
    assert symbols(found["library", both, False]) == {"memcpy"}


@pytest.mark.needs_arm_gcc
def test_without_cross_references_the_first_who_asks_counts(objects: Path) -> None:
    (report,) = check_files([link(objects)]).files
    found = parts(report)
    assert "-Wl,--cref" in report.notes[0]
    assert "expf" in symbols(found["library", (), True])
    assert "tanhf" in symbols(found["library", ("kws",), False])
    assert symbols(found["library", ("kws", "kws_2"), False]) == {"memcpy"}


@pytest.mark.needs_arm_gcc
def test_a_network_that_the_linker_compiled_anew_is_the_program_s(
    objects: Path, tmp_path: Path
) -> None:
    build(tmp_path, {"kws.c": network("kws")}, *M4F, "-flto")
    main = MAIN.replace("&_mcu_network_kws_2", "models[0]").replace(
        "sinf(value) + expf(value)", "1"
    )
    build(tmp_path, {"main.c": main, "crt.c": RUNTIME}, *M4F)
    names = ("main.o", "crt.o", "kws.o")
    run(["arm-none-eabi-gcc", *M4F, *LINK, "-Wl,--cref", *names, "-o", "user.elf"], tmp_path)
    (report,) = check_files([tmp_path / "user.elf"]).files
    assert [model.name for model in report.models] == ["kws"]
    assert report.notes[0].startswith("kws took part in link-time optimisation")
    assert {part.kind for part in report.parts} >= {"runtime", "program"}
    assert not any(part.kind == "network" for part in report.parts)


@pytest.mark.needs_arm_gcc
def test_the_command_shows_the_parts_and_refuses_another_link_s_map(
    objects: Path, tmp_path: Path
) -> None:
    elf = link(objects, "-Wl,--cref")
    done = call("check", elf)
    rows = [line.split() for line in done.stdout.splitlines()]
    assert done.returncode == 0 and "workspace of kws_2, 64 bytes of RAM" in done.stdout
    assert any(row[0] == "tanhf" and row[-2:] == ["kws", "kws.o"] for row in rows)
    assert any(row[0] == "expm1f" and row[-2:] == ["kws", "tanhf"] for row in rows)
    (file,) = json.loads(call("check", elf, "--json").stdout)["files"]
    assert [part["networks"] for part in file["parts"][:2]] == [["kws"], ["kws_2"]]
    other = tmp_path / "other.map"
    other.write_text((objects / "user.map").read_text().replace(".text    ", ".test    "))
    refused = call("check", elf, "--map", other)
    assert refused.returncode == 1 and "another link" in refused.stderr
    assert "0 linked images" in call("check", objects / "kws.o", "--map", other).stderr
    moved = tmp_path / "user.elf"
    moved.write_bytes(elf.read_bytes())
    (report,) = check_files([moved]).files
    assert (report.map, report.parts) == ("", ())
    other.rename(tmp_path / "user.map")
    (report,) = check_files([moved]).files
    assert report.parts == () and "another link" in report.notes[0]

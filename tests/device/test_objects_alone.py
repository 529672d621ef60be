"""`build --core`: a folder that is linked elsewhere, by a compiler that knows nothing of this."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import network_programs as programs
import numpy as np
import pytest
from command_line import call
from sampling import first

from mcu_deploy import resources
from mcu_deploy.hygiene import check_files

pytestmark = pytest.mark.needs_arm_gcc

MODEL = resources.examples() / "kws" / "model.onnx"
CORE = ("--core", "cortex-m4", "--fpu", "fpv4-sp-d16")

# C and C++ alike. Counts the layers, too: the event of a hook and the device of a tensor, whose
# other bytes are what the stack had, are the enums that a program and our objects hand each other.
MAIN = """
#include <string.h>
#include "mcu/runtime.h"
#include "network_kws.h"

MCU_ALIGNED(MCU_KWS_WORKSPACE_ALIGNMENT)
static uint8_t workspace[MCU_KWS_WORKSPACE_SIZE];
static const int8_t sample[MCU_KWS_INPUT_0_BYTES] = {@SAMPLE@};
static uint32_t begun, ended;

static void count(mcu_instance_t *instance, uint32_t layer, mcu_layer_event_t event) {
    if (instance->model == mcu_network_kws && layer < mcu_network_kws->num_layers) {
        begun += event == MCU_LAYER_BEGIN;
        ended += event == MCU_LAYER_END;
    }
}

int main(void) {
    mcu_instance_t kws;
    DLTensor input, output;
    memset(&input, 0xA5, sizeof input);
    memset(&output, 0xA5, sizeof output);
    int32_t status = mcu_instance_init(&kws, mcu_network_kws, workspace, sizeof workspace);
    if (status == MCU_OK) {
        kws.hook = count;
        mcu_instance_input(&kws, 0, &input);
        mcu_instance_output(&kws, 0, &output);
        for (uint32_t i = 0; i < sizeof sample; i++) {
            ((int8_t *)input.data)[i] = sample[i];
        }
        status = mcu_instance_run(&kws, &input, 1, &output, 1);
    }
    if (status != MCU_OK) {
        return 100 - (int)status;
    }
    if (begun != mcu_network_kws->num_layers || ended != begun) {
        return 99;
    }
    const int8_t *scores = (const int8_t *)output.data;
    int best = 0;
    for (int i = 1; i < (int)MCU_KWS_OUTPUT_0_BYTES; i++) {
        best = scores[i] > scores[best] ? i : best;
    }
    return best;
}
"""
LINK = ("-nostartfiles", "--specs=nano.specs", "-T", programs.TARGET / "mps2-an386.ld",
        "-Wl,--gc-sections,--cref,-Map=program.map")  # fmt: skip


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What was built, in another place, where nothing of what made it is left."""
    folder = tmp_path_factory.mktemp("made")
    done = call("build", MODEL, *CORE, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "-mfpu=fpv4-sp-d16 -mfloat-abi=hard, as your firmware must be" in done.stdout
    assert "in build/cortex-m4+fpv4-sp-d16/kws: network_kws.o" in done.stdout
    made = folder / "build" / "cortex-m4+fpv4-sp-d16" / "kws"
    there = tmp_path_factory.mktemp("another machine") / "kws"
    shutil.copytree(made, there)
    shutil.rmtree(made)
    return there


def link(
    built: Path, folder: Path, own: Sequence[str], runtime: str = "libmcu_crt.a", main: str = MAIN
) -> tuple[Path, int]:
    """program.elf, of a program with flags of its own and of the objects; what it has to answer.

    runtime: the library, or its sources, which are compiled as the program is."""
    found = np.load(MODEL.with_name("samples.npz"))
    position = next(i for i, label in enumerate(found["labels"]) if label not in (0, 11))
    is_cpp = any("++" in flag for flag in own)
    source = folder / ("main.cpp" if is_cpp else "main.c")
    source.write_text(main.replace("@SAMPLE@", programs.c_array(found["in0"][position])))
    cflags = json.loads((built / "report.json").read_text())["cflags"]
    gcc = ["arm-none-eabi-gcc", *cflags, *programs.WARNINGS, "-I", built / "include"]
    program = ["-c", source, "-o", "main.o"]
    programs.run([*gcc, *own, *program], cwd=folder)
    own = [flag for flag in own if "std=" not in flag and "rtti" not in flag]  # of C, too
    sources = [programs.TARGET / "startup.c", *sorted((built / runtime).glob("*.c"))]
    library = [built / runtime] if runtime == "libmcu_crt.a" else []
    programs.run(
        [*gcc, "-std=c99", *own, *LINK, "main.o", *sources, built / "network_kws.o", *library,
         "-o", "program.elf"],
        cwd=folder,
    )  # fmt: skip
    return folder / "program.elf", int(found["labels"][position])


# Of programs that are compiled otherwise than the objects; the runtime's sources as the program.
FOREIGN = [
    (("-std=c11", "-O2"), "libmcu_crt.a"),
    (("-std=c99", "-Og"), "src"),
    (("-std=c11", "-O2", "-flto", "-ffunction-sections", "-fdata-sections"), "src"),
    (("-std=c11", "-Os", "-fno-short-enums"), "libmcu_crt.a"),
    (("-std=c++20", "-O2", "-flto"), "libmcu_crt.a"),
    (("-std=c11", "-O2", "-flto"), "libmcu_crt.a"),
    (("-std=c11", "-O1", "-ffunction-sections", "-fno-data-sections"), "libmcu_crt.a"),
    (("-std=c11", "-Os", "-fno-short-enums"), "src"),
    (("-std=c++11", "-Os", "-fno-exceptions", "-fno-rtti"), "libmcu_crt.a"),
    (("-std=c++14", "-O3"), "libmcu_crt.a"),
    (("-std=c++17", "-O0"), "libmcu_crt.a"),
]


@pytest.mark.needs_qemu
@pytest.mark.parametrize(("own", "runtime"), first(FOREIGN, 5))
def test_a_copy_is_linked_by_gcc_alone(
    built: Path, tmp_path: Path, own: Sequence[str], runtime: str
) -> None:
    elf, answer = link(built, tmp_path, own, runtime)
    assert programs.run_on_cortex_m4(elf) == (answer, "")
    # The network's object is in it as it was: no compiler went over it again.
    (image,) = check_files([elf]).files
    assert [model.name for model in image.models] == ["kws"]
    alone = check_files([built / "network_kws.o"]).files[0].models[0]
    whole = sum(part.flash_bytes for part in image.parts if part.kind == "network")
    assert 0 <= alone.flash_bytes - whole < 64, "what the linker merges or throws away"
    runtime_part = any(part.kind == "runtime" and part.flash_bytes for part in image.parts)
    assert runtime_part == ("-flto" not in own or runtime != "src")


def test_enums_of_another_size_are_said(built: Path, tmp_path: Path) -> None:
    """They do no harm here (the test above runs such a program), and the linker warns of them."""
    link(built, tmp_path, ("-std=c11", "-Os", "-fno-short-enums"))
    report = check_files([built / "network_kws.o", built / "libmcu_crt.a", tmp_path / "main.o"])
    (finding,) = report.findings
    assert finding.rule == "enum-size-clash" and "an int: " in finding.message
    assert str(tmp_path / "main.o") in finding.message
    assert "--cflags=-fno-short-enums" in finding.remedy


def test_packed_structs_stop_the_compiler(built: Path, tmp_path: Path) -> None:
    """No attribute of an object tells of them."""
    (tmp_path / "main.c").write_text('#include "mcu/runtime.h"\n')
    command = ["arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-fsyntax-only"]
    for option, code in (("-fpack-struct", 1), ("-fpack-struct=4", 1), ("-fpack-struct=8", 0)):
        own = [option, "-I", built / "include", tmp_path / "main.c"]
        done = subprocess.run([*command, *own], capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stderr
        assert ("mcu_structs_must_not_be_packed" in done.stderr) == bool(code)


def test_a_network_that_nobody_uses_takes_nothing(built: Path, tmp_path: Path) -> None:
    main = "int main(void) { return 7; }"
    elf, _ = link(built, tmp_path, ("-std=c11", "-Os", "-ffunction-sections"), main=main)
    (image,) = check_files([elf]).files
    assert image.models == () and elf.stat().st_size > 0
    assert not any(part.networks for part in image.parts if part.flash_bytes)


@pytest.mark.parametrize("standard", ["c++11", "c++14", "c++17", "c++20", "c++23"])
def test_the_headers_are_c_plus_plus_of_any_year(
    built: Path, tmp_path: Path, standard: str
) -> None:
    """Without a warning, and with C's names: g++ 12 calls the last one c++2b as well."""
    found = sorted((built / "include" / "mcu").iterdir())
    names = [f"mcu/{path.name}" for path in found if path.name != "backend.h"]  # the host's
    lines = [f'#include "{name}"\n' for name in [*names, "network_kws.h"]]
    (tmp_path / "all.cpp").write_text("".join(lines))
    more = ("-Wnon-virtual-dtor", "-Woverloaded-virtual", "-Wzero-as-null-pointer-constant")
    programs.run(
        ["arm-none-eabi-g++", "-mcpu=cortex-m4", "-mthumb", f"-std={standard}", "-fsyntax-only",
         *programs.WARNINGS, *more, "-I", built / "include", "all.cpp"],
        cwd=tmp_path,
    )  # fmt: skip


def test_the_object_is_made_again_in_the_copy(built: Path, tmp_path: Path) -> None:
    """Of nothing but the C file and the headers: the weights are arrays."""
    assert not list(built.glob("*.bin"))
    lines = (built / "network_kws.c").read_text().split("arm-none-eabi-gcc", 1)[1].splitlines()
    end = next(i for i, line in enumerate(lines) if not line.endswith("\\"))
    words = shlex.split(" ".join(line.strip(" *\\") for line in lines[: end + 1]))
    shutil.copy(built / "network_kws.c", tmp_path)
    shutil.copytree(built / "include", tmp_path / "include")
    programs.run(["arm-none-eabi-gcc", *words], cwd=tmp_path)
    assert (tmp_path / "network_kws.o").read_bytes() == (built / "network_kws.o").read_bytes()


def test_the_report_claims_nothing_of_a_board(built: Path) -> None:
    report = json.loads((built / "report.json").read_text())
    assert (report["board"], report["core"], report["fpu"]) == (None, "cortex-m4", "fpv4-sp-d16")
    unknown = [key for key in report if key.startswith("firmware_")]
    assert len(unknown) == 4 and all(report[key] is None for key in unknown)
    assert report["memories"] == []
    parts = report["networks"][0]["ram_parts"]
    assert sum(parts.values()) == report["ram_bytes"] > report["arena_bytes"]
    assert parts["stack"] == report["stack_bytes"] > 0 < report["flash_bytes"]
    stack = f"#define MCU_KWS_STACK_BYTES {report['stack_bytes']}U"
    assert stack in (built / "include" / "network_kws.h").read_text()


def test_check_holds_it_to_a_core(built: Path) -> None:
    files = (built / "network_kws.o", built / "libmcu_crt.a")
    assert call("check", *files, *CORE).returncode == 0
    other = call("check", *files, "--core", "cortex-m3")
    assert other.returncode == 1 and "float-abi" in other.stdout


@pytest.mark.parametrize("command", ["run", "validate", "profile"])
def test_what_needs_a_firmware_says_so(built: Path, command: str) -> None:
    more = ("--input", "none.npz") if command == "run" else ()
    done = call(command, built, *more)
    assert done.returncode == 1
    assert "holds objects for a cortex-m4 and no firmware" in done.stderr
    assert "mcu-deploy build model.onnx --board BOARD" in done.stderr

"""`build --core`: a folder that is linked elsewhere, by a compiler that knows nothing of this."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path

import network_programs as programs
import numpy as np
import pytest
from command_line import call

from mcu_deploy import resources

pytestmark = pytest.mark.needs_arm_gcc

MODEL = resources.examples() / "kws" / "model.onnx"
CORE = ("--core", "cortex-m4", "--fpu", "fpv4-sp-d16")

MAIN = """
#include "mcu/runtime.h"
#include "network_kws.h"

MCU_ALIGNED(MCU_KWS_WORKSPACE_ALIGNMENT)
static uint8_t workspace[MCU_KWS_WORKSPACE_SIZE];
static const int8_t sample[MCU_KWS_INPUT_0_BYTES] = {@SAMPLE@};
int main(void);

int main(void) {
    mcu_instance_t kws;
    DLTensor input, output;
    int32_t status = mcu_instance_init(&kws, mcu_network_kws, workspace, sizeof workspace);
    if (status == MCU_OK) {
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
    const int8_t *scores = output.data;
    int best = 0;
    for (int i = 1; i < (int)MCU_KWS_OUTPUT_0_BYTES; i++) {
        best = scores[i] > scores[best] ? i : best;
    }
    return best;
}
"""


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


@pytest.mark.needs_qemu
@pytest.mark.parametrize("runtime", ["libmcu_crt.a", "src"])
def test_a_copy_is_linked_by_gcc_alone(built: Path, tmp_path: Path, runtime: str) -> None:
    found = np.load(MODEL.with_name("samples.npz"))
    position = next(i for i, label in enumerate(found["labels"]) if label not in (0, 11))
    sample = programs.c_array(found["in0"][position])
    (tmp_path / "main.c").write_text(MAIN.replace("@SAMPLE@", sample))
    cflags = json.loads((built / "report.json").read_text())["cflags"]
    own = ["-std=c99", "-Og"] if runtime == "src" else ["-std=c11", "-O2"]
    start = programs.TARGET
    sources = [start / "startup.c", tmp_path / "main.c", *sorted((built / runtime).glob("*.c"))]
    library = [built / runtime] if runtime == "libmcu_crt.a" else []
    programs.run(
        ["arm-none-eabi-gcc", *cflags, *own, *programs.WARNINGS, "-I", built / "include",
         "-nostartfiles", "--specs=nano.specs", "-T", start / "mps2-an386.ld",
         *sources, built / "network_kws.o", *library, "-o", tmp_path / "program.elf"],
        cwd=tmp_path,
    )  # fmt: skip
    code, printed = programs.run_on_cortex_m4(tmp_path / "program.elf")
    assert (code, printed) == (found["labels"][position], "")


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

"""Two real networks in one program, and two instances of one: what each gives alone.

On an emulated Cortex-M4F, and on this machine under sanitizers; the examples and the README's
program around the real keyword-spotting network, too.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import network_programs as programs
import numpy as np
import numpy.typing as npt
import pytest

from mcu_deploy.boards import load_board
from mcu_deploy.compiler import Network, compile_model

HERE = Path(__file__).resolve().parent / "two_models"
CHECK = programs.TARGET.parent
MODELS = {"kws": "mlperf_kws_int8", "ad": "mlperf_ad_int8"}

Integers = npt.NDArray[np.int8]


def networks_for(board: str, models_dir: Path, *names: str) -> list[Network]:
    return [
        compile_model(models_dir / MODELS[name] / "model.onnx", load_board(board), name=name)
        for name in names
    ]


def samples(models_dir: Path, name: str) -> Integers:
    found: Integers = np.load(models_dir / MODELS[name] / "io.npz")["in0"]
    return found


def write_samples(networks: Sequence[Network], models_dir: Path, folder: Path) -> None:
    """samples.h: two inputs of each network, and the oracle's outputs."""
    lines = ["#include <stdint.h>"]
    for network in networks:
        inputs = samples(models_dir, network.name)[[0, 3]]
        outputs = [programs.expected(network, [value])[0] for value in inputs]
        for what, values in (("inputs", inputs), ("outputs", outputs)):
            rows = ", ".join(f"{{{programs.c_array(np.asarray(v))}}}" for v in values)
            size = np.asarray(values[0]).size
            lines.append(f"static const int8_t {network.name}_{what}[2][{size}] = {{{rows}}};")
    (folder / "samples.h").write_text("\n".join(lines) + "\n")


@pytest.fixture
def host_objects(models_dir: Path, tmp_path: Path) -> list[Path]:
    """Both networks and the runtime, under AddressSanitizer and UBSan."""
    networks = networks_for("host", models_dir, *MODELS)
    write_samples(networks, models_dir, tmp_path)
    gcc = ["gcc", *load_board("host").cflags, "-std=c99", *programs.SANITIZERS]
    return programs.compile_all(programs.write(networks, tmp_path), tmp_path, gcc)


def host_command(folder: Path, *flags: str) -> list[str | Path]:
    include = [f"-I{programs.CRT / 'include'}", f"-I{folder}", f"-I{CHECK}"]
    gcc = ["gcc", *load_board("host").cflags, "-std=c99", "-D_POSIX_C_SOURCE=200809L"]
    return [*gcc, *flags, *programs.WARNINGS, *include, "-o", folder / "program"]


@pytest.mark.needs_host_gcc
def test_on_this_machine_under_sanitizers(host_objects: list[Path], tmp_path: Path) -> None:
    sources = [HERE / "two_models.c", CHECK / "check.c", CHECK / "host" / "print.c"]
    command = host_command(tmp_path, *programs.SANITIZERS)
    programs.run([*command, *sources, *host_objects, "-lm"])
    printed = programs.run([tmp_path / "program"]).decode()
    assert re.search(r"^5 tests, \d{3,} checks, 0 failed$", printed, re.M), printed


@pytest.mark.needs_host_gcc
def test_layer_by_layer_in_threads(host_objects: list[Path], tmp_path: Path) -> None:
    command = host_command(tmp_path, *programs.SANITIZERS)
    programs.run([*command, HERE / "interleaved.c", *host_objects, "-lpthread", "-lm"])
    printed = programs.run([tmp_path / "program"]).decode()
    match = re.fullmatch(r"0 failures, (\d+) switches\n", printed)
    assert match is not None, printed
    assert int(match[1]) >= 24, "each layer is followed by another run's"


@pytest.mark.needs_arm_gcc
@pytest.mark.needs_qemu
def test_on_an_emulated_cortex_m4(models_dir: Path, tmp_path: Path) -> None:
    networks = networks_for("mps2-an386", models_dir, *MODELS)
    write_samples(networks, models_dir, tmp_path)
    names = programs.write(networks, tmp_path)
    main = (HERE / "two_models.c").read_text() + (CHECK / "check.c").read_text()
    elf = programs.link_for_cortex_m4(names, tmp_path, main, [f"-I{tmp_path}"])
    code, printed = programs.run_on_cortex_m4(elf)
    assert code == 0, printed
    assert re.search(r"^5 tests, \d{3,} checks, 0 failed$", printed, re.M), printed
    assert printed.count("ok ") == 5


# ---- The programs that people start from ----


@pytest.fixture
def kws_sample(models_dir: Path) -> tuple[Integers, int]:
    """A sample, and the class that onnxruntime gives it."""
    found = np.load(models_dir / MODELS["kws"] / "io.npz")
    for value, answer in zip(found["in0"], found["ort0"], strict=True):
        if int(np.argmax(answer)) not in (0, 11):
            return value, int(np.argmax(answer))
    raise AssertionError("no sample of another class than 0 and 11")


def bare_main(folder: Path, sample: Integers) -> list[str | Path]:
    (folder / "sample.inc").write_text(programs.c_array(sample))
    example = programs.CRT.parent / "examples" / "bare_main.c"
    return [
        '-DFEATURES="sample.inc"', "-DMCU_ARENA_NUM_PAGES=64", "-DMCU_ARENA_PAGE_SIZE_LOG2=10",
        f"-I{folder}", example, programs.CRT / "arena" / "arena.c",
        programs.CRT / "src" / "mcu_run.c",
    ]  # fmt: skip


@pytest.mark.needs_host_gcc
def test_bare_main_with_the_real_network_on_this_machine(
    models_dir: Path, kws_sample: tuple[Integers, int], tmp_path: Path
) -> None:
    gcc = ["gcc", *load_board("host").cflags, "-std=c99", *programs.SANITIZERS]
    names = programs.write(networks_for("host", models_dir, "kws"), tmp_path)
    objects = programs.compile_all(names, tmp_path, gcc)
    command = host_command(tmp_path, *programs.SANITIZERS)
    programs.run([*command, *bare_main(tmp_path, kws_sample[0]), *objects, "-lm"])
    done = subprocess.run([tmp_path / "program"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (kws_sample[1], "")


@pytest.mark.needs_arm_gcc
@pytest.mark.needs_qemu
def test_bare_main_with_the_real_network_on_an_emulated_cortex_m4(
    models_dir: Path, kws_sample: tuple[Integers, int], tmp_path: Path
) -> None:
    names = programs.write(networks_for("mps2-an386", models_dir, "kws"), tmp_path)
    more = [str(part) for part in bare_main(tmp_path, kws_sample[0])]
    flags, sources = [f for f in more if f[0] == "-"], [f for f in more if f[0] != "-"]
    main = "\n".join(f'#include "{source}"' for source in sources)
    elf = programs.link_for_cortex_m4(names, tmp_path, main, flags)
    code, printed = programs.run_on_cortex_m4(elf)
    assert (code, printed) == (kws_sample[1], "")


def readme_program(repository: Path) -> str:
    text = (repository / "README.md").read_text()
    blocks = re.findall(r"^```c\n(.*?)^```$", text, re.M | re.S)
    found = [block for block in blocks if "network_kws.h" in block]
    assert len(found) == 1
    return str(found[0])


README_MAIN = """
#include <stdint.h>
int32_t spot_keyword(const int8_t *features, int8_t *scores);
int main(void);
static const int8_t sample[490] = {@SAMPLE@};
int main(void) {
    static int8_t scores[12];
    if (spot_keyword(sample, scores) != 0) {
        return 100;
    }
    int best = 0;
    for (int i = 1; i < 12; ++i) {
        best = scores[i] > scores[best] ? i : best;
    }
    return best;
}
"""


@pytest.mark.needs_arm_gcc
@pytest.mark.needs_host_gcc
@pytest.mark.needs_qemu
def test_the_readme_s_program_runs(
    models_dir: Path, repository: Path, kws_sample: tuple[Integers, int], tmp_path: Path
) -> None:
    sample, label = kws_sample
    prototype = "int32_t spot_keyword(const int8_t *features, int8_t *scores);\n"
    main = README_MAIN.replace("@SAMPLE@", programs.c_array(sample))
    text = readme_program(repository).replace("int32_t spot", prototype + "int32_t spot", 1) + main
    for board in ("host", "mps2-an386"):
        folder = tmp_path / board
        folder.mkdir()
        names = programs.write(networks_for(board, models_dir, "kws"), folder)
        if board != "host":
            elf = programs.link_for_cortex_m4(names, folder, text)
            assert programs.run_on_cortex_m4(elf) == (label, "")
            continue
        gcc = ["gcc", *load_board("host").cflags, "-std=c99", *programs.SANITIZERS]
        objects = programs.compile_all(names, folder, gcc)
        (folder / "main.c").write_text(text)
        command = host_command(folder, *programs.SANITIZERS)
        programs.run([*command, folder / "main.c", *objects, "-lm"])
        assert subprocess.run([folder / "program"], check=False).returncode == label


@pytest.mark.needs_host_gcc
def test_two_models_main_runs_with_real_networks(models_dir: Path, tmp_path: Path) -> None:
    chosen = {"kws": "mlperf_kws_int8", "vww": "mlperf_vww_int8"}
    networks = [
        compile_model(models_dir / model / "model.onnx", load_board("host"), name=name)
        for name, model in chosen.items()
    ]
    gcc = ["gcc", *load_board("host").cflags, "-std=c99", *programs.SANITIZERS]
    objects = programs.compile_all(programs.write(networks, tmp_path), tmp_path, gcc)
    shutil.copy(programs.CRT.parent / "examples" / "two_models_main.c", tmp_path)
    command = host_command(tmp_path, *programs.SANITIZERS)
    programs.run([*command, tmp_path / "two_models_main.c", *objects, "-lm"])
    assert programs.run([tmp_path / "program"]) == b""

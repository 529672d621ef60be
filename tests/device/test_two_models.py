"""Two real networks in one program, and two instances of one: what each gives alone.

On an emulated Cortex-M4F, and on this machine under sanitizers; the examples and the README's
program around the real keyword-spotting network, too.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import network_programs as programs
import numpy as np
import numpy.typing as npt
import pytest

from mcu_deploy.boards import load_board
from mcu_deploy.compiled import Network
from mcu_deploy.compiler import compile_model

HERE = Path(__file__).resolve().parent / "two_models"
CHECK = programs.TARGET.parent
MODELS = {"kws": "mlperf_kws_int8", "ad": "mlperf_ad_int8"}
ALL = MODELS | {"vww": "mlperf_vww_int8"}  # the host's objects, which all tests there share

Integers = npt.NDArray[np.int8]


def networks_for(board: str, models_dir: Path, *names: str) -> list[Network]:
    return [
        compile_model(models_dir / ALL[name] / "model.onnx", load_board(board), name=name)
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


@dataclass(frozen=True)
class OnHost:
    """The networks and the runtime under AddressSanitizer and UBSan: their folder, the objects."""

    folder: Path
    objects: list[Path]

    def link(self, into: Path, *sources: str | Path) -> Path:
        """A program of these sources and the objects; headers are looked for in `into` too."""
        gcc = ["gcc", *load_board("host").cflags, "-std=c99", "-D_POSIX_C_SOURCE=200809L"]
        include = [f"-I{f}" for f in (programs.CRT / "include", self.folder, into, CHECK)]
        program = into / "program"
        programs.run(
            [*gcc, *programs.SANITIZERS, *programs.WARNINGS, *include, "-o", program,
             *sources, *self.objects, "-lpthread", "-lm"]
        )  # fmt: skip
        return program


@pytest.fixture(scope="module")
def on_host(models_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> OnHost:
    folder = tmp_path_factory.mktemp("on_host")
    networks = networks_for("host", models_dir, *ALL)
    write_samples(networks[: len(MODELS)], models_dir, folder)
    gcc = ["gcc", *load_board("host").cflags, "-std=c99", *programs.SANITIZERS]
    names = programs.write(networks, folder)
    return OnHost(folder, programs.compile_all(names, folder, gcc))


@pytest.mark.needs_host_gcc
def test_on_this_machine_under_sanitizers(on_host: OnHost, tmp_path: Path) -> None:
    sources = [HERE / "two_models.c", CHECK / "check.c", CHECK / "host" / "print.c"]
    printed = programs.run([on_host.link(tmp_path, *sources)]).decode()
    assert re.search(r"^5 tests, \d{3,} checks, 0 failed$", printed, re.M), printed


@pytest.mark.needs_host_gcc
def test_layer_by_layer_in_threads(on_host: OnHost, tmp_path: Path) -> None:
    printed = programs.run([on_host.link(tmp_path, HERE / "interleaved.c")]).decode()
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
    on_host: OnHost, kws_sample: tuple[Integers, int], tmp_path: Path
) -> None:
    program = on_host.link(tmp_path, *bare_main(tmp_path, kws_sample[0]))
    done = subprocess.run([program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (kws_sample[1], "")


@pytest.mark.matrix
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


def readme_main(repository: Path, sample: Integers) -> str:
    prototype = "int32_t spot_keyword(const int8_t *features, int8_t *scores);\n"
    text = readme_program(repository).replace("int32_t spot", prototype + "int32_t spot", 1)
    return text + README_MAIN.replace("@SAMPLE@", programs.c_array(sample))


@pytest.mark.needs_arm_gcc
@pytest.mark.needs_qemu
def test_the_readme_s_program_runs_on_an_emulated_cortex_m4(
    models_dir: Path, repository: Path, kws_sample: tuple[Integers, int], tmp_path: Path
) -> None:
    sample, label = kws_sample
    names = programs.write(networks_for("mps2-an386", models_dir, "kws"), tmp_path)
    elf = programs.link_for_cortex_m4(names, tmp_path, readme_main(repository, sample))
    assert programs.run_on_cortex_m4(elf) == (label, "")


@pytest.mark.needs_host_gcc
def test_the_readme_s_program_runs_on_this_machine(
    on_host: OnHost, repository: Path, kws_sample: tuple[Integers, int], tmp_path: Path
) -> None:
    sample, label = kws_sample
    (tmp_path / "main.c").write_text(readme_main(repository, sample))
    program = on_host.link(tmp_path, tmp_path / "main.c")
    assert subprocess.run([program], check=False).returncode == label


@pytest.mark.needs_host_gcc
def test_two_models_main_runs_with_real_networks(on_host: OnHost, tmp_path: Path) -> None:
    example = programs.CRT.parent / "examples" / "two_models_main.c"
    assert programs.run([on_host.link(tmp_path, example)]) == b""

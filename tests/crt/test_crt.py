"""Builds and runs the C runtime's unit tests: on this machine under sanitizers, and on a Cortex-M4.

The tests themselves are the C files beside this one; each prints a line per test and ends with an
exit code. The networks that they run are small ones with hand-written descriptors.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from sampling import chosen
from sanitizers import SANITIZED

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
CRT = REPOSITORY / "crt"
EXAMPLES = REPOSITORY / "examples"
NETWORKS = HERE / "networks"

LIBRARY = sorted((CRT / "src").glob("*.c"))
WITHOUT_MCU_RUN = [source for source in LIBRARY if source.name != "mcu_run.c"]
ARENA = CRT / "arena" / "arena.c"

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Wundef", "-Werror"]
C_FLAGS = ["-std=c99", "-Wstrict-prototypes", "-Wmissing-prototypes", *WARNINGS]
INCLUDES = [f"-I{CRT / 'include'}", f"-I{HERE}", f"-I{NETWORKS}"]
# Without optimisation: nothing that the sanitizers look for is optimised away.
SANITIZERS = ["-O0", *SANITIZED]

CORTEX_M4F = ["-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"]
CORES = {
    "cortex-m0plus": [],
    "cortex-m3": [],
    "cortex-m4": ["-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"],
    "cortex-m7": ["-mfloat-abi=hard", "-mfpu=fpv5-d16"],
    "cortex-m33": ["-mfloat-abi=hard", "-mfpu=fpv5-sp-d16"],
    "cortex-m55": ["-mfloat-abi=hard", "-mfpu=auto"],
}


Command = Sequence[str | Path]


@dataclass(frozen=True)
class Program:
    """A test program: its sources beside check.c, how many tests it holds, and its flags."""

    sources: Sequence[Path]
    tests: int
    flags: Sequence[str] = ()


MINI = NETWORKS / "network_mini.c"
PROGRAMS = {
    "contract": Program((HERE / "test_contract.c", MINI), 9),
    "instance": Program((HERE / "test_instance.c", MINI), 12),
    "exposed": Program((HERE / "test_exposed.c", MINI, NETWORKS / "network_parts.c"), 7),
    "resize": Program((HERE / "test_resize.c",), 4),
    "memory": Program((HERE / "test_memory.c",), 11),
    "managed": Program((HERE / "test_managed.c",), 2),
    "arena": Program(
        (HERE / "test_arena.c", MINI, ARENA, CRT / "src" / "mcu_run.c"),
        6,
        ("-DMCU_ARENA_NUM_PAGES=4", "-DMCU_ARENA_PAGE_SIZE_LOG2=5"),
    ),
}


def run(command: Command, *, timeout: float = 60) -> subprocess.CompletedProcess[str]:
    """Runs a command; its standard output and error come back as one text."""
    return subprocess.run(
        [str(part) for part in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=timeout,
        check=False,
    )


def build(command: Command) -> None:
    done = run(command, timeout=120)
    assert done.returncode == 0, done.stdout


def run_on_cortex_m4(elf: Path) -> subprocess.CompletedProcess[str]:
    machine = ["qemu-system-arm", "-M", "mps2-an386", "-nographic", "-monitor", "none"]
    semihosting = ["-serial", "none", "-semihosting-config", "enable=on,target=native"]
    return run([*machine, *semihosting, "-kernel", elf])


def objects_of(compiler: Command, sources: Sequence[Path], folder: Path) -> list[Path]:
    """The objects that one call of a compiler makes."""
    done = subprocess.run(
        [*map(str, compiler), "-c", *map(str, sources)],
        cwd=folder, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return [folder / f"{source.stem}.o" for source in sources]


@dataclass(frozen=True)
class Runtime:
    """What all programs of a machine share, compiled once: the runtime but for mcu_run.c, the
    harness, and the small network. compiler: the command that made it, for the rest."""

    compiler: Command
    library: Sequence[Path]
    harness: Sequence[Path]
    mini: Path

    def link(self, sources: Sequence[Path], binary: Path, *flags: str | Path) -> None:
        """Compiles the rest with these flags and links all of it."""
        rest = [self.mini if source == MINI else source for source in sources]
        build([*self.compiler, *flags, *rest, *self.library, "-o", binary])


def runtime(compiler: Command, harness: Sequence[Path], folder: Path) -> Runtime:
    objects = objects_of(compiler, [*WITHOUT_MCU_RUN, MINI, *harness], folder)
    count = len(WITHOUT_MCU_RUN)
    return Runtime(compiler, objects[:count], objects[count + 1 :], objects[count])


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Runtime:
    """For this machine, under sanitizers."""
    harness = [HERE / "check.c", HERE / "host" / "print.c"]
    compiler = ["gcc", *SANITIZERS, *C_FLAGS, *INCLUDES]
    return runtime(compiler, harness, tmp_path_factory.mktemp("host"))


@pytest.fixture(scope="module")
def cortex_m4(tmp_path_factory: pytest.TempPathFactory) -> Runtime:
    """For the emulated Cortex-M4; its startup code belongs to the runtime."""
    sections = ["-ffunction-sections", "-fdata-sections"]
    compiler = ["arm-none-eabi-gcc", "-Os", *CORTEX_M4F, *C_FLAGS, *sections, *INCLUDES]
    folder = tmp_path_factory.mktemp("cortex_m4")
    return runtime(compiler, [HERE / "check.c", HERE / "target" / "startup.c"], folder)


def link_for_cortex_m4(on: Runtime, sources: Sequence[Path], elf: Path, *flags: str | Path) -> None:
    script = HERE / "target" / "mps2-an386.ld"
    on.link(sources, elf, "-nostartfiles", "--specs=nano.specs", "-T", script, *flags)


def assert_all_passed(done: subprocess.CompletedProcess[str], tests: int) -> None:
    assert done.returncode == 0, done.stdout
    assert len(re.findall(r"^ok ", done.stdout, re.M)) == tests, done.stdout
    assert re.search(rf"^{tests} tests, \d+ checks, 0 failed$", done.stdout, re.M), done.stdout


@pytest.mark.needs_host_gcc
@pytest.mark.parametrize("name", PROGRAMS)
def test_c_tests_on_host_under_sanitizers(name: str, host: Runtime, tmp_path: Path) -> None:
    program, binary = PROGRAMS[name], tmp_path / name
    host.link([*host.harness, *program.sources], binary, *program.flags)
    assert_all_passed(run([binary]), program.tests)


@pytest.mark.needs_arm_gcc
@pytest.mark.needs_qemu
@pytest.mark.parametrize("name", PROGRAMS)
def test_c_tests_on_emulated_cortex_m4(name: str, cortex_m4: Runtime, tmp_path: Path) -> None:
    program, elf = PROGRAMS[name], tmp_path / f"{name}.elf"
    link_for_cortex_m4(cortex_m4, [*cortex_m4.harness, *program.sources], elf, *program.flags)
    assert_all_passed(run_on_cortex_m4(elf), program.tests)


@pytest.mark.needs_host_gcc
def test_a_failing_check_fails_the_program(tmp_path: Path) -> None:
    """The harness itself: a check that does not hold shows its place and gives exit code 1."""
    source = tmp_path / "failing.c"
    source.write_text(
        '#include "check.h"\n'
        "static void fails(void) { CHECK(1 > 2); CHECK_INT(3 - 7, 4); }\n"
        "static void passes(void) { CHECK(true); }\n"
        "int main(void) { RUN_TEST(fails); RUN_TEST(passes); return check_result(); }\n"
    )
    binary = tmp_path / "failing"
    harness = [HERE / "check.c", HERE / "host" / "print.c"]
    build(["gcc", *C_FLAGS, *INCLUDES, source, *harness, "-o", binary])
    done = run([binary])
    assert done.returncode == 1
    assert "failing.c:2: 1 > 2 does not hold" in done.stdout
    assert "failing.c:2: 3 - 7 is -4, expected 4" in done.stdout
    assert "FAILED fails\nok passes\n2 tests, 3 checks, 1 failed" in done.stdout


@pytest.mark.needs_arm_gcc
@pytest.mark.parametrize("core", chosen(CORES, ("cortex-m55",)))
def test_compiles_without_warnings_for_each_core(core: str, tmp_path: Path) -> None:
    cpu = [f"-mcpu={core}", "-mthumb", *CORES[core]]
    examples = sorted(EXAMPLES.glob("*_main.c"))
    gcc = ["arm-none-eabi-gcc", "-O2", *cpu, *C_FLAGS, *INCLUDES]
    objects_of(gcc, [*LIBRARY, ARENA, *examples], tmp_path)


@pytest.mark.needs_arm_gcc
def test_the_library_exports_its_names_only_and_holds_no_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    # On a core without a divider: a 64-bit or other library division would show as undefined.
    gcc = ["arm-none-eabi-gcc", "-Os", "-mcpu=cortex-m0plus", "-mthumb", *C_FLAGS, *INCLUDES]
    build([*gcc, "-c", *LIBRARY])
    defined: set[str] = set()
    undefined: set[str] = set()
    objects = [f"{source.stem}.o" for source in LIBRARY]
    for line in run(["arm-none-eabi-nm", "-A", *objects]).stdout.splitlines():
        member = line.partition(":")[0]
        kind, name = line.split()[-2:]
        assert kind not in "bBdDCVWvw", f"{member} has writable or weak data: {name}"
        if kind == "U":
            undefined.add(name)
        elif kind.isupper():
            defined.add(name)
    assert {"mcu_instance_run", "mcu_run", "_mcu_run_begin", "_mcu_run_end"} <= defined
    assert all(re.match(r"_?mcu_[a-z]", name) for name in defined)
    outside = {name for name in undefined - defined if not name.startswith("__gnu_thumb1_case_")}
    assert outside <= {"memcpy", "memset", "strcmp", "mcu_arena", "__aeabi_lmul"}


@pytest.mark.needs_arm_gcc
def test_what_a_run_pulls_in_is_small(cortex_m4: Runtime, tmp_path: Path) -> None:
    """The runtime's share of a network's flash: mcu_instance_run, its callees and their data."""
    elf = tmp_path / "closure.elf"
    flags = ["-Wl,--gc-sections", "-nostdlib"]
    roots = ["-Wl,-e,mcu_instance_run", "-Wl,-u,_mcu_run_begin,-u,_mcu_run_end"]
    kept = ["-Wl,--unresolved-symbols=ignore-all"]  # memcpy: the C library's share
    library = [*cortex_m4.library, CRT / "src" / "mcu_run.c"]
    build([*cortex_m4.compiler, *flags, *roots, *kept, *library, "-o", elf])
    text, data = run(["arm-none-eabi-size", elf]).stdout.splitlines()[1].split()[:2]
    assert data == "0"
    assert 300 < int(text) <= 1040, f"{text} bytes of code"


@pytest.mark.needs_host_gcc
def test_the_arena_is_needed_for_mcu_run_only(host: Runtime, tmp_path: Path) -> None:
    sources = [NETWORKS / "network_kws.c", NETWORKS / "network_vww.c", CRT / "src" / "mcu_run.c"]
    kws, vww, mcu_run = objects_of(host.compiler, sources, tmp_path)
    library = tmp_path / "libmcu_crt.a"
    build(["ar", "rcs", library, *host.library, mcu_run])

    two_models = [*host.compiler, EXAMPLES / "two_models_main.c", kws, vww, library]
    build([*two_models, "-o", tmp_path / "two_models"])
    assert run([tmp_path / "two_models"]).returncode == 0

    bare: list[str | Path] = [*host.compiler, EXAMPLES / "bare_main.c", kws]
    refused = run([*bare, library, "-o", tmp_path / "bare"])
    assert refused.returncode != 0
    assert "undefined reference to `mcu_arena'" in refused.stdout
    build([*bare, ARENA, library, "-o", tmp_path / "bare"])


@pytest.mark.needs_host_gcc
def test_the_arena_refuses_sizes_that_make_no_sense() -> None:
    for flag, text in (
        ("-DMCU_ARENA_NUM_PAGES=0", "at least one page"),
        ("-DMCU_ARENA_PAGE_SIZE_LOG2=3", "1 << 4 to 1 << 24"),
        ("-DMCU_ARENA_PAGE_SIZE_LOG2=25", "1 << 4 to 1 << 24"),
    ):
        refused = run(["gcc", *C_FLAGS, *INCLUDES, flag, "-fsyntax-only", ARENA])
        assert refused.returncode != 0
        assert text in refused.stdout


@pytest.mark.needs_host_gcc
def test_bare_main_runs_on_host(host: Runtime, tmp_path: Path) -> None:
    features = [(7 * i) % 256 - 128 for i in range(490)]
    (tmp_path / "sample.inc").write_text(", ".join(map(str, features)))
    bare = EXAMPLES / "bare_main.c"
    network = [NETWORKS / "network_kws.c", CRT / "src" / "mcu_run.c"]
    rest = objects_of(host.compiler, [*network, ARENA], tmp_path)

    host.link([bare, *rest], tmp_path / "zeros")
    assert run([tmp_path / "zeros"]).returncode == 0
    given = [f"-I{tmp_path}", '-DFEATURES="sample.inc"']
    host.link([bare, *rest], tmp_path / "sample", *given)
    assert sum(features) % 12 != 0
    assert run([tmp_path / "sample"]).returncode == sum(features) % 12
    small = ["-DMCU_ARENA_NUM_PAGES=1", "-DMCU_ARENA_PAGE_SIZE_LOG2=8"]
    host.link([bare, ARENA, *rest[:-1]], tmp_path / "full", *small)
    assert run([tmp_path / "full"]).returncode == 100 + 13  # MCU_ERROR_OUT_OF_MEMORY


@pytest.mark.needs_arm_gcc
@pytest.mark.needs_qemu
def test_bare_main_runs_on_emulated_cortex_m4(cortex_m4: Runtime, tmp_path: Path) -> None:
    (tmp_path / "sample.inc").write_text("5, -3, 7")
    elf, startup = tmp_path / "bare.elf", cortex_m4.harness[-1]
    network = [NETWORKS / "network_kws.c", ARENA, CRT / "src" / "mcu_run.c"]
    sources = [startup, EXAMPLES / "bare_main.c", *network]
    link_for_cortex_m4(cortex_m4, sources, elf, f"-I{tmp_path}", '-DFEATURES="sample.inc"')
    done = run_on_cortex_m4(elf)
    assert (done.returncode, done.stdout) == (9, "")


@pytest.mark.needs_host_gcc
def test_two_models_main_classifies_with_each_instance(host: Runtime, tmp_path: Path) -> None:
    renamed = [*host.compiler, "-Wno-missing-prototypes", "-Dmain=example_main"]
    example = objects_of(renamed, [EXAMPLES / "two_models_main.c"], tmp_path)
    networks = [NETWORKS / "network_kws.c", NETWORKS / "network_vww.c"]
    check = [HERE / "test_two_models.c", *host.harness]
    host.link([*check, *example, *networks], tmp_path / "two_models")
    assert_all_passed(run([tmp_path / "two_models"]), 1)


@pytest.mark.needs_host_gcc
@pytest.mark.parametrize("standard", ["c++11", "c++17"])
def test_cpp_header_on_host(standard: str, host: Runtime, tmp_path: Path) -> None:
    objects = [*host.harness, host.mini, *host.library]
    cpp = ["g++", f"-std={standard}", "-fno-exceptions", "-fno-rtti", *SANITIZERS, *WARNINGS]
    build([*cpp, *INCLUDES, HERE / "test_cpp.cpp", *objects, "-o", tmp_path / "cpp"])
    assert_all_passed(run([tmp_path / "cpp"]), 6)


@pytest.mark.needs_arm_gcc
@pytest.mark.parametrize("core", ["cortex-m0plus", "cortex-m4", "cortex-m55"])
def test_cpp_header_compiles_for_cores(core: str, tmp_path: Path) -> None:
    """In a program without the C++ standard library; static objects need nothing of it either."""
    flags = [f"-mcpu={core}", "-mthumb", *CORES[core], "-std=c++11", "-O2", "-nostdinc++"]
    made = tmp_path / "cpp.o"
    options = ["-fno-exceptions", "-fno-rtti", "-c", HERE / "test_cpp.cpp", "-o", made]
    build(["arm-none-eabi-g++", *flags, *WARNINGS, *INCLUDES, *options])
    symbols = run(["arm-none-eabi-nm", made]).stdout
    assert "mcu_instance_deinit" in symbols
    assert not re.search("atexit|dso_handle|guard|_GLOBAL_", symbols)


@pytest.mark.needs_host_gcc
def test_each_header_stands_alone(tmp_path: Path) -> None:
    sources = [tmp_path / f"{n}.c" for n in ("dlpack", "model", "runtime", "memory", "managed")]
    for source in sources:
        source.write_text(f'#include "mcu/{source.stem}.h"\n' * 2 + "int unused;\n")
    build(["gcc", *C_FLAGS, *INCLUDES, "-fsyntax-only", *sources])
    cpp = ["g++", "-std=c++11", *WARNINGS, *INCLUDES, "-fsyntax-only", "-x", "c++"]
    build([*cpp, *sources])

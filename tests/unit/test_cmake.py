"""The CMake build: the runtime for host and target, the backends' C tests, and its switches."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from mcu_deploy import configuration
from mcu_deploy.backends import file_lists
from mcu_deploy.backends.kit import c_files

pytestmark = [pytest.mark.needs_cmake, pytest.mark.needs_host_gcc]


def _run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(word) for word in command],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env={**os.environ, "PIP_RETRIES": "1"},  # pip's own 5 take long where there is no network
        timeout=300,
    )


@dataclass(frozen=True)
class Build:
    """A source tree and its build folder."""

    source: Path
    folder: Path

    def configure(self, *options: str) -> subprocess.CompletedProcess[str]:
        return _run("cmake", "-S", self.source, "-B", self.folder, "-G", "Ninja", *options)

    def make(self, *targets: str) -> None:
        wanted = [word for target in targets for word in ("--target", target)]
        done = _run("cmake", "--build", self.folder, *wanted)
        assert done.returncode == 0, done.stdout + done.stderr

    def test(self) -> tuple[bool, set[str]]:
        """Runs ctest: whether all passed, and the names of the tests."""
        done = _run("ctest", "--test-dir", self.folder, "--output-on-failure", "--no-tests=error")
        names = re.findall(r"Test +#\d+: (\S+) \.+", done.stdout)
        assert names, done.stdout + done.stderr
        return done.returncode == 0, set(names)

    def refusal(self, *options: str) -> str:
        """What CMake says to a configuration that it refuses, in one line."""
        done = self.configure(*options)
        assert done.returncode != 0
        return " ".join(done.stderr.split())

    def lists(self) -> dict[str, dict[str, object]]:
        """What CMake read, by id."""
        entries = json.loads((self.folder / "file_lists.json").read_text())
        assert len({entry["id"] for entry in entries}) == len(entries)
        return {entry["id"]: entry for entry in entries}


def _sources(repository: Path, source: Path) -> Path:
    """Copies what the build needs: of backends the C and the lists of it, and not the example, half
    of the work, which tests/dynamic/test_reference_backend.py builds by itself."""
    ignore = shutil.ignore_patterns("__pycache__")
    only_c = shutil.ignore_patterns("__pycache__", "*.py", "*.j2")
    for folder in ("cmake", "crt", "mcu_deploy/formats", "tests/crt/host", "tests/crt/target"):
        shutil.copytree(repository / folder, source / folder, ignore=ignore)
    backends = "mcu_deploy/backends"
    shutil.copytree(repository / backends, source / backends, ignore=only_c)
    for file in ("CMakeLists.txt", "tests/crt/check.c", "tests/crt/check.h"):
        shutil.copy(repository / file, source / file)
    return source


@pytest.fixture(
    scope="module", params=["sources", pytest.param("repository", marks=pytest.mark.matrix)]
)
def whole(
    request: pytest.FixtureRequest, repository: Path, tmp_path_factory: pytest.TempPathFactory
) -> Build:
    """The repository's sources, or the repository itself, configured by default and built."""
    top = tmp_path_factory.mktemp("cmake")
    is_copied = request.param == "sources"
    source = _sources(repository, top / "source") if is_copied else repository
    build = Build(source, top / "host build")
    done = build.configure()
    assert done.returncode == 0, done.stderr
    build.make()
    return build


@pytest.fixture
def copy(repository: Path, tmp_path: Path) -> Build:
    """A copy of what the build needs, to be changed."""
    return Build(_sources(repository, tmp_path / "source with a space"), tmp_path / "build")


def _write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


_TEST = """#include "check.h"
#include "c/triple.h"
static void triples(void) {
    CHECK_INT(triple(7), 21);
}
int main(void) {
    RUN_TEST(triples);
    return check_result();
}
"""
_BACKEND = {
    "backend.cmake": "mcu_backend(Mine SOURCES c/triple.c TEST_SOURCES test/test_triple.c"
    " COMMON ZCommon)\n",
    "c/triple.h": "int triple(int x);\n",
    "c/triple.c": '#include "triple.h"\n#include "twice.h"\n'
    "int triple(int x) {\n    return twice(x) + x;\n}\n",
    "test/test_triple.c": _TEST,
}
_COMMON = {
    "common.cmake": "mcu_common(ZCommon SOURCES twice.c TEST_SOURCES test_twice.c)\n",
    "twice.h": "int twice(int x);\n",
    "twice.c": '#include "twice.h"\nint twice(int x) {\n    return 2 * x;\n}\n',
    "test_twice.c": '#include "twice.h"\nint main(void) {\n    return twice(2) != 4;\n}\n',
}


def test_every_c_test_passes(whole: Build) -> None:
    passed, names = whole.test()
    assert passed
    assert "kit.test_quantize" in names
    backends = whole.source / "mcu_deploy" / "backends"
    for file in backends.glob("*/backend.cmake"):
        lists = file_lists.read(file.parent)
        assert {f"{lists.id}.{Path(test).stem}" for test in lists.test_sources} <= names


def test_python_and_cmake_read_the_same_lists(whole: Build) -> None:
    found = whole.lists()
    folders = [whole.source / "crt"]
    for name in ("backend.cmake", "common.cmake"):
        folders += [f.parent for f in whole.source.glob(f"mcu_deploy/backends/*/{name}")]
    expected = {}
    for folder in folders:
        read = file_lists.read(folder)
        expected[read.id] = {
            "file": str(read.file),
            "id": read.id,
            "sources": list(read.sources),
            "test_sources": list(read.test_sources),
            "target_sources": list(read.target_sources),
            "target_test_sources": list(read.target_test_sources),
            "common": list(read.common),
        }
    assert found == expected


@pytest.mark.needs_arm_gcc
def test_the_runtime_and_the_helpers_are_built_for_host_and_target(whole: Build) -> None:
    objects = {Path(source).name for source in file_lists.read(whole.source / "crt").sources}
    for folder, suffix in ((whole.folder, "o"), (whole.folder / "arm", "obj")):
        members = _run("ar", "t", folder / "libmcu_crt.a").stdout.split()
        assert {Path(member).stem for member in members} == objects
        (helper,) = folder.glob(f"CMakeFiles/mcu_common_kit.dir/**/quantize.c.{suffix}")
        with helper.open("rb") as file:
            assert (ELFFile(file).header["e_machine"] == "EM_ARM") == (suffix == "obj")


_DSP = {
    "backend.cmake": "mcu_backend(Dsp\n    TARGET_SOURCES c/dual.c\n"
    "    TARGET_TEST_SOURCES test/test_dual.c)\n",
    "c/dual.h": "#include <stdint.h>\nint32_t dual(uint32_t a, uint32_t b);\n",
    "c/dual.c": '#include "dual.h"\n\n#include <arm_acle.h>\n#if defined(__ARM_FEATURE_DSP)\n'
    "int32_t dual(uint32_t a, uint32_t b) {\n"
    "    return __smuad((int16x2_t)a, (int16x2_t)b);\n}\n#endif\n",
    "test/test_dual.c": '#include "c/dual.h"\n#include "check.h"\n'
    "static void two_products(void) {\n    CHECK_INT(dual(0x00020003U, 0x00050007U), 31);\n}\n"
    "int main(void) {\n    RUN_TEST(two_products);\n    return check_result();\n}\n",
}


@pytest.mark.matrix  # the tests of both targets are in the sample
@pytest.mark.needs_arm_gcc
@pytest.mark.needs_qemu
def test_what_is_for_the_target_alone_is_emulated(copy: Build) -> None:
    folder = copy.source / "mcu_deploy" / "backends" / "Dsp"
    _write(folder, _DSP)
    (function,) = c_files.helpers(folder, "c/dual.c")
    assert function.stem == "dual" and function.body.count("__smuad") == 1
    assert copy.configure().returncode == 0
    copy.make("target")
    done = _run("ctest", "--test-dir", copy.folder, "-R", "Dsp.test_dual", "--no-tests=error", "-V")
    assert done.returncode == 0 and "1 tests, 1 checks, 0 failed" in done.stdout, done.stdout
    test = folder / "test" / "test_dual.c"
    test.write_text(test.read_text().replace("31", "32"))
    copy.make("target")
    done = _run("ctest", "--test-dir", copy.folder, "-R", "Dsp.test_dual", "--no-tests=error")
    assert done.returncode != 0


@pytest.mark.needs_arm_gcc
def test_the_target_alone_by_its_toolchain_file(copy: Build) -> None:
    toolchain = copy.source / "cmake" / "package" / "arm-none-eabi.cmake"
    flags = "-DMCU_BOARD_FLAGS=-mcpu=cortex-m0plus -mthumb"
    done = copy.configure(f"-DCMAKE_TOOLCHAIN_FILE={toolchain}", flags)
    assert done.returncode == 0, done.stderr
    copy.make("mcu_crt")  # the rest is compiled by this file for the Cortex-M4
    attributes = _run("arm-none-eabi-readelf", "-A", copy.folder / "libmcu_crt.a").stdout
    assert set(re.findall(r"Tag_CPU_arch: (.*)", attributes)) == {"v6S-M"}


@pytest.mark.matrix  # it configures three times
def test_a_new_folder_is_picked_up_with_what_it_builds_on(copy: Build) -> None:
    backends = copy.source / "mcu_deploy" / "backends"
    _write(backends / "Mine", _BACKEND)
    _write(backends / "ZCommon", _COMMON)  # built first, though its name comes last
    _write(backends / "NoBackend", {"c/broken.c": "#error it is not compiled\n"})
    assert copy.configure("-DMCU_ARM_GCC=OFF").returncode == 0
    copy.make()
    passed, names = copy.test()
    assert passed
    shipped = {f"kit.{test.stem}" for test in (backends / "kit" / "test").glob("*.c")}
    assert {"Mine.test_triple", "ZCommon.test_twice", *shipped} == names
    assert "kit.test_quantize" in shipped
    own = {"crt", "kit", "CpuRef", "ArmDsp", "ArmMul", "ArmMve"}
    assert set(copy.lists()) == {"ZCommon", "Mine", *own}

    # a folder that comes later is seen without configuring anew, and a test that fails is
    later = {"backend.cmake": "mcu_backend(Later TEST_SOURCES test.c)\n"}
    _write(backends / "Later", {**later, "test.c": "int main(void) {\n    return 1;\n}\n"})
    copy.make()
    passed, names = copy.test()
    assert not passed and "Later.test" in names

    assert copy.configure("-DMCU_BACKEND_Later=OFF").returncode == 0
    copy.make()
    passed, names = copy.test()
    assert passed and "Later.test" not in names
    assert "Later" not in copy.lists()


def test_warnings_are_errors_until_they_are_let_pass(copy: Build) -> None:
    triple = _BACKEND["c/triple.c"].replace("return", "char unused = x;\n    return")
    _write(copy.source / "mcu_deploy" / "backends" / "Mine", {**_BACKEND, "c/triple.c": triple})
    _write(copy.source / "mcu_deploy" / "backends" / "ZCommon", _COMMON)
    options = ("-DMCU_ARM_GCC=OFF", "-DMCU_BACKEND_CpuRef=OFF")
    assert copy.configure(*options).returncode == 0
    done = _run("cmake", "--build", copy.folder, "--target", "Mine_test_triple")
    assert done.returncode != 0 and "-Werror=conversion" in done.stdout
    assert copy.configure("--compile-no-warning-as-error").returncode == 0
    copy.make("Mine_test_triple")


def test_switches_are_what_python_reads(copy: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(configuration.VARIABLE, str(copy.folder / "configuration.json"))
    copy.configure("-DMCU_ARM_GCC=OFF")
    assert configuration.backends_off() == configuration.formats_off() == frozenset()
    assert configuration.dynamic_backend_paths() == ()
    done = copy.configure(
        "-DMCU_BACKEND_CpuRef=OFF",
        "-DMCU_FORMAT_ONNX=OFF",
        '-DMCU_DYNAMIC_BACKEND_PATHS=/usr/lib/a "b" c:/opt/x\\y',
    )
    assert done.returncode == 0, done.stderr
    assert configuration.backends_off() == {"CpuRef"}
    assert configuration.formats_off() == {"onnx"}
    assert configuration.dynamic_backend_paths() == ('/usr/lib/a "b" c', "/opt/x\\y")
    assert set(copy.lists()) == {"crt", "kit", "ArmDsp", "ArmMul", "ArmMve"}


def test_mistakes_are_told(copy: Build) -> None:
    assert "no backend CpuReff to switch off: there are" in copy.refusal("-DMCU_BACKEND_CpuReff=0")
    (copy.folder / "CMakeCache.txt").unlink()
    refusal = copy.refusal("-DMCU_FORMAT_onnx=OFF")
    assert "no format onnx to switch off: there are ONNX" in refusal
    (copy.folder / "CMakeCache.txt").unlink()
    refusal = copy.refusal("-DMCU_DYNAMIC_BACKEND_PATHS=/a:b")
    assert "MCU_DYNAMIC_BACKEND_PATHS holds b, which is not absolute" in refusal
    (copy.folder / "CMakeCache.txt").unlink()
    mine = copy.source / "mcu_deploy" / "backends" / "Mine"
    for text, told in (
        ("mcu_backend(Yours)", "has the id Yours. Make it Mine, the name of its folder"),
        ("mcu_backend(Mine c/triple.c)", "does not understand c/triple.c"),
        ("mcu_backend(Mine COMMON None)", "Mine builds on None, but no folder of that name"),
    ):
        _write(mine, {"backend.cmake": text})
        assert told in copy.refusal()


@pytest.mark.matrix  # pip makes an environment for it, and downloads hatchling
def test_a_wheel_carries_the_configuration(repository: Path, tmp_path: Path) -> None:
    build = Build(repository, tmp_path / "build")
    options = ("-DMCU_ARM_GCC=OFF", "-DMCU_DYNAMIC_BACKEND_PATHS=/usr/lib/mcu-deploy")
    assert build.configure(*options).returncode == 0
    done = _run("cmake", "--build", build.folder, "--target", "wheel")
    if re.search("no matching distribution|could not find a version", done.stdout, re.IGNORECASE):
        pytest.skip("pip could not download hatchling, which builds the wheel; check the network")
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = (build.folder / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        carried = json.loads(archive.read("mcu_deploy/_data/configuration.json"))
    assert carried == json.loads((build.folder / "configuration.json").read_text())
    assert carried["dynamic_backend_paths"] == "/usr/lib/mcu-deploy"
    shipped = [
        path
        for folder in ("cmake/package", "crt", "docs")
        for path in (repository / folder).rglob("*.*")
    ]
    assert {f"mcu_deploy/_data/{p.relative_to(repository)}" for p in shipped} <= names
    for folder in (f.parent for f in repository.glob("mcu_deploy/backends/*/*.cmake")):
        lists = file_lists.read(folder)
        files = (lists.file.name, *lists.sources, *lists.test_sources)
        assert {f"mcu_deploy/backends/{lists.id}/{file}" for file in files} <= names

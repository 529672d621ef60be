"""The lists of C files that Python and CMake share: they are complete, and strict."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcu_deploy import backends, resources
from mcu_deploy.backends import file_lists
from mcu_deploy.backends.kit import c_files
from mcu_deploy.backends.workload import Parameter
from mcu_deploy.errors import UsageError

BACKENDS = Path(backends.__path__[0])
FOLDERS = sorted(
    file.parent for name in ("backend", "common") for file in BACKENDS.glob(f"*/{name}.cmake")
)


def _c_files(folder: Path, inner: str) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in (folder / inner).rglob("*.c")}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_c_file_of_a_backend_is_in_its_list(folder: Path) -> None:
    lists = file_lists.read(folder)
    assert {*lists.sources, *lists.target_sources} == _c_files(folder, "c")
    assert {*lists.test_sources, *lists.target_test_sources} == _c_files(folder, "test")
    for name in lists.common:
        assert (folder.parent / name / "common.cmake").is_file()


def test_every_c_file_of_the_runtime_is_in_its_list() -> None:
    lists = file_lists.read(resources.crt())
    assert set(lists.sources) == _c_files(resources.crt(), "src")
    assert lists.test_sources == () and lists.common == ()


@pytest.fixture
def backend(tmp_path: Path) -> Path:
    """A backend's folder with two C files, a test, and a list without a call."""
    folder = tmp_path / "Mine"
    (folder / "c").mkdir(parents=True)
    (folder / "test").mkdir()
    for name in ("c/one.c", "c/two.c", "test/test_one.c"):
        (folder / name).touch()
    (folder / "backend.cmake").write_text("# nothing yet\n")
    return folder


def test_a_list_may_have_comments_and_any_order(backend: Path) -> None:
    (backend / "backend.cmake").write_text(
        "# (a comment) with mcu_backend(Other)\n"
        "mcu_backend( Mine # the id\n"
        "  COMMON ArmCommon Other_2\n"
        "  TEST_SOURCES test/test_one.c\n\n"
        "  SOURCES c/two.c\tc/one.c)\n# the end"
    )
    lists = file_lists.read(backend)
    assert (lists.file, lists.id) == (backend / "backend.cmake", "Mine")
    assert lists.sources == ("c/two.c", "c/one.c")
    assert lists.test_sources == ("test/test_one.c",)
    assert lists.common == ("ArmCommon", "Other_2")


def test_a_backend_needs_no_c(backend: Path) -> None:
    (backend / "backend.cmake").write_text("mcu_backend(Mine)\n")
    assert file_lists.read(backend) == file_lists.FileLists(backend / "backend.cmake", "Mine")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "is not one call of mcu_backend"),
        ("mcu_backend(Mine", "is not one call of mcu_backend"),
        ("mcu_common(Mine)", "is not one call of mcu_backend"),
        ("mcu_backend(Mine) mcu_backend(Mine)", "is not one call of mcu_backend"),
        ("set(x y)\nmcu_backend(Mine)", "is not one call of mcu_backend"),
        ("if(ON)\nmcu_backend(Mine)\nendif()", "is not one call of mcu_backend"),
        ("mcu_backend()", "has no id"),
        ("mcu_backend(Yours)", "has the id 'Yours'. Make it 'Mine'"),
        ("mcu_backend(Mine c/one.c)", "has 'c/one.c' before any of SOURCES"),
        ("mcu_backend(Mine SOURCES c/one.c SOURCES c/two.c)", "has SOURCES twice"),
        ("mcu_backend(Mine SOURCES c/none.c)", "names c/none.c, which is no file"),
        ("mcu_backend(Mine SOURCES c)", "names c, which is no file"),
        ("mcu_backend(Mine SOURCES ../Mine/c/one.c)", "no file inside of its folder"),
        ("mcu_backend(Mine SOURCES /etc/hostname)", "no file inside of its folder"),
        ("mcu_backend(Mine SOURCES c/one.c c/one.c)", "names c/one.c twice"),
        ("mcu_backend(Mine SOURCES c/one.c TEST_SOURCES c/one.c)", "names c/one.c twice"),
        ('mcu_backend(Mine SOURCES "c/one.c")', "without quotes and variables"),
        ("mcu_backend(Mine SOURCES ${files})", "without quotes and variables"),
        ("mcu_backend(Mine SOURCES c/one.c;c/two.c)", "without quotes and variables"),
    ],
)
def test_what_only_cmake_would_understand_is_refused(backend: Path, text: str, reason: str) -> None:
    (backend / "backend.cmake").write_text(text)
    with pytest.raises(UsageError) as refused:
        file_lists.read(backend)
    assert str(backend / "backend.cmake") in str(refused.value)
    assert reason in str(refused.value)


def test_a_folder_has_one_list(backend: Path) -> None:
    with pytest.raises(UsageError, match=r"has none of backend\.cmake, common\.cmake"):
        file_lists.read(backend / "c")
    (backend / "common.cmake").touch()
    with pytest.raises(UsageError, match=r"has more than one of backend\.cmake"):
        file_lists.read(backend)
    (backend / "common.cmake").unlink()
    (backend / "backend.cmake").write_bytes(b"mcu_backend(M\xefne)")
    with pytest.raises(UsageError, match="cannot be read \\(it is no UTF-8\\)"):
        file_lists.read(backend)


def test_shared_code_builds_on_no_other(backend: Path) -> None:
    (backend / "backend.cmake").rename(backend / "common.cmake")
    (backend / "common.cmake").write_text("mcu_common(Mine SOURCES c/one.c COMMON Other)")
    with pytest.raises(UsageError, match="names COMMON, which is no file"):
        file_lists.read(backend)


_TWICE = """/* Above, which
 * stays { behind }. */
#include <stdint.h>
#include "one.h"

// so does this
int32_t one(const int8_t *x, unsigned count,
            float y) {
    /* this belongs to it */

    return x[count] + (int32_t)y;
}
"""


def test_the_function_of_a_c_file_becomes_a_helper(backend: Path) -> None:
    (backend / "backend.cmake").write_text("mcu_backend(Mine SOURCES c/one.c)")
    (backend / "c/one.c").write_text(_TWICE)
    function = c_files.helper(backend, "c/one.c")
    assert (function.stem, function.result, function.inline) == ("one", "int32_t", True)
    assert function.parameters == (
        Parameter("const int8_t *", "x"),
        Parameter("unsigned", "count"),
        Parameter("float", "y"),
    )
    lines = "/* this belongs to it */\n\n    return x[count] + (int32_t)y;"
    assert function.body == f"{{\n    {lines}\n}}"
    with pytest.raises(UsageError, match=r"c/two\.c is not among the SOURCES"):
        c_files.helper(backend, "c/two.c")


_SEVERAL = """#include <arm_acle.h>
#if defined(__ARM_FEATURE_DSP)
/* Of a file's own. */
static inline int32_t one(int32_t x) {
    return x + 1;
}

int32_t two(int32_t x) {
    return one(x) + x.one(1) + none(x);
}
#endif /* nothing more */
"""


def test_a_file_may_hold_functions_that_call_those_above(backend: Path) -> None:
    (backend / "backend.cmake").write_text("mcu_backend(Mine TARGET_SOURCES c/two.c)")
    (backend / "c/two.c").write_text(_SEVERAL)
    one, two = c_files.helpers(backend, "c/two.c")
    assert (one.stem, one.inline, one.body) == ("one", True, "{\n    return x + 1;\n}")
    assert two.body == "{\n    return $one(x) + x.one(1) + none(x);\n}"
    assert two.result == "int32_t"
    with pytest.raises(UsageError, match=r"holds one, two\. Give it one function, of its name"):
        c_files.helper(backend, "c/two.c")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "holds no function"),
        ("/* never ends\nint one(void) {\n}\n", "more than comments, includes and .* in line 1"),
        ("#define N 1\nint one(void) {\n    return N;\n}\n", "more than .* in line 1"),
        ("int one(void) {\n}\nstatic int n;\n", "more than .* in line 3"),
        ("int one(void) {\n#if X\n#endif\n}\n", "more than .* in line 1"),
        ("int one(void) {\n}", "more than .* in line 1"),
        ("int one() {\n}\n", "has the parameter ''"),
        ("int one(float) {\n}\n", "has the parameter 'float'"),
        ("int one(" + "float x, " * 5000 + ") {\n}\n", "has the parameter ''"),
    ],
)
def test_a_c_file_with_anything_else_is_refused(backend: Path, text: str, reason: str) -> None:
    (backend / "c/one.c").write_text(text)
    with pytest.raises(UsageError, match=reason):
        c_files.parse(backend / "c/one.c")


def test_a_function_may_take_nothing_and_give_a_pointer(backend: Path) -> None:
    (backend / "c/one.c").write_text("const char *one(void) {\n    return 0;\n}\n")
    (function,) = c_files.parse(backend / "c/one.c")
    assert (function.result, function.parameters) == ("const char *", ())

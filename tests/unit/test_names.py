"""Any text becomes a comment, a string and an identifier: the C compiler is the judge."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sampling import CHARACTERS, examples

from mcu_deploy import resources
from mcu_deploy.codegen import names
from mcu_deploy.errors import UsageError

# What hurts in C, more often than chance would have it.
_PIECES = st.sampled_from(
    ["*/", "/*", "*", "/", "//", "\\", "\\\n", "\n", "\r", '"', "'", "??/", "??", "?", "%s", "{{",
     "%}", "$x", "#", "\0", "\x017", "\u202e", "é", "🐍", "\ud800", " ", "a", "7", "_", "/" * 90]
)  # fmt: skip
_LONG = st.text("é🐍温a", min_size=15, max_size=80)
TEXTS = st.one_of(
    st.text(CHARACTERS), _LONG, st.lists(_PIECES).map("".join), st.text("\\*/?\n\"'0", max_size=70)
)
BATCHES = st.lists(TEXTS, min_size=40, max_size=120)

GCC = ["gcc", "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wtrigraphs", "-Wcomment", "-Werror"]


def compile_and_run(source: str) -> list[str]:
    """The lines that a C program prints; C99 replaces trigraphs."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "main.c"
        path.write_text(source, encoding="ascii")
        command = [*GCC, "-O0", str(path), "-o", f"{folder}/main"]
        built = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        assert built.returncode == 0, built.stderr[:3000]
        done = subprocess.run([f"{folder}/main"], capture_output=True, text=True, check=True)
        lines = done.stdout.splitlines()
        assert lines[0] == b"begin".hex()
        return lines[1:]


def shortened(text: str, longest: int) -> bytes:
    """UTF-8 of at most so many bytes, by whole characters; no zeros and no lone surrogates."""
    clean = "".join("?" if "\ud800" <= c <= "\udfff" else c for c in text.replace("\0", "\ufffd"))
    while len(clean.encode()) > longest:
        clean = clean[: min(len(clean) - 1, longest)]
    return clean.encode()


def program(statements: Sequence[str]) -> str:
    show = [
        "static void show(const char *s) {",
        '    for (; *s; s++) printf("%02x", (unsigned)*s & 255U);',
        '    puts("");',
        "}",
    ]
    body = "\n".join(statements)
    lines = ["#include <stdio.h>", *show, "int main(void) {", '    show("begin");', body]
    return "\n".join([*lines, "    return 0;", "}\n"])


@pytest.mark.needs_host_gcc
@settings(max_examples=examples(30, 4), deadline=None, suppress_health_check=list(HealthCheck))
@given(BATCHES)
def test_any_text_is_a_comment_that_ends_where_it_should(texts: list[str]) -> None:
    statements = []
    for index, text in enumerate(texts):
        comment = names.comment(text, 60)
        assert 0 < len(comment) <= 60
        assert comment.isascii()
        assert comment.isprintable()
        statements.append(f'/*{comment}*/ puts("{index}"); /* {comment} {comment}*/')
        statements.append(f"/* {comment}: {comment}\n * {comment}, {comment} */")
    assert compile_and_run(program(statements)) == [str(i) for i in range(len(texts))]


@pytest.mark.needs_host_gcc
@settings(max_examples=examples(30, 4), deadline=None, suppress_health_check=list(HealthCheck))
@given(BATCHES)
def test_any_text_is_a_string_with_its_bytes(texts: list[str]) -> None:
    statements = [f"show({names.string(text)});" for text in texts]
    assert all(s.isascii() and s.isprintable() for s in statements)
    expected = [shortened(text, 63).hex() for text in texts]
    assert compile_and_run(program(statements)) == expected


@pytest.mark.needs_host_gcc
@settings(max_examples=examples(15, 5), deadline=None, suppress_health_check=list(HealthCheck))
@given(BATCHES)
def test_any_text_is_part_of_an_identifier(texts: list[str]) -> None:
    identifiers = [names.identifier(text) for text in texts]
    assert all(re.fullmatch(r"[A-Za-z0-9_]{1,48}", i) for i in identifiers)
    statements = [f"{{ int _mcu_{i}_x = {n}; printf(\"%d\\n\", _mcu_{i}_x); }}" for n, i in
                  enumerate(identifiers)]  # fmt: skip
    assert compile_and_run(program(statements)) == [str(n) for n in range(len(texts))]
    for i in identifiers:
        assert names.network_name(i, Path("any.onnx")) == i


# What stands at the head of a generated file, at most.
HEADERS = ("math.h", "string.h", "mcu/managed.h", "mcu/parallel.h", "mcu/runtime.h")
WORDS = (
    *("auto", "bool", "double", "float", "inline", "int", "restrict", "typeof", "void", "while"),
    *("int8_t", "size_t", "mcu_run", "memcpy", "memmove", "errno", "linux", "unix"),
    *("context", "instance", "manager", "piece", "pointers", "pool1", "round0", "trips2", "ws"),
    *("I", "NULL", "INFINITY", "NAN", "123", "7x", "", "y0", "index", "exp", "time", "X", "x"),
)


@pytest.mark.needs_host_gcc
@settings(max_examples=examples(15, 5), deadline=None, suppress_health_check=list(HealthCheck))
@given(BATCHES)
def test_any_text_is_a_variable_of_its_own(texts: list[str]) -> None:
    taken: set[str] = set()
    found = [names.variable(text, taken) for text in (*texts, *WORDS, *WORDS)]
    assert taken == set(found)
    assert len(taken) == len(found)
    statements = [
        "uint8_t ws[4] = {0}, *pool1 = ws, **pointers = &pool1; int32_t round0 = 0;",
        *(f"int8_t *const {v} = (int8_t *)(ws + 0);" for v in found),
        "memcpy(ws + 1, pointers[round0], 1);",
        *(f'printf("%d\\n", {v} == (int8_t *)ws);' for v in found),
    ]
    head = "#include <math.h>\n#include <stdint.h>\n#include <string.h>\n"
    assert compile_and_run(head + program(statements)) == ["1"] * len(found)


@pytest.mark.parametrize("gcc", ["gcc", "arm-none-eabi-gcc"])
def test_no_variable_is_a_macro(gcc: str) -> None:
    """Of the headers, or of the compiler, whatever standard it is asked for."""
    if shutil.which(gcc) is None:
        pytest.skip(f"{gcc} is not installed")
    includes = "".join(f"#include <{header}>\n" for header in HEADERS)
    folder = resources.crt() / "include"
    for standard in ("c99", "gnu11", "gnu17"):
        done = subprocess.run(
            [gcc, f"-std={standard}", f"-I{folder}", "-dM", "-E", "-"],
            input=includes, capture_output=True, text=True, check=True,
        )  # fmt: skip
        macros = set(re.findall(r"^#define (\w+) ", done.stdout, re.M))
        assert "MCU_OK" in macros or "INFINITY" in macros
        assert not macros & {names.variable(macro, set()) for macro in macros}


def test_a_variable_shows_where_its_name_is_from() -> None:
    taken: set[str] = set()
    texts = ("conv_1", "conv_1", "model/Image:0", "int", "49", "x" * 60)
    assert [names.variable(text, taken) for text in texts] == [
        "conv_1", "conv_1_2", "model_image_0", "int_", "tensor_49", "x" * 40
    ]  # fmt: skip


def test_names_of_files() -> None:
    assert names.network_name(None, Path("a/kws.onnx")) == "kws"
    assert names.network_name(None, Path("a/my-net v1.2.onnx")) == "my_net_v1_2"
    assert names.network_name(None, Path("models/kws/model.onnx")) == "kws"
    assert names.network_name(None, Path("/model.onnx")) == "model"
    assert names.network_name(None, Path("日本.onnx")) == "model"
    assert names.network_name(None, Path("café.onnx")) == "cafe"
    assert names.network_name(None, Path(f"{'x' * 200}.onnx")) == "x" * 48
    assert names.network_name("x" * 48, Path("a.onnx")) == "x" * 48
    for given_name in ("", "x" * 49, "a-b", "a b", "é", "a\n", "٣", "a.b"):
        with pytest.raises(UsageError, match="letters, digits and underscores, at most 48"):
            names.network_name(given_name, Path("a.onnx"))


def test_comments_keep_what_is_harmless_and_the_ends_of_long_names() -> None:
    assert names.comment("model/conv1 (3x3), 'same'; 100%") == "model/conv1 (3x3), 'same'; 100%"
    assert names.comment("block_1/depthwise/project_BN;fused", 21) == "block_1/d..._BN;fused"
    assert names.comment("") == "."
    assert names.comment("???/") == "..."

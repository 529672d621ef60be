"""What CMake's configuration switches off, and the sentences for files that are damaged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mcu_deploy import configuration
from mcu_deploy.errors import UsageError


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that the environment names; it is not there yet."""
    path = tmp_path / "configuration.json"
    monkeypatch.setenv(configuration.VARIABLE, str(path))
    return path


def test_without_a_file_nothing_is_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(configuration.VARIABLE, raising=False)
    assert configuration.backends_off() == frozenset()
    assert configuration.formats_off() == frozenset()
    assert configuration.dynamic_backend_paths() == ()


def test_the_file_is_read_at_each_call(file: Path) -> None:
    for ids in (["A", "B"], ["C"]):
        file.write_text(json.dumps({"backends_off": ids, "formats_off": ["onnx"]}))
        assert configuration.backends_off() == frozenset(ids)
        assert configuration.formats_off() == frozenset({"onnx"})
        assert configuration.dynamic_backend_paths() == ()


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("", ()),
        ("/usr/lib/mcu", ("/usr/lib/mcu",)),
        ("/b:/a/with space:relative:/b", ("/b", "/a/with space", "relative", "/b")),
        (":/a::/b:", ("/a", "/b")),
    ],
)
def test_paths_keep_their_order(file: Path, text: str, paths: tuple[str, ...]) -> None:
    file.write_text(json.dumps({"dynamic_backend_paths": text}))
    assert configuration.dynamic_backend_paths() == paths


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"{", "is no JSON"),
        (b"\xff\xfe", "is no JSON"),
        (b"[" * 100_000, "is no JSON"),
        (b"[]", "cannot be used: it is no table, but []"),
        (b'{"backend_off": []}', "cannot be used: it has the unknown key 'backend_off' (did"),
        (
            b'{"backends_off": "CpuRef"}',
            "cannot be used: backends_off must be a list",
        ),
        (b'{"formats_off": [1]}', "cannot be used: formats_off[0] must be a text in quotes, not 1"),
        (
            b'{"dynamic_backend_paths": ["/a"]}',
            "cannot be used: dynamic_backend_paths must be",
        ),
    ],
)
def test_a_damaged_file_is_refused_by_every_function(
    file: Path, content: bytes, reason: str
) -> None:
    file.write_bytes(content)
    for function in (
        configuration.backends_off,
        configuration.formats_off,
        configuration.dynamic_backend_paths,
    ):
        with pytest.raises(UsageError) as refused:
            function()
        sentence = str(refused.value)
        assert sentence.startswith(f"The configuration file {file} {reason}"), sentence
        assert sentence.endswith(f"unset {configuration.VARIABLE}.")


def test_a_file_that_is_named_must_be_there(file: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read \\(No such file or directory\\)"):
        configuration.backends_off()
    file.mkdir()
    with pytest.raises(UsageError, match="cannot be read \\(Is a directory\\)"):
        configuration.backends_off()

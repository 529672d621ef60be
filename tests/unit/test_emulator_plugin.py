"""The counting plugin for QEMU is compiled once, and kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcu_deploy.device.emulators.qemu_plugin import plugin
from mcu_deploy.errors import ToolError
from mcu_deploy.files import cache


@pytest.mark.needs_host_gcc
def test_it_is_compiled_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "cache"))
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    made = plugin(tmp_path / "a")
    assert made.parent == tmp_path / "a"
    assert made.read_bytes()[:4] == b"\x7fELF"

    monkeypatch.setenv("PATH", str(tmp_path))  # without a compiler: it is not needed again
    assert plugin(tmp_path / "b").read_bytes() == made.read_bytes()


@pytest.mark.needs_host_gcc
def test_without_a_cache_it_is_compiled_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(cache.VARIABLE, "off")
    assert plugin(tmp_path).read_bytes()[:4] == b"\x7fELF"


def test_without_a_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolError, match=r"needs gcc for this machine\. Install it with `apt-get"):
        plugin(tmp_path)


def test_where_there_is_no_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mcu_count.so").symlink_to("/dev/full")
    monkeypatch.setattr(cache, "kept", lambda *_: b"x")
    with pytest.raises(ToolError, match=r"\(No space left on device\); make room in .*TMPDIR"):
        plugin(tmp_path)


@pytest.mark.needs_host_gcc
def test_where_the_compiler_has_no_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(cache.VARIABLE, "off")
    (tmp_path / "mcu_count.so").symlink_to("/dev/full")
    with pytest.raises(ToolError, match=r"\(No space left on device\); make room in .*TMPDIR"):
        plugin(tmp_path)

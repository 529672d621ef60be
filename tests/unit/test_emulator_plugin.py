"""Where the counting plugin for QEMU is compiled to."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcu_deploy.device.emulators.qemu_plugin import plugin
from mcu_deploy.errors import ToolError


@pytest.mark.needs_host_gcc
def test_it_is_compiled_once_into_the_users_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    made = plugin(tmp_path / "folder")
    assert made.parent == tmp_path / "cache" / "mcu-deploy"
    assert made.read_bytes()[:4] == b"\x7fELF"
    assert [path.name for path in made.parent.iterdir()] == [made.name]  # nothing is left behind

    monkeypatch.setenv("PATH", str(tmp_path))  # without a compiler: it is not needed again
    assert plugin(tmp_path / "folder") == made
    assert not (tmp_path / "folder").exists()


@pytest.mark.needs_host_gcc
def test_without_a_cache_it_goes_to_the_given_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("no folder can be made in a file, not even by root")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert plugin(tmp_path / "folder").parent == tmp_path / "folder"
    with pytest.raises(ToolError, match=r"cannot be written to .*file.* or .*file"):
        plugin(tmp_path / "file")


def test_without_a_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolError, match=r"needs gcc for this machine; install it with `apt-get"):
        plugin(tmp_path / "folder")

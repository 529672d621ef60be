"""The firmware of the hand-written networks as a process under sanitizers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from device.protocol_lab import LONG_NAME, build_host_firmware, running
from sanitizers import SANITIZED

from mcu_deploy.device import Device, connect


@pytest.fixture(scope="session")
def elf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    named = f'-DFAILING_OUTPUT="{LONG_NAME}"'
    return build_host_firmware(tmp_path_factory.mktemp("firmware"), *SANITIZED, named)


@pytest.fixture
def url(elf: Path, tmp_path: Path) -> Iterator[str]:
    with running(elf, tmp_path / "stderr") as url:
        yield url


@pytest.fixture
def device(url: str) -> Iterator[Device]:
    with connect(url) as device:
        yield device

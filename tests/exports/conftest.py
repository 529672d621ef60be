"""One small network, built once for all formats."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import mcu_deploy
from mcu_deploy.boards import load_core
from mcu_deploy.options import Options


@pytest.fixture(scope="session")
def sine(tmp_path_factory: pytest.TempPathFactory, repository: Path) -> Path:
    """A build of the sine network for a Cortex-M4 with its FPU, without a board."""
    folder = tmp_path_factory.mktemp("exports") / "sine"
    mcu_deploy.build(
        repository / "examples/cmake/sine.tflite", load_core("cortex-m4", "fpv4-sp-d16"), folder
    )
    return folder


@pytest.fixture(scope="session")
def other(tmp_path_factory: pytest.TempPathFactory, repository: Path) -> Path:
    """A build of the same network by another name, for what has several exports."""
    folder = tmp_path_factory.mktemp("exports") / "other"
    model, core = repository / "examples/cmake/sine.tflite", load_core("cortex-m4", "fpv4-sp-d16")
    mcu_deploy.build(model, core, folder, name="other")
    return folder


@pytest.fixture(scope="session")
def hot(tmp_path_factory: pytest.TempPathFactory, repository: Path) -> Path:
    """A build of the same network whose kernels are to run from RAM."""
    folder = tmp_path_factory.mktemp("exports") / "hot"
    model, core = repository / "examples/cmake/sine.tflite", load_core("cortex-m4", "fpv4-sp-d16")
    mcu_deploy.build(model, core, folder, name="hot", options=Options(hot_code=4096))
    return folder


@pytest.fixture(scope="session")
def quarter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sample for it: the network answers a half pi with 126."""
    file = tmp_path_factory.mktemp("samples") / "quarter.npz"
    np.savez(file, in0=np.full((1, 1, 1), -64, np.int8))
    return file

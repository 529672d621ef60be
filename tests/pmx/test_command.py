"""`mcu-deploy optimize`, and the other commands on what it makes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from command_line import call

pytestmark = pytest.mark.needs_host_gcc


@pytest.fixture(scope="module")
def saved(kws_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("optimize") / "words.pmx"
    done = call("optimize", kws_dir / "model.onnx", "-o", path, "--board", "host")
    assert done.returncode == 0, done.stderr
    assert f"{path.stat().st_size:,} bytes, 12 layers" in done.stdout
    return path


@pytest.fixture(scope="module")
def explained(saved: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A build folder, and what the build printed, the layers explained."""
    folder = tmp_path_factory.mktemp("optimize") / "built"
    done = call("build", saved, "--board", "host", "-o", folder, "--explain")
    assert done.returncode == 0, done.stderr
    return folder, done.stdout


@pytest.fixture
def built(explained: tuple[Path, str]) -> Path:
    return explained[0]


def test_build_gives_the_byte_identical_object(built: Path, kws_dir: Path, tmp_path: Path) -> None:
    done = call("build", kws_dir / "model.onnx", "--board", "host", "-o", tmp_path)
    assert done.returncode == 0, done.stderr
    files = [f"network_kws.{ending}" for ending in ("c", "weights.bin", "o")]
    for file in (*files, "include/network_kws.h"):
        assert (built / file).read_bytes() == (tmp_path / file).read_bytes(), file


def test_the_folder_runs_and_validates_from_its_own_copy(
    built: Path, kws_dir: Path, tmp_path: Path
) -> None:
    assert (built / "obj" / "network_kws.pmx").is_file()
    output = tmp_path / "y.npz"
    done = call("run", built, "--input", kws_dir / "samples.npz", "--output", output)
    assert done.returncode == 0, done.stderr
    with np.load(output) as answers, np.load(kws_dir / "samples.npz") as samples:
        expected = next(k for k in samples.files if k.startswith(("ort", "out")))
        assert answers["out0"].shape == samples[expected].reshape(answers["out0"].shape).shape
    done = call("validate", built, "--layers")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "no second opinion: no other program runs .pmx files" in done.stdout
    assert "12 tensors compared" in done.stdout
    assert "fused into another layer" in done.stdout


def test_explain_tells_who_made_it(explained: tuple[Path, str]) -> None:
    assert explained[1].count("CpuRef") == 12 + 2, "each layer, and two views"
    assert "A .pmx file holds what was chosen" in explained[1]


def test_a_saved_model_can_be_compressed(saved: Path, tmp_path: Path) -> None:
    smaller = tmp_path / "smaller.pmx"
    done = call("optimize", saved, "-o", smaller, "--board", "host", "--compress", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["pmx_bytes"] == smaller.stat().st_size < saved.stat().st_size
    assert len(report["layers"]) == 12
    again = tmp_path / "again.pmx"
    assert call("optimize", smaller, "-o", again, "--board", "host").returncode == 0
    assert again.read_bytes() == saved.read_bytes()


def test_wrong_usage_is_one_sentence(saved: Path, kws_dir: Path, tmp_path: Path) -> None:
    cases = (
        (("optimize", kws_dir / "model.onnx", "-o", tmp_path / "m.bin", "--board", "host"),
         2, "does not end in .pmx"),
        (("build", saved, "-o", tmp_path, "--board", "mps2-an386"), 1, "was optimised for a host"),
        (("build", saved, "-o", tmp_path, "--board", "host", "--memory", "mru"),
         1, "was not optimised with what --memory asks for now"),
        (("optimize", tmp_path / "no.onnx", "-o", tmp_path / "m.pmx", "--board", "host"),
         1, "does not exist"),
    )  # fmt: skip
    for arguments, code, sentence in cases:
        done = call(*arguments)
        assert done.returncode == code, done.stderr
        assert sentence in done.stderr.replace("\n", " ")
        assert "Traceback" not in done.stderr


def test_a_damaged_file_is_one_sentence(saved: Path, tmp_path: Path) -> None:
    half = tmp_path / "half.pmx"
    half.write_bytes(saved.read_bytes()[:5000])
    done = call("build", half, "--board", "host", "-o", tmp_path / "built")
    assert done.returncode == 1
    assert "half.pmx is damaged or cut short" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "built").exists()

"""Builds whose runs decide a size on a device: `validate` and `run` at several sizes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import sized_programs as programs
from command_line import call

import mcu_deploy
from mcu_deploy.api.profiling import profile
from mcu_deploy.api.running import load_for, run
from mcu_deploy.api.validating import validate
from mcu_deploy.errors import RequestError
from mcu_deploy.options import from_typed

# The largest size, and one that is odd: where strides of two round.
MODELS = {
    "convolution": (programs.convolution, "1,4,N", 40),
    "lstm": (programs.lstm, "N,1,5", 24),
    "transformer": (programs.transformer, "1,N,16", 24),
    "detector": (programs.detector, "1,3,N,16", 32),
}


def _built(name: str, folder: Path, board: str) -> mcu_deploy.Build:
    make, shape, bound = MODELS[name]
    options = from_typed({"shape": [f"x={shape}:N<={bound}"]})
    return mcu_deploy.build(make(folder), board, folder / "build", options=options)


@pytest.mark.needs_host_gcc
@pytest.mark.parametrize("name", MODELS)
def test_validate_at_sizes_on_the_host(name: str, tmp_path: Path) -> None:
    """The least, half the largest, one that is odd, and the largest: beside onnxruntime, and the
    oracle layer by layer where the layers are those of the bound."""
    bound = MODELS[name][2]
    build = _built(name, tmp_path, "host")
    found = validate(build, sizes=[1, bound // 2, bound // 2 + 1, bound], layers=True)
    assert found.passed, found.problems
    assert found.verdict == "passed" and found.samples == 4
    assert found.layers is not None and found.layers.compared > 3 * len(found.layers.tensors) - 1
    assert set(found.layers.left) <= {0}


@pytest.mark.needs_arm_gcc
@pytest.mark.needs_qemu
@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=() if n == "transformer" else pytest.mark.matrix) for n in MODELS],
)
def test_validate_at_sizes_on_a_cortex_m4(name: str, tmp_path: Path) -> None:
    """By default at the least size, half the largest, and the largest."""
    found = validate(_built(name, tmp_path, "mps2-an386"))
    assert found.passed and found.onnxruntime, found.problems
    most = MODELS[name][2]
    assert found.origin == f"a random generator (seed 0), of the sizes 1, {most // 2}, {most}"


@pytest.mark.needs_host_gcc
def test_sizes_are_typed(tmp_path: Path) -> None:
    build = _built("convolution", tmp_path, "host").directory
    done = call("validate", build, "--sizes", "1,7", "--layers", "built")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 samples from a random generator (seed 0), of the sizes 1, 7" in done.stdout
    assert "sample 0 is of a size at which the network has other layers" in done.stdout
    wrong = call("validate", build, "--sizes", "1,x")
    assert wrong.returncode == 2 and "--sizes=1,x is no list of numbers" in wrong.stderr
    above = call("validate", build, "--sizes", "41")
    assert above.returncode == 1 and "sizes from 1 to 40, not for 41" in above.stderr
    np.savez(tmp_path / "short.npz", in0=np.zeros((2, 1, 4, 9), np.float32))
    ran = call("run", build, "--input", tmp_path / "short.npz", "--output", tmp_path / "y.npz")
    assert ran.returncode == 0, ran.stderr
    assert np.load(tmp_path / "y.npz")["out1"].shape == (2, 1, 6, 5)


@pytest.mark.needs_host_gcc
def test_a_notebook_gives_arrays_of_any_size(tmp_path: Path) -> None:
    build = _built("convolution", tmp_path, "host")
    x = np.random.default_rng(6).normal(0, 1, (2, 1, 4, 40)).astype(np.float32)
    with mcu_deploy.connect(build) as device:
        for given in (x[0, :, :, :7], x[:, :, :, :8], x[0]):
            found = device.run(given)
            assert isinstance(found, dict)
            for place, name in enumerate(("y", "c")):
                one = found[name] if given.ndim == 3 else found[name][1]
                sample = given if given.ndim == 3 else given[1]
                wanted = programs.onnxruntime(tmp_path / "convolution.onnx", [sample])[place]
                np.testing.assert_allclose(one, wanted, rtol=0, atol=1e-5 * np.abs(wanted).max())
        with pytest.raises(RequestError, match="from 1 to 40, not for 41"):
            device.run(np.zeros((1, 4, 41), np.float32))
        with pytest.raises(RequestError, match=r"shape \[4\] was given"):
            device.run(np.zeros(4, np.float32))


@pytest.mark.needs_host_gcc
def test_samples_are_taken_as_long_as_they_are(tmp_path: Path) -> None:
    build = _built("convolution", tmp_path, "host")
    x = np.random.default_rng(5).normal(0, 1, (3, 1, 4, 17)).astype(np.float32)
    np.savez(tmp_path / "short.npz", in0=x)
    results = run(build, tmp_path / "short.npz")
    assert [[y.shape for y in outputs] for outputs in results] == [[(1, 3), (1, 6, 9)]] * 3
    wanted = programs.onnxruntime(tmp_path / "convolution.onnx", [x[1]])
    for ours, theirs in zip(results[1], wanted, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-5 * np.abs(theirs).max())
    assert validate(build, tmp_path / "short.npz").passed
    folder = mcu_deploy.api.folder.as_folder(build)
    np.savez(tmp_path / "long.npz", in0=np.zeros((1, 4, 41), np.float32))
    with pytest.raises(RequestError, match="runs for sizes from 1 to 40, not for 41"):
        load_for(folder, build.networks[0].name, tmp_path / "long.npz")
    np.savez(tmp_path / "other.npz", in0=np.zeros((1, 5, 17), np.float32))
    with pytest.raises(RequestError, match=r"\[1, 5, 17\] for input 'x'; .* \[samples, 1, 4, 17\]"):
        load_for(folder, build.networks[0].name, tmp_path / "other.npz")
    with pytest.raises(RequestError, match="--sizes is of made-up ones"):
        validate(build, tmp_path / "short.npz", sizes=[3])
    with pytest.raises(RequestError, match="from 1 to 40, not for 50"):
        validate(build, sizes=[50])


@pytest.mark.needs_arm_gcc
@pytest.mark.needs_qemu
def test_profile_counts_a_run_of_a_size(tmp_path: Path) -> None:
    folder = _built("convolution", tmp_path, "mps2-an386").directory
    bound = MODELS["convolution"][2]
    plain = profile(folder)
    assert plain.size == bound and profile(folder, size=bound) == plain
    half = profile(folder, size=bound // 2)
    assert half.size == bound // 2
    assert plain.macs // 3 < half.macs < plain.macs
    assert plain.total // 3 < half.total < plain.total
    assert [layer.name for layer in half.layers] == [layer.name for layer in plain.layers]
    with pytest.raises(RequestError, match="runs for sizes from 1 to 40, not for 41"):
        profile(folder, size=bound + 1)


@pytest.mark.needs_arm_gcc
def test_profile_takes_a_size_where_there_is_one(kws_dir: Path, tmp_path: Path) -> None:
    build = mcu_deploy.build(kws_dir / "model.onnx", "mps2-an386", tmp_path / "build")
    with pytest.raises(RequestError, match=r"has one size alone.* or leave --size out"):
        profile(build.directory, size=3)

"""examples/quantize: a network of each framework becomes int8, and computes on a board what its
file says; the commands are those of docs/quantizing.md."""

from __future__ import annotations

import functools
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from command_line import call
from onnx import TensorProto, helper, numpy_helper

REPOSITORY = Path(__file__).resolve().parents[2]
QUANTIZE = REPOSITORY / "examples" / "quantize" / "quantize.py"
PAGE = REPOSITORY / "docs" / "quantizing.md"


@functools.cache
def python_with(packages: tuple[str, ...]) -> str:
    """A Python that has packages: this one, or one of $MCU_DEPLOY_FRAMEWORKS, divided by colons."""
    given = os.environ.get("MCU_DEPLOY_FRAMEWORKS", "")
    look = f"import importlib.util as u; assert all(map(u.find_spec, {packages}))"
    for python in (sys.executable, *filter(None, given.split(os.pathsep))):
        if not subprocess.run([python, "-c", look], capture_output=True, check=False).returncode:
            return python
    pytest.skip(
        f"no Python here has {', '.join(packages)}: name one that has them in MCU_DEPLOY_FRAMEWORKS"
    )


def listing(title: str) -> list[list[str]]:
    """The commands below a title of the page, in words."""
    text = PAGE.read_text(encoding="utf-8").partition(f"\n## {title}\n")[2]
    found = re.search(r"```sh\n(.*?)```", text, re.S)
    assert found is not None
    return [shlex.split(line) for line in found[1].splitlines()]


@pytest.mark.needs_arm_gcc
@pytest.mark.needs_qemu
@pytest.mark.parametrize(
    ("title", "packages"),
    [
        ("PyTorch", ("torch", "onnxscript", "sklearn")),
        ("Keras", ("tensorflow", "keras", "sklearn")),
        ("scikit-learn", ("sklearn", "skl2onnx")),
    ],
)
def test_a_framework_s_network_becomes_int8_and_runs(
    title: str, packages: tuple[str, ...], tmp_path: Path
) -> None:
    python = python_with(packages)
    (tmp_path / "examples").symlink_to(REPOSITORY / "examples")
    for program, *arguments in listing(title):
        if program == "python":
            with_ = sys.executable if arguments[0].endswith("/quantize.py") else python
            subprocess.run([with_, *arguments], cwd=tmp_path, check=True, capture_output=True)
        elif program == "mcu-deploy":
            done = call(*arguments, cwd=tmp_path)
            assert done.returncode == 0, done.stdout + done.stderr
    build, data = tmp_path / "build" / "mps2-an386" / "digits", tmp_path / "digits" / "int8.npz"
    done = call("run", build, "--input", data, "--output", tmp_path / "y.npz")
    assert done.returncode == 0, done.stderr
    scores = np.load(tmp_path / "y.npz")["out0"].reshape(300, 10)
    right = scores.argmax(axis=1) == np.load(data)["labels"]
    assert right.mean() > 0.9


def _float_model(path: Path) -> None:
    """A convolution, Relu, and a Gemm with a bias of two axes."""
    random = np.random.default_rng(0)
    constants = {
        "k": random.normal(size=(4, 1, 3, 3)), "b": random.normal(size=4),
        "w": random.normal(size=(64, 3)), "c": random.normal(size=(1, 3)),
    }  # fmt: skip
    graph = helper.make_graph(
        [
            helper.make_node("Conv", ["x", "k", "b"], ["a"], pads=[1, 1, 1, 1]),
            helper.make_node("Relu", ["a"], ["r"]),
            helper.make_node("Flatten", ["r"], ["f"]),
            helper.make_node("MatMul", ["f", "w"], ["m"]),
            helper.make_node("Add", ["m", "c"], ["y"]),
        ],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, 4, 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 3])],
        [numpy_helper.from_array(v.astype(np.float32), n) for n, v in constants.items()],
    )
    opsets = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)


@pytest.mark.needs_host_gcc
@pytest.mark.parametrize(
    "borders", [[], pytest.param(["--float-borders"], marks=[pytest.mark.matrix])]
)
def test_a_float_model_becomes_int8_by_onnxruntime(borders: list[str], tmp_path: Path) -> None:
    x = np.random.default_rng(1).normal(size=(40, 1, 1, 4, 4)).astype(np.float32)
    _float_model(tmp_path / "float.onnx")
    np.savez(tmp_path / "samples.npz", in0=x)
    names = (tmp_path / "float.onnx", tmp_path / "samples.npz", tmp_path / "int8.onnx")
    done = subprocess.run(
        [sys.executable, QUANTIZE, *names, *borders], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    kind = "float32" if borders else "int8"
    assert done.stdout == f"x: {kind}\ny: {kind}\n"
    built = call("build", "int8.onnx", "--board", "host", "-o", "b", "--no-float", cwd=tmp_path)
    assert built.returncode == 0, built.stderr
    checked = call("validate", "b", "--data", "int8.npz", cwd=tmp_path)
    assert checked.returncode == 0, checked.stdout
    done_ = call("run", "b", "--input", "int8.npz", "--output", "y.npz", cwd=tmp_path)
    assert done_.returncode == 0, done_.stderr
    given = np.load(tmp_path / "y.npz")["out0"].reshape(40, 3).astype(np.float64)
    session = onnxruntime.InferenceSession(tmp_path / "float.onnx")
    wanted = np.stack([session.run(None, {"x": sample})[0][0] for sample in x])
    assert np.corrcoef(given.ravel(), wanted.ravel())[0, 1] > 0.99

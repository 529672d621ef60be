"""Adding a folder is all that adding a backend takes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

FOLDER = Path(__file__).resolve().parent / "new_backend" / "Clamper"
BACKENDS = Path(__file__).resolve().parents[2] / "mcu_deploy" / "backends"


@pytest.fixture
def tree(repository: Path, tmp_path: Path) -> Path:
    """The package with the new backend's folder in it, beside the repository's files: folders of
    links, but for that one."""
    root = tmp_path / "tree"
    package, backends = root / "mcu_deploy", root / "mcu_deploy" / "backends"
    backends.mkdir(parents=True)
    for source, folder in ((repository / "mcu_deploy", package), (BACKENDS, backends)):
        for path in source.iterdir():
            if path.name != "__pycache__" and not (folder / path.name).exists():
                (folder / path.name).symlink_to(path)
    shutil.copytree(FOLDER, backends / "Clamper", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("crt", "boards", "cmake", "renode", "tests", "CMakeLists.txt"):
        (root / name).symlink_to(repository / name)
    return root


# Calls the commands that are given as JSON, and prints what they printed.
_CALLS = """
import json, sys
from command_line import call
done = [call(*command) for command in json.loads(sys.argv[1])]
assert not any(one.returncode for one in done), done
print(json.dumps([one.stdout for one in done]))
"""


def mcu_deploy(tree: Path, *commands: Sequence[object]) -> list[str]:
    """What the tree's commands print, all of them in one process."""
    path = os.pathsep.join(map(str, (tree, tree / "tests")))
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    words = [[str(word) for word in command] for command in commands]
    done = subprocess.run(
        [sys.executable, "-P", "-c", _CALLS, json.dumps(words)],
        env=environment, cwd=tree.parent, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    printed: list[str] = json.loads(done.stdout)
    return printed


@pytest.mark.needs_host_gcc
def test_a_folder_that_is_dropped_in_computes_a_model(tree: Path, tmp_path: Path) -> None:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 2, 3])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 2, 3])
    nodes = [helper.make_node("Relu", ["x"], ["r"], "relu"), helper.make_node("Neg", ["r"], ["y"])]
    graph = helper.make_graph(nodes, "g", [x], [y])
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), tmp_path / "m.onnx"
    )
    value = np.array([[[-1.5, 0.0, 2.5], [3.0, -4.0, 5.0]]], np.float32)
    np.savez(tmp_path / "x.npz", in0=value[None])
    built, answers = tmp_path / "built", tmp_path / "y.npz"
    listed, report, _ = mcu_deploy(
        tree,
        ["backends", "--json"],
        ["build", tmp_path / "m.onnx", "--board", "host", "-o", built, "--json"],
        ["run", built, "--input", tmp_path / "x.npz", "--output", answers],
    )
    backends = json.loads(listed)["backends"]
    assert [b["id"] for b in backends][:1] == ["Clamper"]
    assert backends[0] | {"origin": ""} == {
        "id": "Clamper", "version": "1.2", "origin": "", "cores": [], "rank": 5,
        "operators": ["Relu"],
    }  # fmt: skip
    assert [layer["backend"] for layer in json.loads(report)["layers"]] == ["Clamper", "CpuRef"]
    assert "_mcu_m_not_below_zero(x[i])" in (built / "network_m.c").read_text()

    assert np.array_equal(np.load(answers)["out0"][0], -np.maximum(value, 0))


@pytest.mark.matrix
@pytest.mark.needs_cmake
@pytest.mark.needs_host_gcc
def test_cmake_builds_and_tests_it(tree: Path, tmp_path: Path) -> None:
    build = tmp_path / "cmake"
    switches = ["-DMCU_BACKEND_CpuRef=OFF", "-DMCU_ARM_GCC=OFF"]
    for command in (
        ["cmake", "-S", tree, "-B", build, "-G", "Ninja", *switches],
        ["cmake", "--build", build],
        ["ctest", "--test-dir", build, "--output-on-failure", "-R", "not_below_zero"],
    ):
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    assert "100% tests passed" in done.stdout

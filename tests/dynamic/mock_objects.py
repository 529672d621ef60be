"""Compiles the mock backends of `mocks/`, each variant once a test run."""

from __future__ import annotations

import functools
import shutil
import subprocess
import tempfile
from pathlib import Path

import onnx
from onnx import TensorProto, helper

HERE = Path(__file__).resolve().parent / "mocks"
INCLUDE = HERE.parents[2] / "crt" / "include"

# mcu/backend.h as it was in these versions
INCLUDES = {"1.0": HERE.parent / "api_1_0", "1.1": HERE.parent / "api_1_1"}

_FLAGS = ("-shared", "-fPIC", "-O0", "-w", "-fstack-protector-all", "-pthread", f"-I{INCLUDE}")


@functools.cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="mocks")


@functools.cache
def compiled(*switches: str) -> Path:
    """The mock with these -D switches: `compiled("NO_TABLE", "MINOR=3")`."""
    path = Path(_folder().name) / f"Test_Mock{_number()}_backend.so"
    _run("gcc", *_FLAGS, *(f"-D{switch}" for switch in switches), HERE / "mock.c", "-o", path)
    return path


@functools.cache
def built_for(version: str) -> Path:
    """The mock as it comes from somebody who has the header of an older version."""
    path = Path(_folder().name) / f"Test_Older{_number()}_backend.so"
    _run("gcc", *_FLAGS[:-1], f"-I{INCLUDES[version]}", HERE / "mock.c", "-o", path)
    return path


@functools.cache
def chain() -> Path:
    """The backend of `chains/`, which proposes a convolution with its pool."""
    folder, path = HERE.parent / "chains", Path(_folder().name) / "Test_Chain_backend.so"
    kernel = f'-DKERNEL="{folder / "kernel.txt"}"'
    _run("gcc", *_FLAGS, "-ffp-contract=off", kernel, folder / "chain.c", "-o", path)
    return path


@functools.cache
def throwing() -> Path:
    """The mock with a C++ exception in it."""
    folder = Path(_folder().name)
    _run("gcc", *_FLAGS[1:], "-c", HERE / "mock.c", "-o", folder / "mock.o")
    path = folder / "Test_Throwing_backend.so"
    _run("g++", *_FLAGS, folder / "mock.o", HERE / "throwing.cpp", "-o", path)
    return path


@functools.cache
def named(backend_id: str, *switches: str) -> Path:
    """The mock with another id, which is written into the object."""
    before, mark, after = compiled(*switches).read_bytes().partition(b"the id:")
    given = backend_id.encode("utf-8", "surrogateescape").ljust(80, b"\0")
    path = Path(_folder().name) / f"Test_Mock{_number()}_backend.so"
    path.write_bytes(before + mark + given + after[len(given) :])
    return path


def installed(folder: Path, path: Path, name: str = "Test_Mock_backend.so") -> Path:
    """A copy of a compiled mock in a folder that backends are searched in."""
    return Path(shutil.copy(path, folder / name))


def _run(*command: str | Path) -> None:
    subprocess.run([str(part) for part in command], check=True)


_count = iter(range(1_000_000))


def _number() -> int:
    return next(_count)


def three_layers(folder: Path) -> Path:
    """The file of a network: Relu, Softmax, Relu."""
    nodes = [
        helper.make_node("Relu", ["x"], ["a"], name="first"),
        helper.make_node("Softmax", ["a"], ["b"], name="middle", axis=1),
        helper.make_node("Relu", ["b"], ["y"], name="last"),
    ]
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, 6]) for n in ("x", "y")]
    graph = helper.make_graph(nodes, "net", ends[:1], ends[1:])
    path = folder / "net.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path)
    return path

"""IF and WHILE of TFLite files, on the oracle and in C."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from network_programs import Array
from operators.lab import Compiled, run_on_host
from tflite_control_files import (
    ONE,
    branches,
    composite,
    loop,
    over_time,
    pictures,
    quantized,
    run_if,
)
from tflite_models import Operator, Subgraph, Tensor, write

from mcu_deploy.boards import load_board
from mcu_deploy.compiled import Network
from mcu_deploy.compiler import compile_model
from mcu_deploy.errors import McuDeployError


class Case(NamedTuple):
    name: str
    inputs: tuple[Array, ...]


def _network(content: bytes, folder: Path) -> Network:
    path = folder / "m.tflite"
    path.write_bytes(content)
    return compile_model(path, load_board("host"), name="n")


def _run(content: bytes, folder: Path, *inputs: Array) -> list[list[Array]]:
    """The outputs of the oracle, and those of the C."""
    item = Compiled(Case("m", inputs), _network(content, folder))
    (device,) = run_on_host([item], folder, ("-O0",))
    return [item.expected, device]


X = np.float32([[1, -2, 3, 0.5]])


@pytest.mark.needs_host_gcc
@pytest.mark.parametrize("condition", [True, False])
def test_a_branch(condition: bool, tmp_path: Path) -> None:
    for (z,) in _run(branches(), tmp_path, np.array([condition]), X):
        np.testing.assert_array_equal(z, X * (3 if condition else 2))


@pytest.mark.needs_host_gcc
def test_a_composite_is_what_it_is_made_of(tmp_path: Path) -> None:
    for y, z in _run(composite(), tmp_path, X):
        np.testing.assert_array_equal(y, 8 * X)
        np.testing.assert_array_equal(z, 10 * X)
    network = _network(composite(), tmp_path)
    assert {node.op for node in network.graph.nodes} <= {"Add", "Mul"}
    with pytest.raises(McuDeployError, match="it runs RFFT2D 'product', which is not read"):
        _network(composite("RFFT2D"), tmp_path)


@pytest.mark.needs_host_gcc
@pytest.mark.parametrize("rounds", [0, 1, 5])
def test_a_loop_asks_before_each_round(rounds: int, tmp_path: Path) -> None:
    most = np.float32([rounds])
    for n, y, same in _run(loop(), tmp_path, np.float32([0]), X, most):
        np.testing.assert_array_equal(n, most)
        np.testing.assert_array_equal(y, X * 2**rounds)
        np.testing.assert_array_equal(same, most)


@pytest.mark.needs_host_gcc
def test_a_loop_of_integers(tmp_path: Path) -> None:
    """Each round adds 0.1 * (step - 3), of the same scale: 2, 3, 4 and 5 steps."""
    x = np.int8([[0, 10, -128, 120]])
    for n, y in _run(quantized(), tmp_path, x):
        assert n == 3
        np.testing.assert_array_equal(y, np.int8([[6, 19, -116, 127]]))


@pytest.mark.needs_host_gcc
def test_a_loop_over_time_writes_each_element_once(tmp_path: Path) -> None:
    x = np.float32([[[1, 2]], [[3, -4]], [[0.5, 8]]])
    for n, m, y, last, same in _run(over_time(), tmp_path, x):
        assert (n, m) == (3, 8)
        np.testing.assert_array_equal(y, np.cumsum(x, 0))
        np.testing.assert_array_equal(last, y[2])
        np.testing.assert_array_equal(same, x)
    (held,) = (n for n in _network(over_time(), tmp_path).graph.nodes if n.op == "Loop")
    assert len(held.inputs) == 3  # how many rounds, whether to begin, and the total


@pytest.mark.parametrize("other", [{"rounds": 2}, {"front": 1}, {"back": 1}])
def test_a_list_that_is_not_written_whole_is_refused(
    other: Mapping[str, int], tmp_path: Path
) -> None:
    with pytest.raises(McuDeployError, match="WHILE 'n': it runs SLICE 'before': it reads"):
        _network(over_time(**other), tmp_path)


def _means(x: Array) -> Array:
    """Of the windows of 3 by 3 around each pixel, as far as they lie inside."""
    y = np.zeros_like(x)
    for row, column in np.ndindex(x.shape[1:3]):
        window = x[:, max(row - 1, 0) : row + 2, max(column - 1, 0) : column + 2]
        y[:, row, column] = window.mean(axis=(1, 2))
    return y


@pytest.mark.needs_host_gcc
@pytest.mark.parametrize("begin", [0, 1, 2])
def test_what_lies_channels_last_goes_round(begin: int, tmp_path: Path) -> None:
    wanted = x = np.random.default_rng(2).normal(0, 1, (1, 3, 4, 2)).astype(np.float32)
    for _ in range(begin, 2):
        wanted = wanted + _means(wanted)
    for (y,) in _run(pictures(), tmp_path, np.array(begin, np.int32), x):
        np.testing.assert_allclose(y, wanted, rtol=0, atol=1e-5)


def test_what_is_not_read_inside_is_named(tmp_path: Path) -> None:
    unknown = Operator("HASHTABLE", ("x",), ("y",))
    other = write(
        [Tensor("c", (1,), "BOOL"), ONE, Tensor("y", (1, 4))], [run_if("c", ("x",), "y")],
        ["c", "x"], ["y"],
        others=[Subgraph([ONE, Tensor("y", (1, 4))], [unknown], ["x"], ["y"])] * 2,
    )  # fmt: skip
    with pytest.raises(McuDeployError, match="IF 'y': it runs HASHTABLE 'y', which is not read"):
        _network(other, tmp_path)
    computed = Operator("BROADCAST_ARGS", ("x",), ("y",))
    form = write(
        [Tensor("c", (1,), "BOOL"), ONE, Tensor("y", (1, 4))], [run_if("c", ("x",), "y")],
        ["c", "x"], ["y"],
        others=[Subgraph([ONE, Tensor("y", (1, 4))], [computed], ["x"], ["y"])] * 2,
    )  # fmt: skip
    with pytest.raises(McuDeployError, match=r"it runs BROADCAST_ARGS 'y': it reads .*; there, "):
        _network(form, tmp_path)
    longer = write(
        [Tensor("c", (1,), "BOOL"), ONE, Tensor("y", (1, 5))], [run_if("c", ("x",), "y")],
        ["c", "x"], ["y"], others=[Subgraph([ONE], [], ["x"], ["x"])] * 2,
    )  # fmt: skip
    with pytest.raises(McuDeployError, match=r"the tensor 'y' of the shape \[1, 5\] for 'x'"):
        _network(longer, tmp_path)
    itself = write(
        [Tensor("c", (1,), "BOOL"), ONE, Tensor("y", (1, 4))], [run_if("c", ("x",), "y")],
        ["c", "x"], ["y"], others=[Subgraph([ONE], [], ["x"], ["x"])],
    )  # fmt: skip
    with pytest.raises(McuDeployError, match="runs the subgraph number 2, which is missing"):
        _network(itself, tmp_path)

"""Sizes that a run decides: how they are typed, the formulas, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

from mcu_deploy.api.optimizing import optimize_model
from mcu_deploy.boards import load_board
from mcu_deploy.compiled import Network
from mcu_deploy.compiler import compile_model
from mcu_deploy.errors import McuDeployError, UsageError
from mcu_deploy.options import from_typed
from mcu_deploy.selection.formulas import Formula, Size, SizedExtent, fit


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (lambda n: 7, "7"),
        (lambda n: n, "size"),
        (lambda n: 8 * n - 3, "(8 * size - 3)"),
        (lambda n: 5 - n, "(-1 * size + 5)"),
        (lambda n: (n + 1) // 2, "((size + 1) / 2)"),
        (lambda n: 6 * (n // 3) + 1, "(6 * (size / 3) + 1)"),
        (lambda n: (n + 3) // 4, "((size + 3) / 4)"),
        (lambda n: 2 * n * n + n, "(2 * size * size + size)"),
    ],
)
def test_a_formula_is_found_and_said(function: Callable[[int], int], text: str) -> None:
    found = fit({n: function(n) for n in (2, 3, 16, *range(24, 33))})
    assert found is not None
    assert str(found) == text
    assert [found(n) for n in range(1, 33)] == [function(n) for n in range(1, 33)]
    assert [eval(text.replace("/", "//"), {"size": n}) for n in (1, 9)] == [found(1), found(9)]


@pytest.mark.parametrize("function", [lambda n: n**3, lambda n: n.bit_length(), lambda n: n % 2])
def test_there_is_no_formula(function: Callable[[int], int]) -> None:
    assert fit({n: function(n) for n in (2, 3, 16, *range(24, 33))}) is None


def test_a_constant_is_one() -> None:
    assert fit({4: 2, 5: 2}) == Formula(0, behind=2)


def test_the_extents_of_a_tensor_are_its_own() -> None:
    size = Size(1, 9, 0, 1, (SizedExtent(0, 1, Formula(1)), SizedExtent(1, 0, Formula(2))))
    assert [size.shape(tensor, 5, (7, 9)) for tensor in (0, 1, 2)] == [(7, 5), (10, 9), (7, 9)]


def test_a_bound_is_typed() -> None:
    options = from_typed({"shape": ["a:0=N,8:N<=64", "b=2,N:N<=64"]})
    assert options.shapes == {"a:0": (-64, 8), "b": (2, -64)}
    assert options.bound == 64
    assert options.at(5).shapes == {"a:0": (5, 8), "b": (2, 5)}
    assert options.at(5).bound is None


@pytest.mark.parametrize(
    "text",
    ["x=N,8", "x=N,8:M<=64", "x=N,8:N<=1", "x=N,8:N<=0", "x=N,-8:N<=64", "x=8:N<=64", "x=0,8", "8"],
)
def test_what_is_no_shape_is_said(text: str) -> None:
    with pytest.raises(UsageError, match="is not of the form INPUT=1,3"):
        from_typed({"shape": [text]})


@pytest.mark.parametrize("text", ["x=1,4294967296", "x=N,8:N<=16777217"])
def test_what_no_network_has_is_said(text: str) -> None:
    with pytest.raises(UsageError, match="4,294,967,295 at most, and 16,777,216 as a bound"):
        from_typed({"shape": [text]})


def _model(folder: Path, nodes: list[onnx.NodeProto], outputs: list[str]) -> Path:
    graph = helper.make_graph(
        nodes,
        "m",
        [
            helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 2, "N"]),
            helper.make_tensor_value_info("z", TensorProto.FLOAT, [1, 2, "M"]),
        ],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs],
        [
            helper.make_tensor("scales", TensorProto.FLOAT, [3], [1.0, 1.0, 2.0]),
            helper.make_tensor("w", TensorProto.FLOAT, [1, 2, 5], [0.1] * 10),
        ],
    )
    path = folder / "m.onnx"
    opsets = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
    return path


def _compile(path: Path, *shapes: str, **more: list[str]) -> Network:
    options = from_typed({"shape": list(shapes), **more})
    return compile_model(path, load_board("host"), options=options)


BOTH = ("x=1,2,N:N<=12", "z=1,2,7")
ADD = [helper.make_node("Relu", ["x"], ["y"], name="r"), helper.make_node("Relu", ["z"], ["v"])]


def test_a_layer_with_a_table_for_its_size_is_named(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Relu", ["z"], ["v"]),
        helper.make_node("Resize", ["x", "", "scales"], ["y"], name="up", mode="linear"),
    ]
    with pytest.raises(McuDeployError, match="The Resize 'up' cannot run for any size") as refused:
        _compile(_model(tmp_path, nodes, ["y", "v"]), *BOTH)
    assert "Build for one size, or change this layer in the model." in str(refused.value)


def test_a_kernel_without_padding_gives_the_least_size(tmp_path: Path) -> None:
    nodes = [helper.make_node("Relu", ["z"], ["v"]), helper.make_node("Conv", ["x", "w"], ["y"])]
    size = _compile(_model(tmp_path, nodes, ["y", "v"]), *BOTH).selection.size
    assert size is not None
    assert (size.least, size.most) == (5, 12)
    assert _shape(size, 2, 9, (1, 1, 8)) == (1, 1, 5)
    assert _shape(size, 3, 9, (1, 2, 7)) == (1, 2, 7)


def _shape(size: Size, tensor: int, at: int, most: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of a tensor at a size; most: at the largest one."""
    found = {e.axis: e.formula(at) for e in size.extents if e.tensor == tensor}
    return tuple(found.get(axis, extent) for axis, extent in enumerate(most))


@pytest.mark.parametrize(
    ("shapes", "more", "sentence"),
    [
        (("x=1,2,N:N<=12", "z=1,2,M:M<=8"), {}, "--shape gives several bounds (8, 12)"),
        (BOTH, {"partition": ["p=x:y"]}, "--shape with a bound and --partition do not go together"),
        (BOTH, {"backend": "ArmDsp"}, "ArmDsp"),
    ],
)
def test_what_knows_no_size_is_refused(
    shapes: tuple[str, ...], more: dict[str, list[str]], sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(McuDeployError) as refused:
        _compile(_model(tmp_path, ADD, ["y", "v"]), *shapes, **more)
    assert sentence in str(refused.value)


def test_no_pmx_file_holds_one(tmp_path: Path) -> None:
    options = from_typed({"shape": list(BOTH)})
    path = _model(tmp_path, ADD, ["y", "v"])
    with pytest.raises(UsageError, match="holds no network with a size that each run decides"):
        optimize_model(path, "mps2-an386", tmp_path / "m.pmx", options=options)

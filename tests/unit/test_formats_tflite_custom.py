"""A custom operator of a TFLite file: refused by its name, computed where a backend has it."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from operators.lab import Compiled, run_on_host
from tflite_models import Array, Operator, Tensor, constant, write

from mcu_deploy import formats, interpreter, passes
from mcu_deploy.backends.interface import (
    Argument,
    BackendBase,
    CFunction,
    LayoutRule,
    Parameter,
    Role,
    Workload,
    no,
    yes,
)
from mcu_deploy.backends.registry import Registry
from mcu_deploy.boards import load_board
from mcu_deploy.compiler import compile_model
from mcu_deploy.errors import ModelError
from mcu_deploy.formats import tflite_ops
from mcu_deploy.ir import DType
from mcu_deploy.options import Options
from mcu_deploy.session import Session


class Multiplier(BackendBase):
    """`MyFilter` of float32: times the first byte of its options."""

    id = "Multiplier"
    operators = ("tflite.custom::MyFilter",)

    def layer_support(self) -> Any:
        return self

    def is_layer_supported(self, layer: Any, inputs: Any, outputs: Any, params: Any) -> Any:
        if (layer.domain, layer.op) != ("tflite.custom", "MyFilter"):
            return no("it computes MyFilter alone")
        return yes(LayoutRule.NATURAL) if inputs[0].type.dtype is DType.FLOAT32 else no("no float")

    def create_workload_factory(self, memory_manager: Any) -> Any:
        return self

    def create_workloads(self, info: Any, descriptor: Any) -> Any:
        factor = descriptor.params["custom_options"][0]
        count = info.outputs[0].type.elements
        loop = f"for (int32_t i = 0; i < {count}; i++)"
        body = f"{{\n    {loop} {{\n        y[i] = {factor}.0F * x[i];\n    }}\n}}"
        function = CFunction(
            "my_filter", (Parameter("const float *", "x"), Parameter("float *", "y")), body
        )
        return (Workload(self.id, function, (Argument(Role.INPUT), Argument(Role.OUTPUT))),)


@dataclass(frozen=True)
class Case:
    inputs: tuple[Array, ...]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """MyFilter behind an operator of TFLite's and before another."""
    path = tmp_path / "m.tflite"
    names = ("x", "a", "b", "y")
    operators = [
        Operator("ABS", ("x",), ("a",), "AbsOptions"),
        Operator("CUSTOM", ("a",), ("b",), custom="MyFilter", custom_options=b"\x03\x07"),
        Operator("NEG", ("b",), ("y",), "NegOptions"),
    ]
    path.write_bytes(write([Tensor(n, (1, 4)) for n in names], operators, ["x"], ["y"]))
    return path


def test_it_is_refused_by_its_name(path: Path) -> None:
    with pytest.raises(ModelError, match=r"tflite\.custom::MyFilter 'b': no backend has this"):
        compile_model(path, load_board("host"), name="m")


def test_a_name_says_that_it_is_custom_where_the_number_is_that_of_add(tmp_path: Path) -> None:
    """As LiteRT's programs for an NPU have it."""
    tensors = [Tensor(name, (1, 4)) for name in ("a", "b", "y")]
    operator = Operator("ADD", ("a", "b"), ("y",), custom="DISPATCH_OP")
    (tmp_path / "m.tflite").write_bytes(write(tensors, [operator], ["a", "b"], ["y"]))
    with pytest.raises(ModelError, match=r"tflite\.custom::DISPATCH_OP 'y': no backend has this"):
        compile_model(tmp_path / "m.tflite", load_board("host"), name="m")


def test_a_program_for_an_ethos_u_is_told_from_the_model(tmp_path: Path) -> None:
    """Its scratch memory is a tensor that nothing writes."""
    operators = [Operator("CUSTOM", ("x", "scratch"), ("y",), custom="ethos-u")]
    tensors = [Tensor(name, (1, 4)) for name in ("x", "scratch", "y")]
    (tmp_path / "m.tflite").write_bytes(write(tensors, operators, ["x"], ["y"]))
    with pytest.raises(ModelError, match="which Vela made of the model; give the file that Vela"):
        compile_model(tmp_path / "m.tflite", load_board("host"), name="m")
    assert "custom operator ethos-u" not in tflite_ops.read()


@pytest.mark.parametrize("size", [9, 10])
def test_mediapipes_transposed_convolution_is_tflites_with_a_bias(
    size: int, tmp_path: Path
) -> None:
    generator = np.random.default_rng(2)
    x = generator.standard_normal((1, 4, 5, 3)).astype(np.float32)
    shape = (1, size, 11, 2)
    tensors = [
        Tensor("x", x.shape), constant("w", generator.standard_normal((2, 3, 2, 3)).astype("f4")),
        constant("b", np.array([0.5, -1], np.float32)), Tensor("y", shape),
        constant("shape", np.array(shape, np.int32)),
    ]  # fmt: skip
    own = Operator(
        "CUSTOM", ("x", "w", "b"), ("y",), custom="Convolution2DTransposeBias",
        custom_options=struct.pack("<3i", 1, 2, 2),
    )  # fmt: skip
    options = {"StrideH": 2, "StrideW": 2, "Padding": 0}
    tflites = Operator(
        "TRANSPOSE_CONV", ("shape", "w", "x", "b"), ("y",), "TransposeConvOptions", options
    )
    found = []
    for operator in (own, tflites):
        (tmp_path / "m.tflite").write_bytes(write(tensors, [operator], ["x"], ["y"]))
        graph = passes.run(formats.load(tmp_path / "m.tflite"))
        found += interpreter.run(graph, [x])
    assert np.array_equal(*found)


@pytest.mark.needs_host_gcc
def test_a_backend_that_has_it_computes_it(path: Path, tmp_path: Path) -> None:
    registry = Registry.builtin().with_backend("Multiplier", Multiplier)
    with Session(registry) as session:
        network = compile_model(
            path, load_board("host"), name="m", session=session, options=Options(weights="array")
        )
    x = np.array([[1.5, -2, 0, 4]], np.float32)
    ((found,),) = run_on_host([Compiled(Case((x,)), network)], tmp_path)
    assert np.array_equal(found, -3 * np.abs(x))

"""Networks of odd shapes: many inputs, scalars, int64, outputs that are inputs or constants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import network_programs as programs
import numpy as np
import numpy.typing as npt
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from operators.lab import make_model
from sampling import first

from mcu_deploy.api.building import build
from mcu_deploy.api.validating import validate
from mcu_deploy.boards import load_board
from mcu_deploy.compiler import compile_model
from mcu_deploy.errors import McuDeployError, ModelError
from mcu_deploy.options import Options

pytestmark = [pytest.mark.needs_arm_gcc, pytest.mark.needs_host_gcc]

Array = npt.NDArray[Any]
F4 = ("float32", [4])
NEGATIVE = np.array([-1.5, 2.0, -0.0, 7.25], np.float32)
CONSTANT = np.arange(4, dtype=np.float32)


@dataclass(frozen=True)
class Odd:
    """A model, inputs for it, and what must come out; how many layers it is computed in."""

    model: onnx.ModelProto
    inputs: Sequence[Array]
    outputs: Sequence[Array]
    layers: int | None = None


def node(op: str, inputs: str, outputs: str, **attributes: Any) -> onnx.NodeProto:
    return helper.make_node(op, inputs.split(), outputs.split(), **attributes)


def many_tensors(inputs: int, outputs: int) -> onnx.ModelProto:
    """All elements of the inputs in a row, none below 0: the outputs are pieces of it, of four
    elements each, and the rest."""
    pieces = [4] * (outputs - 1) + [4 * (inputs - outputs + 1)]
    given, made = [f"a{i}" for i in range(inputs)], [f"y{i}" for i in range(outputs)]
    nodes = [
        helper.make_node("Concat", given, ["all"], axis=0),
        node("Relu", "all", "positive"),
        helper.make_node("Split", ["positive", "pieces"], made, axis=0),
    ]
    shapes = {name: ("float32", [piece]) for name, piece in zip(made, pieces, strict=True)}
    return make_model(
        nodes, dict.fromkeys(given, F4), shapes, {"pieces": np.array(pieces, np.int64)}
    )


def relu(x: Array) -> Array:
    return np.maximum(x, np.float32(0))


def _passed_through(kind: str, value: Array) -> Odd:
    """No layer at all: a tensor of a type that no kernel computes, under another shape."""
    typed = value.astype(kind)
    model = make_model([], {"a": ("float32", [1])}, {"y": ("float32", [1])})
    code = helper.np_dtype_to_tensor_dtype(typed.dtype)
    del model.graph.input[:], model.graph.output[:]
    model.graph.input.append(helper.make_tensor_value_info("a", code, typed.shape))
    model.graph.output.append(helper.make_tensor_value_info("y", code, [1, typed.size]))
    model.graph.node.append(node("Flatten", "a", "y", axis=0))
    return Odd(model, [typed], [typed.reshape(1, -1)], 0)


def odd_models() -> dict[str, Odd]:
    a, b = NEGATIVE, NEGATIVE[::-1].copy()
    shape = np.array([2, 2], np.int64)
    scalar = np.array(-3.5, np.float32)
    found = {
        "two inputs, three outputs": Odd(
            make_model(
                [node("Add", "a b", "x"), node("Relu", "a", "y"), node("Relu", "x", "z")],
                {"a": F4, "b": F4},
                {"x": F4, "y": F4, "z": F4},
            ),
            [a, b],
            [a + b, relu(a), relu(a + b)],
        ),
        "as many tensors as there may be": Odd(
            many_tensors(200, 55),
            [a * np.float32(i) for i in range(200)],
            np.split(
                relu(np.outer(np.arange(200), a).astype(np.float32).ravel()), range(4, 220, 4)
            ),
        ),
        "an input that is not read": Odd(
            make_model([node("Relu", "b", "y")], {"a": F4, "b": F4}, {"y": F4}), [a, b], [relu(b)]
        ),
        "scalars": Odd(
            make_model(
                [node("Neg", "a", "y"), node("Add", "a a", "z")],
                {"a": ("float32", [])},
                {"y": ("float32", []), "z": ("float32", [])},
            ),
            [scalar],
            [-scalar, scalar + scalar],
        ),
        "an output that is an input": Odd(
            make_model([node("Relu", "a", "y")], {"a": F4}, {"a": F4, "y": F4}), [a], [a, relu(a)]
        ),
        "nothing but an input": Odd(make_model([], {"a": F4}, {"a": F4}), [a], [a], 0),
        "an identity": Odd(
            make_model([node("Identity", "a", "y")], {"a": F4}, {"y": F4}), [a], [a]
        ),
        "an output that is a constant": Odd(
            make_model([node("Relu", "a", "y")], {"a": F4}, {"c": F4, "y": F4}, {"c": CONSTANT}),
            [a],
            [CONSTANT, relu(a)],
        ),
        "nothing but a constant": Odd(
            make_model(
                [node("Constant", "", "y", value=numpy_helper.from_array(CONSTANT))], {}, {"y": F4}
            ),
            [],
            [CONSTANT],
        ),
        "one value, two outputs": Odd(
            make_model(
                [node("Relu", "a", "y"), node("Identity", "y", "z")], {"a": F4}, {"y": F4, "z": F4}
            ),
            [a],
            [relu(a), relu(a)],
        ),
        "an input and a view of it": Odd(
            make_model(
                [node("Relu", "a", "y"), node("Reshape", "a s", "v")],
                {"a": F4},
                {"v": ("float32", [2, 2]), "y": F4},
                {"s": shape},
            ),
            [a],
            [a.reshape(2, 2), relu(a)],
        ),
        "odd constants": Odd(
            make_model(
                [node("Add", "a c", "y")],
                {"a": F4},
                {"y": F4},
                {"c": np.array([np.inf, -np.inf, -0.0, 1e-45], np.float32)},
            ),
            [a],
            [a + np.array([np.inf, -np.inf, -0.0, 1e-45], np.float32)],
        ),
    }
    for kind in ("int64", "uint64", "int16", "int32", "bool", "float64", "uint8"):
        found[kind] = _passed_through(kind, np.array([[1, 0], [-5, 7]]))
    found["int64 scalar"] = _passed_through("int64", np.array(-(2**63)))
    return found


@pytest.mark.parametrize("weights", first(["array", "incbin"]))
def test_odd_networks_run_and_give_what_they_should(weights: str, tmp_path: Path) -> None:
    """All in one program, under sanitizers, compiled with -Werror."""
    odd = odd_models()
    networks = []
    for index, (what, case) in enumerate(odd.items()):
        path = tmp_path / f"n{index}.onnx"
        onnx.save(case.model, path)
        network = compile_model(path, load_board("host"), options=Options(weights=weights))
        if case.layers is not None:
            assert len(network.plan.steps) == case.layers, what
        outputs = [network.graph.edge_name(e) for e in network.graph.outputs]
        assert outputs == [o.name for o in case.model.graph.output], what
        networks.append(network)
    program = programs.host_program(networks, tmp_path, flags=programs.SANITIZERS)
    given = b"".join(np.ascontiguousarray(i).tobytes() for c in odd.values() for i in c.inputs)
    raw = programs.run([program], given=given)
    answers = programs.split(raw, networks)
    for (what, case), found in zip(odd.items(), answers, strict=True):
        assert len(found) == len(case.outputs), what
        for actual, wanted in zip(found, case.outputs, strict=True):
            np.testing.assert_array_equal(actual, wanted, err_msg=what)
            assert actual.dtype == wanted.dtype, what
            assert actual.shape == wanted.shape, what


def test_odd_networks_are_one_firmware(tmp_path: Path) -> None:
    """For a Cortex-M: fit, hygiene and stack bound hold for networks without layers too."""
    paths = []
    for index, case in enumerate(odd_models().values()):
        paths.append(tmp_path / f"n{index}.onnx")
        onnx.save(case.model, paths[-1])
    built = build(paths, "mps2-an386", tmp_path / "out")
    assert built.firmware.is_file()
    networks = built.report.networks
    assert all(n.flash_bytes > 0 and n.ram_bytes >= n.arena_bytes > 0 for n in networks)


@pytest.mark.parametrize(
    "board",
    [
        "host",
        pytest.param("mps2-an386", marks=[pytest.mark.matrix, pytest.mark.needs_qemu]),
        pytest.param("nucleo_g0b1re", marks=[pytest.mark.matrix, pytest.mark.needs_renode]),
    ],
)
def test_a_run_of_many_inputs_is_asked_for(board: str, tmp_path: Path) -> None:
    """More than one request has room for the checksums of."""
    onnx.save(many_tensors(254, 1), tmp_path / "many.onnx")
    build(tmp_path / "many.onnx", board, tmp_path / "out")
    found = validate(tmp_path / "out", onnxruntime=False)
    assert found.passed and found.samples > 0


def test_what_cannot_be_compiled_is_a_sentence(tmp_path: Path) -> None:
    def refused(model: onnx.ModelProto, kind: type[McuDeployError], words: str) -> None:
        path = tmp_path / "model.onnx"
        path.write_bytes(model.SerializeToString())
        with pytest.raises(kind, match=words) as caught:
            build(path, "host", tmp_path / "out", name="n")
        assert str(caught.value).rstrip().endswith("."), str(caught.value)
        assert not (tmp_path / "out").exists()

    refused(many_tensors(200, 56), ModelError, "256 inputs and outputs; 255 are taken")
    int64 = {"a": ("int64", [3])}
    waves = make_model([node("Sin", "a", "y")], int64, {"y": ("int64", [3])})
    refused(waves, McuDeployError, "int64")
    numbers = make_model([node("Relu", "a", "y")], {"a": F4}, {"y": F4})
    for value in (numbers.graph.input[0], numbers.graph.output[0]):
        value.type.tensor_type.elem_type = TensorProto.COMPLEX64
    refused(numbers, ModelError, "COMPLEX64")

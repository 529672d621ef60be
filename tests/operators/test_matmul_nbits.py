"""onnxruntime's MatMulNBits: its numbers, and weights that stay as small as in the file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from operators.lab import Case, check_cases, compile_case

from mcu_deploy import formats
from mcu_deploy.errors import McuDeployError


def _case(
    name: str, k: int, n: int, block: int, bits: int = 4, *, zeros: str = "", order: str = "",
    bias: bool = False, computed: str = "",
) -> Case:  # fmt: skip
    """zeros: "bytes" or "real"; order: "as it is" or "other"; computed: an input that is none of
    the constants."""
    random, blocks = np.random.default_rng(k + n), -(-k // block)
    constants: dict[str, Any] = {
        "b": random.integers(0, 256, (n, blocks, block * bits // 8)).astype(np.uint8),
        "s": random.uniform(0.01, 0.1, n * blocks).astype(np.float32),
    }
    names = ["x", "b", "s", "", "", ""]
    if zeros == "bytes":
        size = n * -(-blocks * bits // 8)
        constants["z"] = random.integers(0, 256, size).astype(np.uint8)
    elif zeros:
        constants["z"] = random.integers(0, 1 << bits, n * blocks).astype(np.float32)
    if order:
        at = np.arange(k) // block
        constants["g"] = (at if order == "as it is" else at[::-1]).astype(np.int32)
    if bias:
        constants["c"] = random.normal(size=n).astype(np.float32)
    for place, one in ((3, "z"), (4, "g"), (5, "c")):
        names[place] = one if one in constants else ""
    while not names[-1]:
        names.pop()
    node = helper.make_node(
        "MatMulNBits", names, ["y"], "layer", domain="com.microsoft",
        K=k, N=n, bits=bits, block_size=block, accuracy_level=1,
    )  # fmt: skip
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3, k])]
    x = random.normal(size=(2, 3, k)).astype(np.float32)
    samples = [x]
    if computed:
        value = constants.pop(computed)
        kind = helper.np_dtype_to_tensor_dtype(value.dtype)
        inputs.append(helper.make_tensor_value_info(computed, kind, value.shape))
        samples.append(value)
    graph = helper.make_graph(
        [node], "case", inputs, [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 3, n])],
        [numpy_helper.from_array(v, key) for key, v in constants.items()],
    )  # fmt: skip
    imported = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=imported, ir_version=8)
    return Case(name, model, tuple(samples))


SMALL = (
    _case("plain", 64, 10, 32),
    _case("one block", 16, 3, 16),
    _case("zero points", 64, 6, 16, zeros="bytes", bias=True),
    _case("an odd number of blocks", 48, 5, 16, zeros="bytes"),
    _case("a last block of few", 100, 6, 32, zeros="bytes"),
    _case("order as it is", 96, 6, 32, order="as it is"),
    _case("less than a block", 40, 4, 64, bias=True),
)
LARGE = (_case("8 bits", 64, 4, 16, 8), _case("an odd depth", 33, 4, 16))
REFUSED = (
    _case("another order", 64, 4, 16, order="other"),
    _case("an order and zero points", 64, 4, 16, order="as it is", zeros="bytes"),
    _case("computed weights", 64, 4, 16, computed="b"),
    _case("computed scales", 64, 4, 16, computed="s"),
    _case("zero points between integers", 64, 4, 16, zeros="real"),
)


@pytest.mark.needs_host_gcc
def test_the_numbers_of_onnxruntime(tmp_path: Path) -> None:
    check_cases([*SMALL, *LARGE], tmp_path)


def test_two_weights_take_a_byte(tmp_path: Path) -> None:
    for index, case in enumerate(SMALL):
        network = compile_case(case, tmp_path, index).network
        constants = [c for s in network.plan.steps for c in s.choice.workload.constants]
        (weights,) = [c for c in constants if c.stem == "weights"]
        (_, k), n = case.inputs[0].shape[1:], case.model.graph.output[0].type.tensor_type.shape
        assert 2 * weights.value.nbytes == k * n.dim[2].dim_value, case.name
        assert weights.value.dtype == np.uint8


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.name)
def test_what_is_no_constant_of_blocks_is_told(case: Case, tmp_path: Path) -> None:
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    if case.name == "zero points between integers":
        (points,) = (t for t in model.graph.initializer if t.name == "z")
        points.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(points) + 0.5, "z"))
    onnx.save(model, tmp_path / "m.onnx")
    with pytest.raises(McuDeployError, match="g_idx changes their order or stands"):
        compile_case(Case(case.name, model, case.inputs), tmp_path, 0)
    assert formats.load(tmp_path / "m.onnx").nodes

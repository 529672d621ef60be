"""Scales that no sane model has: the oracle's bits all the same, or a backend that says no."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from sampling import first

from mcu_deploy.api.building import build
from mcu_deploy.api.validating import validate
from mcu_deploy.options import Options

pytestmark = [pytest.mark.usefixtures("any_order")]

# Denormal, what saturates past 64 bits, ordinary ones, and what makes all outputs the zero point.
_Y_SCALES = (1e-45, 4e-23, 3e-5, 0.02, 3e38)
_W_SCALES = (1e-30, 0.01, 1e30)
_ZEROS = {"int8": (-128, 3), "uint8": (0, 200)}
# Of x, by what stands before an operator's name: with these the factors are 0, infinite, no number.
_X_SCALES = {"tiny": 1e-30, "huge": 1e30, "largest": 3e38}


def _model(path: Path, op: str, seed: int) -> Path:
    """Layers of one input, one for each pair of scales."""
    rng = np.random.default_rng(seed)
    nodes, arrays, outputs = [], [], []

    def given(name: str, value: np.ndarray | float | int, dtype: str = "float32") -> str:
        arrays.append(numpy_helper.from_array(np.asarray(value, dtype), name))
        return name

    which, _, op = op.rpartition(" ")
    x = ["x", given("sx", _X_SCALES.get(which, 0.05)), given("zx", -5, "int8")]
    for n, (w_scale, y_scale) in enumerate(product(_W_SCALES, _Y_SCALES)):
        dtype = ("int8", "uint8")[n % 2]
        zero = _ZEROS[dtype][n // 2 % 2]
        y = [given(f"sy{n}", y_scale), given(f"zy{n}", zero, dtype)]
        shape = {"1x1": (6, 8, 1, 1), "3x3": (6, 8, 3, 3), "depthwise": (8, 1, 3, 3),
                 "matmul": (4, 6)}.get(op, (1, 8, 4, 4))  # fmt: skip
        weights = given(f"w{n}", rng.integers(-127, 128, shape), "int8")
        w = [weights, given(f"sw{n}", w_scale), given(f"zw{n}", 0, "int8")]
        if op in ("add", "mul"):
            real = [f"x{n}", f"v{n}", f"r{n}"]
            nodes.append(helper.make_node("DequantizeLinear", x, real[:1]))
            nodes.append(helper.make_node("DequantizeLinear", w, real[1:2]))
            nodes.append(helper.make_node(op.capitalize(), real[:2], real[2:], name=f"{op}_{n}"))
            nodes.append(helper.make_node("QuantizeLinear", [real[2], *y], [f"y{n}"]))
        elif op in ("matmul", "square"):
            w = [x[0], *w[1:]] if op == "square" else w
            nodes.append(helper.make_node("QLinearMatMul", [*x, *w, *y], [f"y{n}"], name=f"m{n}"))
        else:
            more = {"pads": [1] * 4} if shape[2] == 3 else {}
            group = 8 if op == "depthwise" else 1
            nodes.append(helper.make_node(
                "QLinearConv", [*x, *w, *y], [f"y{n}"], name=f"{op}_{n}", group=group, **more
            ))  # fmt: skip
        kind = TensorProto.INT8 if dtype == "int8" else TensorProto.UINT8
        outputs.append(helper.make_tensor_value_info(f"y{n}", kind, None))
    image = helper.make_tensor_value_info("x", TensorProto.INT8, (1, 8, 4, 4))
    graph = helper.make_graph(nodes, "extreme", [image], outputs, arrays)
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8
    )  # fmt: skip
    onnx.save(onnx.shape_inference.infer_shapes(model), path)
    return path


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """At random, both ends, and the zero point, of which every product is 0."""
    rng = np.random.default_rng(7)
    values = rng.integers(-128, 128, (4, 1, 8, 4, 4)).astype(np.int8)
    values[1], values[2], values[3] = -128, 127, -5
    path = tmp_path_factory.mktemp("samples") / "in.npz"
    np.savez(path, in0=values)
    return path


_OPS = ("3x3", "add", "huge mul", "matmul", "1x1", "depthwise", "mul", "tiny mul")
_DSP = ("ArmDsp", "CpuRef")
# In the sample two of them in one firmware, and what only CpuRef computes.
_CASES = [
    ("host", ("CpuRef",), ("largest square",), 0), ("mps2-an386", _DSP, ("3x3", "huge mul"), 0),
    *((board, _DSP, (op,), 0) for board in ("mps2-an386", "mps2-an500", "mps2-an505")
      for op in _OPS),
    *(("host", ("CpuRef",), (op,), 0) for op in _OPS),
    *(("mps2-an386", _DSP, (op,), seed) for seed in range(1, 6) for op in _OPS),
    *((board, _DSP, (op,), 0) for board in ("mps2-an386", "mps2-an505") for op in (
        "tiny 1x1", "huge 1x1", "largest mul", "tiny add", "largest add", "largest matmul",
    )),
    ("mps2-an386", _DSP, ("largest square",), 0),
]  # fmt: skip


@pytest.mark.needs_qemu
@pytest.mark.needs_arm_gcc
@pytest.mark.parametrize(("board", "backends", "ops", "seed"), first(_CASES, 2))
def test_the_bits_are_the_oracle_s(
    board: str, backends: Sequence[str], ops: Sequence[str], seed: int, samples: Path,
    tmp_path: Path,
) -> None:  # fmt: skip
    paths = [_model(tmp_path / f"{n}.onnx", op, seed) for n, op in enumerate(ops)]
    names = [f"n{path.stem}" for path in paths]
    options = Options(backends=tuple(backends), optimize_for="speed")
    built = build(paths, board, tmp_path / "build", name=names, options=options)
    for name, op in zip(names, ops, strict=True):
        result = validate(built, samples, model=name, onnxruntime=False)
        assert len(result.oracle) == len(_W_SCALES) * len(_Y_SCALES)
        assert [metrics.worst for metrics in result.oracle] == [0] * len(result.oracle), op

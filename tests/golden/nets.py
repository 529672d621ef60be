"""The networks whose generated C is committed, and what they are compiled with.

kws is the package's example. The small ones, written by `make golden` beside their C, show what it
does not have: float layers, a residual sum, a state, windows around states, a second pool, a
partition. All these are CpuRef's; of ArmDsp and ArmMve there is a layer of each family of kernels,
of whose files the kernels and what calls them are kept: the rest is as in CpuRef's.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import arm_dsp_cases
import arm_dsp_conv_pool_cases
import arm_dsp_conversion_cases
import arm_dsp_convolutions
import arm_dsp_dense_cases
import arm_dsp_depthwise_cases
import arm_dsp_int16_cases
import arm_dsp_matmul_cases
import arm_dsp_pool_cases
import arm_dsp_softmax_cases
import arm_dsp_strips_cases
import arm_dsp_sum_cases
import arm_dsp_table_cases
import arm_dsp_winograd_cases
import arm_mve_broadcast_cases
import arm_mve_cases
import arm_mve_chain_cases
import arm_mve_conv_cases
import arm_mve_dense_cases
import arm_mve_depthwise_cases
import arm_mve_matmul_cases
import arm_mve_normalization_cases
import arm_mve_pool_cases
import arm_mve_sum_cases
import arm_mve_table_cases
import arm_mve_tflite
import float_cases
import numpy as np
import onnx
import transposed_cases
from branchy import residual
from onnx import helper
from operators.lab import make_model
from operators.tflite_lstm_file import Lstm, write
from state_programs import streaming_convolution, streaming_rows

from mcu_deploy.boards import load_board
from mcu_deploy.compiler import compile_model
from mcu_deploy.options import Options, PartitionRequest, PoolRequests, Requests, StateRequest

FOLDER = Path(__file__).parent
KWS = FOLDER.parent.parent / "mcu_deploy" / "examples" / "kws" / "model.onnx"


@dataclass(frozen=True)
class Net:
    """model: makes the file that is committed, of bytes a TFLite file; None for the example's.
    board: by name."""

    name: str
    model: Callable[[], onnx.ModelProto | bytes] | None
    options: Options = field(default_factory=Options)
    board: str = "mps2-an386"
    backends: tuple[str, ...] = ("CpuRef",)

    @property
    def path(self) -> Path:
        if self.model is None:
            return KWS
        is_tflite = self.model in (dsp_lstm, mve_tflite)
        return FOLDER / f"{self.model.__name__}.{'tflite' if is_tflite else 'onnx'}"

    def sources(self, board: str = "") -> Mapping[str, bytes]:
        """The generated source, without the weights, and the header, by the names they are kept
        under; of other backends' networks the kernels and their calls. board: another one than the
        net's."""
        options = replace(self.options, backends=self.backends)
        core = load_board(board or self.board)
        files = compile_model(self.path, core, name=self.name, options=options).sources.files
        kept = {end: files[f"network_{self.name}.{end}"] for end in self.ends}
        if self.ends == ("c",):
            begin = kept["c"].index(b"/* ---- Kernels ---- */")
            kept["c"] = kept["c"][begin : kept["c"].index(b"static int32_t _mcu_", begin)]
        return {f"{self.name}.{self.board}.{end}": content for end, content in kept.items()}

    @property
    def ends(self) -> tuple[str, ...]:
        return ("h", "c") if self.backends == ("CpuRef",) else ("c",)


def float_layers() -> onnx.ModelProto:
    """Convolution with Relu, average over the plane, a matrix, Softmax."""
    random = np.random.default_rng(1)
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["c"], "conv", pads=(1, 1, 1, 1), strides=(2, 2)),
        helper.make_node("Relu", ["c"], ["r"], "relu"),
        helper.make_node("GlobalAveragePool", ["r"], ["p"], "pool"),
        helper.make_node("Flatten", ["p"], ["f"], "flatten"),
        helper.make_node("Gemm", ["f", "v"], ["g"], "gemm"),
        helper.make_node("Softmax", ["g"], ["y"], "softmax"),
    ]
    constants = {
        "w": random.standard_normal((4, 2, 3, 3)).astype(np.float32),
        "b": random.standard_normal(4).astype(np.float32),
        "v": random.standard_normal((4, 3)).astype(np.float32),
    }
    return make_model(
        nodes, {"x": ("float32", (1, 2, 8, 8))}, {"y": ("float32", (1, 3))}, constants
    )


def dsp_lstm() -> bytes:
    """A layer of eight units."""
    return write(Lstm(37, inputs=4, hidden=8, h=(0.0078, 0), x=(0.02, -128)))


def mve_tflite() -> bytes:
    """Layers that are rounded twice."""
    with tempfile.TemporaryDirectory() as folder:
        path = arm_mve_tflite.model(arm_mve_tflite.SMALL, Path(folder) / "model.tflite")
        return path.read_bytes()


def _of_arm_dsp(
    family: str, module: ModuleType, cases: Sequence[Any], goal: str = "balanced"
) -> Net:
    """Layers of the kernels' tests."""

    def model() -> onnx.ModelProto:
        with tempfile.TemporaryDirectory() as folder:
            return onnx.load(module.model(cases, Path(folder) / "model.onnx"))

    model.__name__ = name = f"dsp_{family}"
    return Net(name, model, Options(optimize_for=goal), "mps2-an386", ("ArmDsp", "CpuRef"))


def _of_arm_mve(
    family: str, module: ModuleType, cases: Sequence[Any], goal: str = "balanced"
) -> Net:
    """As of ArmDsp."""
    made = _of_arm_dsp(family, module, cases)
    made.model.__name__ = name = f"mve_{family}"
    options = Options(optimize_for=goal)
    return Net(name, made.model, options, "mps3-an547", ("ArmMve", "CpuRef"))


_CONVERSIONS = [arm_dsp_conversion_cases.Conversion(12, 0.05, 3, is_back=b) for b in (False, True)]
NETS = (
    Net("kws", None),
    Net("float_layers", float_layers),
    Net("residual", residual),
    Net(
        "state",
        streaming_convolution,
        Options(requests=Requests(states=(StateRequest("ring", "next"),))),
    ),
    Net(
        "rows",
        streaming_rows,
        Options(
            requests=Requests(states=tuple(StateRequest(f"ring{k}", f"next{k}") for k in (0, 1)))
        ),
    ),
    Net(
        "pools",
        residual,
        Options(pools=PoolRequests(pinned={"image": "psram"}, hot_weights=500)),
    ),
    Net(
        "partition",
        residual,
        Options(
            requests=Requests(
                ("stem_int8",), (PartitionRequest("head", ("image",), ("stem_int8",)),)
            )
        ),
    ),
    _of_arm_dsp("pointwise", arm_dsp_cases, [arm_dsp_cases.Case(8, 8, 4, 3)]),
    _of_arm_dsp(
        "shared",
        arm_dsp_cases,
        [arm_dsp_cases.Case(8, 8, 4, 3), arm_dsp_cases.Case(16, 12, 4, 3)],
        "size",
    ),
    _of_arm_dsp("chain", arm_dsp_cases, [arm_dsp_cases.Case(8, 8, 5, 4, 1)]),
    _of_arm_dsp("convolution", arm_dsp_convolutions, [arm_dsp_convolutions.TAKEN[2]]),
    _of_arm_dsp("depthwise", arm_dsp_convolutions, [arm_dsp_depthwise_cases.TAKEN[0]]),
    _of_arm_dsp("int16", arm_dsp_int16_cases, arm_dsp_int16_cases.GOLDEN),
    _of_arm_dsp("conv_pool", arm_dsp_conv_pool_cases, [arm_dsp_conv_pool_cases.TAKEN[1]], "ram"),
    _of_arm_dsp("conversion", arm_dsp_conversion_cases, _CONVERSIONS),
    _of_arm_dsp("transposed", transposed_cases, [transposed_cases.TAKEN[3]]),
    _of_arm_dsp("strips_1x1", arm_dsp_cases, [arm_dsp_cases.STRIPS[4]], "ram"),
    _of_arm_dsp("product", arm_dsp_sum_cases, [arm_dsp_sum_cases.TAKEN[10]]),
    Net("dsp_lstm", dsp_lstm, Options(), "mps2-an386", ("ArmDsp", "CpuRef")),
    _of_arm_dsp("winograd", arm_dsp_convolutions, [arm_dsp_winograd_cases.TAKEN[5]], "speed"),
    _of_arm_dsp("strips", arm_dsp_strips_cases, [arm_dsp_strips_cases.BLOCK], "ram"),
    _of_arm_dsp("dense", arm_dsp_dense_cases, [arm_dsp_dense_cases.SMALL]),
    _of_arm_dsp("matmul", arm_dsp_matmul_cases, [arm_dsp_matmul_cases.TAKEN[9]]),
    _of_arm_dsp("pools", arm_dsp_pool_cases, [arm_dsp_pool_cases.LARGEST, arm_dsp_pool_cases.EVEN]),
    _of_arm_dsp("softmax", arm_dsp_softmax_cases, [arm_dsp_softmax_cases.TAKEN[1]]),
    _of_arm_dsp("sum", arm_dsp_sum_cases, [arm_dsp_sum_cases.TAKEN[1]]),
    _of_arm_dsp("maximum", arm_dsp_sum_cases, [arm_dsp_sum_cases.EXTREMES[0]]),
    _of_arm_dsp("difference_floats", arm_dsp_sum_cases, [arm_dsp_sum_cases.TAKEN[15]]),
    _of_arm_dsp("float_depthwise", float_cases, float_cases.GOLDEN["depthwise"]),
    _of_arm_dsp("float_pointwise", float_cases, [float_cases.CONVOLUTIONS[1]]),
    _of_arm_dsp("table", arm_dsp_table_cases, [arm_dsp_table_cases.TAKEN[1]]),
    _of_arm_mve("pointwise", arm_mve_cases, [arm_mve_cases.GOLDEN]),
    _of_arm_mve("convolution", arm_mve_conv_cases, [arm_mve_conv_cases.GOLDEN]),
    _of_arm_mve("dense", arm_mve_dense_cases, [arm_mve_dense_cases.GOLDEN], "speed"),
    _of_arm_mve("shared", arm_mve_cases, [arm_mve_cases.TAKEN[1], arm_mve_cases.TAKEN[4]], "size"),
    _of_arm_mve("matmul", arm_mve_matmul_cases, [arm_mve_matmul_cases.GOLDEN]),
    _of_arm_mve("normalization", arm_mve_normalization_cases, [arm_mve_normalization_cases.GOLDEN]),
    _of_arm_mve("depthwise", arm_mve_depthwise_cases, [arm_mve_depthwise_cases.GOLDEN]),
    _of_arm_mve("chain", arm_mve_chain_cases, [arm_mve_chain_cases.GOLDEN], "speed"),
    Net("mve_tflite", mve_tflite, Options(), "mps3-an547", ("ArmMve", "CpuRef")),
    _of_arm_mve("conversion", arm_dsp_conversion_cases, _CONVERSIONS),
    _of_arm_mve("pool", arm_mve_pool_cases, [arm_mve_pool_cases.GOLDEN]),
    _of_arm_mve("sum", arm_mve_sum_cases, [arm_mve_sum_cases.GOLDEN]),
    _of_arm_mve("broadcast", arm_mve_broadcast_cases, [arm_mve_broadcast_cases.GOLDEN]),
    _of_arm_mve("table", arm_mve_table_cases, [arm_mve_table_cases.GOLDEN]),
    *(_of_arm_mve(f"float_{f}", float_cases, c) for f, c in float_cases.GOLDEN.items()),
)


def files() -> dict[str, bytes]:
    """Every committed C file, as it would be generated now."""
    return {name: text for net in NETS for name, text in net.sources().items()}

"""Measures what CpuRef's kernels cost on a Cortex-M4, and fits the table of its costs.py.

    .venv/bin/python benchmarks/fit_costs.py [MODELS]

Counts the instructions of every layer of every model of the pack that builds, and of a model for
the operators that these lack, on mps2-an386 in an emulator. MODELS is the folder of the model pack,
../shared/models by default. Prints the coefficients, least squares of the relative errors, as they
stand in mcu_deploy/backends/CpuRef/costs.py: the coefficients, then how far the estimate is off, in
the median and at worst, and on how many different layers that rests.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

from mcu_deploy.backends.CpuRef.costs import Work, work_of
from mcu_deploy.building import build
from mcu_deploy.errors import UnsupportedError
from mcu_deploy.folder import open_folder
from mcu_deploy.profiling import profile

_BOARD = "mps2-an386"
_HERE = Path(__file__).resolve().parent

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Row:
    """A layer that was measured."""

    work: Work
    instructions: int


def measure(model: Path) -> Iterator[Row]:
    """Builds a model, and counts each of its layers."""
    with tempfile.TemporaryDirectory() as directory:
        built = build(model, _BOARD, directory, name="model")
        counted = profile(open_folder(directory))
    steps = built.networks[0].network.plan.steps
    for step, cost in zip(steps, counted.layers, strict=True):
        yield Row(work_of(step.choice.layer), cost.cost)


def fit(rows: Sequence[Row]) -> Array:
    """The coefficients, none negative, of the least squares of the relative errors."""
    counts = np.array([row.work.counts for row in rows], dtype=np.float64)
    scaled = counts / np.array([[row.instructions] for row in rows])
    best, least = np.zeros(counts.shape[1]), np.inf
    for size in range(1, counts.shape[1] + 1):
        for columns in combinations(range(counts.shape[1]), size):
            found = np.zeros(counts.shape[1])
            found[list(columns)] = np.linalg.lstsq(
                scaled[:, columns], np.ones(len(rows)), rcond=None
            )[0]
            error = float(np.sum((scaled @ found - 1) ** 2))
            if np.all(found >= 0) and error < least - 1e-9:
                best, least = found, error
    return np.round(best, 1)


def errors(rows: Sequence[Row], coefficients: Array) -> Array:
    """Relative errors of the estimates, as costs.py rounds them."""
    return np.array([abs(np.dot(r.work.counts, coefficients) / r.instructions - 1) for r in rows])


class _Cases:
    """A model with each operator once as float32 and once between quantized tensors."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.inputs: dict[tuple[int, ...], str] = {}
        self.results: list[str] = []
        self.constants: list[onnx.TensorProto] = []
        self._source = np.random.default_rng(1)
        self._tensors = 0

    def tensor(self, value: npt.NDArray[Any]) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(value, name))
        return name

    def node(self, op: str, inputs: Sequence[str], **attributes: Any) -> str:
        self._tensors += 1
        name = f"t{self._tensors}"
        self.nodes.append(helper.make_node(op, list(inputs), [name], name, **attributes))
        return name

    def input(self, shape: Sequence[int]) -> str:
        return self.inputs.setdefault(tuple(shape), f"x{len(self.inputs)}")

    def data(self, shape: Sequence[int]) -> str:
        """A computed tensor with values around zero; bench.elf's own inputs are all zero."""
        return self.node("Add", [self.input(shape), self.tensor(self.random(shape))])

    def random(self, shape: Sequence[int]) -> npt.NDArray[np.float32]:
        return self._source.uniform(-2, 2, list(shape)).astype(np.float32)

    def quantized(self, value: str) -> str:
        scale = self.tensor(np.float32(1 / 32))
        zero = self.tensor(np.int8(3))
        return self.node(
            "DequantizeLinear", [self.node("QuantizeLinear", [value, scale, zero]), scale, zero]
        )

    def weights(self, shape: Sequence[int], quantized: bool) -> str:
        if not quantized:
            return self.tensor(self.random(shape))
        value = self._source.integers(-90, 90, list(shape)).astype(np.int8)
        zero = self.tensor(np.int8(0))
        return self.node(
            "DequantizeLinear", [self.tensor(value), self.tensor(np.float32(1 / 64)), zero]
        )

    def both(
        self,
        op: str,
        shapes: Sequence[Sequence[int]],
        weights: Sequence[Sequence[int]] = (),
        constants: Sequence[npt.NDArray[Any]] = (),
        kinds: Sequence[bool] = (False, True),
        **attributes: Any,
    ) -> None:
        """The operator on computed tensors of these shapes, weights, and integer constants."""
        for quantized in kinds:
            data = [self.data(shape) for shape in shapes]
            if quantized:
                data = [self.quantized(value) for value in data]
            inputs = [
                *data,
                *(self.weights(shape, quantized) for shape in weights),
                *(self.tensor(value) for value in constants),
            ]
            result = self.node(op, inputs, **attributes)
            self.results.append(self.quantized(result) if quantized else result)

    def model(self) -> onnx.ModelProto:
        """All results, one behind the other, are the one output: the runtime takes 16 tensors."""
        flat = self.tensor(np.array([-1]))
        rows = [self.node("Reshape", [result, flat]) for result in self.results]
        self.nodes.append(helper.make_node("Concat", rows, ["y"], "y", axis=0))
        inputs = [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
            for shape, name in self.inputs.items()
        ]
        output = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
        graph = helper.make_graph(self.nodes, "cases", inputs, [output], self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


_UNARY = (
    "Abs", "Ceil", "Elu", "Erf", "Exp", "Floor", "Gelu", "HardSigmoid", "HardSwish", "LeakyRelu",
    "Neg", "Reciprocal", "Sigmoid", "Softplus", "Softsign", "Sqrt", "Tanh",
)  # fmt: skip


def cases() -> Iterator[onnx.ModelProto]:
    """Models for what the pack has seldom or not at all, in two sizes."""
    for channels, side in ((4, 6), (16, 13)):
        shape = (1, channels, side, side)
        every = _Cases()
        for op in _UNARY:
            every.both(op, [shape])
        # What computes the input would take these two in.
        every.results.append(every.node("Relu", [every.input(shape)]))
        bounds = [every.tensor(np.float32(-1)), every.tensor(np.float32(1))]
        every.results.append(every.node("Clip", [every.input(shape), *bounds]))
        for op in ("Add", "Sub", "Mul", "Div"):
            every.both(op, [shape, shape])
            every.both(op, [shape, (1, channels, 1, 1)])
        yield every.model()
        moves = _Cases()
        ends = np.array([side - 1, side - 1])
        moves.both("Slice", [shape], constants=[np.array([1, 1]), ends, np.array([2, 3])])
        moves.both("Gather", [shape], constants=[np.array([2, 0, 1])], axis=1)
        moves.both("Gather", [shape], constants=[np.array([2, 0, 1])], axis=3)
        moves.both("Pad", [shape], constants=[np.array([0, 0, 1, 1, 0, 0, 1, 1])])
        moves.both("Concat", [shape, shape], axis=1)
        moves.both("Concat", [shape, shape], axis=2)
        scales = np.array([1, 1, 2, 2], np.float32)
        moves.both("Resize", [shape], constants=[np.zeros(0, np.float32), scales], mode="nearest")
        for perm in ((0, 2, 3, 1), (0, 1, 3, 2), (0, 3, 1, 2)):
            moves.both("Transpose", [shape], perm=perm)
        for size in (2, 3):
            moves.both("MaxPool", [shape], kernel_shape=[size, size], strides=[size, size])
            moves.both("AveragePool", [shape], kernel_shape=[size, size], pads=[1, 1, 1, 1])
            moves.both("MaxPool", [shape], kernel_shape=[size, size], pads=[1, 1, 1, 1])
        moves.both("GlobalMaxPool", [shape])
        moves.both("GlobalAveragePool", [shape])
        for op in ("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin"):
            moves.both(op, [shape], constants=[np.array([2, 3])], keepdims=1)
            moves.both(op, [shape], constants=[np.array([1])], keepdims=1)
        for axis in (1, 3):
            moves.both("Softmax", [shape], axis=axis)
        yield moves.model()
        sums = _Cases()
        for group in (1, 2, channels):
            for pads in ([0, 0, 0, 0], [1, 1, 1, 1]):
                filter_shape = (channels, channels // group, 3, 3)
                sums.both("Conv", [shape], [filter_shape], group=group, pads=pads)
        sums.both("Conv", [shape], [(8, channels, 3, 3)], dilations=[2, 2])
        sums.both("Conv", [shape], [(8, channels, 1, 1)])
        sums.both("Conv", [(1, channels, side * side)], [(8, channels, 5)], pads=[2, 2])
        only_float = (False,)
        sums.both("ConvTranspose", [shape], [(channels, 8, 2, 2)], kinds=only_float, strides=[2, 2])
        sums.both("ConvTranspose", [shape], [(channels, 8, 3, 3)], kinds=only_float)
        sums.both("MatMul", [shape, shape])
        sums.both("MatMul", [shape], [(side, 24)])
        parameters = [np.ones(channels, np.float32)] * 4
        sums.both("BatchNormalization", [shape], constants=parameters, kinds=only_float)
        gains = [np.ones(side, np.float32)] * 2
        sums.both("LayerNormalization", [shape], constants=gains, kinds=only_float)
        for op, gates, ways in (("LSTM", 4, 1), ("GRU", 3, 2), ("RNN", 1, 1)):
            weights = [(ways, gates * channels, side), (ways, gates * channels, channels)]
            direction = ("forward", "bidirectional")[ways - 1]
            sums.both(
                op, [(8, 1, side)], weights, kinds=only_float, direction=direction,
                hidden_size=channels,
            )  # fmt: skip
        yield sums.model()


def main() -> None:
    default = _HERE.parent.parent / "shared" / "models"
    models = Path(sys.argv[1]) if len(sys.argv) > 1 else default
    if not (models / "mlperf_kws_int8").is_dir():
        sys.exit(f"The model pack is not at {models}; name its folder.")
    rows: dict[Row, None] = {}  # layers that are alike in all count once
    with tempfile.TemporaryDirectory() as directory:
        files = sorted([*models.glob("*/model.onnx"), *models.glob("*/model.tflite")])
        paths = {f"{path.parent.name}{path.suffix}": path for path in files}
        for number, model in enumerate(cases()):
            paths[f"cases {number}"] = Path(directory) / f"{number}.onnx"
            onnx.save(model, paths[f"cases {number}"])
        for name, path in paths.items():
            try:
                found = list(measure(path))
            except UnsupportedError:
                print(f"# {name}: left out, an operator has no kernel", file=sys.stderr)
                continue
            print(f"# {name}: {len(found)} layers", file=sys.stderr)
            rows |= dict.fromkeys(found)
    print_table(rows)


def print_table(all_rows: Iterable[Row]) -> None:
    """A line for each family, and one for all."""
    families: dict[str, list[Row]] = {}
    for row in all_rows:
        families.setdefault(row.work.family, []).append(row)
    everything = []
    for family, rows in sorted(families.items()):
        if not rows[0].work.counts:
            continue  # nothing is computed, or nobody has written down what
        coefficients = fit(rows)
        off = errors(rows, coefficients)
        everything.append(off)
        values = ", ".join(f"{value:g}" for value in coefficients)
        values += "," if len(coefficients) == 1 else ""
        median, worst = np.median(off), np.ceil(np.max(off) * 100) / 100
        print(f'    "{family}": Fit(({values}), {median:.2f}, {worst:.2f}),  # {len(rows)} layers')
    off = np.concatenate(everything)
    nine = np.quantile(off, 0.9)
    print(f"# all {len(off)} layers: median {np.median(off):.2f}, nine of ten within {nine:.2f}")


if __name__ == "__main__":
    main()

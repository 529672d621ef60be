"""Quantized models that are made for measuring how long builds take: the layers of networks that
the model pack lacks, with random weights, each channel with a scale of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

# Of a depthwise layer and the pointwise one behind it: channels, stride.
Block = tuple[int, int]

_YOLO: tuple[Block, ...] = ((32, 2), (64, 1), (64, 2), (128, 1), (128, 2), (256, 1))
# MobileNet's layers, with FD-MobileNet's early strides (https://arxiv.org/abs/1802.03750), at
# a quarter of its channels.
_FD_MOBILENET: tuple[Block, ...] = (
    (16, 2), (32, 2), (32, 1), (64, 2), (64, 1), (128, 2), *[(128, 1)] * 4, (256, 1),
)  # fmt: skip


class _Network:
    """A graph that is being written; `last` is the tensor behind its last layer."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape, self.last = shape, "x"
        self._nodes: list[onnx.NodeProto] = []
        self._constants: dict[str, npt.NDArray[np.generic]] = {}
        self._scale = np.float32(0.04)
        self._count = 0
        self._random = np.random.default_rng(8)
        self._constant("s", self._scale)
        self._constant("z", np.int8(-128))
        self._constant("zw", np.int8(0))
        self.last = self._node("QuantizeLinear", ["x", "s", "z"])

    def _constant(self, name: str, value: npt.ArrayLike) -> str:
        self._constants[name] = np.asarray(value)
        return name

    def _node(self, op: str, inputs: list[str], **attributes: object) -> str:
        self._count += 1
        output = f"{op}{self._count}"
        self._nodes.append(helper.make_node(op, inputs, [output], output, **attributes))
        return output

    def convolution(self, filters: int, size: int, stride: int = 1, groups: int = 1) -> None:
        """A convolution with a Relu, between quantized tensors."""
        n, taps = self._count, self.shape[1] // groups * size * size
        weights = self._random.integers(-127, 128, (filters, taps // size**2, size, size), np.int8)
        # The sums' deviation is about that of the output.
        scales = 0.5 / (73 * np.sqrt(taps)) * self._random.uniform(0.3, 1.7, filters)
        factors = (scales.astype(np.float32), np.zeros(filters, np.int8))
        sums = (self._scale * factors[0], np.zeros(filters, np.int32))
        biases = self._random.integers(-3000, 3000, filters, np.int32)
        read = [
            self._node("DequantizeLinear", [self.last, "s", "z"]),
            *(
                self._node(
                    "DequantizeLinear",
                    [
                        self._constant(f"{name}{n}", value),
                        self._constant(f"{name}{n}_scale", scaling[0]),
                        self._constant(f"{name}{n}_zero", scaling[1]),
                    ],
                    axis=0,
                )
                for name, value, scaling in (("w", weights, factors), ("b", biases, sums))
            ),
        ]
        made = self._node(
            "Conv", read, strides=[stride] * 2, pads=[size // 2] * 4, group=groups,
        )  # fmt: skip
        self.last = self._node("QuantizeLinear", [self._node("Relu", [made]), "s", "z"])
        height, width = ((side - 1) // stride + 1 for side in self.shape[2:])
        self.shape = (1, filters, height, width)

    def block(self, channels: int, stride: int) -> None:
        """A depthwise and a pointwise convolution."""
        before = self.shape[1]
        self.convolution(before, 3, stride, groups=before)
        self.convolution(channels, 1)

    def foreign(self) -> None:
        """An operator that nobody has."""
        self.last = self._node("Foo", [self.last], domain="vendor")

    def save(self, path: Path, given: tuple[int, ...]) -> None:
        output = self._node("DequantizeLinear", [self.last, "s", "z"])
        graph = helper.make_graph(
            self._nodes, path.parent.name,
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, given)],
            [helper.make_tensor_value_info(output, TensorProto.FLOAT, self.shape)],
            [numpy_helper.from_array(value, name) for name, value in self._constants.items()],
        )  # fmt: skip
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid("vendor", 1)]
        made = helper.make_model(graph, opset_imports=opsets, ir_version=8)
        onnx.save(made, path)


def _separable(
    side: int, first: int, blocks: tuple[Block, ...], last: int, *, is_refused: bool = False
) -> Callable[[Path], None]:
    """A network of depthwise and pointwise convolutions for images of so many pixels squared."""

    def save(path: Path) -> None:
        network = _Network((1, 3, side, side))
        network.convolution(first, 3, 2)
        for channels, stride in blocks:
            network.block(channels, stride)
        network.convolution(last, 1)
        if is_refused:
            network.foreign()
        network.save(path, (1, 3, side, side))

    return save


def chain(count: int) -> Callable[[Path], None]:
    """So many convolutions in a row."""

    def save(path: Path) -> None:
        network = _Network((1, 2, 2, 2))
        for _ in range(count):
            network.convolution(2, 1)
        network.save(path, (1, 2, 2, 2))

    return save


# One that cannot be built: how long it takes to say so.
REFUSED = "made_refused"
MODELS: Mapping[str, Callable[[Path], None]] = {
    "made_yolo_14": _separable(192, 16, _YOLO, 30),
    "made_fd_mobilenet": _separable(224, 8, _FD_MOBILENET, 100),
    "made_chain_640": chain(640),
    REFUSED: _separable(224, 8, _FD_MOBILENET, 100, is_refused=True),
}


def save(name: str, folder: Path) -> Path:
    """Writes a model of `MODELS` to a folder: the same bytes each time."""
    path = folder / name / "model.onnx"
    path.parent.mkdir(parents=True, exist_ok=True)
    MODELS[name](path)
    return path

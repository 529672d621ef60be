"""Networks of int8 or uint8 that are drawn by a number: images through a few layers of any kind,
with shortcuts, several side by side in one model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from quantized_layers import LayersModel, Quantized

_MOST_ELEMENTS = 4000
_FUNCTIONS = ("Sigmoid", "Tanh", "HardSwish", "LeakyRelu", "Relu", "HardSigmoid")


class _Tensor(NamedTuple):
    """A real tensor of the model, and how the integers hold it."""

    name: str
    shape: tuple[int, ...]
    how: Quantized


class _Net:
    """A network while it is drawn. tensors: those that shortcuts may begin at."""

    def __init__(self, model: LayersModel, number: int) -> None:
        self.model, self.number = model, number
        self.random = np.random.default_rng([28, number])
        self.dtype = "uint8" if number % 4 == 3 else "int8"
        self.layers = 0
        shape = (1, self.int(1, 24), self.int(3, 17), self.int(3, 17))
        how = self.how(1.0)
        self.tensors = [_Tensor(model.input(shape, how), shape, how)]

    def int(self, first: int, behind: int) -> int:
        return int(self.random.integers(first, behind))

    def one(self, of: Sequence[Any]) -> Any:
        return of[self.int(0, len(of))]

    def maybe(self, share: float) -> bool:
        return bool(self.random.random() < share)

    def how(self, scale: float, *, is_positive: bool = False) -> Quantized:
        """Around a scale, with a zero point that is often at an end of the range."""
        low = 0 if self.dtype == "uint8" else -128
        zero = low if is_positive else low + self.one((0, 100, 128, 131, 255))
        return Quantized(float(np.float32(scale * self.random.uniform(0.7, 1.4))), zero, self.dtype)

    def made(self, value: str, shape: Sequence[int], how: Quantized) -> _Tensor:
        return _Tensor(self.model.quantized(value, how), tuple(shape), how)

    def name(self, op: str) -> str:
        self.layers += 1
        return f"net{self.number}_{self.layers}_{op.lower()}"

    def node(self, op: str, inputs: Sequence[str], **attributes: Any) -> str:
        return self.model.node(op, inputs, self.name(op), **attributes)

    # Layers: a tensor to another one, or None where it does not fit.

    def weighted(
        self, op: str, x: _Tensor, shape: Sequence[int], result: Sequence[int], taps: int,
        **attributes: Any,
    ) -> _Tensor:  # fmt: skip
        """A layer with weights of a shape, whose first axis is the filters, and often a bias."""
        filters = shape[0]
        values = self.one(((-127, 127), (-128, 0, 1), None, None, None))
        weights = np.clip(np.rint(self.random.normal(0, 40, shape)), -127, 127)
        if values is not None:
            weights = self.random.choice(values, shape)
        is_per_channel = self.maybe(0.7)
        unit = self.random.uniform(0.5, 2, filters if is_per_channel else 1).astype(np.float32)
        zeros = np.zeros(unit.shape, np.int8)
        if not is_per_channel:
            unit, zeros = unit[0], zeros[0]
        axis = {"axis": 0} if is_per_channel else {}
        given = self.model.constant(weights.astype(np.int8))
        operands = [x.name, self.model.dequantized(given, unit, zeros, "int8", **axis)]
        if self.maybe(0.8):
            bias = self.model.constant(self.random.integers(-6000, 6000, filters).astype(np.int32))
            units = np.broadcast_to(unit, filters).astype(np.float32) * np.float32(x.how.scale)
            zero = np.zeros(filters, np.int32)
            operands.append(self.model.dequantized(bias, units, zero, "int32", axis=0))
        y = self.node(op, operands, **attributes)
        scale = x.how.scale * 40 * np.sqrt(taps) * self.one((0.02, 0.3, 0.6, 1, 1, 1, 3))
        activation = self.one(("", "", "Relu", "Relu", "Clip"))
        if activation == "Relu":
            y = self.node("Relu", [y])
        elif activation == "Clip":
            y = self.node("Clip", [y, self.real(0), self.real(self.one((60, 100, 255)) * scale)])
        is_positive = bool(activation) and self.maybe(0.7)
        return self.made(y, result, self.how(scale, is_positive=is_positive))

    def real(self, value: float) -> str:
        return self.model.constant(np.float32(value))

    def conv(self, x: _Tensor, *, is_depthwise: bool = False, size: int = 0) -> _Tensor | None:
        _, channels, *image = x.shape
        kernel = [size or min(self.one((1, 2, 3, 3, 5)), n) for n in image]
        strides = [self.one((1, 1, 1, 2, 3)) for _ in image]
        dilations = [self.one((1, 1, 1, 2)) if k > 1 else 1 for k in kernel]
        pads = [self.int(0, k) if self.maybe(0.6) else 0 for k in (*kernel, *kernel)]
        groups, filters = 1, self.int(1, 40)
        if is_depthwise:
            groups, filters = channels, channels
        elif self.maybe(0.2):
            groups = self.one([g for g in range(1, channels + 1) if channels % g == 0])
            filters = groups * self.int(1, 6)
        result = [
            (n + pads[k] + pads[k + 2] - (kernel[k] - 1) * dilations[k] - 1) // strides[k] + 1
            for k, n in enumerate(image)
        ]
        if min(result) < 1 or filters * result[0] * result[1] > _MOST_ELEMENTS:
            return None
        depth = channels // groups
        return self.weighted(
            "Conv", x, (filters, depth, *kernel), (1, filters, *result),
            depth * kernel[0] * kernel[1],
            strides=strides, pads=pads, dilations=dilations, group=groups,
        )  # fmt: skip

    def depthwise(self, x: _Tensor) -> _Tensor | None:
        return self.conv(x, is_depthwise=True)

    def pointwise(self, x: _Tensor) -> _Tensor | None:
        return self.conv(x, size=1)

    def pool(self, x: _Tensor) -> _Tensor | None:
        op = self.one(("AveragePool", "MaxPool"))
        kernel = [min(self.int(1, 5), n) for n in x.shape[2:]]
        strides = [self.int(1, 4) for _ in kernel]
        pads = [self.int(0, k) if self.maybe(0.3) else 0 for k in (*kernel, *kernel)]
        result = [
            (n + pads[k] + pads[k + 2] - kernel[k]) // strides[k] + 1
            for k, n in enumerate(x.shape[2:])
        ]
        y = self.node(op, [x.name], kernel_shape=kernel, strides=strides, pads=pads)
        how = x.how if op == "MaxPool" or self.maybe(0.4) else self.how(x.how.scale)
        return self.made(y, (*x.shape[:2], *result), how)

    def averaged(self, x: _Tensor) -> _Tensor:
        if self.maybe(0.5):
            y = self.node("GlobalAveragePool", [x.name])
        else:
            y = self.node("ReduceMean", [x.name], axes=[2, 3], keepdims=1)
        return self.made(y, (*x.shape[:2], 1, 1), self.how(x.how.scale / 4))

    def function(self, x: _Tensor) -> _Tensor:
        op = self.one(_FUNCTIONS)
        small = {"Sigmoid": 1 / 256, "HardSigmoid": 1 / 256, "Tanh": 1 / 128}
        return self.made(self.node(op, [x.name]), x.shape, self.how(small.get(op, x.how.scale)))

    def pair(self, x: _Tensor) -> _Tensor:
        """With another tensor of its shape, with its channels averaged, or with a constant."""
        op, alike = self.one(("Add", "Add", "Sub", "Mul")), [
            t for t in self.tensors if t.shape == x.shape
        ]  # fmt: skip
        kind = self.int(0, 4)
        if kind == 0 and len(x.shape) == 4:
            other = self.averaged(x)
        elif kind == 1:
            shape = self.one(
                (x.shape, x.shape[1:], (1,), (*x.shape[:2], *(1 for _ in x.shape[2:])))
            )
            how = self.how(x.how.scale)
            low = 0 if self.dtype == "uint8" else -128
            value = self.random.integers(low, low + 256, shape).astype(self.dtype)
            real = self.model.dequantized(self.model.constant(value), *how)
            other = _Tensor(real, tuple(shape), how)
        else:
            other = self.one(alike)
        operands = [x.name, other.name]
        y = self.node(op, operands if self.maybe(0.7) else operands[::-1])
        scale = 90 * x.how.scale * other.how.scale if op == "Mul" else x.how.scale + other.how.scale
        return self.made(y, x.shape, self.how(scale))

    def joined(self, x: _Tensor) -> _Tensor | None:
        alike = [t for t in self.tensors if t.shape[2:] == x.shape[2:] and len(t.shape) == 4]
        other = self.one(alike)
        shape = (1, x.shape[1] + other.shape[1], *x.shape[2:])
        if int(np.prod(shape)) > _MOST_ELEMENTS:
            return None
        y = self.node("Concat", [x.name, other.name], axis=1)
        return self.made(y, shape, self.one((x.how, self.how(x.how.scale))))

    def resized(self, x: _Tensor) -> _Tensor | None:
        shape = (*x.shape[:2], 2 * x.shape[2], 2 * x.shape[3])
        if int(np.prod(shape)) > _MOST_ELEMENTS:
            return None
        scales = self.model.constant(np.array([1, 1, 2, 2], np.float32))
        how = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric"}
        y = self.node("Resize", [x.name, "", scales], **how, nearest_mode="floor")
        return self.made(y, shape, x.how)

    def dense(self, x: _Tensor) -> _Tensor:
        taps = int(np.prod(x.shape))
        flat = self.node("Flatten", [x.name])
        flat = self.made(flat, (1, taps), x.how).name
        outputs = self.int(1, 50)
        given = _Tensor(flat, (1, taps), x.how)
        return self.weighted("Gemm", given, (outputs, taps), (1, outputs), taps, transB=1)

    def softmax(self, x: _Tensor) -> _Tensor:
        low = 0 if self.dtype == "uint8" else -128
        how = Quantized(1 / 256, low, self.dtype)
        return self.made(self.node("Softmax", [x.name], axis=-1), x.shape, how)

    def draw(self) -> None:
        """A few layers of images, then often some of rows."""
        of_images: tuple[Callable[[_Tensor], _Tensor | None], ...] = (
            self.conv, self.conv, self.conv, self.depthwise, self.depthwise, self.pointwise,
            self.pointwise, self.pool, self.pair, self.pair, self.function, self.joined,
            self.resized,
        )  # fmt: skip
        for _ in range(self.int(2, 7)):
            self.go_on(self.one(of_images))
        if self.maybe(0.6):
            if self.maybe(0.5):
                self.go_on(self.averaged)
            self.go_on(self.dense)
            if self.maybe(0.4):
                self.go_on(self.pair)
            if self.maybe(0.4):
                self.go_on(self.dense)
            if self.maybe(0.5):
                self.go_on(self.softmax)
        last = self.tensors[-1]
        self.model.output(last.name, last.how)

    def go_on(self, layer: Callable[[_Tensor], _Tensor | None]) -> None:
        made = layer(self.tensors[-1])
        if made is not None:
            self.tensors.append(made)


def model(numbers: Sequence[int], path: Path) -> Path:
    """The networks of these numbers."""
    made = LayersModel()
    for number in numbers:
        _Net(made, number).draw()
    return made.save(path)

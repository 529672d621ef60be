"""Graphs of ONNX operators that are drawn by a number, each operator tried in onnxruntime first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import helper, numpy_helper
from operators.lab import run_onnxruntime

Array = npt.NDArray[Any]
OPSETS = (11, 13, 15, 17, 18, 19, 21)
# What a tensor may be: larger ones, or infinite ones, tell no more.
_MOST_ELEMENTS, _MOST_AXES, _LARGEST = 4000, 6, 1e4
_MOST_INPUTS_AND_OUTPUTS = 16


class NoFit(Exception):
    """What was drawn fits nowhere, or is no operator: something else is drawn."""


class Drawing:
    """A graph while it is drawn. values: of all tensors; constants: which of them are weights,
    inputs: which are fed; the others nodes compute."""

    def __init__(self, number: int) -> None:
        self.random = np.random.default_rng([27, number])
        self.opset = self.one(*OPSETS)
        self.nodes: list[onnx.NodeProto] = []
        self.values: dict[str, Array] = {}
        self.constants: set[str] = set()
        self.inputs: set[str] = set()

    # What is drawn.

    def one(self, *of: Any) -> Any:
        return of[self.int(0, len(of) - 1)]

    def int(self, first: int, last: int) -> int:
        return int(self.random.integers(first, last + 1))

    def maybe(self, share: float = 0.5) -> bool:
        return bool(self.random.random() < share)

    def shape(self, axes: int | None = None, most: int = 5) -> tuple[int, ...]:
        return tuple(self.int(1, most) for _ in range(self.int(0, 4) if axes is None else axes))

    def axes(self, of: int, count: int | None = None) -> list[int]:
        """Some of so many axes, or `count`, in their order."""
        chosen = self.random.choice(of, count or self.int(1, of), replace=False)
        return sorted(int(axis) for axis in chosen)

    def broadcast(self, shape: Sequence[int]) -> tuple[int, ...]:
        """A shape that broadcasts to another one."""
        kept = shape[self.int(0, len(shape)) :]
        return tuple(n if self.maybe(0.6) else 1 for n in kept)

    def filled(self, shape: Sequence[int], dtype: str) -> Array:
        """Numbers of a type that are small enough to be computed with."""
        kind, size = np.dtype(dtype).kind, np.dtype(dtype).itemsize
        if kind == "f":
            return self.random.normal(0, 1.5, shape).astype(dtype)
        low, high = {
            "b": (0, 2),
            "u": (0, 200 if size == 1 else 50),
            "i": (-100, 100) if size == 1 else (-30, 30),
        }[kind]
        return self.random.integers(low, high, shape).astype(dtype)

    # Tensors.

    def new(self, value: Any, dtype: str = "", is_constant: bool | None = None) -> str:
        """A tensor of a value: an input, or a constant; which one is drawn where it is not said."""
        name = f"t{len(self.values)}"
        self.values[name] = np.asarray(value, dtype or None)
        wanted = self.maybe(0.3) if is_constant is None else is_constant
        (self.constants if wanted else self.inputs).add(name)
        return name

    def constant(self, value: Any, dtype: str) -> str:
        return self.new(value, dtype, True)

    def tensor(
        self, dtype: str, *, axes: int | None = None, shape: Sequence[int] | None = None
    ) -> str:
        """One of a type, and so many axes or this shape: mostly one that is there, and a late one;
        or a new one."""
        there = [
            name
            for name, value in self.values.items()
            if value.dtype == dtype and value.size and name not in self.constants
            and axes in (None, value.ndim)
            and (shape is None or value.shape == tuple(shape))
        ]  # fmt: skip
        if there and self.maybe(0.75):
            return there[-1] if self.maybe(0.6) else self.one(*there)
        return self.new(self.filled(self.shape(axes) if shape is None else shape, dtype))

    def extents(self, name: str) -> tuple[int, ...]:
        return self.values[name].shape

    def axis(self, name: str) -> int:
        """Some axis of a tensor, from its front or its end."""
        if not (count := self.values[name].ndim):
            raise NoFit
        return self.int(-count, count - 1)

    def without_ties(self, name: str, axis: int) -> None:
        """Raises NoFit where the last bits of computed floats say which of them is larger."""
        value = self.values[name].astype("f8")
        if self.values[name].dtype.kind == "f" and name not in self.inputs | self.constants:
            steps = np.diff(np.sort(value, axis), axis=axis)
            if (steps <= 1e-5 * np.abs(value).max()).any():
                raise NoFit

    # Nodes.

    def add(self, op: str, inputs: Sequence[str], outputs: int = 1, **attributes: Any) -> str:
        """Adds a node, computes it in onnxruntime, and gives its first output. Raises NoFit where
        it is none, or where its numbers are none to go on with."""
        names = [f"t{len(self.values) + number}" for number in range(outputs)]
        title = f"{op}_{len(self.nodes)}"
        node = helper.make_node(op, inputs, names, name=title, **attributes)
        read = [name for name in dict.fromkeys(inputs) if name]
        computed = [onnx.ValueInfoProto(name=name) for name in names]
        model = self._model([node], read, self.constants.intersection(read), computed)
        feeds = [self.values[name] for name in read if name not in self.constants]
        try:
            results = run_onnxruntime(model, feeds, optimise=False)
        except Exception as error:  # of one of onnxruntime's many types, which have no parent
            raise NoFit(str(error)) from error
        for value in results:
            if not value.size or value.size > _MOST_ELEMENTS or value.ndim > _MOST_AXES:
                raise NoFit
            if value.dtype.kind == "f" and not (np.abs(value.astype("f8")) <= _LARGEST).all():
                raise NoFit
        self.nodes.append(node)
        self.values.update(zip(names, results, strict=True))
        return names[0]

    def model(self) -> tuple[onnx.ModelProto, list[Array]]:
        """The graph, and what it is fed."""
        read = {name for node in self.nodes for name in node.input}
        ends = [name for node in self.nodes for name in node.output if name not in read]
        used = [name for name in self.values if name in read and name in self.inputs]
        weights = [name for name in self.values if name in read and name in self.constants]
        outputs = [self._info(name) for name in ends]
        model = self._model(self.nodes, [*used, *weights], set(weights), outputs)
        return model, [self.values[name] for name in used]

    def _model(
        self, nodes: Sequence[onnx.NodeProto], read: Sequence[str], weights: set[str],
        outputs: Sequence[onnx.ValueInfoProto],
    ) -> onnx.ModelProto:  # fmt: skip
        graph = helper.make_graph(
            nodes, "drawn", [self._info(name) for name in read if name not in weights], outputs,
            [numpy_helper.from_array(self.values[n], n) for n in read if n in weights],
        )  # fmt: skip
        imports = [helper.make_opsetid("", self.opset)]
        return helper.make_model(graph, opset_imports=imports, ir_version=10)

    def _info(self, name: str) -> onnx.ValueInfoProto:
        value = self.values[name]
        return helper.make_tensor_value_info(name, code(value.dtype.name), value.shape)

    @contextmanager
    def whole(self) -> Iterator[None]:
        """All that is added herein, or nothing where it does not fit."""
        kept = (self.nodes[:], dict(self.values), set(self.constants), set(self.inputs))
        try:
            yield
            model, _ = self.model()
            if len(model.graph.input) + len(model.graph.output) > _MOST_INPUTS_AND_OUTPUTS:
                raise NoFit
        except NoFit:
            self.nodes, self.values, self.constants, self.inputs = kept


def code(dtype: str) -> int:
    """ONNX's number of a type."""
    return helper.np_dtype_to_tensor_dtype(np.dtype(dtype))

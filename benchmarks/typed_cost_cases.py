"""Layers of every element type, to be measured: for the operators that the model pack lacks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import onnx
from cost_cases import Cases
from onnx import helper

TYPES = ("int8", "uint8", "int16", "int32", "uint32", "int64", "uint64", "float32", "float64")
_FLOATS = ("float32", "float64")
_OPSET = 26  # the first one with CumProd
_COMPARISONS = ("Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Equal")
_LIBRARY = (
    "Log", "Round", "Sin", "Cos", "Tan", "Asin", "Acos", "Atan", "Sinh", "Cosh", "Asinh", "Acosh",
    "Atanh", "Mish", "Selu", "Celu", "ThresholdedRelu", "Shrink", "Swish",
)  # fmt: skip
_SIZES = ((4, 7, 5), (6, 11, 13))


class TypedCases(Cases):
    """Layers whose inputs are computed: of any element type, with values of a range."""

    def of(
        self, dtype: str, shape: Sequence[int], low: float | None = None, high: float = 100
    ) -> str:
        """A computed tensor of values that are spread evenly; by default around zero."""
        lowest = (0 if dtype.startswith("u") else -high) if low is None else low
        value = self.node("Add", [self.input(shape), self.spread(shape, lowest, high)])
        if dtype == "bool":
            return self.node("Greater", [value, self.tensor(np.float32(0))])
        return value if dtype == "float32" else self.cast(value, dtype)

    def spread(self, shape: Sequence[int], low: float, high: float) -> str:
        return self.tensor(self.random(shape) / 4 * (high - low) + (high + low) / 2)

    def cast(self, value: str, dtype: str) -> str:
        to = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        return self.node("Cast", [value], to=to)

    def result(self, value: str) -> None:
        """The one output of a model is float32."""
        self.results.append(self.cast(value, "float32"))

    def add(self, op: str, *inputs: str, **attributes: object) -> None:
        self.result(self.node(op, inputs, **attributes))

    def declare(self, op: str, inputs: Sequence[str], dtype: str, shape: Sequence[int]) -> None:
        """A result whose shape the inputs' values say, which are not known yet."""
        made = self.node(op, inputs)
        element = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        self.declared.append(helper.make_tensor_value_info(made, element, shape))
        self.result(made)

    def integers(self, *values: int) -> str:
        return self.tensor(np.array(values, np.int64))


def cases() -> Iterator[onnx.ModelProto]:
    """Models of two sizes; those of one type have the type's operators."""
    for shape in _SIZES:
        for dtype in TYPES:
            yield _arithmetic(dtype, shape)
            yield _order(dtype, shape)
        yield _truth(shape)
        yield _functions(shape)
        yield _casts(shape)
        for dtype in ("int8", "int64", "float32", "float64"):
            yield _indexing(dtype, shape)


def _arithmetic(dtype: str, shape: tuple[int, ...]) -> onnx.ModelProto:
    made = TypedCases()
    row = (shape[1], 1)
    a, b, c = made.of(dtype, shape), made.of(dtype, shape), made.of(dtype, row)
    # Neither zero nor all of one size: a division's cost depends on both.
    divisor = made.of(dtype, shape, 1, 30)
    binary = ["Add", "Sub", "Mul"]
    for op in binary:
        made.add(op, a, b)
        made.add(op, a, c)
    made.add("Div", a, divisor)
    made.add("Div", a, made.of(dtype, row, 1, 30))
    made.add("Mod", a, divisor, fmod=int(dtype in _FLOATS))
    if dtype in _FLOATS:
        made.add("Mod", a, divisor)
    else:
        made.add("Mod", a, divisor, fmod=1)
    made.add("Pow", made.of(dtype, shape, 0, 9), made.of(dtype, shape, 0, 4))
    made.add("Pow", made.of(dtype, shape, 0, 9), made.tensor(np.array(2, dtype)))
    for op in ("Max", "Min", *(("Sum", "Mean") if dtype in _FLOATS else ())):
        made.add(op, a, b)
        made.add(op, a, b, divisor)
        made.add(op, a, b, divisor, c)
    unary = ["Relu", "Abs", "Neg", "Sign"]
    if dtype == "float64":
        unary += ["Floor", "Ceil", "Sqrt", "Reciprocal"]
    for op in unary:
        if not (dtype.startswith("u") and op in ("Neg", "Relu")):
            made.add(op, a)
    if dtype not in _FLOATS:
        for op in ("BitwiseAnd", "BitwiseOr", "BitwiseXor"):
            made.add(op, a, b)
        made.add("BitwiseNot", a)
    if dtype.startswith("u"):
        for direction in ("LEFT", "RIGHT"):
            made.add("BitShift", a, made.of(dtype, shape, 0, 8), direction=direction)
    return made.model(_OPSET)


def _order(dtype: str, shape: tuple[int, ...]) -> onnx.ModelProto:
    """What compares, reduces or accumulates."""
    made = TypedCases()
    a, b = made.of(dtype, shape), made.of(dtype, shape)
    for op in _COMPARISONS:
        made.add(op, a, b)
        made.add(op, a, made.of(dtype, (shape[1], 1)))
    made.add("Where", made.of("bool", shape), a, b)
    if dtype in _FLOATS:
        made.add("IsNaN", a)
        made.add("IsInf", a)
    for op in ("ArgMax", "ArgMin"):
        made.add(op, a, axis=1)
        made.add(op, a, axis=-1, select_last_index=1)
    for axis in (0, 2):
        made.add("CumSum", a, made.integers(axis))
        made.add("CumSum", a, made.integers(axis), reverse=1, exclusive=1)
        made.add("CumProd", a, made.integers(axis))
    reductions = ["ReduceProd", "ReduceL1", "ReduceSumSquare"]
    if dtype in _FLOATS:
        reductions += ["ReduceL2", "ReduceLogSumExp"]
    if dtype != "float32":
        reductions += ["ReduceMax", "ReduceMin", "ReduceSum", "ReduceMean"]
    for op in reductions:
        for axes in ((1,), (2,), (0, 1), (0, 1, 2)):
            made.add(op, a, made.integers(*axes), keepdims=0)
    if dtype in _FLOATS:
        positive = made.of(dtype, shape, 0.5, 20)
        made.add("ReduceLogSum", positive, made.integers(1))
        made.add("ReduceLogSum", positive, made.integers(0, 2))
    return made.model(_OPSET)


def _truth(shape: tuple[int, ...]) -> onnx.ModelProto:
    made = TypedCases()
    a, b, c = made.of("bool", shape), made.of("bool", shape), made.of("bool", (shape[1], 1))
    for op in ("And", "Or", "Xor", "Equal"):
        made.add(op, a, b)
        made.add(op, a, c)
    made.add("Not", a)
    made.add("Where", a, b, c)
    made.add("ReduceMax", a, made.integers(1))
    made.add("ReduceMin", a, made.integers(2))
    return made.model(_OPSET)


def _functions(shape: tuple[int, ...]) -> onnx.ModelProto:
    """The functions of float32, where they are numbers."""
    made = TypedCases()
    around, inside, above = (
        made.of("float32", shape, *ends) for ends in ((-6, 6), (-0.95, 0.95), (1.1, 20))
    )
    for op in _LIBRARY:
        bounded = op in ("Asin", "Acos", "Atanh")
        made.add(op, inside if bounded else above if op in ("Log", "Acosh") else around)
        if not bounded and op not in ("Log", "Acosh"):
            made.add(op, inside)
    made.add("PRelu", around, inside)
    made.add("PRelu", around, made.spread((shape[1], 1), 0, 1))
    for axis in (1, 2):
        made.add("LogSoftmax", around, axis=axis)
    scale, zero = made.tensor(np.float32(1 / 16)), made.tensor(np.int8(3))
    steps = [made.node("QuantizeLinear", [x, scale, zero]) for x in (around, inside, above)]
    reals = [made.node("DequantizeLinear", [x, scale, zero]) for x in steps]
    for op in ("Max", "Min", "Sum", "Mean"):
        for count in (2, 3):
            value = made.node(op, reals[:count])
            quantized = made.node("QuantizeLinear", [value, scale, zero])
            made.add("DequantizeLinear", quantized, scale, zero)
    return made.model(_OPSET)


def _casts(shape: tuple[int, ...]) -> onnx.ModelProto:
    made = TypedCases()
    for source in (*TYPES, "bool"):
        value = made.of(source, shape)
        for target in (*TYPES, "bool"):
            if target != source:
                made.result(made.cast(value, target))
    return made.model(_OPSET)


def _indexing(dtype: str, shape: tuple[int, ...]) -> onnx.ModelProto:
    """Copies, and reads and writes at indices that are computed."""
    made = TypedCases()
    x = made.of(dtype, shape)
    first, rows, columns = shape
    for index in ("int32", "int64"):
        whole = made.of(index, shape, 0, 3.99)
        for axis in (0, 2):
            made.add("GatherElements", x, whole, axis=axis)
            made.add("Gather", x, made.of(index, (5,), 0, 3.99), axis=axis)
    points = made.of("int64", (first, 6, 1), 0, 3.99)
    for axis in (0, 2):
        made.add("ScatterElements", x, made.of("int64", shape, 0, 3.99), x, axis=axis)
        made.add(
            "ScatterElements", x, made.of("int64", shape, 0, 3.99), x, axis=axis, reduction="add"
        )
    made.add("GatherND", x, points)
    made.add("GatherND", x, points, batch_dims=1)
    made.add("GatherND", x, made.of("int64", (9, 3), 0, 3.99))
    for reduction in ("none", "add", "max"):
        block = made.of(dtype, (7, rows, columns))
        made.add("ScatterND", x, made.of("int64", (7, 1), 0, 3.99), block, reduction=reduction)
        some = made.of(dtype, (50,))
        made.add("ScatterND", x, made.of("int64", (50, 3), 0, 3.99), some, reduction=reduction)
    made.add("Expand", made.of(dtype, (rows, 1)), made.integers(*shape))
    made.add("Expand", made.of(dtype, (1, columns)), made.integers(*shape))
    made.add("Tile", x, made.integers(1, 2, 1))
    made.add("Tile", x, made.integers(2, 1, 3))
    made.add("Trilu", x)
    made.add("Trilu", x, made.integers(1), upper=0)
    starts = made.of("int64", (2,), 0, 1.5)
    ends, axes = made.integers(first - 1, columns - 1), made.integers(0, 2)
    made.declare("Slice", [x, starts, ends, axes], dtype, (first - 1, rows, columns - 1))
    made.declare(
        "Range",
        [made.of(dtype, (), 0, 3), made.of(dtype, (), 9, 10), made.of(dtype, (), 1, 2)],
        dtype,
        (columns * rows,),
    )
    made.declare("ConstantOfShape", [made.of("int64", (2,), 1, 9)], "float32", (rows, columns))
    made.add("EyeLike", made.of(dtype, (rows, columns)))
    values = made.of(dtype, (2,))
    for index in ("int32", "int64", *_FLOATS):
        positions = made.of(index, (rows, columns), 0, 7)
        made.add("OneHot", positions, made.integers(8), values, axis=-1)
        made.add("OneHot", positions, made.integers(8), values, axis=0)
    return made.model(_OPSET)

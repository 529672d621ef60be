"""What is drawn of operators that compute: elementwise, reductions, products, casts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from drawn.graph import Drawing, NoFit, code

F32, F64, F16 = "float32", "float64", "float16"
I8, I16, I32, I64 = "int8", "int16", "int32", "int64"
U8, U16, U32, U64 = "uint8", "uint16", "uint32", "uint64"
BOOL = "bool"
_FUNCTIONS = (
    "Abs", "Neg", "Relu", "Sigmoid", "Tanh", "Exp", "Softplus", "Softsign", "Sin", "Cos", "Atan",
    "Erf", "Ceil", "Floor", "Round", "Sign", "Sqrt", "Log", "Reciprocal", "Asin", "Acos", "Sinh",
    "Cosh", "Asinh", "Tan", "HardSwish", "Mish", "Gelu", "Identity",
)  # fmt: skip
_ALPHA = ("LeakyRelu", "Elu", "Selu", "Celu", "HardSigmoid", "ThresholdedRelu")
_COMPARISONS = ("Equal", "Greater", "Less", "GreaterOrEqual", "LessOrEqual")
# The types of operators of two operands, where they are not float32 alone.
_PAIRS = {
    **dict.fromkeys(("Add", "Sub", "Mul", "Div"), (F32, F32, F32, I32, I64, F64, F16)),
    "Pow": (F32, F32, I32),
    "Mod": (F32, I32, I64, I8, U8),
    **dict.fromkeys(("Max", "Min"), (F32, I32, I64, I8, U8, F64)),
    "Mean": (F32,),
    "Sum": (F32,),
    **dict.fromkeys(_COMPARISONS, (F32, I32, I64, F64)),
    **dict.fromkeys(("And", "Or", "Xor"), (BOOL,)),
    "BitShift": (U8, U32, U64),
    **dict.fromkeys(("BitwiseAnd", "BitwiseOr", "BitwiseXor"), (I8, U8, I32, I64, U16)),
}
_REDUCTIONS = {
    **dict.fromkeys(
        ("ReduceSum", "ReduceMean", "ReduceProd", "ReduceL1", "ReduceSumSquare"),
        (F32, F32, F32, I32, I64),
    ),
    **dict.fromkeys(("ReduceMax", "ReduceMin"), (F32, I32, I8, U8, I64, F64)),
    **dict.fromkeys(("ReduceL2", "ReduceLogSumExp", "ReduceLogSum"), (F32,)),
}
_EQUATIONS = (
    "ij,jk->ik", "bij,bjk->bik", "ij->ji", "ii->i", "ij,ij->", "i,j->ij", "bhwc,hkc->bhwk",
    "...ij,...jk->...ik", "ij->j",
)  # fmt: skip


def function(g: Drawing) -> None:
    op, dtype = g.one(*_FUNCTIONS), F32
    if op in ("Abs", "Neg", "Sign", "Identity"):
        dtype = g.one(F32, F32, I8, I32, I64, F16, F64)
    elif op in ("Exp", "Sqrt", "Tanh", "Relu", "Sigmoid", "Floor"):
        dtype = g.one(F32, F32, F32, F64)
    g.add(op, [g.tensor(dtype)])


def activation(g: Drawing) -> None:
    op = g.one(*_ALPHA, "Shrink", "PRelu", "Not", "IsNaN", "IsInf")
    attributes: dict[str, Any] = {}
    if op in _ALPHA and g.maybe(0.7):
        attributes["alpha"] = g.one(0.1, 0.5, 1.5, 1.0)
    if op == "HardSigmoid" and g.maybe():
        attributes["beta"] = 0.4
    if op == "Selu" and g.maybe():
        attributes["gamma"] = 1.2
    if op == "Shrink":
        attributes = {"lambd": g.one(0.5, 1.0), "bias": g.one(0.0, 0.3)}
    operands = [g.tensor(BOOL if op == "Not" else F32)]
    if op == "PRelu":
        operands.append(g.new(g.filled(g.broadcast(g.extents(operands[0])), F32)))
    g.add(op, operands, **attributes)


def clip(g: Drawing) -> None:
    dtype = g.one(F32, I32, I8, U8, I64, F64)
    below = 0 if np.dtype(dtype).kind == "u" else 10
    low, high = sorted((g.int(0, 20), g.int(0, 20)))
    operands = [g.tensor(dtype), g.constant(low - below, dtype) if g.maybe(0.7) else ""]
    if g.maybe(0.7):
        operands.append(g.constant(high, dtype))
    g.add("Clip", operands)


def pair(g: Drawing) -> None:
    """Two operands, or three, broadcast; no division by what is near zero."""
    op = g.one(*_PAIRS)
    dtype = g.one(*_PAIRS[op])
    kind = np.dtype(dtype).kind
    attributes: dict[str, Any] = {}
    if op == "Mod":
        attributes["fmod"] = int(dtype == F32 or g.maybe(0.4))
    if op == "BitShift":
        attributes["direction"] = g.one("LEFT", "RIGHT")
    first = g.tensor(dtype)
    value = g.filled(g.broadcast(g.extents(first)), dtype)
    if op in ("Div", "Mod"):
        is_small = np.abs(value.astype("f8")) < (0.3 if kind == "f" else 1)
        value = np.where(is_small, np.asarray(1, dtype), value)
    elif op == "BitShift":
        value = (value % 8).astype(dtype)
    elif op == "Pow":
        value = np.abs(value % 3).astype(dtype)
    operands = [first, g.new(value)]
    if op not in ("Div", "Mod", "BitShift", "Pow"):
        if g.maybe(0.3):
            operands[1] = g.tensor(dtype, shape=g.extents(first))
        if op in ("Max", "Min", "Mean", "Sum") and g.maybe(0.3):
            operands.append(g.tensor(dtype, shape=g.extents(first)))
        if g.maybe(0.3):
            operands.reverse()
    g.add(op, operands, **attributes)


def reduction(g: Drawing) -> None:
    """None that leaves int32: onnxruntime's saturates there (docs/arithmetic.md)."""
    op = g.one(*_REDUCTIONS)
    dtype = g.one(*_REDUCTIONS[op])
    if op == "ReduceLogSum":
        x = g.new(np.abs(g.filled(g.shape(), dtype)) + np.float32(0.2))
    else:
        x = g.tensor(dtype)
    if np.dtype(dtype).kind == "i":
        sizes = np.maximum(np.abs(g.values[x].astype("f8")), 1)
        if (np.log2(sizes) if op == "ReduceProd" else sizes**2 / 2**26).sum() > 30:
            raise NoFit
    attributes: dict[str, Any] = {"keepdims": g.int(0, 1)} if g.maybe(0.8) else {}
    operands, count = [x], len(g.extents(x))
    if count and g.maybe(0.8):
        axes = [axis - count if g.maybe(0.3) else axis for axis in g.axes(count)]
        if g.opset >= 18 or (op == "ReduceSum" and g.opset >= 13):
            operands.append(g.constant(axes, I64))
        else:
            attributes["axes"] = axes
    elif g.opset >= 18 and g.maybe(0.3):
        attributes["noop_with_empty_axes"] = 1
    g.add(op, operands, **attributes)


def place_of_extreme(g: Drawing) -> None:
    x = g.tensor(g.one(F32, F32, I32, I8, U8))
    attributes = {"axis": g.axis(x), "keepdims": g.int(0, 1)}
    g.without_ties(x, attributes["axis"])
    if g.opset >= 12 and g.maybe(0.3):
        attributes["select_last_index"] = 1
    g.add(g.one("ArgMax", "ArgMin"), [x], **attributes)


def along_axis(g: Drawing) -> None:
    op = g.one("Softmax", "LogSoftmax", "Hardmax", "LpNormalization", "CumSum")
    x = g.tensor(g.one(F32, I32, I64, F64) if op == "CumSum" else F32)
    axis = g.axis(x)
    if op == "CumSum":
        at = g.constant(axis, g.one(I32, I64))
        g.add(op, [x, at], exclusive=g.int(0, 1), reverse=g.int(0, 1))
    elif op == "LpNormalization":
        g.add(op, [x], axis=axis, p=g.int(1, 2))
    else:
        if op == "Hardmax":
            g.without_ties(x, axis)
        g.add(op, [x], axis=axis)


def product(g: Drawing) -> None:
    if g.maybe():
        dtype = g.one(F32, F32, F32, F64, I32)
        a = g.tensor(dtype, axes=g.int(1, 4))
        *batch, depth = g.extents(a)
        shape = (*g.broadcast(batch[:-1]), depth, g.int(1, 5))
        g.add("MatMul", [a, g.new(g.filled((depth,) if g.maybe(0.2) else shape, dtype))])
        return
    a, turned, turned_b = g.tensor(F32, axes=2), g.int(0, 1), g.int(0, 1)
    rows, depth = g.extents(a)[::-1] if turned else g.extents(a)
    columns = g.int(1, 6)
    b = g.new(g.filled((columns, depth) if turned_b else (depth, columns), F32))
    operands = [a, b]
    if g.maybe(0.6):
        shapes = ((), (columns,), (1, columns), (rows, 1), (rows, columns), (1,))
        operands.append(g.new(g.filled(g.one(*shapes), F32)))
    scales = {"alpha": g.one(1.0, 0.5), "beta": g.one(1.0, 2.0)}
    g.add("Gemm", operands, transA=turned, transB=turned_b, **scales)


def einsum(g: Drawing) -> None:
    equation = g.one(*_EQUATIONS)
    extents = {letter: g.int(1, 4) for letter in "ijkbhwc"}
    operands = []
    for term in equation.split("->")[0].split(","):
        front = (2,) if "..." in term else ()
        shape = (*front, *(extents[letter] for letter in term.replace("...", "")))
        operands.append(g.tensor(F32, shape=shape))
    g.add("Einsum", operands, equation=equation)


def cast(g: Drawing) -> None:
    """Of numbers that the other type has."""
    types = (F32, I32, I64, U8, I8, BOOL, F16, F64)
    x, to = g.tensor(g.one(*types)), g.one(*types)
    value, kind = g.values[x].astype("f8"), np.dtype(to)
    if kind.kind == "u" and value.min() < 0:
        raise NoFit
    if kind.itemsize == 1 and to != BOOL and np.abs(value).max() > 120:
        raise NoFit
    g.add("Cast", [x], to=code(to))


RULES: tuple[Callable[[Drawing], None], ...] = (
    *[function] * 3, activation, clip, *[pair] * 4, *[reduction] * 2, place_of_extreme,
    *[along_axis] * 2, *[product] * 2, einsum, cast,
)  # fmt: skip

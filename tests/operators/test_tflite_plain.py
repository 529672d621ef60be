"""TFLite's operators that are read as ONNX's: LiteRT gave the same (record_tflite.py)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from operators.lab import compile_files, run_on_host
from tflite_models import Array, Operator, Tensor, constant, int8, write

from mcu_deploy import interpreter

RECORDED = Path(__file__).with_name("plain_recorded.npz")
X, Y = (2, 3, 4, 6), (2, 3, 4, 6)


@dataclass(frozen=True)
class Case:
    """One operator: its file and its inputs."""

    name: str
    content: bytes
    inputs: tuple[Array, ...]


def _case(
    kind: str,
    inputs: list[Tensor],
    outputs: list[Tensor],
    options: tuple[str, dict[str, Any]] = ("", {}),
    positive: bool = False,
) -> Case:
    rng = np.random.default_rng(len(kind))
    given = []
    for tensor in inputs:
        if tensor.value is not None:
            continue
        if tensor.type == "BOOL":
            given.append(rng.integers(0, 2, tensor.shape).astype(bool))
        elif tensor.type == "FLOAT32":
            real = rng.normal(0, 2, tensor.shape).astype(np.float32)
            given.append(np.abs(real) + np.float32(0.1) if positive else real)
        else:
            given.append(rng.integers(-9, 9, tensor.shape).astype(tensor.type.lower()))
    names = tuple(t.name for t in inputs)
    # LiteRT has no older one of this operator.
    version = 2 if kind == "BROADCAST_TO" else 1
    operator = Operator(kind, names, tuple(t.name for t in outputs), *options, version=version)
    read = [t.name for t in inputs if t.value is None]
    content = write([*inputs, *outputs], [operator], read, [t.name for t in outputs])
    return Case(f"{kind} {options[1] or ''}", content, tuple(given))


def _real(name: str, *shape: int) -> Tensor:
    return Tensor(name, shape)


def _bools(name: str, *shape: int) -> Tensor:
    return Tensor(name, shape, "BOOL")


def _ints(name: str, *values: int) -> Tensor:
    return constant(name, np.array(values, np.int32))


def cases() -> Iterator[Case]:
    x, y, row = _real("x", *X), _real("y", *Y), _real("row", 6)
    for kind in ("SIN", "COS", "LOG", "ROUND", "RSQRT", "SQUARE", "LOG_SOFTMAX"):
        table = {"LOG_SOFTMAX": "LogSoftmaxOptions", "SQUARE": "SquareOptions"}.get(kind, "")
        yield _case(kind, [x], [y], (table, {}), positive=kind in ("LOG", "RSQRT"))
    table = "MaximumMinimumOptions"
    for kind in ("MINIMUM", "MAXIMUM"):
        yield _case(kind, [x, row], [y], (table, {}))
        bytes_ = [int8(name, X, 0.05, 3) for name in ("a", "b", "c")]
        yield _case(kind, bytes_[:2], bytes_[2:], (table, {}))
    yield _case("SQUARED_DIFFERENCE", [x, row], [y], ("SquaredDifferenceOptions", {}))
    yield _case("ATAN2", [x, _real("z", *X)], [y])
    yield _case("POW", [x, row], [y], ("PowOptions", {}), positive=True)
    yield _case("PRELU", [x, constant("alpha", np.linspace(-1, 1, 6, dtype=np.float32))], [y])
    for kind, table in (
        ("EQUAL", "Equal"), ("NOT_EQUAL", "NotEqual"), ("LESS", "Less"), ("GREATER", "Greater"),
        ("LESS_EQUAL", "LessEqual"), ("GREATER_EQUAL", "GreaterEqual"),
    ):  # fmt: skip
        numbers = [Tensor(name, X, "INT32") for name in "ab"]
        steps = [int8("a", X, 0.0035, 3), int8("b", X, 0.001, -7)]
        for inputs in (numbers, steps):
            yield _case(kind, inputs, [_bools("y", *X)], (f"{table}Options", {}))
    for kind, table in (("LOGICAL_AND", "LogicalAnd"), ("LOGICAL_OR", "LogicalOr")):
        truths = [_bools(name, *X) for name in "ab"]
        yield _case(kind, truths, [_bools("y", *X)], (f"{table}Options", {}))
    yield _case("LOGICAL_NOT", [_bools("a", *X)], [_bools("y", *X)], ("LogicalNotOptions", {}))
    yield _case("SELECT_V2", [_bools("c", *X), x, row], [y], ("SelectV2Options", {}))
    for condition in (X, X[:1]):
        inputs = [_bools("c", *condition), x, _real("z", *X)]
        yield _case("SELECT", inputs, [y], ("SelectOptions", {}))
    yield _case("CAST", [x], [Tensor("y", X, "INT32")], ("CastOptions", {}))
    yield _case("TILE", [x, _ints("n", 1, 2, 1, 3)], [_real("y", 2, 6, 4, 18)], ("TileOptions", {}))
    for kind, table in (("ARG_MAX", "ArgMax"), ("ARG_MIN", "ArgMin")):
        code = {"OutputType": 2}
        found = Tensor("y", X[:3], "INT32")
        yield _case(
            kind, [x, constant("axis", np.array(-1, np.int32))], [found], (f"{table}Options", code)
        )
    for turned in (False, True):
        shape = (2, 3, 5, 6) if turned else (2, 3, 6, 5)
        options = ("BatchMatMulOptions", {"AdjY": turned})
        yield _case("BATCH_MATMUL", [x, _real("w", *shape)], [_real("y", 2, 3, 4, 5)], options)
    yield _case("L2_NORMALIZATION", [x], [y], ("L2NormOptions", {}))
    parts = [_real(f"y{k}", 2, 3, 4, size) for k, size in enumerate((1, 3, 2))]
    sizes = _ints("n", 1, 3, 2)
    axis = constant("axis", np.array(3, np.int32))
    yield _case("SPLIT_V", [x, sizes, axis], parts, ("SplitVOptions", {"NumSplits": 3}))
    parts = [_real(f"y{k}", 2, 4, 6) for k in range(3)]
    yield _case("UNPACK", [x], parts, ("UnpackOptions", {"Num": 3, "Axis": 1}))
    blocks = {"BlockSize": 2}
    yield _case("SPACE_TO_DEPTH", [_real("x", 1, 4, 6, 3)], [_real("y", 1, 2, 3, 12)],
                ("SpaceToDepthOptions", blocks))  # fmt: skip
    yield _case("DEPTH_TO_SPACE", [_real("x", 1, 2, 3, 12)], [_real("y", 1, 4, 6, 3)],
                ("DepthToSpaceOptions", blocks))  # fmt: skip
    for way in ({}, {"AlignCorners": True}, {"HalfPixelCenters": True}):
        for size in ((7, 9), (2, 3), (1, 5)):
            sizes, wanted = _ints("n", *size), _real("y", 2, *size, 6)
            yield _case("RESIZE_BILINEAR", [x, sizes], [wanted], ("ResizeBilinearOptions", way))


def rows(*values: list[int]) -> Array:
    return np.array(values, np.int32)


def blocks() -> Iterator[Case]:
    """What moves whole rows and blocks, of float32 and of int8."""
    for kind, given, shape, lists in (
        ("SPACE_TO_BATCH_ND", (1, 4, 5, 3), (6, 3, 2, 3), ([2, 3], [[1, 1], [1, 0]])),
        ("SPACE_TO_BATCH_ND", (2, 6, 4), (4, 3, 4), ([2], [[0, 0]])),
        ("BATCH_TO_SPACE_ND", (6, 3, 2, 3), (1, 4, 5, 3), ([2, 3], [[1, 1], [1, 0]])),
        ("BATCH_TO_SPACE_ND", (4, 3, 4), (2, 6, 4), ([2], [[0, 0]])),
    ):
        sizes, borders = constant("n", rows(lists[0])[0]), constant("b", rows(*lists[1]))
        table = "SpaceToBatchNDOptions" if kind[0] == "S" else "BatchToSpaceNDOptions"
        for x, y in (
            (_real("x", *given), _real("y", *shape)),
            (int8("x", given, 0.1, 7), int8("y", shape, 0.1, 7)),
        ):
            yield _case(kind, [x, sizes, borders], [y], (table, {}))
    x, y = _real("x", *X), _real("y", *Y)
    yield _case("REVERSE_V2", [x, _ints("axes", 1)], [y], ("ReverseV2Options", {}))
    pads = constant("pads", rows([0, 0], [1, 2], [0, 0], [3, 1]))
    for mode in (0, 1):
        yield _case("MIRROR_PAD", [x, pads], [_real("y", 2, 6, 4, 10)],
                    ("MirrorPadOptions", {"Mode": mode}))  # fmt: skip
    yield _case("BROADCAST_TO", [_real("x", 3, 1, 6), _ints("shape", *X)], [y],
                ("BroadcastToOptions", {}))  # fmt: skip
    yield _case("FILL", [_ints("shape", 2, 3), _real("x")], [_real("y", 2, 3)], ("FillOptions", {}))
    places = constant("places", rows([0, 2], [1, 1]))
    yield _case("GATHER_ND", [x, places], [_real("y", 2, 4, 6)], ("GatherNdOptions", {}))
    table = constant("table", np.random.default_rng(2).normal(size=(5, 4)).astype(np.float32))
    yield _case("EMBEDDING_LOOKUP", [_ints("ids", 3, 0, 3), table], [_real("y", 3, 4)])


def more() -> Iterator[Case]:
    """Sums, remainders, roots of means of squares, zeros."""
    x, y, row = _real("x", *X), _real("y", *Y), _real("row", 6)
    yield _case("ADD_N", [x, _real("a", *X), _real("b", *X)], [y], ("AddNOptions", {}))
    for exclusive, reverse in ((False, False), (True, False), (False, True)):
        options = {"Exclusive": exclusive, "Reverse": reverse}
        axis = constant("axis", np.array(-2, np.int32))
        yield _case("CUMSUM", [x, axis], [y], ("CumsumOptions", options))
    for kind in ("FLOOR_DIV", "FLOOR_MOD"):
        table = "FloorDivOptions" if kind == "FLOOR_DIV" else "FloorModOptions"
        yield _case(kind, [x, row], [y], (table, {}))
    yield _case("ZEROS_LIKE", [x], [y], ("ZerosLikeOptions", {}))
    options = {"Padding": 0, "StrideH": 2, "StrideW": 1, "FilterHeight": 3, "FilterWidth": 2}
    yield _case("L2_POOL_2D", [_real("x", 1, 5, 4, 3)], [_real("y", 1, 3, 4, 3)],
                ("Pool2DOptions", options))  # fmt: skip
    for keep, shape in ((False, (2, 6)), (True, (2, 1, 1, 6))):
        for kind in ("REDUCE_ALL", "REDUCE_ANY"):
            yield _case(kind, [_bools("x", *X), _ints("axes", 1, 2)], [_bools("y", *shape)],
                        ("ReducerOptions", {"KeepDims": keep}))  # fmt: skip
    yield _case("SOFTMAX", [_real("x", 3, 5)], [_real("y", 3, 5)], ("SoftmaxOptions", {"Beta": 2}))
    yield _case("RESIZE_NEAREST_NEIGHBOR", [_real("x", 1, 4, 5, 2), _ints("size", 1, 3)],
                [_real("y", 1, 1, 3, 2)],
                ("ResizeNearestNeighborOptions", {"AlignCorners": True}))  # fmt: skip
    for kind in ("RELU_N1_TO_1", "RELU_0_TO_1", "SIGN"):
        yield _case(kind, [x], [y])


def integers() -> Iterator[Case]:
    """Of 32 bits without a scale; places that are computed or given when it runs."""
    a, b, y = (Tensor(name, X, "INT32") for name in "aby")
    for kind, table in (("ADD", "Add"), ("SUB", "Sub"), ("MUL", "Mul")):
        yield _case(kind, [a, b], [y], (f"{table}Options", {}))
        yield _case(kind, [a, _ints("row", 3, -1, 2, 0, 9, -7)], [y], (f"{table}Options", {}))
    divisors = _ints("row", 3, -1, 2, 5, -9, -7)
    yield _case("DIV", [a, divisors], [y], ("DivOptions", {}))
    yield _case("FLOOR_MOD", [a, divisors], [y], ("FloorModOptions", {}))
    yield _case("TOPK_V2", [_real("x", *X), constant("k", np.array(4, np.int32))],
                [_real("y", 2, 3, 4, 4), Tensor("places", (2, 3, 4, 4), "INT32")],
                ("TopKV2Options", {}))  # fmt: skip
    for type_ in ("FLOAT32", "INT32"):
        places = constant("places", rows([1, 2], [3, 0], [1, 2]))
        yield _case("SCATTER_ND", [places, Tensor("x", (3, 5), type_), _ints("n", 4, 3, 5)],
                    [Tensor("y", (4, 3, 5), type_)], ("ScatterNdOptions", {}))  # fmt: skip
    yield _case("BROADCAST_ARGS", [_ints("one", 4, 1, 3), _ints("two", 2, 3)],
                [Tensor("y", (3,), "INT32")])  # fmt: skip
    truths = Tensor("x", (3, 2), "BOOL")
    read = Tensor("ids", (3, 2), "INT32")
    yield _chain(
        [truths, read, _real("table", 2, 5), _real("y", 3, 2, 5)],
        [Operator("CAST", ("x",), ("ids",), "CastOptions", {}),
         Operator("GATHER", ("table", "ids"), ("y",), "GatherOptions", {"Axis": 0})],
        np.array([[1, 0], [0, 0], [1, 1]], bool),
        np.random.default_rng(3).normal(size=(2, 5)).astype(np.float32),
    )  # fmt: skip

    shapes = [Tensor(name, (3,), "INT32") for name in "abc"]
    yield _chain(
        [_real("x", 3, 1, 2), _real("table", 1, 4, 2), *shapes, _real("y", 3, 4, 2)],
        [Operator("SHAPE", ("x",), ("a",), "ShapeOptions", {"OutType": 2}),
         Operator("SHAPE", ("table",), ("b",), "ShapeOptions", {"OutType": 2}),
         Operator("BROADCAST_ARGS", ("a", "b"), ("c",)),
         Operator("BROADCAST_TO", ("x", "c"), ("y",), version=2)],
        *(np.random.default_rng(4).normal(size=s).astype("f4") for s in ((3, 1, 2), (1, 4, 2))),
    )  # fmt: skip


def classes() -> Iterator[Case]:
    """Places outside of the depth on both sides; numbers that are boundaries, and NaN."""
    places = np.array([[3, 0, -1], [4, 7, 1]], np.int32)
    for axis, shape, on, off in (
        (-1, (2, 3, 4), np.float32(2.5), np.float32(-1)),
        (1, (2, 4, 3), np.int8(7), np.int8(-3)),
    ):
        values = [constant(name, np.array(v)) for name, v in (("on", on), ("off", off))]
        depth = constant("depth", np.array(4, np.int32))
        tensors = [Tensor("x", (2, 3), "INT32"), depth, *values,
                   Tensor("y", shape, on.dtype.name.upper())]  # fmt: skip
        operator = Operator("ONE_HOT", ("x", "depth", "on", "off"), ("y",), "OneHotOptions",
                            {"Axis": axis})  # fmt: skip
        yield Case(f"ONE_HOT along {axis}", write(tensors, [operator], ["x"], ["y"]), (places,))
    bounds = np.array([-2.5, 0, 3, 3, 16777216], np.float32)
    reals = np.array([[-3, -2.5, -0.0], [2.9, np.nan, np.inf]], np.float32)
    for given in (reals, np.array([[-3, 0, 2], [3, 16777217, 16777215]], np.int32)):
        tensors = [Tensor("x", (2, 3), given.dtype.name.upper()), Tensor("y", (2, 3), "INT32")]
        operator = Operator("BUCKETIZE", ("x",), ("y",), "BucketizeOptions", {"Boundaries": bounds})
        yield Case(f"BUCKETIZE {given.dtype}", write(tensors, [operator], ["x"], ["y"]), (given,))


def _chain(tensors: list[Tensor], operators: list[Operator], *values: Array) -> Case:
    """Operators one after another, from x and table to y."""
    return Case(operators[-1].kind, write(tensors, operators, ["x", "table"], ["y"]), values)


def transposed_convolutions() -> Iterator[Case]:
    rng = np.random.default_rng(5)
    for stride, kernel, padding in ((2, 3, 0), (2, 3, 1), (3, 2, 0), (1, 4, 0), (2, 5, 1)):
        x, weights = _real("x", 1, 4, 5, 3), rng.normal(0, 1, (2, kernel, kernel, 3))
        rows, columns = (n * stride if padding == 0 else (n - 1) * stride + kernel for n in (4, 5))
        inputs = [
            _ints("shape", 1, rows, columns, 2), constant("w", weights.astype(np.float32)), x,
            constant("b", np.array([0.5, -1], np.float32)),
        ]  # fmt: skip
        options = {"Padding": padding, "StrideH": stride, "StrideW": stride}
        yield _case("TRANSPOSE_CONV", inputs, [_real("y", 1, rows, columns, 2)],
                    ("TransposeConvOptions", options))  # fmt: skip


def tables() -> Iterator[Case]:
    """All bytes; of LOG those that are not positive too, of SQRT none below 0 (LiteRT ends)."""
    every = np.arange(-128, 128, dtype=np.int8).reshape(1, 256)
    for kind, options in (
        ("ABS", {}), ("ELU", {}), ("EXP", {}), ("GELU", {}), ("GELU", {"Approximate": True}),
        ("LOG", {}), ("SQRT", {}),
    ):  # fmt: skip
        for scale, zero, y_scale, y_zero in ((0.05, 3, 0.04, -20), (0.02, -128, 0.02, -128)):
            x = int8("x", (1, 256), scale, -128 if kind == "SQRT" else zero)
            operator = Operator(kind, ("x",), ("y",), f"{kind.title()}Options" if options else "",
                                options)  # fmt: skip
            content = write([x, int8("y", (1, 256), y_scale, y_zero)], [operator], ["x"], ["y"])
            yield Case(f"{kind} of int8 {options or ''} {scale}", content, (every,))
    for by_tanh in (False, True):
        yield _case("GELU", [_real("x", 2, 9)], [_real("y", 2, 9)],
                    ("GeluOptions", {"Approximate": by_tanh}))  # fmt: skip


def squares() -> Iterator[Case]:
    rng = np.random.default_rng(7)
    for scales, b_shape in (((0.05, 0.05, 0.1), (3, 1, 9)), ((0.03, 0.07, 0.5), (9,))):
        types = zip(
            "aby", ((2, 3, 5, 9), b_shape, (2, 3, 5, 9)), scales, (3, -7, -128), strict=True
        )
        tensors = [int8(name, shape, scale, zero) for name, shape, scale, zero in types]
        operator = Operator("SQUARED_DIFFERENCE", ("a", "b"), ("y",))
        given = [rng.integers(-128, 128, t.shape).astype(np.int8) for t in tensors[:2]]
        content = write(tensors, [operator], ["a", "b"], ["y"])
        yield Case(f"SQUARED_DIFFERENCE of int8 {b_shape}", content, tuple(given))


def volumes() -> Iterator[Case]:
    """SAME and VALID, strides and dilations that differ along the axes, odd elements to crop."""
    rng = np.random.default_rng(6)
    weights = rng.normal(0, 1, (2, 3, 2, 2, 3)).astype(np.float32)
    bias = constant("b", np.array([0.5, -1, 2], np.float32))
    for padding, y, more in (
        (0, (1, 2, 6, 3, 3), {"StrideD": 2, "StrideW": 2}),
        (1, (1, 2, 2, 5, 3), {"DilationDFactor": 2, "DilationHFactor": 2}),
    ):
        options = {**_ONES, **more, "Padding": padding, "FusedActivationFunction": 1}
        yield _case("CONV_3D", [_real("x", 1, 4, 6, 6, 2), constant("w", weights), bias],
                    [_real("y", *y)], ("Conv3DOptions", options))  # fmt: skip
    for padding, y in ((0, (1, 6, 4, 8, 2)), (1, (1, 6, 6, 8, 2))):
        options = {**_ONES, "StrideD": 2, "StrideW": 2, "Padding": padding}
        inputs = [_ints("shape", *y), constant("w", weights), _real("x", 1, 3, 4, 4, 3)]
        yield _case("CONV_3D_TRANSPOSE", inputs, [_real("y", *y)],
                    ("Conv3DOptions", options))  # fmt: skip


_ONES = {f"{what}{axis}{end}": 1 for axis in "DHW"
         for what, end in (("Stride", ""), ("Dilation", "Factor"))}  # fmt: skip


def all_cases() -> list[Case]:
    return [
        *cases(), *blocks(), *more(), *integers(), *transposed_convolutions(), *volumes(),
        *tables(), *squares(), *classes(),
    ]  # fmt: skip


def _differences(ours: list[Array], theirs: list[Array]) -> str:
    for a, b in zip(ours, theirs, strict=True):
        if a.shape != b.shape or a.dtype != b.dtype:
            return f"{a.dtype}{a.shape}, not {b.dtype}{b.shape}"
        if b.dtype.kind == "f":
            worst = float(np.abs(a - b).max()) / max(float(np.abs(b).max()), 1e-30)
            if worst > 1e-5:
                return f"differs by {worst:g}"
        elif not np.array_equal(a, b):
            return f"{np.count_nonzero(a != b)} of {b.size} differ"
    return ""


def keys(case: Case, outputs: int) -> list[str]:
    """What each output of a case is recorded under: by what the file and its inputs hold."""
    whole = b"".join((case.content, *(value.tobytes() for value in case.inputs)))
    digest = hashlib.sha256(whole).hexdigest()[:16]
    return [f"{digest}_{number}" for number in range(outputs)]


@pytest.mark.needs_host_gcc
def test_compiled_c_gives_what_the_oracle_and_litert_say(tmp_path: Path) -> None:
    items = compile_files(all_cases(), tmp_path)
    failures, unknown = [], []
    with np.load(RECORDED) as recorded:
        for item, device in zip(items, run_on_host(items, tmp_path), strict=True):
            wanted = interpreter.run(item.graph, list(item.case.inputs))
            if told := _differences(device, wanted):
                failures.append(f"{item.case.name}: {told}")
            named = keys(item.case, len(wanted))
            if not set(named) <= {*recorded}:
                unknown.append(item.case.name)
            elif told := _differences(wanted, [recorded[key] for key in named]):
                failures.append(f"{item.case.name} in LiteRT: {told}")
    assert not failures, "\n".join(failures)
    if unknown:
        pytest.skip(f"tests/operators/record_tflite.py has not recorded {', '.join(unknown)}")

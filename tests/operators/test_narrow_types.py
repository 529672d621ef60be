"""Narrow element types: every bit pattern widened, and what is hard to round narrowed, in the
oracle (numpy's and ml_dtypes' arithmetic) and in generated C; tensors in memory; whole models.
"""

from __future__ import annotations

import itertools
from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from operators.lab import Array, Case, Compiled, compile_case, run_on_host
from sanitizers import SANITIZED

from mcu_deploy.ir import DType, TensorType

NARROW = tuple(d for d in DType if d.is_narrow)
FLOATS = tuple(d for d in NARROW if d.wide is DType.FLOAT32)
ONNX = {
    DType.FLOAT16: "FLOAT16", DType.BFLOAT16: "BFLOAT16", DType.FLOAT8_E4M3FN: "FLOAT8E4M3FN",
    DType.FLOAT8_E4M3FNUZ: "FLOAT8E4M3FNUZ", DType.FLOAT8_E5M2: "FLOAT8E5M2",
    DType.FLOAT8_E5M2FNUZ: "FLOAT8E5M2FNUZ", DType.FLOAT8_E8M0FNU: "FLOAT8E8M0",
    DType.FLOAT4_E2M1FN: "FLOAT4E2M1", DType.INT4: "INT4", DType.UINT4: "UINT4",
    DType.INT2: "INT2", DType.UINT2: "UINT2", DType.FLOAT32: "FLOAT", DType.INT8: "INT8",
    DType.UINT8: "UINT8", DType.INT32: "INT32", DType.FLOAT64: "DOUBLE",
}  # fmt: skip


def code(dtype: DType) -> int:
    return int(getattr(TensorProto, ONNX[dtype]))


def model(
    nodes: list[onnx.NodeProto], x: Array, y: DType, shape: tuple[int, ...],
    constants: dict[str, Array] | None = None,
) -> onnx.ModelProto:  # fmt: skip
    graph = helper.make_graph(
        nodes, "narrow",
        [helper.make_tensor_value_info("x", code(DType.of(x.dtype)), x.shape)],
        [helper.make_tensor_value_info("y", code(y), shape)],
        [numpy_helper.from_array(v, n) for n, v in (constants or {}).items()],
    )  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 25)], ir_version=13)


def cast(name: str, x: Array, to: DType, **attributes: object) -> Case:
    node = helper.make_node("Cast", ["x"], ["y"], to=code(to), **attributes)
    return Case(name, model([node], x, to, x.shape), (x,))


def patterns(dtype: DType) -> Array:
    """Every value of a narrow type."""
    bits = np.arange(1 << dtype.bits, dtype=np.uint32).astype(dtype.memory)
    return dtype.from_memory(dtype.to_memory(bits.view(dtype.numpy)).tobytes(), bits.shape)


def hard(dtype: DType) -> Array:
    """float32: each value of a type, the middles between neighbours, what lies beside these, and
    bit patterns at random."""
    with np.errstate(all="ignore"):
        values = patterns(dtype).astype(np.float32)
    finite = np.unique(values[np.isfinite(values)])
    middles = finite[:-1] + (finite[1:] - finite[:-1]) / np.float32(2)
    near = np.concatenate([finite, middles])
    random = np.random.default_rng(5).integers(0, 1 << 32, 20000, dtype=np.uint32)
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 3.4e38, -3.4e38, 1e-45], np.float32)
    beside = [np.nextafter(near, np.float32(end)) for end in (-np.inf, np.inf)]
    return np.concatenate([near, *beside, special, random.view(np.float32)])


def compiled(cases: list[Case], folder: Path) -> list[tuple[Compiled, list[Array]]]:
    made = [compile_case(case, folder, index) for index, case in enumerate(cases)]
    return list(zip(made, run_on_host(made, folder, SANITIZED), strict=True))


def same(found: Array, wanted: Array) -> None:
    """Equal bits, but for NaN, of which one is as good as another."""
    assert found.dtype == wanted.dtype
    dtype = DType.of(wanted.dtype)
    if dtype.wide.is_float:
        nan = np.isnan(wanted.astype(np.float32))
        assert np.array_equal(np.isnan(found.astype(np.float32)), nan)
        found, wanted = found[~nan], wanted[~nan]
    found, wanted = (dtype.to_memory(v) for v in (found, wanted))
    wrong = np.flatnonzero(found != wanted)
    assert not wrong.size, f"{wrong.size} values differ, first {wrong[:5]}"


@pytest.mark.parametrize("dtype", NARROW, ids=lambda d: d.value)
@pytest.mark.parametrize("count", [0, 1, 2, 3, 5, 8])
def test_a_tensor_comes_back_from_its_bytes(dtype: DType, count: int) -> None:
    value = np.resize(patterns(dtype), count)
    raw = dtype.to_memory(value).tobytes()
    assert len(raw) == dtype.size(count) == TensorType(dtype, (count,)).bytes
    found = dtype.from_memory(raw, value.shape)
    assert found.dtype == value.dtype
    assert found.tobytes() == value.tobytes()


def test_the_first_element_lies_in_the_lowest_bits() -> None:
    value = np.array([1, -2, 3], ml_dtypes.int4)
    assert DType.INT4.to_memory(value).tobytes() == bytes([0xE1, 0x03])
    onnx_bytes = numpy_helper.from_array(value, "x").raw_data
    assert DType.INT4.to_memory(value).tobytes() == onnx_bytes


@pytest.mark.needs_host_gcc
def test_every_value_widens(tmp_path: Path) -> None:
    cases = [cast(d.value, patterns(d), d.wide) for d in NARROW]
    for item, (found,) in compiled(cases, tmp_path):
        x = item.case.inputs[0]
        with np.errstate(all="ignore"):
            wanted = x.astype(DType.of(x.dtype).wide.numpy)
        same(item.expected[0], wanted)
        same(found, wanted)


@pytest.mark.needs_host_gcc
def test_floats_are_rounded_half_to_even(tmp_path: Path) -> None:
    plain = [d for d in FLOATS if d is not DType.FLOAT8_E8M0FNU]
    cases = [cast(f"{d.value} {s}", hard(d), d, saturate=s) for d in plain for s in (0, 1)]
    for item, (found,) in compiled(cases, tmp_path):
        same(found, item.expected[0])
        name, saturates = item.case.name.split()
        dtype, x = DType(name), item.case.inputs[0]
        if dtype.bits == 8 and saturates == "1":
            largest = float(ml_dtypes.finfo(dtype.numpy).max)
            x = np.clip(x, -largest, largest)
        if dtype is DType.FLOAT4_E2M1FN:
            x = np.where(np.isnan(x), np.float32(-0.0), x)
        with np.errstate(all="ignore"):
            same(found, x.astype(dtype.numpy))


@pytest.mark.needs_host_gcc
def test_exponents_are_rounded_by_the_mode(tmp_path: Path) -> None:
    dtype = DType.FLOAT8_E8M0FNU
    cases = [
        cast(f"{mode} {s}", hard(dtype), dtype, saturate=s, round_mode=mode)
        for mode in ("up", "down", "nearest")
        for s in (0, 1)
    ]
    for item, (found,) in compiled(cases, tmp_path):
        mode, saturates = item.case.name.split()
        wanted = numpy_helper.to_float8e8m0(item.case.inputs[0], saturates == "1", mode)
        assert found.tobytes() == wanted.tobytes() == item.expected[0].tobytes(), item.case.name


@pytest.mark.needs_host_gcc
def test_integers_keep_the_low_bits(tmp_path: Path) -> None:
    whole = np.array([-300, -9, -8, -3, -1, 0, 1, 2, 7, 8, 15, 16, 255, 1 << 30], np.int32)
    real = np.concatenate([whole.astype(np.float32), np.float32([1.9, -1.9, 2.5, 1e9, -1e9])])
    integers = [d for d in NARROW if d not in FLOATS]
    cases = [cast(f"{d.value} {x.dtype}", x, d) for d in integers for x in (whole, real)]
    for item, (found,) in compiled(cases, tmp_path):
        x = np.trunc(item.case.inputs[0]).astype(np.int64)
        same(found, x.astype(found.dtype))
        same(item.expected[0], found)


@pytest.mark.needs_host_gcc
def test_any_type_becomes_any_other(tmp_path: Path) -> None:
    others = (DType.FLOAT32, DType.FLOAT64, DType.INT8, DType.INT32)
    types = (*NARROW, *others)
    values = np.array([0, 1, -1, 0.5, 3, -2], np.float32)
    cases = []
    for source, some in itertools.product(types, (types[::2], types[1::2])):
        x = values.astype(source.numpy).reshape(2, 3)
        casts = [helper.make_node("Cast", ["x"], [y.value], to=code(y)) for y in some]
        made = model(casts, x, source, x.shape)
        del made.graph.output[:]
        made.graph.output.extend(
            helper.make_tensor_value_info(y.value, code(y), x.shape) for y in some
        )
        cases.append(Case(source.value, made, (x,)))
    for item, found in compiled(cases, tmp_path):
        names = [output.name for output in item.case.model.graph.output]
        for name, ours, oracle in zip(names, found, item.expected, strict=True):
            assert ours.dtype == DType(name).numpy
            same(ours, oracle)


def _dense(x: Array, w: Array) -> Case:
    """A dense layer with a Relu, all in one type."""
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["s"]),
        helper.make_node("Relu", ["s"], ["r"]),
        helper.make_node("Concat", ["r", "r"], ["y"], axis=1),
    ]
    shape = (x.shape[0], 2 * w.shape[1])
    return Case("dense", model(nodes, x, DType.of(x.dtype), shape, {"w": w}), (x,))


@pytest.mark.needs_host_gcc
@pytest.mark.parametrize("dtype", [DType.FLOAT16, DType.BFLOAT16], ids=lambda d: d.value)
def test_a_layer_computes_in_float32_and_rounds_its_result(tmp_path: Path, dtype: DType) -> None:
    generator = np.random.default_rng(3)
    x, w = (generator.standard_normal(s).astype(dtype.numpy) for s in ((3, 40), (40, 5)))
    ((item, (found,)),) = compiled([_dense(x, w)], tmp_path)
    wanted = np.zeros((3, 5), np.float32)
    for k in range(40):
        wanted += x.astype(np.float32)[:, k, None] * w.astype(np.float32)[k]
    wanted = np.maximum(wanted, 0).astype(dtype.numpy)
    close = np.abs(found.astype(np.float32) - np.tile(wanted, 2).astype(np.float32))
    step = 2.0**-(dtype.format.fraction) * np.abs(np.tile(wanted, 2).astype(np.float32))
    assert (close <= step).all()
    assert np.mean(found != np.tile(wanted, 2)) < 0.1
    assert [e.dtype for e in item.expected] == [dtype.numpy]


@pytest.mark.needs_host_gcc
def test_weights_of_four_bits_are_those_of_an_integer_kernel(tmp_path: Path) -> None:
    generator = np.random.default_rng(4)
    w = generator.integers(-8, 8, (16, 4)).astype(ml_dtypes.int4)
    x = generator.integers(-128, 128, (2, 16)).astype(np.int8)
    constants = {
        "w": w, "ws": np.float32(0.1), "wz": np.array(0, ml_dtypes.int4),
        "s": np.float32(0.05), "z": np.int8(3), "t": np.float32(0.7), "u": np.int8(-5),
    }  # fmt: skip
    nodes = [
        helper.make_node("DequantizeLinear", ["x", "s", "z"], ["xr"]),
        helper.make_node("DequantizeLinear", ["w", "ws", "wz"], ["wr"]),
        helper.make_node("MatMul", ["xr", "wr"], ["r"]),
        helper.make_node("QuantizeLinear", ["r", "t", "u"], ["y"]),
    ]
    arrays = {n: np.asarray(v) for n, v in constants.items()}
    case = Case("four bits", model(nodes, x, DType.INT8, (2, 4), arrays), (x,))
    ((item, (found,)),) = compiled([case], tmp_path)
    sums = (x.astype(np.int32) - 3) @ w.astype(np.int32)
    factor = np.float32(np.float32(0.05) * np.float32(0.1)) / np.float32(0.7)
    wanted = np.clip(np.rint(sums.astype(np.float32) * factor) - 5, -128, 127)
    same(found, wanted.astype(np.int8))
    assert not any(t.dtype.is_narrow for t in item.graph.data.types.values())


def test_a_model_of_float16_has_the_layers_of_one_of_float32(tmp_path: Path) -> None:
    def network(dtype: DType) -> Compiled:
        generator = np.random.default_rng(6)
        x, w, b = (
            generator.standard_normal(s).astype(dtype.numpy)
            for s in ((1, 3, 8, 8), (4, 3, 3, 3), (4,))
        )
        nodes = [
            helper.make_node("Conv", ["x", "w", "b"], ["c"]),
            helper.make_node("Relu", ["c"], ["r"]),
            helper.make_node("MaxPool", ["r"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
            helper.make_node("Flatten", ["p"], ["y"]),
        ]
        proto = model(nodes, x, dtype, (1, 36), {"w": w, "b": b})
        return compile_case(Case(dtype.value, proto, (x,)), tmp_path, 0)

    half, single = network(DType.FLOAT16), network(DType.FLOAT32)
    layers = [[n.op for n in c.graph.nodes] for c in (half, single)]
    assert [op for op in layers[0] if op != "Cast"] == layers[1]
    assert layers[0].count("Cast") == 2

"""ArmMul's C on the host, under AddressSanitizer and UBSan, beside the oracle."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pytest
from arm_dsp_conversion_cases import MODELS, Conversion
from arm_dsp_conversion_cases import model as conversions
from arm_dsp_late_cases import FACTORS
from arm_dsp_lstm_cases import LEFT, TAKEN, WIDE
from arm_dsp_lstm_cases import model as lstm_model
from arm_dsp_softmax_cases import TAKEN as SOFTMAXES
from arm_dsp_softmax_cases import model as softmax_model
from arm_dsp_tflite_cases import Binary
from arm_dsp_tflite_cases import model as tflite_model
from operators.lab import Array, Case, Compiled, build_on_host, run_turns
from operators.tflite_lstm_file import Lstm
from quantized_layers import LayersModel, Quantized, extremes
from random_int8_nets import model
from sampling import examples, first
from sanitizers import SANITIZED

from mcu_deploy.backends.ArmMul import ArmMul, rounding
from mcu_deploy.backends.interface import CreationOptions
from mcu_deploy.backends.registry import Registry
from mcu_deploy.boards import load_board
from mcu_deploy.compiled import Network
from mcu_deploy.compiler import compile_model
from mcu_deploy.options import Options
from mcu_deploy.session import Session

LSTMS = (*TAKEN, LEFT, WIDE)
_NAMES = (b"_pair_filters_", b"_row_sums(", b"counted", b"scaled >>", b"product * scale")


class _Anywhere(ArmMul):
    cores = ()


@pytest.mark.parametrize("is_armv6m", [False, True])
def test_networks_give_the_oracles_bits_without_undefined_behaviour(
    is_armv6m: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rounding, "ARMV6_M", ("host",) if is_armv6m else ())
    path = model(range(106, 106 + examples(100, 6)), tmp_path / "networks.onnx")
    network = _compiled(path)
    made = b"".join(network.sources.files.values())
    cells = (b"int32_t",) if is_armv6m else (b"int8_t", b"uint8_t")
    rounded = (b"sum * upper", b"(int64_t)sum") if is_armv6m else (b"(int64_t)sum",)
    parts = (*_NAMES, *rounded, *(cell + b" *plane)" for cell in cells))
    assert all(part in made for part in parts)
    _check(network, _samples(path), tmp_path)


_LATE, _FLOATS = ([], b"rounded like the next"), ([0.0131, 0.7], b"No integers are known")


@pytest.mark.parametrize(
    ("is_armv6m", "is_depthwise", "more", "rule"),
    first([
        (False, False, *_LATE), (True, True, *_LATE), (False, True, *_FLOATS),
        (True, False, *_LATE), (False, True, *_LATE), (True, True, *_FLOATS),
    ], 3),
)  # fmt: skip
def test_convolutions_give_the_oracles_bits_of_all_sums(
    is_armv6m: bool, is_depthwise: bool, more: list[float], rule: bytes, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Of two taps, of all pairs of bytes, by factors that leave a few sums late, or one of which no
    shift of the others has room for."""
    monkeypatch.setattr(rounding, "ARMV6_M", ("host",) if is_armv6m else ())
    made, factors = (
        LayersModel(),
        np.array([FACTORS[n][k] for n in range(4) for k in (0, 1)] + more),
    )
    image, taps = np.indices((256, 256)).astype(np.uint8).view(np.int8), np.array([100, 1], np.int8)
    weights, how = np.tile(taps[:, None, None], (len(factors), 1, 1, 1)), {}
    if is_depthwise:
        image = np.tile(image.transpose(1, 2, 0).reshape(1, 1024, 128), (len(factors), 1, 1))
        weights, how = np.moveaxis(weights, 1, 3), {"group": len(factors), "strides": [1, 2]}
    x = made.input((1, *image.shape), Quantized())
    zeros = np.zeros(len(factors))
    w = made.dequantized(made.constant(weights), factors, zeros, "int8", axis=0)
    made.output(made.node("Conv", [x, w], **how), Quantized(1, -5))
    network = _compiled(made.save(tmp_path / "late.onnx"))
    assert rule in b"".join(network.sources.files.values())
    _check(network, [[image.reshape(-1)]], tmp_path)


@pytest.mark.parametrize("is_armv6m", first([False, True]))
def test_groups_and_batches_give_the_oracles_bits(
    is_armv6m: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the first layer no integers round the last filter."""
    monkeypatch.setattr(rounding, "ARMV6_M", ("host",) if is_armv6m else ())
    made, random = LayersModel(), np.random.default_rng(0)
    for number, (images, channels, filters, rows, size, group, stride, pad, *more) in enumerate([
        (2, 8, 12, 5, 3, 2, 1, 1), (2, 6, 5, 4, 3, 1, 1, 1), (3, 12, 8, 3, 1, 4, 1, 0),
        (2, 4, 4, 2, 1, 1, 1, 0), (1, 6, 6, 2, 2, 3, 1, 0), (2, 6, 6, 5, 3, 6, 1, 1),
        (3, 4, 4, 40, 3, 4, 2, 1), (1, 3, 6, 7, 3, 3, 1, 1), (1, 2, 6, 60, 3, 2, 2, 1),
        (2, 3, 6, 5, 2, 3, 1, 0), (1, 1, 2, 60, 3, 1, 1, 1), (1, 2, 2, 50, 3, 2, 1, 2, 2),
        (1, 2, 2, 26, 3, 2, 3, 1),
    ]):  # fmt: skip
        how = Quantized(0.05, 7, ("uint8", "int8")[number % 2])
        x = made.input((images, channels, rows, rows + 1), how)
        weights = random.integers(-90, 90, (filters, channels // group, size, size), np.int8)
        scales = random.uniform(0.005, 0.02, filters)
        scales[-1] *= 1000 if number == 0 else 1
        zeros = np.zeros(filters)
        w = made.dequantized(made.constant(weights), scales, zeros, "int8", axis=0)
        how_far = {"strides": [stride] * 2, "pads": [pad] * 4, "dilations": [*more, 1][:1] * 2}
        y = made.node("Conv", [x, w], group=group, **how_far)
        out = how._replace(scale=0.018 * np.sqrt(weights[0].size))
        made.output(made.quantized(y, out), out)
    network = _compiled(path := made.save(tmp_path / "groups.onnx"))
    convolutions = [s.choice.workload for s in network.plan.steps if s.choice.layer.op == "Conv"]
    assert {workload.backend for workload in convolutions} == {"ArmMul"}
    assert b"factor + group * 6" in b"".join(network.sources.files.values())
    _check(network, _samples(path), tmp_path)


@pytest.mark.parametrize("op", ["MaxPool", "AveragePool"])
def test_pools_give_the_oracles_bits(op: str, tmp_path: Path) -> None:
    """At borders, and of whole windows; of averages with the padding and without it, to their own
    scale, whose sums may be ties, and to another."""
    made = LayersModel()
    for number, (shape, kernel, stride, pad) in enumerate([
        ((1, 5, 9, 9), (3, 3), 2, (1, 1)), ((2, 3, 6, 5), (2, 2), 1, (1, 1)),
        ((1, 4, 1, 12), (1, 3), 1, (0, 1)), ((1, 2, 7, 8), (5, 5), 2, (2, 2)),
        ((2, 3, 7, 6), (3, 2), 2, (0, 0)),
    ]):  # fmt: skip
        how = Quantized(0.05, 7, ("uint8", "int8")[number % 2])
        more = {} if op == "MaxPool" else {"count_include_pad": number // 2 % 2}
        y = made.node(
            op, [made.input(shape, how)], kernel_shape=kernel, strides=[stride] * 2,
            pads=pad * 2, **more,
        )  # fmt: skip
        out = how if op == "MaxPool" or number % 2 else how._replace(scale=0.0371, zero=50)
        made.output(made.quantized(y, out), out)
    network = _compiled(path := made.save(tmp_path / "pools.onnx"))
    pools = [s.choice.workload for s in network.plan.steps if s.choice.layer.op == op]
    assert {workload.backend for workload in pools} == {"ArmMul"}
    _check(network, _samples(path), tmp_path)


@pytest.mark.parametrize("name", MODELS)
def test_conversions_give_the_oracles_bits_of_all_exponents(name: str, tmp_path: Path) -> None:
    """Of scales that no product with a reciprocal divides by, too; of NaN and infinities, and next
    to where elements change."""
    cases = [*MODELS[name]]
    if name == "quantize.onnx":
        cases += [Conversion(4096, 1e-41, 3), Conversion(4096, 2e28, 200, "uint8")]
    network = _compiled(conversions(cases, tmp_path / name))
    assert {step.choice.workload.backend for step in network.plan.steps} == {"ArmMul"}
    random = np.random.default_rng(0)
    words = np.arange(0, 1 << 32, 1 << 20) + random.integers(1 << 20)
    exponents = words.astype(np.uint32).view(np.float32)
    exponents[:4] = np.inf, -np.inf, 0.0, -0.0
    near = [case.samples(random)[:1] for case in cases]
    every = [np.resize(exponents, (1, case.elements)) for case in cases]
    _check(network, (near, every)[: 1 if cases[0].is_back else 2], tmp_path)


def test_products_of_tflite_give_the_oracles_bits_of_all_pairs(tmp_path: Path) -> None:
    cases = [
        Binary("MUL", 1 << 16, (0.0123127, 0.0321547, 0.0171337), (12, -128, 5)),
        Binary("MUL", 1 << 16, (0.0301241, 0.0401339, 0.0702713), (0, 255, 0), dtype="uint8"),
        Binary("MUL", 1 << 16, (0.0310177, 0.0770329, 0.0501713), (127, -128, 127)),
    ]  # fmt: skip
    network = _compiled(tflite_model(cases, tmp_path / "products.tflite"))
    assert {step.choice.workload.backend for step in network.plan.steps} == {"ArmMul"}
    made = b"".join(network.sources.files.values())
    assert b"- (product < 0)" in made and b"+ move" in made
    every = np.indices((256, 256)).astype(np.uint8).reshape(2, 1, -1)
    _check(network, [[operand.view(case.dtype) for case in cases for operand in every]], tmp_path)


def test_a_sum_is_clamped_at_both_ends(tmp_path: Path) -> None:
    made, how = LayersModel(), Quantized(0.05, -20)
    y = made.node("Relu", [made.node("Add", [made.input((1, 300), how) for _ in "ab"])])
    made.output(made.quantized(y, how), how)
    network = _compiled(path := made.save(tmp_path / "sum.onnx"))
    by_op = {s.choice.layer.op: s.choice.workload.backend for s in network.plan.steps}
    assert by_op["Add"] == "ArmMul" and "Relu" not in by_op
    _check(network, _samples(path), tmp_path)


def test_softmax_gives_the_oracles_bits(tmp_path: Path) -> None:
    """Of equal elements in the middle of two outputs, too."""
    network = _compiled(path := softmax_model(SOFTMAXES, tmp_path / "softmax.onnx"))
    layers = [s.choice.workload for s in network.plan.steps if s.choice.layer.op == "Softmax"]
    assert {workload.backend for workload in layers} == {"ArmMul"}
    _check(network, _samples(path), tmp_path)


@pytest.mark.parametrize("case", first(LSTMS))
def test_an_lstm_of_tflite_gives_the_oracles_bits(case: Lstm, tmp_path: Path) -> None:
    network = _compiled(path := lstm_model(case, tmp_path))
    assert {step.choice.workload.backend for step in network.plan.steps} == {"ArmMul"}
    _check(network, ([sample] for sample in np.load(path.with_suffix(".npz"))["x"]), tmp_path)


def _compiled(path: Path) -> Network:
    registry = Registry.builtin().without("ArmMul").with_backend("ArmMul", _Anywhere)
    session = Session(registry, CreationOptions(dynamic_backends=False))
    options = Options(weights="array", strategy="greedy")
    return compile_model(path, load_board("host"), name="n", session=session, options=options)


def _samples(path: Path) -> list[tuple[Array, ...]]:
    """Those of `extremes`, and a random one, since in the sample its second half is at an end."""
    given, random = [*np.load(extremes(path)).values()], np.random.default_rng(8)
    ends = [np.iinfo(of.dtype) for of in given]
    drawn = [
        random.integers(end.min, end.max + 1, of.shape[1], of.dtype)
        for of, end in zip(given, ends, strict=True)
    ]
    return [*zip(*given, strict=True), tuple(drawn)]


def _check(network: Network, samples: Iterable[Sequence[Array]], folder: Path) -> None:
    cases = [Compiled(Case("networks", None, tuple(sample)), network) for sample in samples]
    executable = build_on_host([cases[0]], folder, SANITIZED)
    turns = run_turns(executable, [cases[0]], [[case.case.inputs] for case in cases])
    for case, ((status, outputs),) in zip(cases, turns, strict=True):
        assert status == 0
        for actual, wanted in zip(outputs, case.expected, strict=True):
            assert np.array_equal(actual, wanted)

"""What stands over a kernel of its stream: by it, and by nothing else, the weights and the biases
of a layer are found again in the object that was compiled."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import arm_dsp_cases
import arm_dsp_conv_table_cases
import arm_dsp_convolutions
import arm_dsp_dense_cases
import arm_dsp_depthwise_cases
import arm_dsp_late_cases
import arm_dsp_matmul_cases
import arm_dsp_strips_cases
import arm_dsp_sum_cases
import arm_dsp_winograd_cases
import numpy as np
import pytest
from operators.tflite_lstm_file import Lstm, write
from sampling import chosen
from streams import others, pairs
from streams.packed import Packed, packed
from streams.words import Filter, HeadError, Words, said, swapped

from mcu_deploy import formats, passes
from mcu_deploy.backends.interface import Layer, Target, layer_of
from mcu_deploy.backends.quantized import dense, layers
from mcu_deploy.interpreter import run_all
from mcu_deploy.ir import Graph
from mcu_deploy.operators import tflite_lstm

M4 = Target("cortex-m4", fpu=True, dsp=True)
pytestmark = pytest.mark.needs_arm_gcc
_MOVED = 1 << 15  # how far biases are moved: requantization.py


@dataclass(frozen=True)
class Net:
    """Layers in one object. kernels: by parts of their names, those whose streams are read.
    unseen: what none of these layers has, where another net's has it. board: of whose memories
    and caches kernels depend, too."""

    model: Callable[[Path], Path]
    goal: str
    kernels: frozenset[str]
    unseen: re.Pattern[str] = re.compile("(?!)")
    board: str = "mps2-an386"


def _lstm(path: Path) -> Path:
    path = path.with_suffix(".tflite")
    path.write_bytes(write(Lstm(37, inputs=6, hidden=9, h=(0.0078, 0), x=(0.02, -128))))
    return path


_CONVOLUTIONS = [
    *(arm_dsp_convolutions.TAKEN[n] for n in (2, 5, 6, 11)),
    arm_dsp_convolutions.SHARED[0], arm_dsp_convolutions.GROUPS[2],
    arm_dsp_depthwise_cases.TAKEN[0], arm_dsp_winograd_cases.TAKEN[5],
]  # fmt: skip
_PRODUCTS = [arm_dsp_matmul_cases.TAKEN[n] for n in (3, 4, 5, 7, 9)]
_POINTWISE = [arm_dsp_cases.Case(8, 8, 4, 3)]
_CACHED = [
    arm_dsp_convolutions.Case((32, 6, 8), 24, zeros=(-128, 3)),
    arm_dsp_convolutions.Case((32, 6, 8), 32, (1, 1), pads=(0, 0, 0, 0)),
    arm_dsp_depthwise_cases.TAKEN[0],
]
_DENSE = [arm_dsp_dense_cases.TAKEN[n] for n in (0, 5, 6, 14, 17, 32, 33)]
_SUMS = [arm_dsp_sum_cases.TAKEN[n] for n in (2, 3, 11)]
NETS = {
    "pointwise": Net(
        lambda path: arm_dsp_cases.model(
            [*_POINTWISE, arm_dsp_cases.Case(12, 10, 5, 1), arm_dsp_cases.Case(8, 8, 5, 4, 1),
             arm_dsp_cases.Case(20, 5, 4, 4, zeros=(7, 0, 200), dtype="uint8")],
            path,
        ),
        "speed", frozenset({"conv1x1", "depthwise"}),
    ),
    "shared": Net(
        lambda path: arm_dsp_cases.model(
            [*_POINTWISE, arm_dsp_cases.Case(16, 12, 4, 3)], path
        ),
        "size", frozenset({"conv1x1_any"}),
    ),
    "convolution": Net(
        lambda path: arm_dsp_convolutions.model(_CONVOLUTIONS, path),
        "speed", frozenset({"conv3x3", "depthwise", "winograd"}),
    ),
    "cached": Net(
        lambda path: arm_dsp_convolutions.model(_CACHED, path),
        "balanced", frozenset({"conv3x3", "conv1x1", "depthwise"}), board="nucleo_l4r5zi",
    ),
    "strips": Net(
        lambda path: arm_dsp_strips_cases.model([arm_dsp_strips_cases.BLOCK], path),
        "ram", frozenset({"conv3x3_rows"}),
    ),
    "tables": Net(
        lambda path: arm_dsp_conv_table_cases.model(arm_dsp_conv_table_cases.TAKEN[1:3], path),
        "balanced", frozenset({"conv"}),
    ),
    "late": Net(
        lambda path: arm_dsp_late_cases.model(
            path, (arm_dsp_late_cases.SOLVED[2], arm_dsp_late_cases.UNSOLVED[0]),
            arm_dsp_late_cases.DEPTHWISE[:1],
        )[0],
        "balanced", frozenset({"conv1x1", "depthwise"}),
        re.compile(r"^[\d ]+ for "),  # most weights are 0
    ),
    "dense": Net(
        lambda path: arm_dsp_dense_cases.model(_DENSE, path),
        "balanced", frozenset({"dense"}),
    ),
    "lstm": Net(_lstm, "balanced", frozenset({"lstm"})),
    "matmul": Net(
        lambda path: arm_dsp_matmul_cases.model(_PRODUCTS, path),
        "balanced", frozenset({"matmul"}),
    ),
    "sums": Net(
        lambda path: arm_dsp_sum_cases.model(_SUMS, path),
        "balanced", frozenset({"add", "sub", "mul"}),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", chosen(NETS, ("convolution", "dense", "strips", "lstm", "sums")))
def test_a_layer_is_what_the_head_says_of_the_object(name: str, tmp_path: Path) -> None:
    net = NETS[name]
    path = net.model(tmp_path / "model.onnx")
    graph = passes.run(formats.load(path))
    found = [
        of for of in packed(path, net.board, net.goal, tmp_path)
        if any(part in of.kernel for part in net.kernels) and not of.symbol.endswith("_shape")
    ]  # fmt: skip
    for of in found:
        _check(graph, of, of.head)
    # With two of its words in each other's place a head is wrong of some layer: that a layer has no
    # rest of four channels, say, is nobody's fault.
    seen: dict[str, bool] = {}
    for of in found:
        for what, head in _wrong(of.head):
            seen[what] = seen.get(what, False) or not _holds(graph, of, head)
    missed = [what for what, is_seen in seen.items() if not is_seen]
    assert len(seen) > 1 and not [what for what in missed if not net.unseen.search(what)]
    assert all(any(part in of.kernel for of in found) for part in net.kernels)


def _holds(graph: Graph, of: Packed, head: str) -> bool:
    try:
        _check(graph, of, head)
    except (HeadError, AssertionError):
        return False
    return True


def _wrong(head: str) -> Iterator[tuple[str, str]]:
    for pattern, between in (*pairs.LISTS, *others.LISTS):
        yield from swapped(head, pattern, between)


def _check(graph: Graph, of: Packed, head: str) -> None:
    words, named = Words(of.words), {node.name: node for node in graph.nodes}
    of_layer = [layer_of(graph, named[name], M4) for name in of.nodes if name in named]
    if of.symbol.endswith("constants"):
        (layer,) = (found for found in of_layer if found.op in ("Add", "Sub", "Mul", "MatMul"))
        _check_elements(graph, layer, head, words)
    elif "lstm" in of.kernel:
        _check_lstm(of_layer[0], head, words)
    elif "dense" in of.kernel:
        product = dense.read(of_layer[0])
        assert isinstance(product, dense.Dense)
        x = np.arange(product.x.dtype.range[0], product.x.dtype.range[1] + 1)
        read = [*others.dense(head, words, *product.weights.shape)]
        _check_filters(product.weights[:, :, None, None], product, x, read)
    else:
        convolutions = [found for found in map(layers.read, of_layer)
                        if isinstance(found, layers.Convolution)]  # fmt: skip
        is_depthwise = "taps, words" in head
        fits = [layer for layer in convolutions if layer.is_depthwise == is_depthwise]
        assert fits, of
        _check_convolution(fits[of.symbol.endswith("more_weights")], head, words, is_depthwise)


def _check_convolution(
    layer: layers.Convolution, head: str, words: Words, is_depthwise: bool
) -> None:
    shape = layer.weights.shape
    x = np.arange(layer.x.dtype.range[0], layer.x.dtype.range[1] + 1)
    if is_depthwise:
        read = [*others.planes(head, words, shape)]
        x = x - layer.zero_points[0]
    elif "F(2x2, 3x3)" in head:
        read = [*pairs.winograd(head, words, shape)]
    else:
        read = [*pairs.product(head, words, shape, layer.groups)]
    _check_filters(layer.weights, layer, x, read)


def _weights(read: Sequence[Filter], shape: tuple[int, ...]) -> list[object]:
    """[filter, channel, row, column]; 999 where there is none."""
    found = np.full(shape, 999)
    for n, of in enumerate(read):
        for (c, row, column), weight in of.weights.items():
            assert c < shape[1] and row < shape[2] and column < shape[3]
            found[n, c, row, column] = weight
    as_list: list[object] = found.tolist()
    return as_list


def _check_filters(
    weights: np.ndarray, layer: layers.Linear, x: np.ndarray, read: Sequence[Filter]
) -> None:
    """x: all that an element may be, as the sums have it."""
    assert len(read) == len(weights)
    assert _weights(read, weights.shape) == weights.tolist()
    random, shifts = np.random.default_rng(3), set()
    flat = weights.reshape(len(weights), -1)
    for n, of in enumerate(read):
        bias, factor = int(layer.bias[n]), layer.factors[n]
        if of.factor is not None:
            assert of.begin == of.lanes * bias
            assert np.float32(of.factor) == factor / np.float32(of.lanes)
            continue
        if of.shift is None:
            assert abs(of.begin - of.lanes * bias) <= _MOVED
        sums = random.choice(x, (200, flat.shape[1])) @ flat[n]
        late = [(acc - of.begin) // of.lanes for acc in of.late]
        sums = np.concatenate([sums, late]).astype(np.int64)
        accs = of.begin + of.lanes * sums
        assert np.isin(of.late, accs).all()
        accs = np.where(np.isin(accs, of.late), accs + of.lanes, accs)
        shift = of.shift or _shift(of, float(factor))
        shifts.add(shift - int(np.log2(of.lanes)) if of.shift is None else shift)
        rounded = np.clip(((accs * of.scale >> 32) + of.addend) >> shift - 32, *layer.y.dtype.range)
        assert np.array_equal(rounded, layer.channel(n).element(bias + sums))
    assert len(shifts) <= 1


def _shift(of: Filter, factor: float) -> int:
    """By how much the code shifts a product: what makes the scale the factor."""
    assert of.scale > 0
    shift = np.log2(of.lanes * of.scale / factor)
    assert abs(shift - np.rint(shift)) < 0.02
    return int(np.rint(shift))


def _check_lstm(layer: Layer, head: str, words: Words) -> None:
    hidden, inputs = layer.input(tflite_lstm.weights(0)[0]).type.shape
    weights, starts = others.lstm(head, words, inputs, hidden)
    words.end()
    zeros = [t.scaling.zero_point[0] for t in (layer.input(0).type, layer.output.type)]
    gates = {tflite_lstm.INPUT: "input", tflite_lstm.FORGET: "forget", tflite_lstm.CELL: "cell",
             tflite_lstm.OUTPUT: "output"}  # fmt: skip
    for gate, name in gates.items():
        *of_gate, bias = (layer.input(n).constant for n in tflite_lstm.weights(gate))
        for source, zero, wanted, first in zip("xh", zeros, of_gate, (bias, 0), strict=True):
            assert wanted is not None and first is not None
            assert weights[f"{name} {source}"].tolist() == wanted.tolist()
            begin = first - zero * wanted.astype(np.int64).sum(1)
            assert starts[f"{name} {source}"].tolist() == begin.tolist()


def _check_elements(graph: Graph, layer: Layer, head: str, words: Words) -> None:
    """The formula, with the constants in their places, gives what the oracle has."""
    random = np.random.default_rng(5)
    types = [graph.type(edge) for edge in graph.inputs]
    given = [random.integers(*t.dtype.range, t.shape, endpoint=True).astype(t.dtype.value)
             for t in types]  # fmt: skip
    values = run_all(graph, given)
    a, b = (values[edge].astype(np.int64) for edge in layer.node.inputs[:2] if edge is not None)
    formula = said(r"^y(?:\[r\]\[c\])? = sat\((.*?)\)\. constants", head)[1]
    formula = formula.replace(
        "sum of (a[r] - a_zero) * (b[c] - b_zero)", "(a - a_zero) @ (b - b_zero)"
    )
    names = others.constants(head, words) | {"a": a, "b": b}
    found = eval(re.sub(r"(\d) (?=[ab]\b)", r"\1 * ", formula), {}, names)
    wanted = values[layer.node.outputs[0]]
    assert np.array_equal(np.clip(found, *layer.output.type.dtype.range), wanted)

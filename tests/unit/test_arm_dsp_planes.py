"""ArmDsp's depthwise kernels, run by the interpreter of instructions: they write what the layers
have, and their constants are what their headers say."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import arm_dsp_cases
import arm_dsp_convolutions
import arm_dsp_depthwise_cases
import arm_dsp_tflite_cases
import numpy as np
import pytest
from sampling import examples

from mcu_deploy import formats, passes
from mcu_deploy.backends.ArmDsp.kernels import depthwise, depthwise_any
from mcu_deploy.backends.interface import Target, layer_of
from mcu_deploy.backends.isa import Assembly
from mcu_deploy.backends.isa.dsp.blocks import NUMBERS, Blocks
from mcu_deploy.backends.isa.dsp.plane_lines import UNROLLINGS
from mcu_deploy.backends.isa.function import framed
from mcu_deploy.backends.isa.instruction import Note
from mcu_deploy.backends.isa.interpreter import Data, call
from mcu_deploy.backends.quantized.dense_product import shift
from mcu_deploy.backends.quantized.layers import Convolution, read
from mcu_deploy.backends.quantized.lines import BareLines, Lines
from mcu_deploy.backends.quantized.loops import HARDLY_LONGER
from mcu_deploy.ir.view import view_of_all
from mcu_deploy.memory_timing import USUAL_FLASH, Cache, MemoryTiming

M4 = Target("cortex-m4", fpu=True, dsp=True)
_X, _Y, _TAPS, _SCRATCH = 0x2000_0000, 0x2010_0000, 0x1000_0000, 0x2020_0000
_EVERY = 10 - examples(9, 1)  # of the kernels that one is tried; with `--all` all are
Kernel = depthwise.Kernel | depthwise_any.Kernel

_THREES = [c for c in arm_dsp_cases.TAKEN if c.stride and c.channels * c.rows * c.columns < 6000]
_OTHERS = [c for c in arm_dsp_depthwise_cases.TAKEN if c.filters * np.prod(c.shape[1:]) < 1000]
_TFLITE = [
    c for of in arm_dsp_tflite_cases.MODELS.values() for c in of
    if isinstance(c, arm_dsp_tflite_cases.Depthwise)
]  # fmt: skip


@pytest.fixture(scope="module")
def layers(tmp_path_factory: pytest.TempPathFactory) -> list[Convolution]:
    folder = tmp_path_factory.mktemp("layers")
    paths = [
        arm_dsp_cases.model(_THREES, folder / "threes.onnx"),
        arm_dsp_convolutions.model(_OTHERS, folder / "others.onnx"),
        arm_dsp_tflite_cases.model(_TFLITE, folder / "others.tflite"),
    ]
    return [layer for path in paths for layer in _depthwise(path)]


def _depthwise(path: Path) -> Iterator[Convolution]:
    view = view_of_all(passes.run(formats.load(path)))
    for node in view.nodes:
        found = layer_of(view, node, M4)
        layer = "" if found is None else read(found)
        if isinstance(layer, Convolution) and layer.is_depthwise:
            yield layer


def _kernels(layer: Convolution) -> Iterator[Kernel]:
    """All that a layer may be computed by, of blocks of each size."""
    if not depthwise.refusal(layer):
        bare = [BareLines.of(layer, False), BareLines.of(layer, True), BareLines.of_any(layer)]
        has_late = any(how.late for how in depthwise.roundings(layer))
        usable = [lines for lines in bare if lines.is_reachable]
        yield from (depthwise.Kernel(layer, lines, has_late) for lines in usable)
    if not depthwise_any.refusal(layer):
        for is_transposed in (False, True):
            lines = Lines.of(layer, is_transposed)
            for n, size in enumerate(Blocks.sizes(lines) if lines.is_reachable else []):
                rounds_twice, is_unrolled = layer.fixed is not None, n % 2 == 0
                blocks = Blocks(
                    lines, layer.saturate, shift(layer), rounds_twice, size, is_unrolled
                )
                yield depthwise_any.Kernel(layer, blocks)


def test_kernels_write_what_their_layers_have(layers: Sequence[Convolution]) -> None:
    """Of each layer some ways, in turn."""
    kinds = set()
    for number, layer in enumerate(layers):
        random = np.random.default_rng(number)
        low, high = layer.x.dtype.range
        x = random.integers(low, high + 1, (layer.x.shape[1], *layer.window.input))
        sums = _sums(layer, x)
        kernels = [*_kernels(layer)]
        for kernel in kernels[number % _EVERY :: _EVERY] or kernels[:1]:
            wanted = [layer.channel(index).element(of) for index, of in enumerate(sums)]
            assert np.array_equal(_written(kernel, x), wanted), (number, kernel)
            kinds.add((type(kernel), kernel.lines.is_transposed))
    assert len(kinds) == 4


def test_kernels_that_unroll_less_write_the_same(tmp_path: Path) -> None:
    """Of lines of the image that the planes hold, and of bands of them; with a stride."""
    cases = [
        arm_dsp_cases.Case(4, 0, 25, 5, stride=1),
        arm_dsp_cases.Case(4, 0, 27, 23, stride=1, zeros=(9, 128, 3), dtype="uint8"),
        arm_dsp_cases.Case(4, 0, 26, 12, stride=2, pads=(0, 0, 1, 1)),
    ]
    for number, layer in enumerate(_depthwise(arm_dsp_cases.model(cases, tmp_path / "long.onnx"))):
        low, high = layer.x.dtype.range
        size = (layer.x.shape[1], *layer.window.input)
        x = np.random.default_rng(number).integers(low, high + 1, size)
        sizes = set()
        for lines in (BareLines.of(layer, is_transposed=True), BareLines.of_any(layer)):
            long = depthwise.Kernel(layer, lines, False)
            wanted = _written(long, x)
            for kernel in (replace(long, unrolling=how) for how in UNROLLINGS[1:]):
                assert np.array_equal(_written(kernel, x), wanted), kernel
                sizes.add(kernel.code.bytes)
        assert len(sizes) > 3


def test_what_runs_for_each_channel_fits_into_the_cache(tmp_path: Path) -> None:
    """A layer of keyword spotting: its longest code would be waited for at each channel."""
    case = arm_dsp_cases.Case(64, 0, 25, 5, stride=1)
    (layer,) = _depthwise(arm_dsp_cases.model([case], tmp_path / "speech.onnx"))
    late = replace(layer, target=replace(M4, memory=USUAL_FLASH))
    kernel, long = depthwise.Kernel.of(late, True), depthwise.Kernel.of(layer, True)
    assert kernel.unrolling != long.unrolling == UNROLLINGS[0] and kernel.lines == long.lines
    assert kernel.channel_bytes <= 960 < long.channel_bytes
    assert kernel.cycles < long.code.time(late.target)
    assert kernel.code.time(M4) < 1.05 * long.cycles


def test_what_runs_for_each_band_fits_into_the_cache(tmp_path: Path) -> None:
    """Four channels of a small image are soon done, and what fills their planes comes again."""
    case = arm_dsp_cases.Case(144, 0, 14, 14, stride=2, pads=(0, 0, 1, 1))
    (layer,) = _depthwise(arm_dsp_cases.model([case], tmp_path / "small.onnx"))
    flash = MemoryTiming(5, 8, Cache(32, 32, 32, "lru"), Cache(8, 32, 8, "lru"))
    late = replace(layer, target=replace(M4, memory=flash))
    kernel, long = depthwise.Kernel.of(late, False), depthwise.Kernel.of(layer, False)
    assert kernel.unrolling != UNROLLINGS[0] == long.unrolling
    assert kernel.band_bytes <= 960 < long.band_bytes
    assert kernel.code.waited_for_code(late.target) < 0.005 * kernel.cycles
    assert kernel.cycles < 0.97 * replace(long, layer=late).cycles


def test_a_kernel_that_fits_is_taken_where_it_hardly_takes_longer(tmp_path: Path) -> None:
    """Of long lines it does, as a loop has all of their pairs; another one is taken if it is the
    fastest."""
    flash = MemoryTiming(5, 8, Cache(32, 32, 32, "lru"), Cache(8, 32, 8, "lru"))
    cases = [arm_dsp_cases.Case(8, 0, 48, 48, stride=1), arm_dsp_cases.Case(64, 0, 25, 5, stride=1)]
    more = []
    for layer in _depthwise(arm_dsp_cases.model(cases, tmp_path / "both.onnx")):
        late = replace(layer, target=replace(M4, memory=flash))
        kernel = depthwise.Kernel.of(late, False)
        every = [
            depthwise.Kernel(late, BareLines.of(late, is_transposed), False, how)
            for is_transposed in (False, True) for how in UNROLLINGS
        ]  # fmt: skip
        least = min(one.cycles for one in every if one.lines.is_reachable)
        assert (kernel.band_bytes <= 896) == kernel.unrolling.is_entered
        more.append(kernel.cycles / least)
    assert 1 < more[0] < HARDLY_LONGER and more[1] == 1


def test_headers_say_where_the_weights_are(layers: Sequence[Convolution]) -> None:
    for kernel in [kernel for layer in layers for kernel in _kernels(layer)][::_EVERY]:
        words, names = kernel.taps().value[_ahead(kernel) :], _stream(kernel.code)
        for index, filter_ in enumerate(kernel.layer.weights[:, 0]):
            weights = filter_.T if kernel.lines.is_transposed else filter_
            found = np.full(weights.shape, 999)
            for word, parts in zip(words[index * len(names) :], names, strict=False):
                for byte, part in zip(word.tobytes(), parts, strict=False):
                    if tap := re.fullmatch(r"w\[(\d+)\]\[(\d+)\]", part):
                        found[int(tap[1]), int(tap[2])] = (byte ^ 128) - 128
                    assert byte == 0 or part != "0"
            assert np.array_equal(found, weights), (index, names)


def _ahead(kernel: Kernel) -> int:
    """Words in front of the taps."""
    return kernel.lines.is_any if isinstance(kernel.lines, BareLines) else NUMBERS


def _stream(code: Assembly) -> list[tuple[str, ...]]:
    """A filter's words as the header names them, those in brackets by their bytes."""
    items = [*code.items]
    first = next(n for n, item in enumerate(items) if not isinstance(item, Note))
    header = " ".join(item.text for item in items[:first] if isinstance(item, Note))
    said = re.search(r"taps, words, [^:]*: (.*?)\.( |$)", header)
    assert said is not None, header
    text = said[1]
    if rows := re.search(r"for k of 0 to (\d+): (.*)", text):
        every = [rows[2].replace("[k]", f"[{k}]") for k in range(int(rows[1]) + 1)]
        text = text[: rows.start()] + ", ".join(every)
    words = re.findall(r"\(([^)]*)\)|([^(), ]+)", text)
    return [tuple(word.split(", ")) if word else (name,) for word, name in words]


def _sums(layer: Convolution, x: np.ndarray) -> np.ndarray:
    """[filter, row, column], with their bias. x: [channel, row, column]."""
    filters = layer.weights.shape[0]
    of = np.repeat(x - layer.zero_points[0], filters // x.shape[0], axis=0)
    sums = np.zeros((filters, *layer.window.output), np.int64) + layer.bias[:, None, None]
    for tap in layer.window.taps():
        source, target = layer.window.slices(tap)
        sums[target] += layer.weights[:, 0, *tap][:, None, None] * of[source]
    return sums


def _written(kernel: Kernel, x: np.ndarray) -> np.ndarray:
    """What the kernel makes of an image: [filter, row, column]. x: [channel, row, column]."""
    layer, memory = kernel.layer, Data()
    filters = layer.weights.shape[0]
    pixels = np.moveaxis(x, 0, 2).astype(layer.x.dtype.numpy)
    memory.lay(_X, pixels.tobytes(), is_constant=True)
    memory.lay(_TAPS, kernel.taps().value.tobytes(), is_constant=True)
    memory.lay(_SCRATCH, bytes([0xA5]) * kernel.scratch_bytes)
    y = memory.lay(_Y, bytes(filters * int(np.prod(layer.window.output))))
    call(framed(kernel.code.items), (_X, _Y, _TAPS, _SCRATCH), memory)
    elements = np.frombuffer(bytes(y), layer.y.dtype.numpy)
    return np.moveaxis(elements.reshape(*layer.window.output, filters), 2, 0)

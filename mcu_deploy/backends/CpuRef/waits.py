"""What CpuRef's kernels wait for a flash that answers late, beside the cycles of `cycles`.

A kernel in C has short loops, which any instruction cache holds, so that its code is waited for
once; but the functions of the C library do not all fit into one, with what is around them, and
then come from the flash anew for each element. Constants that are more than the data cache holds
are read anew in each pass.

The numbers are fitted to 1,197 layers, counted on a NUCLEO-L4R5ZI (5 wait states, reads of 8 bytes,
caches of 1,024 and 256 bytes) by the emulator's plugin, and the library's to five other flashes.
tests/device/test_cpu_ref_prices.py counts layers of each family again: a price is within 15 %.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from mcu_deploy.backends.CpuRef import window_cycles
from mcu_deploy.backends.interface import Layer, Target
from mcu_deploy.ir import DType, TensorType
from mcu_deploy.memory_timing import Cache, MemoryTiming

# Of a kernel's code what a run executes at most, and of short runs for each cycle.
_CODE, _CODE_OF_A_CYCLE = 140, 0.5
# Where no cache holds a loop, a kernel waits in each of its cycles for so much of a wait state.
_OF_EACH_CYCLE = 0.125
# The innermost loop of a product, as gcc makes it for an M0+; it begins with a read of the flash
# (toolchain/flags.py), so that a cache of so few bytes holds it. What is around it is waited for,
# for each output so many wait states: without an FPU ONNX's arithmetic calls functions for floats,
# TFLite's does not.
_PRODUCT, _OF_AN_OUTPUT, _OF_TFLITES = 14, 50, 10
# What the core executes while 8 bytes of the library's code are read, jumps and all; and how many
# bytes ahead it asks for them (as in isa/waiting.py).
_COVERED, _QUEUE = 1.6, 12
# Of a filter or column its bias and its factor, or a multiplier and a shift.
_OF_A_FILTER = 8
# Of the data cache the lines with a channel's bias and factor, and with numbers in the code; in
# TFLite's arithmetic a shift is in one more.
_LINES_BESIDE = 3


class _Library(NamedTuple):
    """A function of the C library with what is around it. footprint: the bytes of the cache that it
    takes; path: those that one call executes. literals: the bytes of the numbers in its code, which
    are read as data; reads: how many of them a call reads."""

    footprint: int
    path: int
    literals: int = 0
    reads: float = 0


# Those that a cache of 1 KB does not hold, and some that one of 512 bytes does not.
_LIBRARY: Mapping[str, _Library] = {
    "Mish": _Library(1000, 690), "Pow": _Library(1400, 500),
    "Erf": _Library(1100, 220, 300, 8), "Softplus": _Library(800, 300, 300, 1),
    "Atanh": _Library(800, 290), "LSTM": _Library(900, 780),
}  # fmt: skip
_TO_64_BITS = _Library(700, 550)


def waits(layer: Layer, cycles: float) -> float:
    """The cycles that one run of a layer waits for code and constants in the target's memory, where
    it takes so many cycles without. What is looked up in a table is taken to be near what was
    looked up before."""
    memory = layer.target.memory
    if memory is None or memory.answers_at_once:
        return 0.0
    flash = _Flash(memory)
    if memory.waits_in_loops:
        code = memory.wait_states * _in_loops(layer, cycles, memory.instruction_cache)
        return code + _for_constants(layer, flash)
    code = flash.for_code(min(_CODE, _CODE_OF_A_CYCLE * cycles), 1)
    return code + _for_constants(layer, flash) + _for_library(layer, flash)


def for_code(target: Target, bytes_: float) -> float:
    """The cycles that so many bytes of code wait which are executed once, with jumps."""
    memory = target.memory
    if memory is None or memory.answers_at_once:
        return 0.0
    return _Flash(memory).for_code(bytes_, 1)


class _Flash(NamedTuple):
    """What reads of code and data wait, behind which caches."""

    memory: MemoryTiming

    def for_code(self, bytes_: float, times: float) -> float:
        """Of code that no cache holds."""
        width = self.memory.read_bytes
        ahead = width if self.memory.prefetch else min(width, _QUEUE)
        wait = self.memory.wait_states - _COVERED * ahead / 8
        return times * bytes_ / width * max(0.0, wait)

    def in_order(self, bytes_: float, each: int, kept: float) -> float:
        """Of so many bytes of constants, `each` a load, one behind the other; kept: the bytes of
        all that is read again and again."""
        waits = self.memory.wait_states
        if self.memory.data_cache is None:
            return bytes_ / each * waits
        once = kept / self.memory.read_bytes * waits
        return min(once, self._anew(bytes_)) if self._holds(kept) else self._anew(bytes_)

    def _anew(self, bytes_: float) -> float:
        return bytes_ / self.memory.read_bytes * self.memory.wait_states

    def apart(self, loads: float, lines: float) -> float:
        """Of loads that go round so many lines of the cache, each in another one than before: where
        these are more than there are, the oldest is the one that is wanted next."""
        cache = self.memory.data_cache
        missed = 1.0 if cache is None else min(1.0, max(0.0, lines - cache.lines))
        return missed * loads * self.memory.wait_states

    def lines(self, bytes_: float) -> float:
        """Of the data cache, how many so many bytes are in, wherever they begin."""
        cache = self.memory.data_cache
        return 0.0 if cache is None or not bytes_ else 1 + (bytes_ - 1) / cache.line_bytes

    def _holds(self, kept: float) -> bool:
        return kept <= _bytes(self.memory.data_cache)


def _in_loops(layer: Layer, cycles: float, cache: Cache | None) -> float:
    """The wait states of a kernel whose loops, but for the shortest, are more than the cache."""
    y, everywhere = layer.output.type, _OF_EACH_CYCLE * cycles
    if not (layer.macs and y.is_quantized) or _bytes(cache) < _PRODUCT:
        return everywhere
    each = _OF_TFLITES if layer.domain == "tflite" else _OF_AN_OUTPUT
    return min(everywhere, each * float(y.elements))


def _for_library(layer: Layer, flash: _Flash) -> float:
    y = layer.output.type
    used = _LIBRARY.get(layer.op)
    if layer.op == "Cast" and y.dtype.bytes == 8 and layer.input(0).type.dtype is DType.FLOAT32:
        used = _TO_64_BITS
    if used is None or (y.is_quantized and y.dtype.bytes == 1):
        return 0.0
    calls = float(y.elements)
    if layer.op in ("LSTM", "GRU", "RNN"):
        directions, _, hidden = layer.input(2).type.shape
        steps, batch, _ = layer.input(0).type.shape
        calls = float(steps * batch * directions * hidden)
    # One that is a little too large for the cache is missed in part.
    kept = _bytes(flash.memory.instruction_cache)
    share = min(1.0, max(0.0, 4 * (1 - kept / used.footprint)))
    literals = flash.apart(calls * used.reads, flash.lines(used.literals))
    return flash.for_code(used.path, calls * share) + literals


def _for_constants(layer: Layer, flash: _Flash) -> float:
    constants = [o.type for o in layer.inputs if o is not None and o.constant is not None]
    arrays = [type_ for type_ in constants if type_.elements > 1]
    if not arrays:
        return 0.0
    y = layer.output.type
    match layer.op:
        case "Conv" | "HybridConv":
            w = layer.input(1).type
            if w.shape[1] == 1 and w.shape[0] > 1 and int(layer.attributes.get("group", 1)) > 1:
                return _depthwise(w, layer, flash)
            return _product(w, w.shape[0], layer, flash)
        case "ConvTranspose":
            w = layer.input(1).type
            return flash.in_order(w.dtype.bytes * layer.macs, w.dtype.bytes, w.bytes)
        case "Gemm" | "MatMul" | "FullyConnected":
            w = max(arrays, key=lambda type_: type_.bytes)
            return _product(w, y.shape[-1] if y.rank else 1, layer, flash)
        case "LSTM" | "GRU" | "RNN" | "UnidirectionalSequenceLstm":
            w = arrays[0]
            kept = sum(type_.bytes for type_ in arrays)
            return flash.in_order(w.dtype.bytes * layer.macs, w.dtype.bytes, kept)
        case (
            "Add" | "Sub" | "SquaredDifference" | "Mul" | "Div" | "PRelu"
            | "LayerNormalization" | "BatchNormalization"
        ):  # fmt: skip
            # Each element has one of each array; of a batch normalization two become one.
            used = arrays[layer.op == "BatchNormalization" :]
            kept = sum(a.bytes for a in used)
            return sum(
                flash.in_order(y.elements * a.dtype.bytes, a.dtype.bytes, kept) for a in used
            )
    return sum(flash.in_order(a.bytes, a.dtype.bytes, a.bytes) for a in arrays)


def _product(w: TensorType, filters: int, layer: Layer, flash: _Flash) -> float:
    """Each multiplication reads a weight, and each output what its filter has besides."""
    each = w.dtype.bytes
    read = each * layer.macs + _OF_A_FILTER * layer.output.type.elements
    return flash.in_order(read, each, w.bytes + _OF_A_FILTER * filters)


def _depthwise(w: TensorType, layer: Layer, flash: _Flash) -> float:
    """The weights of a channel are a tensor's channels apart from each other."""
    y, channels = layer.output.type, w.shape[0]
    taps = w.elements // channels
    lines = min(taps, flash.lines(w.bytes)) + _LINES_BESIDE + (layer.domain == "tflite")
    loads = window_cycles.taps(layer) + (2 if y.is_quantized else 1) * y.elements
    missed = flash.apart(loads, lines)
    kept = w.bytes + _OF_A_FILTER * channels
    return max(missed, flash.in_order(y.elements // channels * kept, w.dtype.bytes, kept))


def _bytes(cache: Cache | None) -> int:
    return cache.bytes if cache else 0

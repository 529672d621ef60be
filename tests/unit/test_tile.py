"""Tiles of kernels: what words of weights add to sums, and what sums become, in the interpreter."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from sampling import first

from mcu_deploy.arithmetic import tflite
from mcu_deploy.backends.isa import Assembly, Register
from mcu_deploy.backends.isa.allocation import AllocationError
from mcu_deploy.backends.isa.dsp import tile
from mcu_deploy.backends.isa.dsp.rounding import round_each_twice, round_in_float, round_once
from mcu_deploy.backends.isa.dsp.tile import Sums, WordStep
from mcu_deploy.backends.isa.function import framed
from mcu_deploy.backends.isa.interpreter import Data, call
from mcu_deploy.backends.quantized import dense, tile_shapes
from mcu_deploy.backends.quantized.dense_product import words
from mcu_deploy.backends.quantized.tile_shapes import CORE, PIXELS, tile_shape

_X, _STREAM, _OUT = 0x2000_0000, 0x0800_0000, 0x2001_0000
_PAIRS, _ROWS = 7, 3
# Of code that is made: of the pointers to activations and to the stream, the sums that it leaves.
Made = Callable[[Assembly, Register, Register], Sequence[Register]]


def _run(made: Made, x: np.ndarray, stream: np.ndarray) -> np.ndarray:
    """The registers that some code leaves, int32. x: int16; stream: words."""
    code, memory = Assembly(), Data()
    memory.lay(_X, x.astype(np.int16).tobytes(), is_constant=True)
    memory.lay(_STREAM, stream.astype(np.uint32).tobytes(), is_constant=True)
    taps, words_at, out = code.arguments("taps stream out")
    kept = code.register("out_kept", "s0")
    code.vmov(kept, out)
    sums = made(code, taps, words_at)
    code.vmov(out, kept)
    for acc in sums:
        code.str(acc, out.after(4))
    left = memory.lay(_OUT, bytes(4 * len(sums)))
    call(framed(code.items), (_X, _STREAM, _OUT), memory)
    return np.frombuffer(bytes(left), np.int32).astype(np.int64)


def _begun(code: Assembly, sums: Sequence[Register]) -> None:
    for acc in sums:
        code.mov(acc, 0)


def test_tiles_have_the_rows_that_the_registers_have_room_for() -> None:
    shapes = [PIXELS, tile_shapes.COLUMNS, tile_shapes.ROW, tile_shapes.STEP]
    assert shapes == [(3, 2, 1, 3), (3, 2, 1, 3), (1, 4, 4, 4), (1, 4, 2, 4)]
    assert [shape.registers for shape in shapes] == [14, 14, 14, 12]
    assert [tile_shape(n, 2).rows for n in (6, 8, 9, 11, 12, 14, 15, 17, 18)] == [
        1, 1, 2, 2, 3, 3, 4, 4, 5
    ]  # fmt: skip
    with pytest.raises(ValueError, match="no room for a row of 4 filters"):
        tile_shape(7, 4)


@pytest.mark.parametrize("more", [0, 1])
def test_a_core_has_no_register_more_than_a_tile_fills(more: int) -> None:
    """With room for one word more, the next row would fit: the allocator finds no place for it."""
    shape = tile_shape(CORE + more, filters=2)
    assert shape.rows == PIXELS.rows + more

    def made(code: Assembly, taps: Register, stream: Register) -> Sequence[Register]:
        sums = [tile.numbered(code, name, shape.rows) for name in ("even", "odd")]
        x, words = tile.numbered(code, "x", shape.rows), tile.numbered(code, "w", shape.words)
        for of in sums:
            _begun(code, of)
        tile.multiply(code, taps, stream, [WordStep(sums, x, is_new=True)] * 6, words)
        return [acc for of in sums for acc in of]

    x, stream = np.ones((6, shape.rows, 2)), np.full(6, 0x0302_0302)  # weights of 2 and of 3
    if more:
        with pytest.raises(AllocationError):
            _run(made, x, stream)
    else:
        assert _run(made, x, stream).tolist() == [24] * 3 + [256 * 36 + 24] * 3


@pytest.mark.parametrize("count", [1, 2, 3, _PAIRS])
@pytest.mark.parametrize(
    ("is_wide", "begins"),
    [
        (False, "with biases"), (False, "before"), (True, "with biases"), (True, "before"),
        (True, "with zero"),
    ],
)  # fmt: skip
def test_words_of_two_filters_meet_three_rows(is_wide: bool, begins: str, count: int) -> None:
    """Of a narrow word the odd filter's sum is 256 times that, and the even one's is added."""
    random = np.random.default_rng(count)
    even, odd = random.integers(-127, 128, (2, 2 * count))
    x = random.integers(-128, 128, (count, _ROWS, 2))
    biases = (1000, -77) if begins == "with biases" else (0, 0)

    def made(code: Assembly, taps: Register, stream: Register) -> Sequence[Register]:
        sums, of = Sums.of(code), [[0], [1]] if is_wide else [[0, 1]]
        starts: list[Register | None] = [None, None]
        if begins == "with biases":
            starts = [*(held := code.registers("even_bias odd_bias"))]
            code.ldmia(stream.moving, held)
        elif begins == "before":
            _begun(code, sums.all)
        steps = [
            WordStep(
                [sums[n] for n in which], rows, which[0] == 0,
                [starts[n] for n in which] if begins != "before" and not pair else (),
            )
            for rows in [code.registers("x0 x1 x2")] for pair in range(count) for which in of
        ]  # fmt: skip
        tile.multiply(code, taps, stream, steps, code.registers("w0 w1 w2"))
        return sums.all

    stream = words(even[None], odd[None], is_wide)[0]
    if begins == "with biases":
        stream = np.append(np.array(biases, np.int64) & 0xFFFFFFFF, stream)
    left = _run(made, x, stream)
    pixels = x.transpose(1, 0, 2).reshape(_ROWS, -1)
    first, second = pixels @ even + biases[0], pixels @ odd
    second = biases[1] + (second if is_wide else 256 * second + pixels @ even)
    assert left.tolist() == [*first.tolist(), *second.tolist()]


def test_a_row_meets_words_of_four_filters() -> None:
    random = np.random.default_rng(1)
    weights, x = random.integers(-127, 128, (4, 8)), random.integers(-128, 128, 8)

    def made(code: Assembly, taps: Register, stream: Register) -> Sequence[Register]:
        sums = code.registers("even0 odd0 even1 odd1")
        _begun(code, sums)
        tile.multiply_row(
            code, taps, stream, sums, code.registers("x02 x13 x46 x57"), code.registers("a b c d")
        )
        tile.take_apart(code, tile.pairs(sums))
        return sums

    in_order = x.reshape(2, 4)[:, dense.IN_WORDS]
    left = _run(made, in_order, dense.words(weights, 8)[0])
    assert left.tolist() == (weights @ x * [1, 256, 1, 256]).tolist()


@pytest.mark.parametrize("extend", ["sxtb16", "uxtb16"])
def test_bytes_of_two_filters_meet_three_rows(extend: str) -> None:
    random = np.random.default_rng(2)
    low, high = (-128, 128) if extend == "sxtb16" else (0, 256)
    filters, rows = random.integers(low, high, (2, 4)), random.integers(-200, 200, (_ROWS, 4))

    def made(code: Assembly, taps: Register, stream: Register) -> Sequence[Register]:
        sums, given = Sums.of(code), code.registers("even_bytes odd_bytes")
        code.ldmia(stream, given)
        _begun(code, sums.all)
        x, pair = code.registers("x0 x1 x2"), code.register("pair")
        tile.multiply_bytes(code, taps, sums, x, given, pair, extend)
        return sums.all

    x = np.stack([rows[:, [0, 2]], rows[:, [1, 3]]])
    stream = (filters & 0xFF).astype(np.uint8).view(np.uint32)
    assert _run(made, x, stream).tolist() == (filters @ rows.T).reshape(-1).tolist()


@pytest.mark.parametrize("lanes", [1, 4, 256])
@pytest.mark.parametrize("shift", first([0, 1, 2, 7, 15, 30], 3))
def test_sums_are_rounded_twice_as_tflite_does(shift: int, lanes: int) -> None:
    """Where a shift may be 0 by the longer code; where it is not, by both."""
    random = np.random.default_rng(shift)
    multiplier, zero = int(random.integers(1 << 30, 1 << 31)), -3
    most = min(2**30 // lanes, 256 << shift)
    sums = np.unique(np.append(random.integers(-most, most, 60), [-2, -1, 0, 1, 2]))
    for may_be_0 in (True, False) if shift else (True,):

        def made(
            code: Assembly, taps: Register, stream: Register, may_be_0: bool = may_be_0
        ) -> Sequence[Register]:
            scale, shifts, zero_point = code.registers("scale shifts zero")
            sum_ = code.registers("sum0 sum1")
            code.ldmia(stream, [scale, shifts, zero_point, *sum_])
            filters = [([sum_[0]], scale, lanes), ([sum_[1]], scale, lanes)]
            round_each_twice(code, "ssat", filters, shifts, zero_point, may_be_0)
            return sum_

        for pair in sums[: sums.size // 2 * 2].reshape(-1, 2):
            given = np.array([multiplier, shift | shift << 8, zero, *lanes * pair], np.int64)
            left = _run(made, np.zeros(2), given & 0xFFFFFFFF)
            wanted = np.clip(tflite.multiply(pair, multiplier, -shift) + zero, -128, 127)
            assert left.tolist() == wanted.tolist(), pair


@pytest.mark.parametrize("factors", [1, 3])
def test_sums_are_rounded_in_float32(factors: int) -> None:
    random = np.random.default_rng(factors)
    scales = random.uniform(0.0001, 0.01, factors).astype(np.float32)
    sums = random.integers(-30_000, 30_000, 3)

    def made(code: Assembly, taps: Register, stream: Register) -> Sequence[Register]:
        of, by = code.registers("a b c"), code.registers("f0 f1 f2")[:factors]
        code.ldmia(stream, [*of, *by])
        round_in_float(code, "ssat", [(of, by)], 5)
        return of

    stream = np.append(sums & 0xFFFFFFFF, scales.view(np.uint32))
    products = sums.astype(np.float32) * np.resize(scales, 3)
    wanted = np.clip(np.rint(products) + 5, -128, 127).astype(int)
    assert _run(made, np.zeros(2), stream).tolist() == wanted.tolist()


def test_sums_are_rounded_once_by_scale_addend_and_shift() -> None:
    def made(code: Assembly, taps: Register, stream: Register) -> Sequence[Register]:
        *sums, scale, addend = given = code.registers("a b scale addend")
        code.ldmia(stream, given)
        round_once(code, "usat", sums, [(scale, addend)] * 2, [4, 0])
        return sums

    sums, scale, addend = np.array([70_000, 900]), 1 << 28, 40
    scaled = (sums * scale >> 32) + addend
    stream = np.array([*sums, scale, addend])
    assert _run(made, np.zeros(2), stream).tolist() == [min(scaled[0] >> 4, 255), scaled[1]]

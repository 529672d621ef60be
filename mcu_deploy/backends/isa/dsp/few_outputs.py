"""A row of bytes times one or two outputs, in straight code: eight taps at a time, which are
widened once for both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.isa import Assembly
from mcu_deploy.backends.isa.dsp.rounding import round_in_float, round_once, round_twice
from mcu_deploy.backends.isa.dsp.widening import widen
from mcu_deploy.backends.quantized.dense import IN_WORDS, Dense
from mcu_deploy.backends.quantized.dense_product import halves

OUTPUTS, TAPS = 2, 8


@dataclass(frozen=True, eq=False)
class FewOutputs:
    """The taps are a multiple of four. moves: of the sum of each output; ends: the words that
    round it: two of integers, scale and addend, of one shift; where TFLite rounds twice three,
    multiplier, addend and shift; or one, the bits of a factor in float32."""

    layer: Dense
    moves: Sequence[int]
    ends: Sequence[Sequence[int]]
    shift: int = 0

    def pack(self) -> Array:
        """The stream of words."""
        weights = self.layer.weights
        order = weights.reshape(len(weights), -1, 4)[..., IN_WORDS].reshape(len(weights), -1, 2)
        of = halves(order)
        parts = [of[:, n : n + TAPS // 2].reshape(-1) for n in range(0, of.shape[1], TAPS // 2)]
        starts, ends = self.layer.bias + np.array(self.moves), np.array(self.ends).reshape(-1)
        around = [(words & 0xFFFFFFFF).astype(np.uint32) for words in (starts, ends)]
        return np.concatenate([around[0], *parts, around[1]])

    def assemble(self) -> Assembly:
        """The kernel: x, y, the packed stream."""
        code, layer = Assembly(), self.layer
        names, taps = "ab"[: len(self.ends)], layer.x.shape[-1]
        formula, words = {
            1: ("sat(round(float32(sum) * factor[k]) + zero point)", "factor"),
            2: (f"sat((sum * scale[k] >> 32) + addend[k] >> {self.shift})", "scale addend"),
            3: (
                "sat((2 * sum * multiplier[k] >> 32, rounded) + addend[k] - (sum < 0) >> shift[k])",
                "multiplier addend shift",
            ),
        }[len(self.ends[0])]
        code.note(f"y[k] = {formula}, with sum = start[k] + sum of x * w[k], of {taps} taps.")
        code.note(
            f"weights: {', '.join(f'start[{k}]' for k in names)}; of each eight taps, two a word, "
            f"in halves {', then '.join(f'w[{k}]' for k in names)}, taps in the order "
            "0 2 1 3 4 6 5 7; "
            f"{', '.join(f'{word}[{k}]' for k in names for word in words.split())}."
        )
        x, y, stream = code.arguments("x y weights")
        sums = code.registers(" ".join(f"sum_{k}" for k in names))
        even, odd = code.registers("x02 x46"), code.registers("x13 x57")
        weights = code.registers("w02 w13 w46 w57")
        code.reads(4 * len(self.pack()))
        code.ldmia(stream.moving, sums)
        for begin in range(0, taps, TAPS):
            low, high = (one[: (min(TAPS, taps - begin)) // 4] for one in (even, odd))
            code.ldmia(x.moving, low)
            widen(code, layer.extend, low, high)
            taken = [one for two in zip(low, high, strict=True) for one in two]
            for acc in sums:
                code.ldmia(stream.moving, weights[: len(taken)])
                for word, pair in zip(weights, taken, strict=False):
                    code.smlad(acc, word, pair, acc)
        ends = [code.registers(" ".join(f"{w}_{k}" for w in words.split())) for k in names]
        for acc, end in zip(sums, ends, strict=True):
            code.ldmia(stream.moving, end)
            match len(end):
                case 1:
                    zero = layer.zero_points[1]
                    round_in_float(code, layer.saturate, [([acc], end)], zero)
                case 2:
                    round_once(code, layer.saturate, [acc], [end], [self.shift])
                case 3:
                    round_twice(code, layer.saturate, [acc], 1, *end)
        for n, acc in enumerate(sums):
            code.strb(acc, y[n])
        return code

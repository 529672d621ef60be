"""A row of int8 times int8 filters to float32: what TFLite's dynamic range has of convolutions and
fully connected layers, four filters at a time, sixteen taps a vector.

What a zero point takes from a sum is that times the sum of the filter's weights.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.isa import Assembly, Kind, Register
from mcu_deploy.backends.isa.hybrid import HEAD_BYTES, Filters
from mcu_deploy.backends.isa.models import MODELS
from mcu_deploy.backends.isa.mve.float_clamp import clamp

_FILTERS, _TAPS = 4, 16  # at a time
_VECTOR = 16
_MOST_STRAIGHT = 4  # vectors of taps without a loop


@dataclass(frozen=True, eq=False)
class VectorRow:
    """of: the filters."""

    of: Filters

    rows = 1
    surplus = 0
    scratch_bytes = HEAD_BYTES + 4 * _FILTERS

    @property
    def taps(self) -> int:
        """Bytes that are read; weights behind a row are 0."""
        return -(-int(self.of.weights.shape[1]) // _TAPS) * _TAPS

    @property
    def _groups(self) -> int:
        return -(-len(self.of.weights) // _FILTERS)

    @property
    def constant_bytes(self) -> int:
        return self._groups * (_FILTERS * self.taps + _VECTOR * (2 + self.of.has_zero))

    def pack(self) -> Array:
        """uint32: of each four filters their weights, sixteen taps of each in turn; the sums of
        these, where there is a zero point; factors and biases, float32."""
        filters, taps = self.of.weights.shape
        surplus = self._groups * _FILTERS - filters
        weights = np.pad(self.of.weights, ((0, surplus), (0, self.taps - taps)))
        blocks = weights.reshape(self._groups, _FILTERS, -1, _TAPS).swapaxes(1, 2)
        ends = [np.pad(of, (0, surplus)).astype(np.float32).view(np.uint32)
                for of in (self.of.factors, self.of.bias)]  # fmt: skip
        if self.of.has_zero:
            ends.insert(0, weights.sum(axis=1).astype(np.int32).view(np.uint32))
        of_bytes = blocks.astype(np.int8).reshape(self._groups, -1).view(np.uint32)
        return np.concatenate([of_bytes, *(end.reshape(-1, _FILTERS) for end in ends)], 1).ravel()

    def assemble(self) -> Assembly:
        """The kernel: x, y, the packed stream, scratch."""
        code = Assembly(MODELS["cortex-m55"])
        self._describe(code)
        x, y, stream, scratch = code.arguments("x y weights scratch")
        scale, less, left = code.registers("scale less filters_left")
        sums = code.registers("sum0 sum1 sum2 sum3")
        code.ldr(scale, scratch[0])
        if self.of.has_zero:
            zero = code.register("zero", kind=Kind.SINGLE)
            code.vldr(zero, scratch[4])
            code.vcvtr_s32_f32(zero, zero)
            code.vmov(less, zero)
            code.rsb(less, less, 0)
        code.add(scratch, scratch, HEAD_BYTES)
        filters = len(self.of.weights)
        code.number(left, filters)
        code.reads(self.constant_bytes, _VECTOR)
        with code.repeat(self._groups, "bgt"):
            self._multiply(code, x, stream, sums)
            code.stmia(scratch, sums)
            result = self._finish(code, stream, scratch, scale, less)
            if filters % _FILTERS:
                code.vctp_32(left)
                code.vpst()
                code.vstrwt_32(result, y.after(_VECTOR))
            else:
                code.vstrw_32(result, y.after(_VECTOR))
            code.subs(left, left, _FILTERS)
        return code

    def _describe(self, code: Assembly) -> None:
        zero = " - zero * sum[f]" if self.of.has_zero else ""
        sums = "sum[4], int32; " if self.of.has_zero else ""
        code.note(
            f"y[f] = clamp(float32(sum of w[f][t] x[t]{zero}) * (scale * factor[f]) + bias[f]), of "
            f"filters f and {self.taps} taps t."
        )
        code.note(
            "Of each four filters: int8 w[4][16] of each 16 taps, 0 behind the last one; "
            f"{sums}factor[4]; bias[4], float32. scratch: scale, zero, another, float32; four sums."
        )

    def _multiply(
        self, code: Assembly, x: Register, stream: Register, sums: list[Register]
    ) -> None:
        """The sums of four filters. A vector of weights is loaded before the one in front of it is
        multiplied."""
        blocks, at = self.taps // _TAPS, code.register("x_at")
        taps = code.register("taps", kind=Kind.VECTOR)
        weights = code.registers("weights0 weights1", kind=Kind.VECTOR)
        code.mov(at, x)
        for acc in sums:
            code.mov(acc, 0)

        def block() -> None:
            code.vldrb_u8(taps, at.after(_TAPS))
            code.vldrw_u32(weights[0], stream.after(_VECTOR))
            for n, acc in enumerate(sums):
                if n + 1 < len(sums):
                    code.vldrw_u32(weights[(n + 1) % 2], stream.after(_VECTOR))
                code.vmladava_s8(acc, taps, weights[n % 2])

        if blocks <= _MOST_STRAIGHT:
            for _ in range(blocks):
                block()
            return
        with code.counted(blocks, blocks):
            block()

    def _finish(
        self, code: Assembly, stream: Register, scratch: Register, scale: Register, less: Register
    ) -> Register:
        """Four sums, as they lie in the scratch, as what they are of the output."""
        names = "result factors others"
        result, factors, others = code.registers(names, kind=Kind.VECTOR)
        code.vldrw_u32(result, scratch[0])
        if self.of.has_zero:
            code.vldrw_u32(others, stream.after(_VECTOR))
            code.vmla_s32(result, others, less)
        code.vldrw_u32(factors, stream.after(_VECTOR))
        code.vcvt_f32_s32(result, result)
        code.vmul_f32(factors, factors, scale)
        code.vldrw_u32(others, stream.after(_VECTOR))
        code.vmul_f32(result, result, factors)
        code.vadd_f32(result, result, others)
        clamp(code, (self.of.low, self.of.high), [result], factors, code.register("bound"))
        return result

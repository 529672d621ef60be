"""The taps of three windows, widened to the pairs of int16 that the core multiplies.

A window's row of taps is one run of bytes, as channels are last; of a dilated one it is a run for
each tap. A run is taken by words, which may be unaligned (LDR may, LDM and LDRD may not), and its
last one to three bytes by themselves.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.ArmDsp.layers import Convolution
from mcu_deploy.backends.isa import Assembly

_MOST_UNROLLED = 6  # words of a run
# Runs of more words are a loop, whose count is a number of the layer.
_MOST_WITHOUT_LOOP = 3


@dataclass(frozen=True, eq=False)
class Gather:
    """Of a layer. row_bytes: from a row's first tap to behind its last one."""

    layer: Convolution

    @property
    def channels(self) -> int:
        return self.layer.x.shape[1]

    @property
    def row_bytes(self) -> int:
        columns, dilation = self.layer.window.kernel[1], self.layer.window.dilations[1]
        return ((columns - 1) * dilation + 1) * self.channels

    @property
    def _runs(self) -> int:
        """Of a row."""
        window = self.layer.window
        return 1 if window.dilations[1] == 1 else window.kernel[1]

    @property
    def _run_bytes(self) -> int:
        return self.layer.window.kernel[1] // self._runs * self.channels

    @property
    def _unrolled(self) -> int:
        words = self._run_bytes // 4
        return max((n for n in range(1, _MOST_UNROLLED + 1) if words % n == 0), default=0)

    @property
    def _has_loop(self) -> bool:
        return self._run_bytes // 4 > _MOST_WITHOUT_LOOP

    @property
    def rounds(self) -> int:
        """Of the loop over a run's words."""
        return self._run_bytes // 4 // max(1, self._unrolled)

    def weights(self) -> Array:
        """[filter, tap], in the order of the gather; 0 where it fills up a pair."""
        whole = self.layer.weights.transpose(0, 2, 3, 1)
        runs = whole.reshape(whole.shape[0], -1, self._run_bytes)
        rest = self._run_bytes % 4
        if rest % 2:
            runs = np.concatenate([runs, np.zeros((*runs.shape[:2], 1), runs.dtype)], 2)
        words = np.arange(0, self._run_bytes // 4 * 4, 4)[:, None] + np.array([0, 2, 1, 3])
        order = [*words.reshape(-1), *range(words.size, runs.shape[2])]
        ordered: Array = runs[:, :, order].reshape(whole.shape[0], -1)
        return ordered

    def assemble(self, code: Assembly) -> None:
        """To lr, of the windows that begin at r9, r10, r11; r6, r7, r8 lead each from behind a row
        of taps to the next row. s12: `rounds`. r12 and s11 are lost."""
        rows = self.layer.window.kernel[0]
        if rows > 1:
            code(f"mov r12, #{rows}")
            if self._has_loop:
                code("vmov s11, r12")
        with code.repeat(rows) if rows > 1 else code.times(1):
            for run in range(self._runs):
                if run:
                    skipped = (self.layer.window.dilations[1] - 1) * self.channels
                    code(*(f"add r{n}, r{n}, #{skipped}" for n in (9, 10, 11)))
                self._run(code)
            if rows > 1:
                code("add r9, r9, r6", "add r10, r10, r7", "add r11, r11, r8")
                if self._has_loop:
                    code("vmov r12, s11", "subs r12, r12, #1", "vmov s11, r12")
                else:
                    code("subs r12, r12, #1")

    def _run(self, code: Assembly) -> None:
        extend = self.layer.extend
        if self._has_loop:
            code("vmov r12, s12")
        with code.repeat(self.rounds) if self._has_loop else code.times(1):
            for _ in range(self._unrolled if self._run_bytes >= 4 else 0):
                code(*(f"ldr r{n}, [r{9 + n}], #4" for n in range(3)))
                code(*(f"{extend} r{3 + n}, r{n}, ror #8" for n in range(3)))
                code(*(f"{extend} r{n}, r{n}" for n in range(3)), "stmia lr!, {r0-r5}")
            if self._has_loop:
                code("subs r12, r12, #1")
        load = "ldrsb" if extend == "sxtb16" else "ldrb"
        for left in range(self._run_bytes % 4, 0, -2):
            code(*(f"{load} r{n}, [r{9 + n}], #1" for n in range(3)))
            if left > 1:
                code(*(f"{load} r{3 + n}, [r{9 + n}], #1" for n in range(3)))
                code(*(f"pkhbt r{n}, r{n}, r{3 + n}, lsl #16" for n in range(3)))
            code("stmia lr!, {r0-r2}")

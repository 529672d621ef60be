"""DFT-17 and -20: the discrete Fourier transform along one axis, as its definition has it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.operators.base import Call, Operator


@dataclass(frozen=True)
class Transform:
    """axis: along which; length: of the transform. given: how many numbers are read along the axis,
    the rest are zeros; inverse, and onesided: of a real signal only the first half of the
    frequencies is there."""

    axis: int
    length: int
    given: int
    inverse: bool
    onesided: bool

    @property
    def table(self) -> tuple[Array, Array]:
        """Cosine and sine of 2 pi k / length, in float64 rounded to float32."""
        angle = 2 * np.pi * np.arange(self.length) / self.length
        return np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)


def transform(call: Call) -> Transform:
    """What a call transforms."""
    x, y = call.type(0), call.results[0]
    given = call.optional(2)
    axis = int(call.attributes.get("axis", 1)) if call.opset < 20 else -2
    axis = (axis if given is None else int(given.reshape(-1)[0])) % x.rank
    inverse = bool(call.attributes.get("inverse", 0))
    onesided = bool(call.attributes.get("onesided", 0))
    length = y.shape[axis] if inverse or not onesided else _length(call, x.shape[axis])
    return Transform(axis, length, min(length, x.shape[axis]), inverse, onesided)


def _length(call: Call, size: int) -> int:
    given = call.optional(1)
    return size if given is None else int(given.reshape(-1)[0])


def _dft(call: Call) -> list[Array]:
    """In float64, rounded once."""
    t, x = transform(call), call.value(0).astype(np.float64)
    signal = x[..., 0] if x.shape[-1] == 1 else x[..., 0] + 1j * x[..., 1]
    if t.inverse and t.onesided:
        return [np.fft.irfft(signal, t.length, t.axis)[..., None].astype(np.float32)]
    result = (np.fft.ifft if t.inverse else np.fft.fft)(signal, t.length, t.axis)
    result = np.take(result, range(call.results[0].shape[t.axis]), t.axis)
    return [np.stack([result.real, result.imag], axis=-1).astype(np.float32)]


OPERATORS = (Operator("DFT", _dft),)

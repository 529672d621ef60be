"""What the kernels of TFLite-Micro's signal library take on a Cortex-M4, fitted to frames of 50 to
1,000 samples in QEMU."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from mcu_deploy.backends.interface import Layer

# Of a complex number of a spectrum: what is around its steps, one of four, and one of two.
_AROUND, _FOUR, _TWO = 77, 33, 23
# Of a filter bank an energy and a channel.
_ENERGY, _CHANNEL = 18.7, 51


def _spectrum(layer: Layer) -> float:
    x, size = layer.input(0).type, int(layer.attributes["fft_length"]) // 2
    steps = size.bit_length() - 1
    each = _AROUND + _FOUR * (steps // 2) + _TWO * (steps % 2)
    return each * size * x.elements / x.shape[-1]


def _filter_bank(layer: Layer) -> float:
    widths = layer.input(5).constant
    energies = 0 if widths is None else int(widths.sum())
    return _ENERGY * energies + _CHANNEL * layer.input(5).type.elements


def _by_element(each: float, around: float, layer: Layer) -> float:
    """each: of an element of the output; around: of the kernel besides."""
    return around + each * layer.output.type.elements


FORMULAS: Mapping[str, Callable[[Layer], float]] = {
    "SignalRfft": _spectrum,
    "SignalFilterBank": _filter_bank,
    "SignalWindow": partial(_by_element, 17, 0),
    "SignalFftAutoScale": partial(_by_element, 22, 0),
    "SignalEnergy": partial(_by_element, 13.3, 0),
    "SignalFilterBankSquareRoot": partial(_by_element, 291, 26),
    "SignalFilterBankSpectralSubtraction": partial(_by_element, 35, 22),
    "SignalPcan": partial(_by_element, 27, 20),
    "SignalFilterBankLog": partial(_by_element, 11, 31),
}

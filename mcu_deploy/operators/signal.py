"""TFLite-Micro's signal library (signal/src): from int16 samples to the features of speech.

SignalWindow: samples (..., n) times a window (n), shifted to the right by `shift`.
SignalFftAutoScale: samples shifted to the left as far as they fit, and by how much. SignalRfft: the
spectrum of `fft_length` samples, zeros behind those that there are, as pairs of real and imaginary
int16 (kiss_fft, which halves in each step). SignalIrfft: from such pairs the samples, not
halved again. SignalEnergy: uint32, of the pairs from `start_index`
to `end_index`, 0 elsewhere. SignalFilterBank: uint64 of `num_channels` triangles; inputs: energies,
weights, what is left of them for the channel behind, and of each channel the first energy, the
first weight and how many. SignalFilterBankSquareRoot: uint32, shifted to the right by the second
input. SignalFilterBankSpectralSubtraction: less a noise that it follows, input and output 1.
SignalPcan: a gain control by that noise, by a table of gains. SignalFilterBankLog: int16.
"""

from __future__ import annotations

import math

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.operators.base import Call, Operator

# Fractions of a spectrum's factors; what halves and quarters a number in it.
FRACTION, HALF, QUARTER = 15, 32767 // 2, 32767 // 4
# Of a signal over noise, and of the result of its gain control.
SNR_BITS, GAINED_BITS = 12, 6
# ln 2 in 16 fractional bits.
LN_2 = 45426
# What log2(1 + k / 128) is more than k / 128, in 16 fractional bits.
LOGARITHMS = np.array([
    0, 224, 442, 654, 861, 1063, 1259, 1450, 1636, 1817, 1992, 2163, 2329, 2490, 2646, 2797, 2944,
    3087, 3224, 3358, 3487, 3611, 3732, 3848, 3960, 4068, 4172, 4272, 4368, 4460, 4549, 4633, 4714,
    4791, 4864, 4934, 5001, 5063, 5123, 5178, 5231, 5280, 5326, 5368, 5408, 5444, 5477, 5507, 5533,
    5557, 5578, 5595, 5610, 5622, 5631, 5637, 5640, 5641, 5638, 5633, 5626, 5615, 5602, 5586, 5568,
    5547, 5524, 5498, 5470, 5439, 5406, 5370, 5332, 5291, 5249, 5203, 5156, 5106, 5054, 5000, 4944,
    4885, 4825, 4762, 4697, 4630, 4561, 4490, 4416, 4341, 4264, 4184, 4103, 4020, 3935, 3848, 3759,
    3668, 3575, 3481, 3384, 3286, 3186, 3084, 2981, 2875, 2768, 2659, 2549, 2437, 2323, 2207, 2090,
    1971, 1851, 1729, 1605, 1480, 1353, 1224, 1094, 963, 830, 695, 559, 421, 282, 142, 0,
], np.uint16)  # fmt: skip
_WORD = (1 << 32) - 1


def _window(call: Call) -> list[Array]:
    product = call.value(0).astype(np.int64) * call.value(1)
    shifted = product >> int(call.attributes["shift"])
    return [np.clip(shifted, -(1 << 15), (1 << 15) - 1).astype(np.int16)]


def _auto_scale(call: Call) -> list[Array]:
    x = call.value(0)
    largest = 0
    for value in map(int, x.reshape(-1)):
        # An int16 holds no 32768: behind the least number the search begins again.
        if value > largest:
            largest = value
        elif -value > largest:
            largest = -value if value > -(1 << 15) else value
    shift = 15 - largest.bit_length() if largest > 0 else 0
    return [_wrapped(x.astype(np.int64) << shift).astype(np.int16), np.array(shift, np.int32)]


def twiddles(size: int, sign: int = -1) -> Array:
    """The factors of a spectrum of so many complex numbers (size, 2), int16. sign: 1 backwards."""
    return _turned(sign * 2 * math.pi * np.arange(size) / size)


def last_twiddles(size: int, sign: int = -1) -> Array:
    """The factors between the spectrum of twice as many real numbers and that of pairs
    (size / 2, 2), int16."""
    return _turned(sign * math.pi * ((np.arange(size // 2) + 1) / size + 0.5))


def _turned(phase: Array) -> Array:
    turned = np.stack([np.cos(phase), np.sin(phase)], axis=1)
    return np.floor(0.5 + 32767 * turned).astype(np.int16)


def places(size: int) -> Array:
    """Where the elements of a spectrum's input go: steps of four, the innermost of two where the
    size is no power of four."""
    if size == 1:
        return np.zeros(1, np.int64)
    parts = 4 if size % 4 == 0 else 2
    return np.concatenate([places(size // parts) * parts + k for k in range(parts)])


def _rfft(call: Call) -> list[Array]:
    length, x = int(call.attributes["fft_length"]), call.value(0)
    rows = x.reshape(-1, x.shape[-1]).astype(np.int64)
    padded = np.zeros((len(rows), length), np.int64)
    padded[:, : rows.shape[1]] = rows
    y = np.stack([_spectrum(row) for row in padded])
    return [y.reshape(call.results[0].shape).astype(np.int16)]


def _irfft(call: Call) -> list[Array]:
    rows = call.value(0).reshape(-1, call.value(0).shape[-1] // 2, 2).astype(np.int64)
    y = np.stack([_samples(row) for row in rows])
    return [y.reshape(call.results[0].shape).astype(np.int16)]


def _spectrum(x: Array) -> Array:
    """The pairs (size + 1, 2) of 2 * size real numbers."""
    z = _scaled(_transformed(x.reshape(-1, 2), -1), HALF)
    size = len(z)
    y = np.zeros((size + 1, 2), np.int64)
    y[0, 0], y[size, 0] = z[0, 0] + z[0, 1], z[0, 0] - z[0, 1]
    at = np.arange(1, size // 2 + 1)
    ahead, behind = z[at], z[size - at] * [1, -1]
    total = ahead + behind
    other = _times(_wrapped(ahead - behind), last_twiddles(size).astype(np.int64)[at - 1])
    y[at] = (total + other) >> 1
    y[size - at] = ((total - other) * [1, -1]) >> 1
    return _wrapped(y)


def _samples(y: Array) -> Array:
    """The 2 * size real numbers of pairs (size + 1, 2)."""
    size = len(y) - 1
    z = np.zeros((size, 2), np.int64)
    z[0] = _scaled(_wrapped(np.array([y[0, 0] + y[size, 0], y[0, 0] - y[size, 0]])), HALF)
    at = np.arange(1, size // 2 + 1)
    ahead, behind = _scaled(y[at], HALF), _scaled(_wrapped(y[size - at] * [1, -1]), HALF)
    total = _wrapped(ahead + behind)
    other = _times(_wrapped(ahead - behind), last_twiddles(size, 1).astype(np.int64)[at - 1])
    z[at] = _wrapped(total + other)
    z[size - at] = _wrapped((total - other) * [1, -1])
    return _transformed(z, 1).reshape(-1)


def _transformed(pairs: Array, sign: int) -> Array:
    """The transform of complex numbers (size, 2), divided by their number. sign: 1 backwards."""
    size, factors = len(pairs), twiddles(len(pairs), sign).astype(np.int64)
    z, done = pairs[places(size)], 1
    while done < size:
        parts = 2 if done == 1 and size.bit_length() % 2 == 0 else 4
        z = z.reshape(-1, parts, done, 2)
        z = _scaled(z, HALF if parts == 2 else QUARTER)
        steps = np.arange(done) * (size // (parts * done))
        turned = [z[:, 0], *(_times(z[:, k], factors[k * steps]) for k in range(1, parts))]
        z = np.stack(_of_two(*turned) if parts == 2 else _of_four(sign, *turned), axis=1)
        z, done = _wrapped(z), done * parts
    return z.reshape(size, 2)


def _of_two(a: Array, b: Array) -> tuple[Array, ...]:
    return a + b, a - b


def _of_four(sign: int, a: Array, b: Array, c: Array, d: Array) -> tuple[Array, ...]:
    # Times -i: the imaginary part, and the real one with the other sign; or times i.
    turned = (b - d)[..., ::-1] * [-sign, sign]
    return a + c + (b + d), a - c + turned, a + c - (b + d), a - c - turned


def _scaled(z: Array, factor: int) -> Array:
    return _rounded(z * factor)


def _times(z: Array, w: Array) -> Array:
    real = z[..., 0] * w[..., 0] - z[..., 1] * w[..., 1]
    return _rounded(np.stack([real, z[..., 0] * w[..., 1] + z[..., 1] * w[..., 0]], axis=-1))


def _rounded(product: Array) -> Array:
    return _wrapped((product + (1 << FRACTION - 1)) >> FRACTION)


def _wrapped(x: Array) -> Array:
    return x.astype(np.int16).astype(np.int64)


def _energy(call: Call) -> list[Array]:
    pairs = call.value(0).reshape(-1, 2).astype(np.int64)
    y = np.zeros(call.results[0].shape, np.uint32)
    used = slice(int(call.attributes["start_index"]), int(call.attributes["end_index"]))
    y[used] = (pairs**2).sum(axis=1)[used]
    return [y]


def _filter_bank(call: Call) -> list[Array]:
    x = call.value(0).astype(np.int64)
    weights, others = (call.value(k).astype(np.int64) for k in (1, 2))
    totals, rest = [], np.int64(0)
    for first, weight, width in zip(*(call.value(k).tolist() for k in (3, 4, 5)), strict=True):
        energies, used = x[first : first + width], slice(weight, weight + width)
        totals.append(rest + (weights[used] * energies).sum())
        rest = (others[used] * energies).sum()
    return [np.array(totals[1:], np.int64).astype(np.uint64)]


def _square_root(call: Call) -> list[Array]:
    shift = int(call.value(1).reshape(())) & 31
    roots = []
    for number in map(int, call.value(0)):
        root = math.isqrt(number)
        # To nearest, but in the bits that half of the number's have.
        more = number - root * root > root and root != (_WORD if number >> 32 else 0xFFFF)
        roots.append(root + more >> shift)
    return [np.array(roots, np.uint32)]


def _spectral_subtraction(call: Call) -> list[Array]:
    x, noise = (call.value(k).astype(np.uint64) for k in (0, 1))
    names = ("spectral_subtraction_bits", "smoothing_bits")
    bits, up = (np.uint64(call.attributes[name]) for name in names)
    by_turns = np.arange(len(x)) % 2
    new, old = (
        np.array([call.attributes[key], call.attributes[f"alternate_{key}"]], np.uint64)[by_turns]
        for key in ("smoothing", "one_minus_smoothing")
    )
    signal = (x << up) & np.uint64(_WORD)
    noise = (signal * new + noise * old >> bits) & np.uint64(_WORD)
    less = np.minimum(noise, signal)
    if call.attributes["clamping"]:
        noise = less
    least = (x * np.uint64(call.attributes["min_signal_remaining"]) >> bits) & np.uint64(_WORD)
    return [np.maximum((signal - less) >> up, least).astype(np.uint32), noise.astype(np.uint32)]


def _pcan(call: Call) -> list[Array]:
    table, y = [int(n) for n in call.value(2)], []
    for x, noise in zip(map(int, call.value(0)), map(int, call.value(1)), strict=True):
        gain = _gain(noise, table) & _WORD
        ratio = (x * gain >> int(call.attributes["snr_shift"])) & _WORD
        if ratio < 2 << SNR_BITS:
            y.append(ratio * ratio >> 2 + 2 * SNR_BITS - GAINED_BITS)
        else:
            y.append((ratio >> SNR_BITS - GAINED_BITS) - (1 << GAINED_BITS))
    return [np.array(y, np.uint32)]


def _gain(x: int, table: list[int]) -> int:
    """A polynomial of degree two for each power of two; int16."""
    if x <= 2:
        return table[x]
    bits = x.bit_length()
    constant, slope, bend = table[4 * bits - 6 : 4 * bits - 3]
    share = (x << 11 - bits if bits < 11 else x >> bits - 11) & 0x3FF
    curve = ((bend * share >> 5) + (slope << 5)) * share + (1 << 14)
    return int(np.array((curve >> 15) + constant).astype(np.int16))


def _log(call: Call) -> list[Array]:
    y = []
    for x in map(int, call.value(0)):
        x = (x << int(call.attributes["input_correction_bits"])) & _WORD
        y.append(min(_logarithm(x, int(call.attributes["output_scale"])), 32767) if x > 1 else 0)
    return [np.array(y, np.int16)]


def _logarithm(x: int, scale: int) -> int:
    whole = x.bit_length() - 1
    share = (x - (1 << whole)) << 16 >> whole
    segment = share >> 9
    low, high = (int(LOGARITHMS[k]) for k in (segment, segment + 1))
    binary = (whole << 16) + share + low + ((high - low) * (share - (segment << 9)) >> 16)
    natural = (LN_2 * binary + (1 << 15)) >> 16
    return ((scale * natural + (1 << 15)) & _WORD) >> 16


OPERATORS = (
    Operator("SignalWindow", _window, domain="tflite"),
    Operator("SignalFftAutoScale", _auto_scale, domain="tflite"),
    Operator("SignalRfft", _rfft, domain="tflite"),
    Operator("SignalIrfft", _irfft, domain="tflite"),
    Operator("SignalEnergy", _energy, domain="tflite"),
    Operator("SignalFilterBank", _filter_bank, domain="tflite"),
    Operator("SignalFilterBankSquareRoot", _square_root, domain="tflite"),
    Operator("SignalFilterBankSpectralSubtraction", _spectral_subtraction, domain="tflite"),
    Operator("SignalPcan", _pcan, domain="tflite"),
    Operator("SignalFilterBankLog", _log, domain="tflite"),
)

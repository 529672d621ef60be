"""TFLite-Micro's signal library, in integers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mcu_deploy.backends.CpuRef.kernels.base import Kernel, helper, render
from mcu_deploy.backends.CpuRef.kernels.whole import whole
from mcu_deploy.backends.interface import YES, Constant, Layer, Support, Workload, no
from mcu_deploy.backends.kit.loops import counter
from mcu_deploy.ir import DType
from mcu_deploy.operators import signal

I16, I32, U32, U64 = DType.INT16, DType.INT32, DType.UINT32, DType.UINT64
# A spectrum's places are uint16, and its factors are found by 32 bits.
_LONGEST = 1 << 15
_MISFIT = no("its tensors or options do not fit together")


def _kernel(
    op: str,
    inputs: tuple[DType, ...],
    outputs: tuple[DType, ...],
    fits: Callable[[Layer], bool],
    create: Callable[[Layer], Workload],
) -> Kernel:
    """Of tensors of these types; fits: whether shapes and options are right."""

    def supports(layer: Layer) -> Support:
        given = [o.type.dtype for o in layer.inputs if o is not None]
        made = [o.type.dtype for o in layer.outputs]
        if (tuple(given), tuple(made)) != (inputs, outputs):
            return no(f"it computes {', '.join(d.value for d in inputs)} only")
        return YES if fits(layer) else _MISFIT

    return Kernel(op, supports, create, domain="tflite")


def _shapes(layer: Layer) -> list[tuple[int, ...]]:
    return [o.type.shape for o in (*layer.inputs, *layer.outputs) if o is not None]


def _shift(layer: Layer, name: str, most: int = 31) -> bool:
    return 0 <= int(layer.attributes[name]) <= most


def _are_alike(layer: Layer) -> bool:
    """Vectors of one length."""
    first, *rest = _shapes(layer)
    return len(first) == 1 and all(shape == first for shape in rest)


def _window_fits(layer: Layer) -> bool:
    x, window, y = _shapes(layer)
    return len(window) == 1 and x[-1:] == window and x == y and _shift(layer, "shift")


def _window(layer: Layer) -> Workload:
    x = layer.input(0).type
    size, shift = x.shape[-1], int(layer.attributes["shift"])
    rows = counter("r", x.elements // size)
    return whole(
        layer, render("signal_window.c.j2", r=rows, i=counter("i", size), size=size, shift=shift)
    )


def _auto_scale_fits(layer: Layer) -> bool:
    x, y, shift = _shapes(layer)
    return x == y and shift in ((), (1,))


def _auto_scale(layer: Layer) -> Workload:
    i = counter("i", layer.input(0).type.elements)
    return whole(layer, render("signal_auto_scale.c.j2", i=i))


def _is_length(layer: Layer) -> bool:
    length = int(layer.attributes["fft_length"])
    return 4 <= length <= _LONGEST and length & length - 1 == 0


def _rfft_fits(layer: Layer) -> bool:
    (x, y), length = _shapes(layer), int(layer.attributes["fft_length"])
    return _is_length(layer) and 0 < x[-1] <= length and y == (*x[:-1], length + 2)


def _rfft(layer: Layer) -> Workload:
    x, length = layer.input(0).type, int(layer.attributes["fft_length"])
    return _transform(layer, "signal_rfft.c.j2", x.elements // x.shape[-1], length, -1)


def _irfft_fits(layer: Layer) -> bool:
    x, y = _shapes(layer)
    return (
        _is_length(layer) and (*y[:-1], y[-1] + 2) == x and y[-1] == layer.attributes["fft_length"]
    )


def _irfft(layer: Layer) -> Workload:
    y = layer.output.type
    return _transform(layer, "signal_irfft.c.j2", y.elements // y.shape[-1], y.shape[-1], 1)


def _transform(layer: Layer, template: str, rows: int, length: int, sign: int) -> Workload:
    """sign: 1 from a spectrum of so many samples to these."""
    size = length // 2
    has_two = size.bit_length() % 2 == 0
    body = render(
        template, r=counter("r", rows), size=size, given=layer.input(0).type.shape[-1],
        has_two=has_two, first=2 if has_two else 1, half=signal.HALF, quarter=signal.QUARTER,
    )  # fmt: skip
    constants = (
        Constant("places", signal.places(size).astype(np.uint16)),
        Constant("twiddles", signal.twiddles(size, sign).reshape(-1)),
        Constant("last_twiddles", signal.last_twiddles(size, sign).reshape(-1)),
    )
    helpers = (
        helper("signal_rounded.c.j2", bits=signal.FRACTION),
        helper("signal_turned.c.j2", quarter=signal.QUARTER),
    )
    return whole(
        layer, body, constants=constants, helpers=helpers, scratch="int16_t",
        scratch_bytes=4 * size,
    )  # fmt: skip


def _energy_fits(layer: Layer) -> bool:
    x, y = _shapes(layer)
    first, end = (int(layer.attributes[name]) for name in ("start_index", "end_index"))
    return len(x) == len(y) == 1 and x[0] == 2 * y[0] and 0 <= first < end <= y[0]


def _energy(layer: Layer) -> Workload:
    first, end = (int(layer.attributes[name]) for name in ("start_index", "end_index"))
    body = render(
        "signal_energy.c.j2", first=first, end=end, size=layer.output.type.elements,
        i=counter("i", end, str(first)),
    )  # fmt: skip
    return whole(layer, body, headers=("string.h",))


def _filter_bank_fits(layer: Layer) -> bool:
    constants = [operand.constant for operand in layer.inputs[1:] if operand is not None]
    if any(constant is None for constant in constants):
        return False
    (size,), weights, others, *channels, y = _shapes(layer)
    if weights != others or any(shape != (y[0] + 1,) for shape in channels):
        return False
    first, weight, width = (np.asarray(c).astype(np.int64) for c in constants[2:])
    ends = (first + width).max() <= size and (weight + width).max() <= weights[0]
    return bool(ends and min(first.min(), weight.min(), width.min()) >= 0)


def _filter_bank(layer: Layer) -> Workload:
    channels = layer.output.type.elements
    return whole(layer, render("signal_filter_bank.c.j2", channels=channels))


def _square_root_fits(layer: Layer) -> bool:
    x, shift, y = _shapes(layer)
    return x == y and len(x) == 1 and shift in ((), (1,))


def _square_root(layer: Layer) -> Workload:
    body = render("signal_square_root.c.j2", i=counter("i", layer.output.type.elements))
    return whole(layer, body, helpers=(helper("signal_root.c.j2"),))


def _subtraction_fits(layer: Layer) -> bool:
    bits = ("smoothing_bits", "spectral_subtraction_bits")
    return _are_alike(layer) and all(_shift(layer, name) for name in bits)


def _subtraction(layer: Layer) -> Workload:
    of = layer.attributes
    body = render(
        "signal_subtraction.c.j2", n=layer.output.type.elements, up=int(of["smoothing_bits"]),
        bits=int(of["spectral_subtraction_bits"]), clamps=bool(of["clamping"]),
        least=int(of["min_signal_remaining"]) & 0xFFFFFFFF,
        new=[int(of[f"{by}smoothing"]) & 0xFFFFFFFF for by in ("", "alternate_")],
        old=[int(of[f"{by}one_minus_smoothing"]) & 0xFFFFFFFF for by in ("", "alternate_")],
    )  # fmt: skip
    return whole(layer, body)


def _pcan_fits(layer: Layer) -> bool:
    x, noise, table, y = _shapes(layer)
    return x == noise == y and len(x) == 1 and table >= (125,) and _shift(layer, "snr_shift")


def _pcan(layer: Layer) -> Workload:
    body = render(
        "signal_pcan.c.j2", i=counter("i", layer.output.type.elements),
        shift=int(layer.attributes["snr_shift"]), snr=signal.SNR_BITS, gained=signal.GAINED_BITS,
    )  # fmt: skip
    return whole(layer, body, helpers=(helper("signal_gain.c.j2"),))


def _log_fits(layer: Layer) -> bool:
    scale = 0 <= int(layer.attributes["output_scale"]) < 1 << 31
    return scale and _are_alike(layer) and _shift(layer, "input_correction_bits")


def _log(layer: Layer) -> Workload:
    body = render(
        "signal_log.c.j2", i=counter("i", layer.output.type.elements),
        up=int(layer.attributes["input_correction_bits"]),
        scale=int(layer.attributes["output_scale"]),
    )  # fmt: skip
    logarithm = helper("signal_logarithm.c.j2", ln_2=signal.LN_2)
    return whole(
        layer, body, constants=(Constant("table", signal.LOGARITHMS),), helpers=(logarithm,)
    )


KERNELS = (
    _kernel("SignalWindow", (I16, I16), (I16,), _window_fits, _window),
    _kernel("SignalFftAutoScale", (I16,), (I16, I32), _auto_scale_fits, _auto_scale),
    _kernel("SignalRfft", (I16,), (I16,), _rfft_fits, _rfft),
    _kernel("SignalIrfft", (I16,), (I16,), _irfft_fits, _irfft),
    _kernel("SignalEnergy", (I16,), (U32,), _energy_fits, _energy),
    _kernel("SignalFilterBank", (U32, *(I16,) * 5), (U64,), _filter_bank_fits, _filter_bank),
    _kernel("SignalFilterBankSquareRoot", (U64, I32), (U32,), _square_root_fits, _square_root),
    _kernel(
        "SignalFilterBankSpectralSubtraction", (U32, U32), (U32, U32), _subtraction_fits,
        _subtraction,
    ),
    _kernel("SignalPcan", (U32, U32, I16), (U32,), _pcan_fits, _pcan),
    _kernel("SignalFilterBankLog", (U32,), (I16,), _log_fits, _log),
)  # fmt: skip

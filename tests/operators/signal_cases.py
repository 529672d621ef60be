"""Small preprocessors of speech, and frames of samples for them: the cases of
test_tflite_signal.py."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from flatbuffers import flexbuffers
from operators.recorded_streams import Stream
from tflite_models import Array, Operator, Tensor, constant, write

# What TFLite-Micro computes for them (record_tflite.py).
RECORDED = Path(__file__).with_name("signal_recorded.npz")
RUNS, CHANNELS = 12, 6
_SUBTRACTION = {
    "alternate_one_minus_smoothing": 15401, "alternate_smoothing": 983, "clamping": False,
    "min_signal_remaining": 819, "num_channels": CHANNELS, "one_minus_smoothing": 15975,
    "smoothing": 409, "smoothing_bits": 10, "spectral_subtraction_bits": 14,
}  # fmt: skip


def _constants(given: int, length: int) -> list[Tensor]:
    """A window; triangles that overlap, of random heights; gains that fall."""
    rng = np.random.default_rng(6)
    widths = rng.integers(1, length // 16, CHANNELS + 1).astype(np.int16)
    starts = (np.cumsum(widths) - widths).astype(np.int16)
    weights = rng.integers(0, 4096, int(widths.sum())).astype(np.int16)
    gains = (32000 * 0.95 ** np.arange(125)).astype(np.int16)
    window = np.rint(4096 * np.sin(np.pi * (np.arange(given) + 0.5) / given) ** 2)
    return [
        constant("window", window.astype(np.int16)),
        constant("weights", weights),
        constant("unweights", (4096 - weights).astype(np.int16)),
        constant("first energies", (starts + 2).astype(np.int16)),
        constant("first weights", starts),
        constant("widths", widths),
        constant("gains", gains),
    ]


def file(last: str, given: int, length: int, **changed: Any) -> bytes:
    """A preprocessor of frames of so many samples, up to what gives the tensor `last`. changed:
    options, by their names."""
    bins = length // 2 + 1
    channels = (CHANNELS,)
    bank = ("energies", "weights", "unweights", "first energies", "first weights", "widths")
    steps: list[tuple[str, tuple[str, ...], dict[str, Any], list[Tensor]]] = [
        ("SignalWindow", ("x", "window"), {"shift": 12}, [Tensor("y", (given,), "INT16")]),
        ("SignalFftAutoScale", ("y",), {},
         [Tensor("scaled", (given,), "INT16"), Tensor("shift", (), "INT32")]),
        ("SignalRfft", ("scaled",), {"T": 7, "fft_length": length},
         [Tensor("spectrum", (2 * bins,), "INT16")]),
        ("SignalIrfft", ("spectrum",), {"T": 7, "fft_length": length},
         [Tensor("again", (length,), "INT16")]),
        ("SignalEnergy", ("spectrum",), {"start_index": 0, "end_index": bins},
         [Tensor("energies", (bins,), "UINT32")]),
        ("SignalFilterBank", bank, {"num_channels": CHANNELS},
         [Tensor("sums", channels, "UINT64")]),
        ("SignalFilterBankSquareRoot", ("sums", "shift"), {},
         [Tensor("roots", channels, "UINT32")]),
        ("SignalFilterBankSpectralSubtraction", ("roots",), _SUBTRACTION,
         [Tensor(name, channels, "UINT32") for name in ("less", "noise")]),
        ("SignalPCAN", ("less", "noise", "gains"), {"snr_shift": 6},
         [Tensor("gained", channels, "UINT32")]),
        ("SignalFilterBankLog", ("gained",), {"input_correction_bits": 3, "output_scale": 64},
         [Tensor("features", channels, "INT16")]),
    ]  # fmt: skip
    tensors, operators = [Tensor("x", (given,), "INT16"), *_constants(given, length)], []
    steps = [step for step in steps if step[0] != "SignalIrfft" or last == "again"]
    for name, inputs, options, outputs in steps:
        options = options | {key: value for key, value in changed.items() if key in options}
        tensors += outputs
        operator = Operator("CUSTOM", inputs, tuple(t.name for t in outputs), custom=name)
        operators.append(replace(operator, custom_options=bytes(flexbuffers.Dumps(options))))
        if last in operators[-1].outputs:
            break
    return write(tensors, operators, ["x"], [last])


def alone(name: str, inputs: list[Tensor], output: Tensor, options: dict[str, Any]) -> bytes:
    """A network of one operator."""
    names = tuple(tensor.name for tensor in inputs)
    operator = Operator("CUSTOM", names, (output.name,), custom=name)
    operator = replace(operator, custom_options=bytes(flexbuffers.Dumps(options)))
    return write([*inputs, output], [operator], names, [output.name])


def _keeping(name: str, given: int, shape: tuple[int, ...], options: dict[str, Any]) -> bytes:
    """A network of one operator; of frames zeros where they are not valid."""
    options = {"T": 7} | options if name == "SignalOverlapAdd" else options
    tensors = [Tensor("x", (given,), "INT16"), Tensor("y", shape, "INT16")]
    operator = Operator("CUSTOM", ("x",), ("y",), custom=name)
    if name == "SignalOverlapAdd":
        tensors.insert(1, Tensor("rows", (given // options["size"], options.pop("size")), "INT16"))
        operator = replace(operator, inputs=("rows",))
    operators = [replace(operator, custom_options=bytes(flexbuffers.Dumps(options)))]
    if name == "SignalOverlapAdd":
        operators.insert(0, Operator("RESHAPE", ("x",), ("rows",), "ReshapeOptions"))
    if name in ("SignalFramer", "SignalStacker"):
        tensors += [Tensor("valid", (), "BOOL"), Tensor("frame", shape, "INT16"),
                    constant("zeros", np.zeros(shape, np.int16))]  # fmt: skip
        operators[0] = replace(operators[0], outputs=("frame", "valid"))
        operators.append(
            Operator("SELECT_V2", ("valid", "frame", "zeros"), ("y",), "SelectV2Options")
        )
    return write(tensors, operators, ["x"], ["y"])


def _frames(given: int) -> tuple[Array, ...]:
    """Noise and tones, silence, and numbers that have no opposite of int16."""
    rng = np.random.default_rng(7)
    loudness = np.geomspace(1, 30000, RUNS)
    frames = [rng.normal(0, loud, given) for loud in loudness]
    tone = np.sin(np.outer(rng.uniform(0.05, 3, RUNS // 2), np.arange(given)))
    frames[::2] = list(tone * loudness[::2, None])
    frames[3][:], frames[8] = 0, rng.choice([-32768.0, 32767.0], given)
    frames[1][given // 2] = -32768
    return tuple(np.clip(frame, -32768, 32767).astype(np.int16) for frame in frames)


def streams() -> Iterator[Stream]:
    """What each step gives, of 64 and of 128 samples."""
    for last, given, length, changed in (
        ("y", 50, 64, {}),
        ("scaled", 50, 64, {}),
        ("spectrum", 50, 64, {}),
        ("spectrum", 101, 128, {}),
        ("again", 50, 64, {}),
        ("energies", 128, 128, {}),
        ("sums", 101, 128, {}),
        ("roots", 50, 64, {}),
        ("less", 50, 64, {}),
        ("noise", 50, 64, {"clamping": True}),
        ("gained", 101, 128, {}),
        ("features", 101, 128, {}),
    ):
        yield Stream(f"{last} of {length}", file(last, given, length, **changed), _frames(given))


def kept() -> Iterator[Stream]:
    """What is kept of the runs before; spectra of whatever numbers there are."""
    stack = {"num_channels": 8, "stacker_left_context": 2, "stacker_right_context": 1,
             "stacker_step": 2}  # fmt: skip
    for name, given, shape, options in (
        ("SignalDelay", 8, (8,), {"delay_length": 3}),
        ("SignalDelay", 8, (8,), {"delay_length": 19}),
        ("SignalFramer", 8, (2, 10), {"frame_size": 10, "frame_step": 4, "prefill": True}),
        ("SignalFramer", 8, (2, 22), {"frame_size": 22, "frame_step": 4, "prefill": False}),
        ("SignalStacker", 8, (32,), stack),
        ("SignalIrfft", 130, (128,), {"T": 7, "fft_length": 128}),
        ("SignalOverlapAdd", 20, (6,), {"frame_step": 3, "size": 10}),
    ):
        text = f"{name} {' '.join(str(value) for value in options.values())}"
        yield Stream(text, _keeping(name, given, shape, options), _frames(given))

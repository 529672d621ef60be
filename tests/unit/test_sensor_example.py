"""examples/sensor_features: quantizing and framing in C, a log-mel front end by CMSIS-DSP, and a
network behind it. CMSIS-DSP is no part of the repository: MCU_DEPLOY_CMSIS_DSP names its folder."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from command_line import call
from onnx import TensorProto, helper, numpy_helper

from mcu_deploy.arithmetic import quantize
from mcu_deploy.ir import DType, Quantization, TensorType

REPOSITORY = Path(__file__).resolve().parents[2]
EXAMPLE = REPOSITORY / "examples" / "sensor_features"
WARNINGS = ("-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror")
WINDOW, HOP, FFT, BANDS, RATE = 480, 320, 512, 40, 16000

QUANTIZE = """
#include "frames.h"
#include "quantize.h"
void quantize_all(const float *x, int8_t *y, int n, float scale, int32_t zero_point);
void quantize_all(const float *x, int8_t *y, int n, float scale, int32_t zero_point) {
    for (int i = 0; i < n; i++) {
        y[i] = quantize_int8(x[i], scale, zero_point);
    }
}
float back(int8_t value, float scale, int32_t zero_point);
float back(int8_t value, float scale, int32_t zero_point) {
    return dequantize_int8(value, scale, zero_point);
}
"""


class Frames(ctypes.Structure):
    """frames_t."""

    _fields_ = (
        ("buffer", ctypes.c_void_p), ("window", ctypes.c_size_t), ("hop", ctypes.c_size_t),
        ("held", ctypes.c_size_t),
    )  # fmt: skip


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """What needs no CMSIS-DSP, as a library of this machine."""
    folder = tmp_path_factory.mktemp("plain")
    (folder / "all.c").write_text(QUANTIZE)
    made = folder / "all.so"
    subprocess.run(
        ["gcc", *WARNINGS, "-O1", "-shared", "-fPIC", f"-I{EXAMPLE}", folder / "all.c",
         EXAMPLE / "frames.c", "-lm", "-o", made],
        check=True,
    )  # fmt: skip
    return ctypes.CDLL(str(made))


@pytest.mark.needs_host_gcc
@pytest.mark.parametrize(("scale", "zero_point"), [(0.5, 0), (0.037, -128), (1e-4, 127), (3e38, 5)])
def test_c_quantizes_as_the_oracle_does(plain: ctypes.CDLL, scale: float, zero_point: int) -> None:
    """Ties, both ends, infinities and NaN among them."""
    step = np.float32(scale)
    steps = np.concatenate([np.arange(-300, 300, 0.5), np.random.default_rng(0).normal(0, 99, 999)])
    special = [np.inf, -np.inf, np.nan, 3.4e38, -3.4e38, 0.0, 1e-45]
    with np.errstate(over="ignore"):
        x = np.append(steps.astype(np.float32) * step, np.array(special, np.float32))
    found = np.empty(x.size, np.int8)
    plain.quantize_all(
        x.ctypes.data_as(ctypes.c_void_p), found.ctypes.data_as(ctypes.c_void_p), x.size,
        ctypes.c_float(scale), zero_point,
    )  # fmt: skip
    type_ = TensorType(DType.INT8, x.shape, Quantization((float(step),), (zero_point,)))
    np.testing.assert_array_equal(found, quantize(x, type_))
    plain.back.restype = ctypes.c_float
    given = plain.back(ctypes.c_int8(3), ctypes.c_float(scale), zero_point)
    with np.errstate(over="ignore"):
        assert given == step * np.float32(3 - zero_point)


@pytest.mark.needs_host_gcc
@pytest.mark.parametrize(("window", "hop"), [(480, 320), (5, 5), (7, 1)])
def test_c_frames_a_stream_whatever_its_pieces(plain: ctypes.CDLL, window: int, hop: int) -> None:
    plain.frames_add.restype = ctypes.c_size_t
    plain.frames_ready.restype = ctypes.c_bool
    random = np.random.default_rng(window)
    stream = random.integers(-(2**15), 2**15, 4 * window + 3, dtype=np.int16)
    buffer = np.zeros(window, np.int16)
    frames = Frames(buffer.ctypes.data, window, hop, 0)
    found, at = [], 0
    while at < len(stream):
        piece = np.ascontiguousarray(stream[at : at + int(random.integers(1, 2 * window))])
        at += len(piece)
        while len(piece):
            pointer = piece.ctypes.data_as(ctypes.c_void_p)
            taken = plain.frames_add(ctypes.byref(frames), pointer, ctypes.c_size_t(len(piece)))
            piece = np.ascontiguousarray(piece[taken:])
            if plain.frames_ready(ctypes.byref(frames)):
                found.append(buffer.copy())
                plain.frames_next(ctypes.byref(frames))
    wanted = np.lib.stride_tricks.sliding_window_view(stream, window)[::hop]
    np.testing.assert_array_equal(found, wanted)


# ---- With CMSIS-DSP ----


@pytest.fixture(scope="module")
def cmsis() -> Path:
    folder = Path(os.environ.get("MCU_DEPLOY_CMSIS_DSP", "/nowhere"))
    if not (folder / "Source" / "TransformFunctions").is_dir():
        pytest.skip("CMSIS-DSP is not here: name its folder in MCU_DEPLOY_CMSIS_DSP")
    return folder


@pytest.fixture(scope="module")
def built(cmsis: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the example's library, shared, as its CMakeLists.txt makes it."""
    folder = tmp_path_factory.mktemp("front_end")
    for command in (
        ["cmake", "-S", EXAMPLE, "-B", folder, "-G", "Ninja", f"-DCMSISDSP={cmsis}",
         "-DBUILD_SHARED_LIBS=ON"],
        ["cmake", "--build", folder],
    ):  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    return folder


def features(stream: np.ndarray) -> np.ndarray:
    """[windows, BANDS]: what log_mel.h says, in float64."""
    windows = np.lib.stride_tricks.sliding_window_view(stream, WINDOW)[::HOP] / 32768.0
    hann = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(WINDOW) / WINDOW)
    power = np.abs(np.fft.rfft(windows * hann, FFT)) ** 2
    low, high = (2595 * np.log10(1 + hertz / 700) for hertz in (20, RATE / 2))
    mel = np.linspace(low, high, BANDS + 2)
    corners = 700 * (10 ** (mel / 2595) - 1) * FFT / RATE
    bins = np.arange(FFT // 2 + 1)
    left, peak, right = (corners[k : BANDS + k, None] for k in range(3))
    triangles = np.minimum((bins - left) / (peak - left), (right - bins) / (right - peak))
    return np.log(np.maximum(power @ np.maximum(triangles, 0).T, 1e-6))


def sound(seconds: float) -> np.ndarray:
    """A chirp with noise, and silence behind it."""
    t = np.arange(int(seconds * RATE)) / RATE
    noise = np.random.default_rng(0).normal(0, 300, t.size)
    chirp = 9000 * np.sin(2 * np.pi * (200 + 1500 * t) * t) + noise
    return np.where(t < 0.8 * seconds, chirp, 0).astype(np.int16)


@pytest.mark.needs_cmake
@pytest.mark.needs_host_gcc
def test_the_log_mel_front_end_is_what_numpy_says(built: Path) -> None:
    library = ctypes.CDLL(str(built / "libsensor_features.so"))
    state = np.zeros(4096, np.float64)  # log_mel_t, with room
    stream = sound(0.5)
    assert library.log_mel_init(state.ctypes.data_as(ctypes.c_void_p)) == 0
    wanted = features(stream)
    found = np.zeros((len(wanted), BANDS), np.float32)
    for row, bands in enumerate(found):
        part = np.ascontiguousarray(stream[row * HOP : row * HOP + WINDOW])
        library.log_mel(
            state.ctypes.data_as(ctypes.c_void_p), part.ctypes.data_as(ctypes.c_void_p),
            bands.ctypes.data_as(ctypes.c_void_p),
        )  # fmt: skip
    assert np.abs(found - wanted).max() < 1e-3
    assert np.ptp(wanted) > 10, "the sound has loud and silent bands"


LISTENER = """
#include <stdio.h>

#include "listen.h"

static void print(const int8_t *scores) {
    printf("%d %d %d\\n", scores[0], scores[1], scores[2]);
}

int main(void) {
    int16_t samples[100];
    int32_t status = listen_init();
    size_t count;
    while (status == 0 && (count = fread(samples, 2, 100, stdin)) > 0) {
        status = listen_to(samples, count, print);
    }
    return status == 0 ? 0 : 1;
}
"""


def _listener(folder: Path, data: np.ndarray) -> None:
    """listener.onnx: three scores of six rows of bands, quantized by example from these."""
    random = np.random.default_rng(0)
    constants = {
        "w": random.normal(size=(6 * BANDS, 3)).astype(np.float32),
        "b": random.normal(size=3).astype(np.float32),
    }
    graph = helper.make_graph(
        [helper.make_node("Gemm", ["x", "w", "b"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 6 * BANDS])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 3])],
        [numpy_helper.from_array(v, n) for n, v in constants.items()],
    )
    opsets = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), folder / "float.onnx")
    np.savez(folder / "float.npz", in0=data.reshape(-1, 1, 6 * BANDS))
    script = REPOSITORY / "examples" / "quantize" / "quantize.py"
    names = ("float.onnx", "float.npz", "listener.onnx")
    subprocess.run([sys.executable, script, *names], cwd=folder, check=True, capture_output=True)


@pytest.mark.needs_cmake
@pytest.mark.needs_host_gcc
def test_a_sound_goes_through_the_front_end_into_a_network(
    built: Path, cmsis: Path, tmp_path: Path
) -> None:
    """listen.c, linked with a network: its scores are those of the features that numpy computes."""
    stream = sound(1.0)
    rows = features(stream)
    data = np.lib.stride_tricks.sliding_window_view(rows, 6, axis=0).transpose(0, 2, 1)
    _listener(tmp_path, data.astype(np.float32))
    done = call("build", "listener.onnx", "--board", "host", "-o", "net", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (tmp_path / "main.c").write_text(LISTENER)
    subprocess.run(
        ["gcc", *WARNINGS, "-no-pie", f"-I{EXAMPLE}", "-Inet/include", "-D__GNUC_PYTHON__",
         "-isystem", cmsis / "Include", "main.c", EXAMPLE / "listen.c", "net/network_listener.o",
         "net/libmcu_crt.a", f"-L{built}", "-lsensor_features", f"-Wl,-rpath,{built}", "-lm", "-o",
         "listener"],
        cwd=tmp_path, check=True,
    )  # fmt: skip
    heard = subprocess.run(
        ["./listener"], cwd=tmp_path, input=stream.tobytes(), capture_output=True, check=True
    )
    found = np.array([line.split() for line in heard.stdout.splitlines()], int)
    done = call("run", "net", "--input", "listener.npz", "--output", "y.npz", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    wanted = np.load(tmp_path / "y.npz")["out0"].reshape(-1, 3).astype(int)
    assert found.shape == wanted.shape
    # A feature in the middle of two steps may round to the other one.
    assert np.abs(found - wanted).max() <= 1


@pytest.mark.needs_arm_gcc
def test_the_front_end_compiles_for_a_cortex_m4(cmsis: Path, tmp_path: Path) -> None:
    core = ("-mcpu=cortex-m4", "-mthumb", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard", "-O2")
    for source in ("frames.c", "log_mel.c"):
        subprocess.run(
            ["arm-none-eabi-gcc", *core, *WARNINGS, "-D__GNUC_PYTHON__", "-isystem",
             cmsis / "Include", "-c", EXAMPLE / source, "-o", tmp_path / f"{source}.o"],
            check=True,
        )  # fmt: skip

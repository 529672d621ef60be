"""Networks whose runs decide a size, against onnxruntime."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import sized_programs as programs
from network_programs import Array
from sampling import first

from mcu_deploy.boards import load_board
from mcu_deploy.compiler import compile_model
from mcu_deploy.options import from_typed

MODELS: dict[str, tuple[Callable[[Path], Path], str, int]] = {
    "convolution": (programs.convolution, "1,4,N", 40),
    "quantized": (programs.quantized, "1,4,N", 40),
    "lstm": (programs.lstm, "N,1,5", 24),
    "transformer": (programs.transformer, "1,N,16", 24),
    "detector": (programs.detector, "1,3,N,16", 32),
}


def _samples(shape: str, sizes: list[int]) -> list[tuple[int, list[Array]]]:
    random = np.random.default_rng(3)
    made = []
    for size in sizes:
        extents = [size if word == "N" else int(word) for word in shape.split(",")]
        made.append((size, [random.normal(0, 1, extents).astype(np.float32)]))
    return made


def _check(name: str, tmp_path: Path, board: str, sizes: list[int] | None = None) -> None:
    make, shape, bound = MODELS[name]
    path = make(tmp_path)
    options = from_typed({"shape": [f"x={shape}:N<={bound}"]})
    network = compile_model(path, load_board(board), options=options)
    samples = _samples(shape, sizes or [1, bound // 2, bound])
    found = programs.run_sizes(network, tmp_path, samples, device=board != "host")
    for (size, inputs), outputs in zip(samples, found, strict=True):
        for actual, wanted in zip(outputs, programs.onnxruntime(path, inputs), strict=True):
            values = actual.view(wanted.dtype)
            assert values.size == wanted.size, size
            if wanted.dtype == np.int8:
                np.testing.assert_array_equal(values, wanted.reshape(-1))
                continue
            scale = np.abs(wanted).max()
            np.testing.assert_allclose(values, wanted.reshape(-1), rtol=0, atol=1e-5 * scale)


@pytest.mark.parametrize("name", first([*MODELS], 2))
def test_every_size_is_what_onnxruntime_says(name: str, tmp_path: Path) -> None:
    _check(name, tmp_path, "host", list(range(1, MODELS[name][2] + 1)))


@pytest.mark.parametrize("name", first([*MODELS], 2))
def test_sizes_on_a_cortex_m4(name: str, tmp_path: Path) -> None:
    _check(name, tmp_path, "mps2-an386")

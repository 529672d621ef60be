"""TFLite-Micro's signal library, step by step and run by run: its bits."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from operators.lab import compile_files, run_on_host
from operators.recorded_streams import ON_BOARDS, by_board, by_oracle
from operators.signal_cases import RECORDED, alone, file, kept, streams
from tflite_models import Tensor

from mcu_deploy import formats
from mcu_deploy.agreement.reference import NoReference, run_reference
from mcu_deploy.boards import load_board
from mcu_deploy.compiler import compile_model
from mcu_deploy.errors import McuDeployError


def test_the_oracle_gives_what_tflite_micro_gives(tmp_path: Path) -> None:
    with np.load(RECORDED) as recorded:
        for stream in (*streams(), *kept()):
            found, wanted = by_oracle(stream, tmp_path), recorded[stream.name]
            assert np.array_equal(found, wanted), stream.name
            assert found.dtype == wanted.dtype
            assert len(np.unique(wanted)) > len(found) / 2, stream.name


@pytest.mark.parametrize("board", ON_BOARDS)
def test_boards_give_what_tflite_micro_gives(board: str, tmp_path: Path) -> None:
    """All of them in one firmware; what is kept is by ONNX's operators, whose C has other tests."""
    made = [*streams(), *(kept() if board != "host" else ())]
    with np.load(RECORDED) as recorded:
        for stream, found in by_board(made, board, tmp_path):
            assert np.array_equal(found, recorded[stream.name]), stream.name


def test_litert_is_not_asked_for_what_it_lacks(tmp_path: Path) -> None:
    path = tmp_path / "root.tflite"
    inputs = [Tensor("x", (6,), "UINT64"), Tensor("shift", (), "INT32")]
    path.write_bytes(alone("SignalFilterBankSquareRoot", inputs, Tensor("y", (6,), "UINT32"), {}))
    said = run_reference(path, [])
    assert isinstance(said, NoReference) and "lacks SignalFilterBankSquareRoot" in str(said)


@pytest.mark.needs_host_gcc
def test_the_ends_of_roots_and_logarithms(tmp_path: Path) -> None:
    """No root has more than half of its number's 32 or 64 bits, no logarithm more than 15."""
    numbers = np.array([0, 1, 3, 2**32 - 1, 2**32, 2**64 - 1], np.uint64)
    roots = [Tensor("x", (6,), "UINT64"), Tensor("shift", (), "INT32")]
    words = np.array([0, 1, 2, 2**31], np.uint32)
    logarithm = {"input_correction_bits": 0, "output_scale": 2048}
    cases = [
        (alone("SignalFilterBankSquareRoot", roots, Tensor("y", (6,), "UINT32"), {}),
         (numbers, np.array(0, np.int32)), [0, 1, 2, 65535, 65536, 2**32 - 1]),
        (alone("SignalFilterBankLog", [Tensor("x", (4,), "UINT32")], Tensor("y", (4,), "INT16"),
               logarithm), (words,), [0, 0, 1420, 32767]),
    ]  # fmt: skip
    items = compile_files(
        (SimpleNamespace(name=str(n), content=content, inputs=inputs)
         for n, (content, inputs, _) in enumerate(cases)),
        tmp_path,
    )  # fmt: skip
    for item, (device,), (_, _, wanted) in zip(
        items, run_on_host(items, tmp_path), cases, strict=True
    ):
        assert device.tolist() == wanted
        assert item.expected[0].tolist() == wanted


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"shift": 32}, "its tensors or options do not fit together"),
        ({"fft_length": 96}, "its tensors or options do not fit together"),
        ({"end_index": 66}, "its tensors or options do not fit together"),
        ({"snr_shift": -1}, "its tensors or options do not fit together"),
        ({"output_scale": -1}, "its tensors or options do not fit together"),
    ],
)
def test_what_is_refused(changed: dict[str, Any], told: str, tmp_path: Path) -> None:
    path = tmp_path / "signal.tflite"
    path.write_bytes(file("features", 101, 128, **changed))
    with pytest.raises(McuDeployError, match=told):
        compile_model(path, load_board("host"), name="signal")


def test_a_delay_that_no_device_holds_is_refused(tmp_path: Path) -> None:
    path, (x, y) = tmp_path / "delay.tflite", (Tensor(name, (8,), "INT16") for name in "xy")
    path.write_bytes(alone("SignalDelay", [x], y, {"delay_length": 1 << 30}))
    with pytest.raises(McuDeployError, match="its tensors or options do not fit together"):
        formats.load(path)


def test_an_option_that_is_missing_is_named(tmp_path: Path) -> None:
    path = tmp_path / "signal.tflite"
    path.write_bytes(file("y", 50, 64).replace(b"shift\0", b"shirt\0"))
    with pytest.raises(McuDeployError, match="it lacks the option shift"):
        formats.load(path)

"""TFLite's LSTM: oracle and device give what TFLite-Micro's reference kernels gave.

The checksums and values are outputs of tflite-micro 0.dev20261023182759 (its Python interpreter,
one run after the reset of the states) for the files that `tflite_lstm_file` writes.
"""

from __future__ import annotations

import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from operators.lab import Array, Case, Compiled, check_device, run_on_host
from operators.overlap_checks import check_facts, check_runs
from operators.overlap_lab import choices_of
from operators.tflite_lstm_file import Lstm, write
from sanitizers import SANITIZED

from mcu_deploy import formats, interpreter, passes
from mcu_deploy.boards import load_board
from mcu_deploy.compiler import compile_model
from mcu_deploy.errors import McuDeployError
from mcu_deploy.operators.tflite_lstm import sigmoid_table
from mcu_deploy.options import Options

# CRC-32 of the output.
QUANTIZED = {
    Lstm(0): 0x985FE3AF,
    Lstm(1, time_major=True, batch=3): 0x6B6B4527,
    Lstm(2, batch=2, h=(0.004, -128)): 0x6CAA1B82,
    Lstm(3, clip=0.5, steps=12): 0xA9A30817,
    Lstm(4, clip=10.0, steps=20, weights=0.05): 0x8165C479,  # a clip beyond int16
    Lstm(5, cell=2.0**-15): 0x97A108AD,
    Lstm(6, cell=2.0**-9, steps=30, weights=0.05): 0x089C12C6,
    Lstm(7, x=(0.3, 5), weights=0.3): 0x62F83418,  # sums that are shifted to the left
    Lstm(8, 1, 1, 1, 1, h=(0.02, 127)): 0x12B88320,
}
# The output's last three values, and the domain of the node that computes it.
FLOAT = {
    Lstm(20, is_float=True): ((-0.0094531, 0.06991073, -0.02614938), ""),
    Lstm(21, is_float=True, clip=0.5): ((-0.16100201, -0.03887069, 0.14668982), "tflite"),
    Lstm(22, is_float=True, clip=0.25, batch=2, time_major=True, steps=9):
        ((-0.03824533, 0.04537852, 0.02378486), "tflite"),
    Lstm(23, is_float=True, clip=10.0, batch=2): ((0.14226992, -0.33386585, -0.4362067), ""),
}  # fmt: skip


def compiled(lstm: Lstm, folder: Path) -> Compiled:
    path = folder / f"lstm_{lstm.seed}.tflite"
    path.write_bytes(write(lstm))
    network = compile_model(
        path, load_board("host"), name=f"l{lstm.seed}", options=Options(weights="array")
    )
    return Compiled(Case(path.stem, onnx.ModelProto(), (lstm.given(),)), network)


def check(items: dict[Lstm, Compiled], folder: Path, flags: tuple[str, ...] = ("-O1",)) -> None:
    """The device is as the oracle, and both are as TFLite-Micro."""
    found = run_on_host(list(items.values()), folder, flags)
    for (lstm, item), outputs in zip(items.items(), found, strict=True):
        check_device(item, outputs)
        for (output,) in (outputs, item.expected):
            if lstm.is_float:
                wanted, _ = FLOAT[lstm]
                assert np.abs(output.reshape(-1)[-3:] - wanted).max() <= 1e-6
            else:
                assert zlib.crc32(output.tobytes()) == QUANTIZED[lstm], lstm


@pytest.mark.needs_host_gcc
def test_the_outputs_are_tflite_micros(tmp_path: Path) -> None:
    check({lstm: compiled(lstm, tmp_path) for lstm in (*QUANTIZED, *FLOAT)}, tmp_path)


@pytest.mark.matrix
@pytest.mark.needs_host_gcc
def test_lstms_read_and_write_only_their_tensors(tmp_path: Path) -> None:
    check({lstm: compiled(lstm, tmp_path) for lstm in (*QUANTIZED, *FLOAT)}, tmp_path, SANITIZED)


@pytest.mark.needs_host_gcc
def test_the_output_follows_the_input_as_closely_as_the_accesses_allow(tmp_path: Path) -> None:
    made = []
    for lstm in (*QUANTIZED, Lstm(9, batch=2, inputs=9, hidden=4)):
        path = tmp_path / f"overlap_{lstm.seed}.tflite"
        path.write_bytes(write(lstm))
        made += choices_of(path)
    check_facts(made, tmp_path)
    assert check_runs(made, tmp_path) >= len(made)


def test_float_lstms_are_onnxs_where_their_clip_is_out_of_reach(tmp_path: Path) -> None:
    for lstm, (_, domain) in FLOAT.items():
        graph = compiled(lstm, tmp_path).graph
        assert [node.domain for node in graph.nodes if node.op == "LSTM"] == [domain]


@pytest.mark.parametrize("lstm", [Lstm(3, clip=0.5, steps=12), Lstm(21, is_float=True, clip=0.5)])
def test_the_clip_changes_the_output(lstm: Lstm, tmp_path: Path) -> None:
    (clipped,) = compiled(lstm, tmp_path).expected
    (free,) = compiled(replace(lstm, clip=0.0), tmp_path).expected
    assert not np.array_equal(clipped, free)


def test_the_table_is_tflites() -> None:
    """CRC-32 of sigmoid_table_uint16 in tensorflow/lite/kernels/internal/common.h."""
    table: Array = sigmoid_table()
    assert zlib.crc32(table.astype("<u2").tobytes()) == 0xB84F6AB4


def test_states_may_be_constant_zeros(tmp_path: Path) -> None:
    """As a converter to float16 writes them."""
    lstm = Lstm(20, is_float=True)
    path = tmp_path / "constant.tflite"
    zeros = np.zeros((lstm.batch, lstm.hidden), np.float32)
    path.write_bytes(write(lstm, states=zeros))
    (output,) = interpreter.run(passes.run(formats.load(path)), [lstm.given()])
    assert np.array_equal(output, compiled(lstm, tmp_path).expected[0])
    path.write_bytes(write(lstm, states=zeros + 1))
    with pytest.raises(McuDeployError, match="'h', which is not variable"):
        formats.load(path)


@pytest.mark.parametrize(
    ("lstm", "changed", "reason"),
    [
        (Lstm(0), {9: 12}, "has peepholes"),
        (Lstm(0), {16: 5}, "has a projection"),
        (Lstm(0), {20: 12}, "has layer normalization"),
        (Lstm(0), {1: None}, "couples its input gate to its forget gate"),
        (Lstm(0), {18: 0}, "which is not variable"),
        (Lstm(0), {5: 1}, "its input 5 is [6, 5] and not [6, 6]"),
        (Lstm(0, hidden=5), {5: 0}, "which is computed at run time"),
        (Lstm(0, clip=-1.0), {}, "its cell clip is -1.0"),
        (Lstm(0, cell=8.0), {}, "its cell state has the scale 8"),
    ],
)
def test_what_is_refused(
    lstm: Lstm, changed: dict[int, int | None], reason: str, tmp_path: Path
) -> None:
    path = tmp_path / "refused.tflite"
    path.write_bytes(write(lstm, changed))
    with pytest.raises(McuDeployError) as caught:
        compile_model(path, load_board("host"), name="refused")
    assert reason in str(caught.value)
    assert "UNIDIRECTIONAL_SEQUENCE_LSTM" in str(caught.value)

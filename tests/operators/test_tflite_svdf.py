"""SVDF against TFLite-Micro, run by run: its state is a state of the network."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from operators.recorded_streams import ON_BOARDS, Stream, by_board, by_oracle
from operators.svdf_cases import RECORDED, UNITS, streams
from tflite_models import Operator, Tensor, constant, int8, write

from mcu_deploy import formats
from mcu_deploy.agreement.reference import NoReference, run_reference
from mcu_deploy.agreement.runs import run_oracle
from mcu_deploy.api.building import build
from mcu_deploy.api.folder import as_folder
from mcu_deploy.api.running import open_device
from mcu_deploy.boards import load_board
from mcu_deploy.compiler import compile_model
from mcu_deploy.errors import ModelError
from mcu_deploy.files.samples import Samples


def agree(stream: Stream, found: np.ndarray, wanted: np.ndarray) -> bool:
    """Integers in every bit; sums of float32 have another order."""
    if wanted.dtype == np.float32:
        return np.allclose(found, wanted, rtol=0, atol=1e-5 * float(np.abs(wanted).max()))
    return found.dtype == wanted.dtype and np.array_equal(found, wanted)


def test_the_oracle_gives_what_tflite_micro_gives(tmp_path: Path) -> None:
    with np.load(RECORDED) as recorded:
        for stream in streams():
            wanted = recorded[stream.name]
            assert agree(stream, by_oracle(stream, tmp_path), wanted), stream.name
            assert len(np.unique(wanted)) > 5 * UNITS, stream.name


@pytest.mark.parametrize("board", ON_BOARDS)
def test_boards_give_what_tflite_micro_gives(board: str, tmp_path: Path) -> None:
    """All of them in one firmware."""
    with np.load(RECORDED) as recorded:
        for stream, found in by_board(list(streams()), board, tmp_path):
            assert agree(stream, found, recorded[stream.name]), stream.name


@pytest.mark.needs_host_gcc
def test_sums_that_have_no_room_lose_their_upper_bits(tmp_path: Path) -> None:
    """As the oracle's do: four products of the largest int16 are beyond an int32."""
    memory, path = 4, tmp_path / "svdf.tflite"
    tensors = [
        int8("x", (1, 1), 1.0, 0),
        constant("features", np.full((1, 1), 127, np.int8), [1.0]),
        constant("times", np.full((1, memory), 32767, np.int16), [1.0]),
        Tensor("state", (1, memory), "INT16", (2.0**-9,), (0,), variable=True),
        int8("y", (1, 1), 2.0**15, 0),
    ]  # fmt: skip
    operator = Operator(
        "SVDF", ("x", "features", "times", "", "state"), ("y",), "SVDFOptions", {"Rank": 1}
    )
    path.write_bytes(write(tensors, [operator], ["x"], ["y"]))
    folder = as_folder(build(path, "host", tmp_path / "b", name="svdf"))
    assert "int64_t sum" in (tmp_path / "b" / "network_svdf.c").read_text()
    inputs = [np.full((1, 1), value, np.int8) for value in (127, 127, 127, 127, -128, -128, -128)]
    network = compile_model(path, load_board("host"), name="svdf")
    samples = Samples(tuple((x,) for x in inputs), "made")
    wanted = [values[network.outputs[0]] for values in run_oracle(network, samples)]
    with open_device(folder) as device:
        found = [device.infer("svdf", [x])[0] for x in inputs]
    assert np.array_equal(np.stack(found), np.stack(wanted))
    assert len(np.unique(wanted)) > 3


def test_litert_is_not_asked_of_a_state_of_bytes(tmp_path: Path) -> None:
    """It takes int8 for int16, and crashes or says something else."""
    path = tmp_path / "svdf.tflite"
    path.write_bytes(svdf())
    said = run_reference(path, [[np.zeros((1, 3), np.int8)]])
    assert isinstance(said, NoReference) and "a state of int16" in str(said)


def svdf(**changed: Tensor) -> bytes:
    """A layer of 2 units of one filter, with some of its tensors replaced."""
    tensors = {
        "x": int8("x", (1, 3), 0.1, 0),
        "features": constant("features", np.ones((2, 3), np.int8), [0.1]),
        "times": constant("times", np.ones((2, 4), np.int8), [0.1]),
        "bias": constant("bias", np.zeros(2, np.int32), [0.01]),
        "state": Tensor("state", (1, 8), "INT8", (0.1,), (0,), variable=True),
        "y": int8("y", (1, 2), 0.1, 0),
    } | changed
    operator = Operator("SVDF", tuple(tensors)[:-1], ("y",), "SVDFOptions", {"Rank": 1})
    return write(list(tensors.values()), [operator], ["x"], ["y"])


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"x": int8("x", (2, 3), 0.1, 0), "y": int8("y", (2, 2), 0.1, 0)}, "a batch of 2"),
        ({"state": Tensor("state", (1, 8), "INT8", (0.1,), (0,))}, "not variable"),
        ({"state": Tensor("state", (1, 8), "INT16", (0.1,), (0,), variable=True)}, "different"),
        ({"state": Tensor("state", (1, 6), "INT8", (0.1,), (0,), variable=True)}, "fit together"),
        ({"y": int8("y", (1, 3), 0.1, 0)}, "fit together"),
        ({"x": Tensor("x", (1, 3))}, "float32 inputs"),
        ({"times": Tensor("times", (2, 4), "INT8", (0.1,), (0,))}, "run time"),
    ],
)
def test_what_is_refused(changed: dict[str, Tensor], words: str, tmp_path: Path) -> None:
    path = tmp_path / "svdf.tflite"
    path.write_bytes(svdf())
    formats.load(path)
    path.write_bytes(svdf(**changed))
    with pytest.raises(ModelError, match=words):
        formats.load(path)

"""Networks with states, run by run, as the oracle and boards compute them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from tflite_models import Array

from mcu_deploy.agreement.runs import run_oracle
from mcu_deploy.api.building import build
from mcu_deploy.api.folder import as_folder
from mcu_deploy.api.running import open_device
from mcu_deploy.boards import load_board
from mcu_deploy.compiler import compile_model
from mcu_deploy.files.samples import Samples

# The boards of a test of such networks; in the sample the host.
ON_BOARDS = (
    pytest.param("host", marks=pytest.mark.needs_host_gcc),
    *(
        pytest.param(
            board, marks=[pytest.mark.needs_arm_gcc, pytest.mark.needs_qemu, pytest.mark.matrix]
        )
        for board in ("mps2-an385", "mps2-an386")
    ),
)


@dataclass(frozen=True)
class Stream:
    """A file, by the name that a failure bears, and the inputs of its runs."""

    name: str
    content: bytes
    inputs: tuple[Array, ...]


def by_oracle(stream: Stream, folder: Path) -> Array:
    """The first output of each run."""
    path = folder / "stream.tflite"
    path.write_bytes(stream.content)
    network = compile_model(path, load_board("host"), name="stream")
    samples = Samples(tuple((x,) for x in stream.inputs), "made")
    return np.stack([values[network.outputs[0]] for values in run_oracle(network, samples)])


def by_board(streams: Sequence[Stream], board: str, folder: Path) -> Iterator[tuple[Stream, Array]]:
    """As `by_oracle`, of all in one firmware."""
    files = [folder / f"stream_{number}.tflite" for number in range(len(streams))]
    for file, stream in zip(files, streams, strict=True):
        file.write_bytes(stream.content)
    made = as_folder(build(files, board, folder / "b", name=[f.stem for f in files]))
    with open_device(made) as device:
        for file, stream in zip(files, streams, strict=True):
            yield stream, np.stack([device.infer(file.stem, [x])[0] for x in stream.inputs])

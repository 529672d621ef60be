"""ArmMul's C on the host, under AddressSanitizer and UBSan, beside the oracle."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from operators.lab import Case, Compiled, run_on_host
from quantized_layers import extremes
from random_int8_nets import model
from sampling import examples
from sanitizers import SANITIZED

from mcu_deploy.backends.ArmMul import ArmMul, rounding
from mcu_deploy.backends.interface import CreationOptions
from mcu_deploy.backends.registry import Registry
from mcu_deploy.boards import load_board
from mcu_deploy.compiler import compile_model
from mcu_deploy.options import Options
from mcu_deploy.session import Session

_NAMES = (b"_pair_sums(", b"_row_sums(", b"counted", b"scaled >>")


class _Anywhere(ArmMul):
    cores = ()


@pytest.mark.parametrize("is_armv6m", [False, True])
def test_networks_give_the_oracles_bits_without_undefined_behaviour(
    is_armv6m: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rounding, "ARMV6_M", ("host",) if is_armv6m else ())
    registry = Registry.builtin().without("ArmMul").with_backend("ArmMul", _Anywhere)
    session = Session(registry, CreationOptions(dynamic_backends=False))
    path = model(range(106, 106 + examples(100, 6)), tmp_path / "networks.onnx")
    options = Options(weights="array")
    board = load_board("host")
    network = compile_model(path, board, name="n", session=session, options=options)
    made = b"".join(network.sources.files.values())
    cells = (b"int32_t",) if is_armv6m else (b"int8_t", b"uint8_t")
    rounded = (b"sum * upper", b"(int64_t)sum") if is_armv6m else (b"(int64_t)sum",)
    parts = (*_NAMES, *rounded, *(cell + b" *plane)" for cell in cells))
    assert all(part in made for part in parts)
    for number, sample in enumerate(zip(*np.load(extremes(path)).values(), strict=True)):
        case = Case("networks", None, sample)
        compiled = Compiled(case, network)
        folder = tmp_path / str(number)
        folder.mkdir()
        (outputs,) = run_on_host([compiled], folder, SANITIZED)
        for actual, wanted in zip(outputs, compiled.expected, strict=True):
            assert np.array_equal(actual, wanted)

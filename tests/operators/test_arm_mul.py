"""ArmMul's C on the host, under AddressSanitizer and UBSan, beside the oracle."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from operators.lab import Case, Compiled, run_on_host
from quantized_layers import extremes
from random_int8_nets import model
from sampling import examples
from sanitizers import SANITIZED
from tflite_models import Operator, Tensor, write

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


@pytest.mark.parametrize("kind", ["int8", "uint8", "tflite"])
def test_numbers_become_the_oracles_bytes(kind: str, tmp_path: Path) -> None:
    """All bits next to where an element begins, and of numbers that are none."""
    count = 3 * 255 + 12 + 4000
    path = tmp_path / ("n.tflite" if kind == "tflite" else "n.onnx")
    if kind == "tflite":
        ends = [Tensor("x", (count,)), Tensor("y", (count,), "INT8", (0.0371,), (-7,))]
        path.write_bytes(write(ends, [Operator("QUANTIZE", ("x",), ("y",))], ["x"], ["y"]))
    else:
        text = f"""<ir_version: 8, opset_import: ["" : 17]>
            net (float[{count}] x) => ({kind}[{count}] y) <float s = {{0.0371}}, {kind} z = {{9}}>
            {{ y = QuantizeLinear(x, s, z) }}"""
        onnx.save_model(onnx.parser.parse_model(text), path)
    registry = Registry.builtin().without("ArmMul").with_backend("ArmMul", _Anywhere)
    session = Session(registry, CreationOptions(dynamic_backends=False))
    options = Options(weights="array", strategy="greedy", backends=("ArmMul", "CpuRef"))
    network = compile_model(path, load_board("host"), name="n", session=session, options=options)
    (step,) = network.plan.steps
    assert step.choice.workload.backend == "ArmMul"
    tree = step.choice.workload.constants[0].value.astype(np.int64)[1:]
    next_to = (tree[:, None] + np.arange(-1, 2)).reshape(-1)
    bits = np.where(next_to < 1 << 31, next_to ^ 0xFFFFFFFF, next_to ^ (1 << 31))
    others = [0, 1, 0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7FC00000]
    signed = [value | sign << 31 for value in others for sign in (0, 1)]
    drawn = np.random.default_rng(4).integers(0, 1 << 32, 4000)
    x = np.concatenate([bits, signed, drawn]).astype(np.uint32).view(np.float32)
    compiled = Compiled(Case("numbers", None, (x,)), network)
    ((actual,),) = run_on_host([compiled], tmp_path, SANITIZED)
    assert np.array_equal(actual, compiled.expected[0])
    assert len(np.unique(actual)) == 256

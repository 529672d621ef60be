"""Functions of one float, PRelu and LogSoftmax: host, oracle and onnxruntime."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from operators.exact_cases import one_node
from operators.lab import Case, check_cases

from mcu_deploy.operators.functions import FUNCTIONS

# Away from poles, and inside of what the function is defined for.
BOUNDS = {"Log": (0.01, 9), "Acosh": (1, 9), "Tan": (-1.4, 1.4), "Sinh": (-4, 4), "Cosh": (-4, 4),
          **dict.fromkeys(("Asin", "Acos", "Atanh"), (-0.99, 0.99))}  # fmt: skip
ATTRIBUTES = {
    "Selu": {"alpha": 1.5, "gamma": 1.1},
    "Celu": {"alpha": 0.7},
    "ThresholdedRelu": {"alpha": 0.5},
    "Shrink": {"lambd": 0.6, "bias": 0.2},
}
# onnxruntime lacks it; ONNX's node tests have it.
UNKNOWN = {"Swish"}


def _functions() -> list[Case]:
    rng = np.random.default_rng(7)
    cases = []
    for op in FUNCTIONS:
        x = rng.uniform(*BOUNDS.get(op, (-6, 6)), (3, 17)).astype(np.float32)
        for attributes in ({}, ATTRIBUTES.get(op)):
            if attributes is not None and op not in UNKNOWN:
                cases.append(one_node(op, [x], "float32", attributes, opset=18))
    return cases


@pytest.mark.needs_host_gcc
def test_functions(tmp_path: Path) -> None:
    rng = np.random.default_rng(8)
    x = rng.standard_normal((2, 3, 4)).astype(np.float32)
    slope = rng.standard_normal((3, 1)).astype(np.float32)
    cases = [one_node("PRelu", [x, slope], "float32")]
    cases += [
        one_node("LogSoftmax", [x * 20], "float32", {"axis": axis}, opset=opset)
        for axis in (0, 1, -1)
        for opset in (11, 18)
    ]
    cases.append(one_node("LogSoftmax", [x[:0]], "float32"))
    check_cases([*_functions(), *cases], tmp_path)

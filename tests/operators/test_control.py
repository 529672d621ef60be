"""If, Loop and Scan in C on the host: the oracle's values, and onnxruntime's."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from control_nests import inputs_of, nest_of
from operators.control_models import all_cases, scan_of_batches
from operators.lab import Case, check_cases, compile_case
from sanitizers import SANITIZED

from mcu_deploy.errors import ModelError


@pytest.mark.needs_host_gcc
def test_control_flow_gives_the_oracle_s_and_onnxruntime_s_values(tmp_path: Path) -> None:
    """With AddressSanitizer and UBSan, the workspace of exactly its size."""
    check_cases(all_cases(), tmp_path, SANITIZED)


@pytest.mark.needs_host_gcc
def test_random_nests_give_the_oracle_s_and_onnxruntime_s_values(tmp_path: Path) -> None:
    models = [nest_of(random.Random(seed).randint) for seed in range(24)]
    cases = [
        Case(f"nest {seed}", model, inputs_of([i.name for i in model.graph.input]))
        for seed, model in enumerate(models)
    ]
    check_cases(cases, tmp_path, SANITIZED)


def test_a_scan_of_items_with_lengths_of_their_own_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="its items have lengths of their own"):
        compile_case(scan_of_batches(lengths=True), tmp_path, 0)

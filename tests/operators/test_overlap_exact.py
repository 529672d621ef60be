"""What the kernels of computed indices, integers and folds state of shared memory is safe."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from operators import test_exact, test_folds, test_indexing
from operators.exact_cases import examples, one_node
from operators.overlap_checks import check_facts, check_runs
from operators.overlap_lab import choices

pytestmark = pytest.mark.needs_host_gcc

MODULES = (test_exact, test_folds, test_indexing)


@pytest.mark.parametrize("module", range(len(MODULES)))
def test_no_fact_demands_less_than_the_accesses(module: int, tmp_path: Path) -> None:
    cases = [case for family in MODULES[module].FAMILIES for case in examples(family(), 8)]
    made = [choice for case in cases for choice in choices(case.model, tmp_path)]
    check_facts(made, tmp_path, exact=False)
    assert check_runs(made, tmp_path) > 0


def test_log_softmax_over_any_axis(tmp_path: Path) -> None:
    x = np.zeros((2, 3, 4), np.float32)
    cases = [one_node("LogSoftmax", [x], "float32", {"axis": axis}) for axis in (0, 1, 2)]
    check_facts([c for case in cases for c in choices(case.model, tmp_path)], tmp_path, exact=False)

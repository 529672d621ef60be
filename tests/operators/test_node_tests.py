"""ONNX's own node tests on the oracle and on the host.

`node_tests_passed.txt` lists the tests that mcu-deploy compiles. A test that is not in it must be
refused with a sentence; one that newly compiles must be added to the list, so that it stays.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from operators.lab import run_on_host
from operators.node_tests import SLOW, NodeTest, check_outputs, compile_node_test, node_tests

PASSED = Path(__file__).with_name("node_tests_passed.txt")
TOLERANCE = {
    # Their wanted outputs are written with four digits.
    "test_averagepool_2d_ceil_last_window_starts_on_pad": 1e-3,
    "test_roialign_aligned_false": 1e-3,
    "test_roialign_aligned_true": 1e-3,
    # Their wanted sums are rounded to bfloat16 term by term.
    **{f"test_attention_4d_causal_padded_kv_bf16{form}": 2.0**-6 for form in ("", "_expanded")},
    # Sums of 6,480 terms, one after another.
    **{
        f"test_{loss}_NCd1d2d3d4d5_mean_weight{form}": 1e-4
        for loss in ("nllloss", "sce")
        for form in ("", "_expanded", "_log_prob", "_log_prob_expanded")
    },
}


def listed() -> list[str]:
    return PASSED.read_text().split()


def _run(tests: list[NodeTest], folder: Path) -> list[str]:
    """Compiles and runs the tests; returns what failed, and why."""
    failures = []
    compiled = []
    for index, test in enumerate(tests):
        result = compile_node_test(test, folder, index)
        if isinstance(result, str):
            failures.append(f"{test.name}: refused: {result}")
        else:
            compiled.append((test, result))
    device = run_on_host([c for _, c in compiled], folder, ("-O0",))
    for (test, item), outputs in zip(compiled, device, strict=True):
        for who, found in (("oracle", item.expected), ("host", outputs)):
            try:
                check_outputs(test, found, TOLERANCE.get(test.name, 1e-5))
            except AssertionError as error:
                failures.append(f"{test.name}: {who}: {error}")
    return failures


def _listed(whole: bool = True) -> list[NodeTest]:
    names = set(listed())
    tests = [t for t in node_tests(whole) if t.name in names]
    if not names - set(() if whole else SLOW) <= {t.name for t in tests}:
        pytest.skip("this version of onnx has other node tests than the list (made with 1.23)")
    return tests


@pytest.mark.needs_host_gcc
def test_listed_node_tests_pass(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    """In the sample each operator once."""
    every = pytestconfig.getoption("--all")
    met: set[str] = set()
    of_each: list[NodeTest] = []
    tests = _listed(every)
    for test in tests:
        operators = {node.op_type for node in test.model.graph.node}
        if not operators <= met:
            of_each.append(test)
        met |= operators
    assert len(met) > 100
    failures = _run(tests if every else of_each, tmp_path)
    assert not failures, f"{len(failures)} failures:\n" + "\n".join(failures)


@pytest.mark.matrix
def test_all_other_node_tests_are_refused_with_a_sentence(tmp_path: Path) -> None:
    names = set(listed())
    newly = []
    assert len({t.name for t in node_tests()}) == len(node_tests())
    for index, test in enumerate(t for t in node_tests() if t.name not in names):
        result = compile_node_test(test, tmp_path, index)
        if not isinstance(result, str):
            newly.append(test.name)
            continue
        assert len(result.split()) > 5, test.name
        assert "Traceback" not in result
    assert not newly, f"these compile now; add them to {PASSED.name}: {' '.join(newly)}"

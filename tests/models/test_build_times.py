"""Builds take as long as benchmarks/times.csv says.

Processor time counts in loops that run beside it, since it grows on a machine that does other work.
Even so one round may lie: the first test, of one small model, fails only where each of several is
too slow; that others take their time, and that one became quicker, the second finds. Both are for
the whole matrix: what tests of the sample find depends on no machine.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import made, run, times

SMALL = "mlperf_kws_int8"


def _known(model: str) -> times.Time:
    """A model's line, if this machine has the versions that it was measured with."""
    known = times.read()[model]
    if known.gcc != run.gcc() or known.python != times.python_version():
        pytest.skip(
            f"benchmarks/times.csv was measured with gcc {known.gcc} and Python {known.python}: "
            "install these to compare"
        )
    return known


@pytest.mark.matrix
@pytest.mark.needs_arm_gcc
def test_a_build_is_not_slower_than_the_table_says(models_dir: Path) -> None:
    known = _known(SMALL)
    with times.model_file(SMALL, models_dir) as path:
        found = times.measure_within(known, path, known.gcc)
    assert found.loops <= (1 + times.TOLERANCE) * known.loops, (
        f"A build of {SMALL} takes {found.changes(known)}. Find out what takes longer "
        f'(`python -m cProfile`), or, if it has to, `make bench LINES="{SMALL} {times.WORD}"` '
        "renews benchmarks/times.csv."
    )


@pytest.mark.matrix
@pytest.mark.needs_arm_gcc
@pytest.mark.parametrize("model", times.MODELS)
def test_builds_take_as_long_as_the_table_says(model: str, models_dir: Path) -> None:
    known = _known(model)
    with times.model_file(model, models_dir) as path:
        found = times.measure(model, path, known.gcc)
    assert not found.changes(known), (
        f"A build of {model} takes {found.changes(known)}. If this is wanted, "
        f'`make bench LINES="{model} {times.WORD}"` renews benchmarks/times.csv.'
    )


def test_the_table_has_each_model_once_in_its_order() -> None:
    assert tuple(times.read()) == times.MODELS == tuple(dict.fromkeys(times.MODELS))
    text = times.TABLE.read_text(encoding="utf-8")
    assert len(text.splitlines()) == 1 + len(times.MODELS)


def test_a_change_of_over_thirty_percent_is_told_in_both_directions() -> None:
    line = times.Time("m", 10.0, 4.0, "3.11", "12.2.1")
    assert replace(line, loops=12.9, seconds=99.0).changes(line) == ""
    assert replace(line, loops=7.1).changes(line) == ""
    assert replace(line, loops=13.1).changes(line) == "13.10 loops and not 10.00 (+31%)"
    assert replace(line, loops=6.5).changes(line) == "6.50 loops and not 10.00 (-35%)"


def test_rounds_end_with_the_first_that_is_quick_enough(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Loops and builds count by their least: a slow round says nothing."""
    line = times.Time("m", 10.0, 4.0, "3.11", "12.2.1")
    for taken, loops, rounds in (
        ([(1.0, 12.0)], 12.0, 1),
        ([(1.0, 20.0), (2.0, 19.0), (1.5, 13.0)], 13.0, 3),
        ([(1.0, 14.0)] * 9, 14.0, 6),
    ):
        left = iter(taken)
        monkeypatch.setattr(times, "_round", lambda path, left=left: next(left))
        assert times.measure_within(line, Path("m.onnx"), "12.2.1").loops == loops
        assert len(list(left)) == len(taken) - rounds


def test_processor_time_is_that_of_children_too(tmp_path: Path) -> None:
    import sys

    loop = "sum(i * i for i in range(3_000_000))"
    nested = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {loop!r}])"
    alone = times._seconds([sys.executable, "-c", loop], 0)
    assert times._seconds([sys.executable, "-c", nested], 0) > 0.5 * alone > 0
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        times._seconds([sys.executable, "-c", "1 / 0"], 0)


def test_models_that_are_made_have_the_same_bytes_each_time(tmp_path: Path) -> None:
    for name in ("made_yolo_14", made.REFUSED):
        paths = [made.save(name, tmp_path / which) for which in ("one", "other")]
        assert paths[0].read_bytes() == paths[1].read_bytes()

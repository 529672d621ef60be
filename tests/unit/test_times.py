"""What `make test-times` says of the parts of the tests."""

from __future__ import annotations

import pytest
import times

pytest_plugins = ["pytester"]


@pytest.mark.parametrize(
    ("file", "part"),
    [
        ("tests/operators/test_overlap.py", "operators"),
        ("tests/device/test_arm_dsp_winograd.py", "kernels"),
        ("tests/device/test_faults.py", "models and devices"),
        ("tests/unit/test_docs.py", "docs and tools"),
        ("tests/crt/test_crt.py", "units"),
    ],
)
def test_each_file_belongs_to_a_part(file: str, part: str) -> None:
    assert times.part_of(f"{file}::test_something[case]") == part


def test_the_parts_are_the_ten_minutes_of_the_sample() -> None:
    assert sum(seconds for seconds, _ in times.PARTS.values()) == 600


def test_processor_time_is_added_up_with_that_of_children(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_burning="""
        import subprocess, sys, time

        BURN = "import time\\nwhile time.process_time() < 0.2: pass"

        def test_here():
            end = time.process_time() + 0.2
            while time.process_time() < end:
                pass

        def test_in_a_child():
            subprocess.run([sys.executable, "-c", BURN], check=True)
        """
    )
    done = pytester.inline_run(plugins=[plugin := times.Times()])
    done.assertoutcome(passed=2)
    assert 0.4 <= plugin.by_file["test_burning.py"] < 8

"""What tests cost: processor seconds, those of children included, by part (`make test-times`).

A child that still runs when its test ends counts for the test in which it is waited for.
"""

from __future__ import annotations

import re
import resource
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

# Each part of the sample, the seconds that it may take, and its files: the first that fits.
PARTS = {
    "operators": (60, r"^tests/operators/"),
    "kernels": (120, r"^tests/streams/|arm_dsp|arm_mve|_isa|cpu_ref|kernel|rounding|compilers"),
    "models and devices": (240, r"^tests/(models|device|renode)/"),
    "docs and tools": (60, r"^tests/(exports|projects)/|_docs|_page|_example|_cli|_site|_setup"),
    "units": (120, ""),
}
_MOST_FILES = 25


def part_of(test: str) -> str:
    """test: pytest's name of it, or of its file."""
    file = test.partition("::")[0]
    return next(part for part, (_, files) in PARTS.items() if re.search(files, file))


def _used() -> float:
    own, children = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


class Times:
    """A plugin of pytest: in the processes that run tests it measures, and where they are reported
    it adds up."""

    def __init__(self) -> None:
        self.last = _used()
        self.by_file: Counter[str] = Counter()

    def pytest_collection_finish(self) -> None:
        self.last = _used()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Iterator[Any]:
        report = yield
        now = _used()
        report.processor_seconds, self.last = now - self.last, now
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        file = report.nodeid.partition("::")[0]
        self.by_file[file] += getattr(report, "processor_seconds", 0)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        by_part: Counter[str] = Counter()
        for file, seconds in self.by_file.items():
            by_part[part_of(file)] += seconds
        terminalreporter.section("processor seconds")
        for part, (most, _) in PARTS.items():
            over = "" if by_part[part] <= most else "  <- over"
            terminalreporter.line(f"{by_part[part]:7.1f} of {most:3}  {part}{over}")
        whole = sum(most for most, _ in PARTS.values())
        terminalreporter.line(f"{by_part.total():7.1f} of {whole:3}  in all")
        for file, seconds in self.by_file.most_common(_MOST_FILES):
            terminalreporter.line(f"{seconds:7.1f}  {part_of(file)}: {file}")

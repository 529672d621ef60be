"""What tests cost: processor seconds, those of children included, by part (`make test-times`).

A child that still runs when its test ends counts for the test in which it is waited for. What a
child has started and left behind (the shell that is `renode` is killed with the Renode that it
waits for) would count for nobody: with `--times` it becomes a child of the tests' process.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import resource
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

# Each part of the sample, the seconds that it may take, and its files: the first that fits.
PARTS = {
    "operators": (60, r"^tests/operators/"),
    "kernels": (120, r"^tests/streams/|arm_dsp|arm_mve|_isa|cpu_ref|kernel|rounding|compilers"),
    "models and devices": (240, r"^tests/(models|device|renode)/"),
    "docs and tools": (
        60,
        r"^tests/(exports|projects|mutants|campaign)/"
        r"|_docs|_page|_example|_cli|_site|_setup|_cmake|_times",
    ),
    "units": (120, ""),
}
_COLLECTION = "tests that are collected"
_MOST_FILES = 40
_MOST_TESTS = 40
_PR_SET_CHILD_SUBREAPER = 36


def part_of(test: str) -> str:
    """test: pytest's name of it, or of its file."""
    file = test.partition("::")[0]
    return next(part for part, (_, files) in PARTS.items() if re.search(files, file))


def _used() -> float:
    _reap_orphans()
    own, children = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def _adopt_orphans() -> None:
    """What our children leave behind becomes ours, and not the first process's."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _reap_orphans() -> None:
    """Waits for those that have ended. A child that somebody here waits for leads its session, or
    is in ours; an orphan is in that of a child which has ended."""
    ours = os.getsid(0)
    for task in Path("/proc/self/task").iterdir():
        with contextlib.suppress(OSError):
            for child in map(int, (task / "children").read_text().split()):
                stat = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
                if stat[0] == "Z" and int(stat[3]) not in (ours, child):
                    os.waitpid(child, os.WNOHANG)


class Times:
    """A plugin of pytest: in the processes that run tests it measures, and where they are reported
    it adds up."""

    def __init__(self) -> None:
        self.last = 0.0
        self.by_file: Counter[str] = Counter()
        self.by_test: Counter[str] = Counter()

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        _adopt_orphans()
        self.last = _used()
        given = getattr(session.config, "workeroutput", self.by_file)
        given[_COLLECTION] = self.last

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """A worker of pytest-xdist has ended."""
        self.by_file[_COLLECTION] += getattr(node, "workeroutput", {}).get(_COLLECTION, 0)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Iterator[Any]:
        report = yield
        now = _used()
        report.processor_seconds, self.last = now - self.last, now
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        seconds = getattr(report, "processor_seconds", 0)
        self.by_test[report.nodeid] += seconds
        self.by_file[report.nodeid.partition("::")[0]] += seconds

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
        for test, seconds in self.by_test.most_common(_MOST_TESTS):
            terminalreporter.line(f"{seconds:7.1f}  {test}")

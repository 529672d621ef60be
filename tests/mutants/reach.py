"""Which tests reach which functions, and what each of them costs: the cheapest are tried first."""

from __future__ import annotations

import json
import resource
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType

import hypothesis
import pytest
from mutants.mutations import Mutation

_MANY_TIMES = 4  # what takes so many times what it took does not end
_LEAST_SECONDS = 20.0  # of a test: what its module's tests share may be made for it


@dataclass(frozen=True)
class Reached:
    """seconds: of the processor, by test. functions: `file:place`, as mutations are named, and the
    files themselves, by test."""

    seconds: dict[str, float]
    functions: dict[str, frozenset[str]]

    @classmethod
    def load(cls, path: Path) -> Reached:
        """None is known where there is no such file."""
        found = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        return cls(
            {test: seconds for test, (seconds, _) in found.items()},
            {test: frozenset(functions) for test, (_, functions) in found.items()},
        )

    def tests_of(self, mutation: Mutation, first: str | None) -> list[str]:
        """The one named first; then those that reach the mutation's function, file by file: the
        file called by its module's name, then the cheapest. Where no function holds it, or no test
        reaches that, all others follow those that reach its file.
        """
        place = f"{mutation.file}:{mutation.place.partition('#')[0]}"
        near = {test for test, functions in self.functions.items() if place in functions}
        chosen = near or set(self.functions)
        costs: Counter[str] = Counter()
        for test in chosen:
            costs[_file(test)] += self.seconds[test]

        def key(test: str) -> tuple[bool, bool, bool, float, str, float, str]:
            file, seconds = _file(test), self.seconds[test]
            is_far = mutation.file not in self.functions[test]
            is_other = Path(mutation.file).stem not in Path(file).stem
            return test != first, is_far, is_other, costs[file], file, seconds, test

        return sorted(chosen | ({first} & self.seconds.keys()), key=key)

    def most_seconds(self, test: str) -> int:
        """After which a test is taken for endless."""
        return round(max(_LEAST_SECONDS, self.seconds.get(test, 0) * _MANY_TIMES))


def _file(test: str) -> str:
    return test.partition("::")[0]


def _used() -> float:
    own, children = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


class Reach:
    """A plugin of pytest: writes what each test reaches, once all have run."""

    def __init__(self, tree: Path, files: Sequence[str], path: Path) -> None:
        self.names = {str(tree / file): file for file in files}
        self.path = path
        self.found: dict[str, tuple[float, list[str]]] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        entered: set[CodeType] = set()

        def enter(frame: FrameType, event: str, _: object) -> None:
            if event == "call":
                entered.add(frame.f_code)

        begin = _used()
        sys.setprofile(enter)
        try:
            return (yield)
        finally:
            sys.setprofile(None)
            places = {
                name
                for code in entered if (file := self.names.get(code.co_filename))
                for name in (file, f"{file}:{code.co_qualname.replace('.<locals>', '')}")
            }  # fmt: skip
            self.found[item.nodeid] = (round(_used() - begin, 3), sorted(places))

    def pytest_sessionfinish(self) -> None:
        self.path.write_text(json.dumps(self.found, indent=0), encoding="utf-8")


class Killer:
    """A plugin of pytest: stops a test that does not end, looks for no smaller example of what
    fails, and writes the name of the first test that fails."""

    def __init__(self, path: Path, reached: Reached) -> None:
        self.path = path
        self.reached = reached

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self) -> None:
        phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
        hypothesis.settings.register_profile("mutants", hypothesis.settings(), phases=phases)
        hypothesis.settings.load_profile("mutants")

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        own = resource.getrusage(resource.RUSAGE_SELF)
        most = int(own.ru_utime + own.ru_stime) + self.reached.most_seconds(nodeid)
        resource.setrlimit(resource.RLIMIT_CPU, (most, resource.RLIM_INFINITY))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and not self.path.exists():
            self.path.write_text(report.nodeid, encoding="utf-8")

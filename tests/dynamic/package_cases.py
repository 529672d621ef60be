"""Installs packages into temporary folders on sys.path, and loads the backends that they bring."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

import pytest

from mcu_deploy.backends.interface import CreationOptions
from mcu_deploy.dynamic import loading, packages
from mcu_deploy.dynamic.loading import Loaded

HERE = Path(__file__).resolve().parent / "packages"


class Installs:
    """Packages for one test. What is installed on this machine is not seen."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.options = CreationOptions(dynamic_backends_path="", call_timeout=60.0)
        self.lines: list[str] = []
        self._results: list[Loaded] = []
        self._monkeypatch = monkeypatch
        self._roots: list[str] = []
        every = packages.metadata.distributions
        monkeypatch.setattr(
            packages.metadata, "distributions", lambda: every(path=list(self._roots))
        )

    def __enter__(self) -> Installs:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for result in self._results:
            result.close()

    def add_to_path(self, folder: Path, *, modules_only: bool = False) -> None:
        """Puts a folder with packages in front of sys.path; modules_only: they bring no backend."""
        self._monkeypatch.syspath_prepend(str(folder))
        if not modules_only:
            self._roots.insert(0, str(folder))

    def package(
        self, module: str, source: str, *entries: tuple[str, str], name: str | None = None
    ) -> Path:
        """Installs a package of one module, with these entry points; its folder."""
        lines = "".join(f"{entry} = {value}\n" for entry, value in entries)
        folder = self.distribution(name or module, f"[mcu_deploy.backends]\n{lines}")
        (folder / f"{module}.py").write_text(source)
        return folder

    def distribution(self, name: str, entry_points: str) -> Path:
        """Installs what says to be a package, with this entry_points.txt; its folder."""
        folder = self.folder / name
        info = folder / f"{name}-2.5.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 2.5\n")
        (info / "entry_points.txt").write_text(entry_points)
        self.add_to_path(folder)
        return folder

    def load(self, taken: Sequence[str] = ("CpuRef",)) -> Loaded:
        """Loads all packages."""
        self.lines.clear()
        self._results.append(loading.load(self.options, taken, self.lines.append))
        return self._results[-1]

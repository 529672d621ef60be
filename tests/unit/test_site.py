"""The documentation as a site: `make docs` builds it, and a link that leads nowhere is an error."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]


def _make(root: Path, site: Path, *more: str) -> subprocess.CompletedProcess[str]:
    """What `make docs` does in `root`, into the folder `site`, with more options."""
    (line,) = re.findall(r"\.venv/bin/python (-m sphinx .*)", (REPOSITORY / "Makefile").read_text())
    words = line.split()
    assert words[-2:] == [".", "site"]
    return subprocess.run(
        [sys.executable, *words[:-1], site, *more],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )


def test_every_link_of_every_page_leads_somewhere(tmp_path: Path) -> None:
    """Pages are read and their links followed, but not written."""
    done = _make(REPOSITORY, tmp_path, "-b", "dummy")
    assert done.returncode == 0, done.stderr


@pytest.mark.matrix
def test_the_site_has_every_page_and_takes_nothing_from_the_network(tmp_path: Path) -> None:
    done = _make(REPOSITORY, tmp_path)
    assert done.returncode == 0, done.stderr
    assert 'url=docs/index.html"' in (tmp_path / "index.html").read_text()
    first = (tmp_path / "docs" / "index.html").read_text(encoding="utf-8")
    for page in (REPOSITORY / "docs").glob("*.md"):
        assert f'href="{page.stem if page.stem != "index" else "#"}' in first, page
    assert 'href="../README.html"' in first
    assert len([*(tmp_path / "_downloads").glob("*/table.csv")]) == 1
    for page in tmp_path.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert not re.findall(r'(?:src|<link[^>]* href)="(?:https?:)?//[^"]*', text), page
    for style in tmp_path.rglob("*.css"):
        assert "url(http" not in style.read_text(encoding="utf-8"), style


@pytest.mark.matrix
@pytest.mark.parametrize(
    "link", ["other.md", "index.md#nowhere", "../LICENSE", "../boards/none.csv"]
)
def test_a_link_that_leads_nowhere_ends_the_build(link: str, tmp_path: Path) -> None:
    shutil.copytree(REPOSITORY / "scripts" / "site", tmp_path / "scripts" / "site")
    (tmp_path / "docs").mkdir()
    (tmp_path / "LICENSE").write_text("free")
    (tmp_path / "docs" / "index.md").write_text(f"# First\n\n[there]({link})\n")
    done = _make(tmp_path, tmp_path / "site")
    listed = (
        "toctree contains reference to nonexisting document"  # the pages that are left out here
    )
    found = [line for line in done.stderr.splitlines() if "WARNING" in line and listed not in line]
    assert done.returncode != 0
    assert len(found) == (link != "../LICENSE"), done.stderr

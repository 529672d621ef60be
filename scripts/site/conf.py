"""The documentation as a site: `make docs` makes `site/` of the repository's Markdown as it lies.

Sphinx reads the pages where they are, with MyST, which renders CommonMark as GitHub does, so links
between pages, into their headings and to files of the repository are the same there and here. A
link that leads nowhere is a warning, and the build ends in an error (-W). The site takes nothing
from the network, neither when it is built nor when it is read; its search works without a server.
"""

from __future__ import annotations

from pathlib import Path

from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx

_ROOT = Path(__file__).resolve().parents[2]

project = "mcu-deploy"
html_title = "mcu-deploy"
extensions = ["myst_parser"]
myst_heading_anchors = 4
root_doc = "docs/index"
include_patterns = ["[A-Z]*.md", "docs/*.md", "examples/*/README.md", "mcu_deploy/examples/*/*.md"]
exclude_patterns = [
    path.name
    for path in _ROOT.iterdir()
    if path.suffix != ".md" and path.name not in ("docs", "examples", "mcu_deploy")
]

html_theme = "furo"
html_static_path = ["style.css"]
html_css_files = ["style.css"]
html_extra_path = ["index.html"]  # leads to docs/index.html
html_copy_source = False
html_show_copyright = False
html_use_index = False

# The first page is plain Markdown, for GitHub too, so the list of pages beside each is made here.
_SECTIONS = {
    "Get started": ["/README", "notebook", "commands"],
    "Use": [
        "operators", "quantizing", "quantize", "sensors", "performance", "costs", "report",
        "memory", "partial", "pmx", "flashing", "boards", "emulators", "renode-ci",
        "/examples/renode_sensor/README",
    ],
    "Integrate": [
        "build-folders", "projects", "exports", "cmake", "ci", "cluster", "instances", "schedules", "check",
        "stack",
    ],
    "Backends": [
        "backends", "/examples/python_backend/README", "/examples/dynamic_backend/README",
    ],
    "Internals": [
        "pipeline", "arithmetic", "protocol", "files", "versions", "verified", "/CONTRIBUTING", "/CHANGELOG",
        "/mcu_deploy/examples/kws/SOURCE", "/mcu_deploy/examples/sine/SOURCE",
    ],
}  # fmt: skip
_TITLES = {"/README": "Overview", "check": "Checking objects"}
"""Where a page's own is not meant for a list."""


def _add_sections(app: Sphinx, page: str, source: list[str]) -> None:
    if page != root_doc:
        return
    named = {name for names in _SECTIONS.values() for name in names} | {"index"}
    more = sorted({path.stem for path in (_ROOT / "docs").glob("*.md")} - named)
    for caption, names in (*_SECTIONS.items(), ("More", more)):
        entries = (f"{_TITLES[name]} <{name}>" if name in _TITLES else name for name in names)
        listed = "\n".join((f":caption: {caption}", ":hidden:", "", *entries))
        source[0] += f"\n\n```{{toctree}}\n{listed}\n```\n" if names else ""


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("source-read", _add_sections)
    app.add_lexer("ld", TextLexer)

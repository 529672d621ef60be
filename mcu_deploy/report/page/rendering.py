"""The page: its template, filled.

Its own policy lets a browser run no script but the page's, apply no style but the page's, and load
nothing, whatever a model's names may hold.
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass

from mcu_deploy.report.front import Front
from mcu_deploy.report.page.builds import Bar, Side
from mcu_deploy.report.page.comparing import Comparison
from mcu_deploy.report.page.scatter import Scatter
from mcu_deploy.report.page.texts import template, text


@dataclass(frozen=True)
class Page:
    """All that is on a page. front: the builds for other goals."""

    side: Side
    title: str
    facts: tuple[str, ...]
    bars: tuple[Bar, ...]
    front: Front
    scatter: Scatter | None
    comparison: Comparison | None


def render(page: Page) -> str:
    """The page as one file of HTML, which needs no other and no network."""
    style, script = text("style.css"), text("script.js")
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    return template("page.html.j2").render(page=page, style=style, script=script, policy=policy)


def _hash(text: str) -> str:
    """As a content security policy names a text (CSP level 3, 2.3.1)."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"

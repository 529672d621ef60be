"""What a notebook shows of a build: the page's pictures of memory, and its tables of layers."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from mcu_deploy.report.model import NetworkReport
from mcu_deploy.report.page.networks import network_page
from mcu_deploy.report.page.texts import drawing, template, text
from mcu_deploy.report.tables import Table


def fragment(table: Table, networks: Sequence[NetworkReport], goal: str) -> str:
    """HTML without a script, under a class of its own. table: what stands above the pictures."""
    with drawing():
        return template("fragment.html.j2").render(
            table=Markup(table._repr_html_()),
            networks=[network_page(network, goal) for network in networks],
            style=text("style.css"),
        )
